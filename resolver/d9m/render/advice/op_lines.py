"""A line for each op: what it does with the advised settings, and below it the way out."""

from __future__ import annotations

import itertools
import re
import shlex
from collections.abc import Iterable, Iterator, Sequence

from d9m.model.advice import (
    NEVER_DIFFERS,
    REPEATS,
    WORST_LAST,
    HelperAnswer,
    OpAnswer,
    Otherwise,
    SourceAnswer,
)
from d9m.model.records import Outcome, together
from d9m.model.versions import key
from d9m.render import phrases, words
from d9m.render.advice import cases, remedy
from d9m.render.advice.op_names import blamed_names, shown_elsewhere
from d9m.render.interface import Answer
from d9m.render.page import Page, Span

MOST_OPS = 12
"""Lines where no ops were named; `--all` shows the rest."""

MOST_WAYS = 3
"""Questions that a hint offers."""

MOST_SUSPECTS = 4
"""Differences of a package that somebody reports to differ."""

MOST_CAUSES = 2
"""Differences of one op that its settings remove, named below it."""

MOST_OTHERWISE = 2
"""Assumptions of one op that a hint names; `--all` shows the rest."""

WORSE = ("raises", "unsolved")
"""Outcomes of which a block names the cause: it is made of several ops."""

WIDEST_NAME = 30
"""Columns of names; a longer name has a line of its own."""

SIGNS: dict[Outcome, str] = {
    "no-known-source": "–",
    "deterministic": "✓",
    "solved": "✓",
    "depends": "?",
    "unknown": "?",
    "raises": "✗",
    "unsolved": "✗",
}
"""Outcome -> its sign; the words behind it say the same."""


def write(page: Page, answer: Answer) -> None:
    """The ops, those that repeat alike on one line; without named ops the worst ones."""
    ops = [op for op in answer.advice.ops if op.query != "*"]
    names = blamed_names(answer.kb, ops)
    own = _of_packages(answer)
    leads = packages_lead(answer)
    if leads:
        _write_packages(page, answer, own)
    shown = ops if answer.named_ops or answer.everything else _worst(answer, ops)
    hints = answer.named_ops or answer.everything
    groups = _grouped(answer, shown, hints)
    labels = [", ".join(names[op.query] for op in group) for group in groups]
    fitting = [len(label) for label in labels if len(label) <= WIDEST_NAME]
    for group, label in zip(groups, labels):
        _line(page, answer, group, label, max(fitting, default=0))
        _write_listed(page, answer, group[0])
        if hints:
            _write_hints(page, _hints(answer, group[0]))
    if not leads:
        _write_packages(page, answer, own)
    if len(shown) < len(ops):
        left = phrases.plural(len(ops) - len(shown), "more op" if shown else "op")
        if not shown and not own:
            left = f"The {left} one by one"
        page.paragraph(f"{left}: --all", "    " if shown or own else "", style="dim")
    page.gap()


def packages_lead(answer: Answer) -> bool:
    """Whether somebody named packages besides the framework, and no op."""
    homes = {answer.kb.home(source.id) for source in _of_packages(answer)}
    kinds = {answer.kb.packages[home].kind for home in homes}
    return not answer.named_ops and bool(kinds - {"framework"})


def _of_packages(answer: Answer) -> list[SourceAnswer]:
    """What belongs to packages rather than to ops."""
    for op in answer.advice.ops:
        if op.query == "*":
            return op.sources
    return []


def _write_packages(page: Page, answer: Answer, sources: Sequence[SourceAnswer]) -> None:
    for source in sorted(sources, key=lambda source: -WORST_LAST.index(source.outcome)):
        _package_line(page, answer, source)
        _write_hints(page, itertools.chain(_deciding([source]), _ways_out(answer, [source])))


