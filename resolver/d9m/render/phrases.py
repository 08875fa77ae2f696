"""Conditions in words: half a sentence each, from the words that the vocabulary holds."""

from __future__ import annotations

import re
from collections.abc import Iterable, Mapping, Sequence

from d9m.kb.store import KnowledgeBase
from d9m.model.records import Fact
from d9m.model.versions import covers, key, minor, next_minor
from d9m.model.when import Allowed, Clause, Range

DEVICES = {"cuda": "CUDA", "rocm": "ROCm", "mps": "MPS", "xpu": "XPU", "cpu": "CPU"}
"""Device -> how its makers write it."""


def join(items: Sequence[str], last: str = "and") -> str:
    """a; a and b; a, b and c."""
    if len(items) < 2:
        return "".join(items)
    return f"{', '.join(items[:-1])} {last} {items[-1]}"


def plural(count: int, noun: str) -> str:
    """1 note; 2 notes."""
    return f"{count} {noun}{'s' * (count != 1)}"


def ops(names: Sequence[str], most: int) -> str:
    """a and b; 5 ops where there are more than `most`."""
    return join(names) if len(names) <= most else f"{len(names)} ops"


def title(kb: KnowledgeBase, package: str) -> str:
    """The name of a package as its makers write it."""
    record = kb.packages[package] if package in kb.meta.aliases.values() else None
    return record.title if record else package


def condition(kb: KnowledgeBase, clause: Clause) -> str:
    """``on 2-D inputs with reduction=mean and PyTorch 2.6 or newer``; empty for a clause that
    always holds.
    """
    parts: list[str] = []
    follows_with = False
    for name, value in clause.items():
        words = _variable(kb, name, value)
        is_with = words.startswith("with ")
        parts.append(f"and {words.removeprefix('with ')}" if is_with and follows_with else words)
        follows_with = is_with
    return " ".join(parts)


def conditions(kb: KnowledgeBase, clauses: Iterable[Clause]) -> str:
    """Several clauses of which one must hold, as few as say the same."""
    return ", or ".join(dict.fromkeys(condition(kb, clause) for clause in fewest(kb, clauses)))


def fewest(kb: KnowledgeBase, clauses: Iterable[Clause]) -> list[Clause]:
    """Clauses of which one must hold, those that differ in one variable only made one, and none
    that asks for more than another one.
    """
    found: list[Clause] = []
    for clause in _widest(list(clauses)):
        whole, place = clause, len(found)
        for number in reversed(range(len(found))):
            joined = _joined(kb, found[number], whole)
            if joined is not None:
                whole, place = joined, number
                del found[number]
        found.insert(place, whole)
    return _widest(found)


def _widest(clauses: Sequence[Clause]) -> list[Clause]:
    """Clauses without those that hold only where another one does."""
    found: list[Clause] = []
    for place, clause in enumerate(clauses):
        others = [*clauses[:place], *clauses[place + 1 :]]
        if not any(other != clause and _implies(clause, other) for other in others):
            found.append(clause)
    return found


def _implies(narrow: Clause, wide: Clause) -> bool:
    """Whether a clause holds only where another one does, as far as the same names show it."""
    return all(name in narrow and _is_within(narrow[name], value) for name, value in wide.items())


def _is_within(narrow: Allowed, wide: Allowed) -> bool:
    if not isinstance(narrow, Range) or not isinstance(wide, Range):
        return narrow == wide
    starts = wide.from_ is None or (
        narrow.from_ is not None and key(narrow.from_) >= key(wide.from_)
    )
    ends = wide.until is None or (narrow.until is not None and key(narrow.until) <= key(wide.until))
    return starts and ends


def _joined(kb: KnowledgeBase, first: Clause, second: Clause) -> Clause | None:
    """Two clauses that differ in one variable as one: values that a person reads as a list, spans
    that touch, or nothing of a fact of which they leave no value out.
    """
    differing = [name for name in first if first[name] != second.get(name)]
    if len(differing) != 1 or first.keys() != second.keys():
        return None
    name = differing[0]
    one, other = first[name], second[name]
    if isinstance(one, Range) and isinstance(other, Range):
        low, high = (one, other) if one.until and one.until == other.from_ else (other, one)
        if low.until is None or low.until != high.from_:
            return None
        if low.from_ is None and high.until is None and name in kb.meta.facts:
            return _without(first, name)
        return {**first, name: Range(from_=low.from_, until=high.until)}
    if isinstance(one, Range) or isinstance(other, Range):
        return None
    values = list(dict.fromkeys([*_values(one), *_values(other)]))
    known = kb.meta.facts.get(name)
    domain = known.values if known else []
    if domain and set(values) >= set(domain):
        return _without(first, name)
    return {**first, name: values} if len(first) == 1 or name == "device" else None