def _worst(answer: Answer, ops: Sequence[OpAnswer]) -> list[OpAnswer]:
    """The worst ops; for somebody who asked about a package those of that package, and none for
    somebody who asked about a call.
    """
    if any(helper.used for helper in answer.advice.helpers):
        return []
    if packages_lead(answer):
        ops = [op for op in ops if not _is_of_framework(answer, op)]
    recorded = [op for op in ops if op.outcome != "no-known-source"]
    return sorted(recorded, key=lambda op: -WORST_LAST.index(op.outcome))[:MOST_OPS]


def _is_of_framework(answer: Answer, op: OpAnswer) -> bool:
    homes = {answer.kb.home(source.id) for source in op.sources}
    return all(answer.kb.packages[home].kind == "framework" for home in homes)


def _grouped(answer: Answer, ops: Sequence[OpAnswer], hints: bool) -> list[list[OpAnswer]]:
    """Ops of which the same is said, with nothing more to say of any of them, share a line."""
    groups: list[list[OpAnswer]] = []
    places: dict[str, int] = {}
    for op in ops:
        listed = [case for source in _undecided(op) for case in cases.of_source(answer, source)]
        says = " ".join([*_says(answer, op, False), *(" ".join(case) for case in listed)])
        if hints and any(_hints(answer, op)):
            groups.append([op])
        elif says in places:
            groups[places[says]].append(op)
        else:
            places[says] = len(groups)
            groups.append([op])
    return groups


def _sign_of_op(answer: Answer, op: OpAnswer) -> Span:
    """The sign of an op; that of a warning where it repeats as long as nobody turns on the switch
    that refuses it, or as many programs do not.
    """
    refused = [source for source in op.sources if source.outcome == "raises"]
    if op.outcome in REPEATS and any(_is_exception(other) for other in op.otherwise):
        return Span("!", words.STYLES["depends"])
    if op.default != "deterministic" or not refused or _switched_by(answer, refused[0]):
        return _sign(op.outcome)
    is_spared = bool(cases.refusing(answer, refused[0].raised_by))
    return Span("!", words.STYLES["depends"]) if is_spared else _sign(op.outcome)


def _is_exception(other: Otherwise) -> bool:
    """Whether many programs are where an op does not repeat."""
    return other.is_frequent and other.outcome in WORSE


def _line(page: Page, answer: Answer, group: Sequence[OpAnswer], label: str, width: int) -> None:
    sign = _sign_of_op(answer, group[0])
    says = " ".join(_says(answer, group[0], len(group) > 1))
    if len(label) <= width:
        page.marked(sign, f"{label.ljust(width)}  ", says)
    elif len(label) + len(says) + 6 <= page.width:
        page.marked(sign, f"{label}  ", says)
    else:
        page.marked(sign, "", label)
        page.paragraph(says, "      ")


def _package_line(page: Page, answer: Answer, source: SourceAnswer) -> None:
    """What belongs to a package rather than to an op."""
    if source.outcome in NEVER_DIFFERS and source.otherwise:
        page.marked(Span("–"), "", f"{source.title}: {_elsewhere(answer, source.otherwise[0])}")
        return
    sign = _sign(source.outcome)
    if source.outcome == "solved":
        fixed_by = remedy.of_source(answer, source)
        is_open = remedy.is_open(answer, source.solutions)
        says = "fixed if you choose it below" if is_open else f"fixed by {fixed_by}"
    elif source.outcome in NEVER_DIFFERS:
        says = "does not happen here"
    else:
        says = " ".join(_source_says(answer, source))
    page.marked(sign, "", f"{source.title}: {says}".removesuffix(_BELOW))
    if source.outcome == "depends":
        _write_cases(page, answer, cases.of_source(answer, source), "      ")


def _elsewhere(answer: Answer, other: Otherwise) -> str:
    """Where a package makes the difference that it does not make as assumed."""
    where = phrases.condition(answer.kb, other.when)
    return f"only {where}{f' ({_to_type(other.decide)})' if other.decide else ''}"


def _write_hints(page: Page, hints: Iterable[str]) -> None:
    for hint in dict.fromkeys(hints):
        page.paragraph(hint, "      → ", "        ")


def _says(answer: Answer, op: OpAnswer, several: bool) -> Iterator[str]:
    if op.outcome == "no-known-source":
        elsewhere = shown_elsewhere(answer.kb.meta.see, op)
        yield f"see d9m show {elsewhere}" if elsewhere else "no known difference"
        return
    if op.outcome in ("deterministic", "solved"):
        yield words.does(op.outcome, answer.advice.scope, several)
        fixed_by = remedy.of_op(answer, op) if _is_alone(answer) else ""
        if fixed_by:
            yield f"with {fixed_by}"
        return
    if not op.sources:
        yield op.note or _does(answer, op.outcome)
        return
    if len(_undecided(op)) > 1:
        yield f"it depends, for {len(_undecided(op))} reasons:"
        return
    open_ = [source for source in op.sources if source.outcome == op.outcome]
    yield from _source_says(answer, open_[0])


def _undecided(op: OpAnswer) -> list[SourceAnswer]:
    """The sources on which it depends whether an op repeats."""
    if op.outcome != "depends":
        return []
    return [source for source in op.sources if source.outcome == "depends"]


def _write_listed(page: Page, answer: Answer, op: OpAnswer) -> None:
    """The cases of an op that are too many for its line."""
    undecided = _undecided(op)
    if len(undecided) == 1:
        _write_cases(page, answer, cases.of_source(answer, undecided[0]), "      ")
        return
    for source in undecided:
        says = " ".join(_source_says(answer, source))
        cause = f"{source.title}: {says}".removesuffix(_BELOW)
        page.paragraph(cause, "      • ", "        ")
        _write_cases(page, answer, cases.of_source(answer, source), "        ")


def _write_cases(page: Page, answer: Answer, found: Sequence[cases.OpCase], indent: str) -> None:
    if not cases.fit_in_a_sentence(found):
        cases.write(page, answer, found, indent)


def _summary(found: Sequence[cases.OpCase]) -> str:
    return cases.sentence(found) if cases.fit_in_a_sentence(found) else _BELOW.lstrip()


_BELOW = " it depends:"
"""What is said of cases that have lines of their own; a title says enough without."""


def write_causes(page: Page, answer: Answer, op: OpAnswer) -> None:
    """A line for each cause of one op; of several cases those that do not repeat."""
    for source in op.sources:
        found = cases.worse(answer, source) if source.outcome == "depends" else []
        says = _summary(found) if found else " ".join(_source_says(answer, source))
        cause = f"{source.title}: {says}".removesuffix(_BELOW)
        page.marked(_sign(source.outcome), "", cause)
        _write_cases(page, answer, found, "      ")
        _write_hints(page, _ways_out(answer, [source]))


def write_suspects(page: Page, answer: Answer) -> None:
    """A line for each difference on record that what is asked about has without the settings, or
    elsewhere; what belongs to a package before its ops.
    """
    own = {source.id: source for source in _of_packages(answer)}
    found: list[SourceAnswer] = []
    for source in {**own, **answer.advice.sources()}.values():
        if source.outcome not in NEVER_DIFFERS or source.otherwise:
            found.append(source)
    for source in found[:MOST_SUSPECTS]:
        _package_line(page, answer, source)
        if source.outcome not in NEVER_DIFFERS:
            _write_hints(page, _worse_elsewhere(answer, source.otherwise[:MOST_OTHERWISE]))
    if len(found) > MOST_SUSPECTS:
        page.paragraph(f"{len(found) - MOST_SUSPECTS} more: d9m advise", "    ", style="dim")
    page.gap()


def _sign(outcome: Outcome) -> Span:
    return Span(SIGNS[outcome], words.STYLES[outcome])


def _source_says(answer: Answer, source: SourceAnswer) -> Iterator[str]:
    if source.outcome == "depends":
        yield _summary(cases.of_source(answer, source))
    elif source.outcome == "raises":
        yield _raises(answer, source)
    elif source.outcome == "unsolved":
        because = f"; {source.note}" if source.note and not source.workarounds else ""
        yield f"{_does(answer, 'unsolved')}{_where(answer, source)}{because}"
    elif source.outcome == "unknown":
        yield _unknown(answer, source)
    else:
        yield _does(answer, source.outcome)