def _without(clause: Clause, name: str) -> Clause:
    return {key: value for key, value in clause.items() if key != name}


def _variable(kb: KnowledgeBase, name: str, value: Allowed) -> str:
    known = kb.meta.facts.get(name)
    if known is not None:
        return _fact(name, known, value)
    if name == "device":
        return f"on {join([DEVICES.get(device, device) for device in _values(value)], 'or')}"
    if isinstance(value, Range):
        return f"with {title(kb, name)} {_releases(kb, name, value)}".rstrip()
    return f"without {title(kb, name)}"


def _releases(kb: KnowledgeBase, package: str, bounds: Range) -> str:
    first, until = bounds.from_, bounds.until
    if first and until:
        known = kb.releases(package) if package in kb.packages else ()
        last = last_before(known, until)
        if last is None or key(last) < key(first):
            if next_minor(first) == until:
                return first
            return f"{first} or newer (before {until})"
        line = minor(last)
        is_part = covers(line, until) or (covers(line, first) and first != line)
        shown = last if is_part else line
        return shown if key(first) == key(shown) else f"{first} to {shown}"
    if bounds.from_:
        return f"{bounds.from_} or newer"
    return f"before {bounds.until}" if bounds.until else ""


def last_before(releases: Sequence[str], until: str) -> str | None:
    """The last release before one that ends a span, None where there is none."""
    older = [release for release in releases if key(release) < key(until)]
    return older[-1] if older else None


def _fact(name: str, known: Fact, value: Allowed) -> str:
    if isinstance(value, Range):
        return _span(name, known, value)
    values = _values(value)
    if len(values) == 1 and values[0] in known.says:
        return known.says[values[0]]
    if len(values) == 1 and "value" not in known.says and "is" in known.says:
        return known.says["is"].format(**{"from": values[0]})
    return known.says.get("value", f"with {name}={{value}}").format(value=join(values, "or"))


def _span(name: str, known: Fact, bounds: Range) -> str:
    """A range of integers, by the template that its bounds call for; a bound may have its own
    words.
    """
    first, end = bounds.from_, bounds.until
    last = str(int(end) - 1) if end else ""
    kind = "range" if first and end else "from" if first else "until"
    if first and first == last:
        kind = "is"
    template = known.says.get(f"{kind} {first or end}") or known.says.get(
        kind, f"with {name} from {{from}} to {{last}}"
    )
    return template.format(**{"from": first, "until": end, "last": last})


def price(text: str, factor: str | None) -> str:
    """Return a cost, with the factor where the text has no figure."""
    said = factor is None or re.search(r"\d", text) is not None
    return f"{text.rstrip('.')}{'' if said else f' (time × {factor})'}."


def _values(value: Allowed) -> list[str]:
    return [value] if isinstance(value, str) else list(value) if isinstance(value, list) else []


def call(kb: KnowledgeBase, label: str) -> str:
    """Return the common name of a solution: ``UDA`` ->
    ``torch.use_deterministic_algorithms(True)``.
    """
    return kb.solution(label)[1].title


def calls(kb: KnowledgeBase, labels: Iterable[str]) -> str:
    return join([call(kb, label) for label in labels])


def call_here(kb: KnowledgeBase, label: str, releases: Mapping[str, Sequence[str]]) -> str:
    """A solution that is known by a statement, by the one that all these releases have: in 1.7
    ``UDA`` is ``torch.set_deterministic(True)``.
    """
    id_, solution = kb.solution(label)
    home = kb.home(id_)
    worlds = [{home: key(release)} for release in releases.get(home, ())]
    written: dict[str, bool] = {}
    for turn in solution.settings:
        statement = kb.settings[turn.set].statement if turn.set else None
        if statement is not None and all(
            clause.keys() <= {home} for clause in turn.condition.clauses
        ):
            line = statement.replace("{value}", turn.to[0] if turn.to else "")
            written[line] = bool(worlds) and all(turn.condition.holds(world) for world in worlds)
    if solution.title not in written:
        return solution.title
    return next((line for line, is_here in written.items() if is_here), solution.title)


def call_with_setting(kb: KnowledgeBase, label: str, releases: Mapping[str, Sequence[str]]) -> str:
    """The same, with the name of its first setting where the title lacks it:
    ``vLLM's batch invariance (VLLM_BATCH_INVARIANT)``.
    """
    title = kb.solution(label)[1].title
    called = call_here(kb, label, releases)
    names = [turn.set for turn in kb.solution(label)[1].settings if turn.set]
    written = [name.rpartition("(")[2].rstrip(")") for name in names]  # ``seed`` of ``fit(seed)``
    is_a_name = called != title or " " not in title or any(name in title for name in written)
    return called if is_a_name or not names else f"{title} ({names[0]})"