def _raises(answer: Answer, source: SourceAnswer) -> str:
    """With the switch among the advised settings the call raises; else it goes on, and most can
    differ.
    """
    where = f"{_where(answer, source)}{_until(answer, source)}"
    switched = _switched_by(answer, source)
    if switched:
        does = "warns, and can differ between runs" if switched[0].warns else "raises an error"
        return f"{does}{where}"
    refusing = cases.refusing(answer, source.raised_by)
    if not refusing:
        return f"raises an error{where}"
    if source.default == "deterministic":
        return f"repeats; with {refusing} it raises an error{_lifted(answer, source)}"
    return f"can differ; with {refusing} it raises an error{where}"


def _switched_by(answer: Answer, source: SourceAnswer) -> list[HelperAnswer]:
    """The calls of the user that turn on the switch which refuses an op."""
    switches = set(together(source.raised_by or ""))
    helpers = answer.advice.helpers
    return [helper for helper in helpers if helper.used and switches & set(helper.turns_on)]


def _lifted(answer: Answer, source: SourceAnswer) -> str:
    """Which release no longer refuses a call that repeats."""
    if not source.fixed_in:
        return " in every release"
    package, release = next(iter(source.fixed_in.items()))
    return f" before {phrases.title(answer.kb, package)} {release}"


def _where(answer: Answer, source: SourceAnswer) -> str:
    words = phrases.condition(answer.kb, source.when)
    return f" {words}" if words else ""


def _until(answer: Answer, source: SourceAnswer) -> str:
    """Which release brought, or will bring, a deterministic version."""
    if not source.fixed_in:
        return ": no release has a deterministic version yet"
    package, release = next(iter(source.fixed_in.items()))
    return f": no deterministic version before {phrases.title(answer.kb, package)} {release}"


def _unknown(answer: Answer, source: SourceAnswer) -> str:
    if source.last_verified is not None:
        seen = source.last_verified
        return (
            f"not checked in this release; in {seen.release}, the last one checked, it "
            f"{_does(answer, seen.outcome)}"
        )
    note = source.note or "nobody has checked what happens here"
    if source.default == "nondeterministic":
        return f"{_does(answer, 'unsolved')}; whether a setting prevents it is not known: {note}"
    return note


def _is_alone(answer: Answer) -> bool:
    """Whether somebody asks about one op: then its line has room for what fixes it, and why."""
    return answer.named_ops and sum(op.query != "*" for op in answer.advice.ops) == 1


def _hints(answer: Answer, op: OpAnswer) -> Iterator[str]:
    """What decides an op, its ways out, and what would make it worse."""
    open_ = [source for source in op.sources if source.outcome == op.outcome]
    yield from _worse_elsewhere(answer, filter(_is_exception, op.otherwise))
    if op.outcome == "solved" and answer.advice.scope == "run" and _is_alone(answer):
        causes = "; ".join(source.title for source in open_[:MOST_CAUSES])
        yield f"without settings it can differ: {causes}"
    if len(op.names) > 1 and op.outcome in WORSE:
        for source in open_:
            yield f"cause: {source.title}"
    yield from _deciding(open_)
    yield from _ways_out(answer, open_)
    most = len(op.otherwise) if answer.everything else MOST_OTHERWISE
    yield from _worse_elsewhere(answer, op.otherwise[:most])


def _worse_elsewhere(answer: Answer, others: Iterable[Otherwise]) -> Iterator[str]:
    for other in others:
        where = phrases.condition(answer.kb, other.when)
        decide = f" ({_to_type(other.decide)})" if other.decide else ""
        does = _it_does_there(answer, other)
        if other.outcome in WORSE and other.direction == ["backward"]:
            does = f"its gradient {does.removeprefix('it ')}"
        ways = other.workarounds[:1] if other.outcome in WORSE else []
        yield " ".join(
            [f"{where} {does}{decide}{'.' if ways else ''}", *(way.text for way in ways)]
        )


def _deciding(sources: Sequence[SourceAnswer]) -> Iterator[str]:
    """What to type for one branch of each outcome."""
    ways: dict[str, None] = {}
    for source in sources:
        found = {branch.outcome for branch in source.possible} - {"unknown"}
        decides = source.outcome == "depends" and found != {"unsolved"}
        branching = source.possible if decides else []
        for _outcome, branches in cases.by_outcome(branching):
            if branches[0].decide:
                ways[_to_type(branches[0].decide)] = None
    options = {_VERSION.sub(r"\1VERSION", way) for way in ways}
    if len(ways) >= MOST_WAYS and len(options) == 1:
        yield f"name your release: {options.pop()}"
    elif ways:
        yield f"say which: {' or '.join(list(ways)[:MOST_WAYS])}"


_VERSION = re.compile(r"^(--with [\w-]+=|--\w+ )[\d.]+$")
"""One option that names a release."""


def _to_type(decide: Sequence[str]) -> str:
    """Options and an op item as a person types them."""
    words = (word if word.startswith("--") else f"--ops {_quoted(word)}" for word in decide)
    return " ".join(words)


def _quoted(word: str) -> str:
    """A word for a shell; one with single quotes in double ones, where nothing in it is special."""
    is_plain = "'" in word and not set(word) & set('"$`\\!')
    return f'"{word}"' if is_plain else shlex.quote(word)


def _does(answer: Answer, outcome: Outcome) -> str:
    return words.does(outcome, answer.advice.scope)


def _it_does_there(answer: Answer, other: Otherwise) -> str:
    """What a call does where an assumption falls; one that a switch refuses can differ without."""
    refusing = cases.refusing(answer, other.raised_by)
    if other.outcome != "raises" or not refusing:
        return _it_does(answer, other.outcome)
    does = "repeats" if other.default == "deterministic" else _does(answer, "unsolved")
    return f"it {does}, and raises an error with {refusing}"


def _it_does(answer: Answer, outcome: Outcome) -> str:
    """What follows a condition: ``with XLA it can differ between runs``."""
    if outcome == "unknown":
        return "nobody has checked it"
    if outcome == "depends":
        return "it depends on more"
    return "it needs more settings" if outcome == "solved" else f"it {_does(answer, outcome)}"


def _ways_out(answer: Answer, sources: Sequence[SourceAnswer]) -> Iterator[str]:
    """The upgrade that several differences need, and the work-arounds of each."""
    releases: dict[str, str] = {}
    needed: dict[str, dict[str, None]] = {}
    for source in sources:
        for package, release in _fixing_releases(answer, source):
            releases[package] = max(releases.get(package, release), release, key=key)
            needed.setdefault(package, {}).update(dict.fromkeys(source.fixed_with))
    for package, release in releases.items():
        yield f"upgrade to {_upgrade(answer, list(needed[package]), package, release)}"
    for source in sources:
        if source.outcome not in REPEATS:
            yield from (workaround.text for workaround in source.workarounds)


def _fixing_releases(answer: Answer, source: SourceAnswer) -> Iterator[tuple[str, str]]:
    """The newer releases in which a source does not differ any more."""
    if source.outcome in REPEATS:
        return
    asked = set[str]().union(*(branch.when for branch in source.possible))
    releases = answer.advice.environment.releases
    for package, release in (source.fixed_in or {}).items():
        is_newer = all(key(release) > key(known) for known in releases.get(package, [])[-1:])
        is_known = source.outcome != "unknown" or source.default == "nondeterministic"
        if is_known and package not in asked and is_newer:
            yield package, release


def _upgrade(answer: Answer, labels: Sequence[str], package: str, release: str) -> str:
    """The release, and what has to be set there on top of what is advised here."""
    advised = {solution.label for solution in answer.advice.solutions}
    needed = [label for label in labels if label not in advised]
    calls = [phrases.call_with_setting(answer.kb, label, {package: [release]}) for label in needed]
    there = f" and set {phrases.join(calls)}" if calls else ""
    return f"{phrases.title(answer.kb, package)} {release}{there}"
