"""A line for each op and each package: what it does with the advised settings, and workarounds."""

from __future__ import annotations

import itertools
import re
import shlex
from collections.abc import Iterable, Iterator, Sequence
from typing import NamedTuple

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
from d9m.model.versions import covers, key
from d9m.render import phrases, words
from d9m.render.advice import cases, remedy
from d9m.render.advice.op_names import blamed_names, shown_elsewhere
from d9m.render.advice.verdict import WORSE
from d9m.render.interface import Answer
from d9m.render.page import Page, Span
from d9m.resolve.select import Need, choose

MOST_OPS = 12
"""Lines where no ops were named; `--all` shows the rest."""

MOST_WAYS = 3
"""Questions that a hint offers."""

MOST_NAMED = 4
"""Ops that a sentence names."""

MOST_CAUSES = 2
"""Causes of one op that its settings remove, named below it."""

WIDEST_NAME = 30
"""Columns of names; a longer name has a separate line."""

EVERYTHING = 1000
"""More lines than any answer has."""


class Detail(NamedTuple):
    """How many lines an answer spends on each thing."""

    hints: int = EVERYTHING
    cases: int = EVERYTHING
    notes: int = EVERYTHING
    packages: int = EVERYTHING


USUAL = Detail(hints=3, cases=5, notes=2, packages=12)


def write(page: Page, answer: Answer, detail: Detail = USUAL) -> None:
    """Write the ops, those of which the same is said on one line; without named ops the worst."""
    ops = [op for op in answer.advice.ops if op.query != "*"]
    own = _of_packages(answer)
    leads = packages_lead(answer)
    if leads:
        _write_packages(page, answer, own, detail)
    shown = ops if answer.named_ops or answer.everything else _worst(answer, ops)
    _write_ops(page, answer, shown, blamed_names(answer.kb, ops), detail)
    if answer.named_ops and not answer.advice.conflicts:
        _write_alone(page, answer, ops)
    if not leads:
        _write_packages(page, answer, own, detail)
    if len(shown) < len(ops):
        left = phrases.plural(len(ops) - len(shown), "more op" if shown else "op")
        if not shown and not own:
            left = f"The {left} one by one"
        page.paragraph(f"{left}: --all", "    " if shown or own else "", style="dim")
    page.gap()


def _write_ops(
    page: Page, answer: Answer, ops: Sequence[OpAnswer], names: dict[str, str], detail: Detail
) -> None:
    hints = answer.named_ops or answer.everything
    groups = _grouped(answer, ops, hints)
    labels = [", ".join(names[op.query] for op in group) for group in groups]
    width = max((len(label) for label in labels if len(label) <= WIDEST_NAME), default=0)
    for group, label in zip(groups, labels):
        op, says = group[0], _says(answer, group[0])
        if len(label) <= width:
            page.marked(_sign_of_op(answer, op), f"{label.ljust(width)}  ", says)
        elif len(label) + len(says) + 6 <= page.width:
            page.marked(_sign_of_op(answer, op), f"{label}  ", says)
        else:
            page.marked(_sign_of_op(answer, op), "", label)
            page.paragraph(says, "      ")
        _write_listed(page, answer, op, detail)
        if hints:
            _write_hints(page, _hints(answer, op), detail)


def _write_alone(page: Page, answer: Answer, ops: Sequence[OpAnswer]) -> None:
    """Write which ops have other settings here, for the sake of the others, than alone."""
    names, groups = blamed_names(answer.kb, ops), dict[str, list[str]]()
    for op in ops:
        needs = [Need(each.id, tuple(map(tuple, each.alternatives)), {}) for each in op.sources]
        alone = choose([need for need in needs if need.alternatives], lambda _labels: True)
        if op.outcome == "solved" and not alone.issuperset(op.solutions):
            groups.setdefault(phrases.calls(answer.kb, sorted(alone)), []).append(names[op.query])
    for fix, group in groups.items():
        subject = phrases.ops(group, MOST_NAMED)
        page.paragraph(f"{subject} alone would need only {fix}.", "    ", style="dim")


def packages_lead(answer: Answer) -> bool:
    """Whether the question is about packages besides the framework, and about no op."""
    homes = {answer.kb.home(source.id) for source in _of_packages(answer)}
    kinds = {answer.kb.packages[home].kind for home in homes}
    return not answer.named_ops and bool(kinds - {"framework"})


def write_causes(page: Page, answer: Answer, op: OpAnswer) -> None:
    """Write a line for each cause of one op; of several cases those that are not deterministic."""
    for source in op.sources:
        found = cases.worse(answer, source) if source.outcome == "depends" else []
        says = _summary(found) if found else _source_says(answer, source)
        page.marked(_sign(source.outcome), "", f"{source.title}: {says}".removesuffix(_BELOW))
        if not cases.fit_in_a_sentence(found):
            cases.write(page, found, "      ", USUAL.cases)
        _write_hints(page, _workarounds(answer, [source]), USUAL)


def _of_packages(answer: Answer) -> list[SourceAnswer]:
    """Return the causes that belong to packages rather than to ops."""
    return [source for op in answer.advice.ops if op.query == "*" for source in op.sources]


def _write_packages(
    page: Page, answer: Answer, sources: Sequence[SourceAnswer], detail: Detail
) -> None:
    worst_first = sorted(sources, key=lambda source: -WORST_LAST.index(source.outcome))
    for source in worst_first[: detail.packages]:
        _package_line(page, answer, source, detail)
        hints = itertools.chain(_deciding([source]), _workarounds(answer, [source]))
        _write_hints(page, hints, detail)
    if len(sources) > detail.packages:
        left = phrases.plural(len(sources) - detail.packages, "more cause")
        page.paragraph(f"{left}: --all", "    ", style="dim")


def _package_line(page: Page, answer: Answer, source: SourceAnswer, detail: Detail) -> None:
    if source.outcome in NEVER_DIFFERS and source.otherwise:
        other = source.otherwise[0]
        decide = f" ({_to_type(other.decide)})" if other.decide else ""
        says = f"only {phrases.condition(answer.kb, other.when)}{decide}"
        page.marked(_sign("no-known-source"), "", f"{source.title}: {says}")
        return
    if source.outcome == "solved":
        is_open = remedy.is_open(answer, source.solutions)
        fix = remedy.of_source(answer, source)
        says = "fixed if you choose it below" if is_open else f"fixed by {fix}"
    elif source.outcome in NEVER_DIFFERS:
        says = "does not happen here"
    else:
        says = _source_says(answer, source)
    page.marked(_sign(source.outcome), "", f"{source.title}: {says}".removesuffix(_BELOW))
    if source.outcome == "depends":
        _write_cases(page, answer, source, "      ", detail)


def _worst(answer: Answer, ops: Sequence[OpAnswer]) -> list[OpAnswer]:
    """Return the worst ops, only those of a package that the question is about; none where it is
    about a call.
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
    """Group ops of which the same is said, with nothing more to say of any of them."""
    groups: list[list[OpAnswer]] = []
    places: dict[str, int] = {}
    for op in ops:
        listed = [case for source in _undecided(op) for case in cases.of_source(answer, source)]
        says = " ".join([_says(answer, op), *(" ".join(case) for case in listed)])
        if hints and any(_hints(answer, op)):
            groups.append([op])
        elif says in places:
            groups[places[says]].append(op)
        else:
            places[says] = len(groups)
            groups.append([op])
    return groups


def _sign(outcome: Outcome) -> Span:
    return Span(words.SIGNS[outcome], words.STYLES[outcome])


def _sign_of_op(answer: Answer, op: OpAnswer) -> Span:
    """Return the sign of an op: that of an exception where many programs are elsewhere, or where
    only a setting that is not advised raises an error.
    """
    exception = Span(words.EXCEPTION, words.STYLES["depends"])
    if op.outcome in REPEATS and any(map(_is_exception, op.otherwise)):
        return exception
    refused = [source for source in op.sources if source.outcome == "raises"]
    if op.default != "deterministic" or not refused or _raised_in(answer, refused[0]):
        return _sign(op.outcome)
    return exception if cases.refusing(answer, refused[0].raised_by) else _sign(op.outcome)


def _is_exception(other: Otherwise) -> bool:
    return other.is_frequent and other.outcome in WORSE


def _write_hints(page: Page, hints: Iterable[str], detail: Detail) -> None:
    for hint in itertools.islice(dict.fromkeys(hints), detail.hints):
        page.paragraph(hint, "      → ", "        ")


def _says(answer: Answer, op: OpAnswer) -> str:
    """Return what the line of an op says of it."""
    if op.outcome == "no-known-source":
        elsewhere = shown_elsewhere(answer.kb.meta.see, op)
        return f"see d9m show {elsewhere}" if elsewhere else _line(answer, op.outcome)
    if op.outcome == "solved":
        named = remedy.of_op(answer, op) if answer.named_ops else ""
        fix = named or remedy.titles(answer, op)
        scope = words.scope_of(answer.advice.scope, op.outcome, op.sources)
        silent = f"; {_line(answer, 'no-known-source')}" if scope != answer.advice.scope else ""
        return f"{words.line(op.outcome, scope)} with {fix or 'the settings below'}{silent}"
    if op.outcome == "deterministic" or not op.sources:
        return op.note or _line(answer, op.outcome)
    undecided = _undecided(op)
    if len(undecided) > 1:
        return f"depends, for {len(undecided)} reasons:"
    worst = next(source for source in op.sources if source.outcome == op.outcome)
    return _source_says(answer, worst)


def _line(answer: Answer, outcome: Outcome) -> str:
    return words.line(outcome, answer.advice.scope)


def _undecided(op: OpAnswer) -> list[SourceAnswer]:
    """Return the causes on which the outcome of an op depends."""
    if op.outcome != "depends":
        return []
    return [source for source in op.sources if source.outcome == "depends"]


def _write_listed(page: Page, answer: Answer, op: OpAnswer, detail: Detail) -> None:
    """Write the cases of an op that are too many for its line."""
    undecided = _undecided(op)
    if len(undecided) == 1:
        _write_cases(page, answer, undecided[0], "      ", detail)
        return
    for source in undecided:
        cause = f"{source.title}: {_source_says(answer, source)}".removesuffix(_BELOW)
        page.paragraph(cause, "      • ", "        ")
        _write_cases(page, answer, source, "        ", detail)


def _write_cases(
    page: Page, answer: Answer, source: SourceAnswer, indent: str, detail: Detail
) -> None:
    found = cases.of_source(answer, source)
    if not cases.fit_in_a_sentence(found):
        cases.write(page, found, indent, detail.cases)


def _summary(found: Sequence[cases.OpCase]) -> str:
    return cases.sentence(found) if cases.fit_in_a_sentence(found) else _BELOW.lstrip()


_BELOW = " depends:"
"""The words before cases that have separate lines; a title needs none."""


def _source_says(answer: Answer, source: SourceAnswer) -> str:
    if source.outcome == "depends":
        return _summary(cases.of_source(answer, source))
    where = phrases.condition(answer.kb, source.when)
    says = words.line(source.outcome, source.scope)
    if source.outcome == "raises":
        says = _raises(answer, source)
    elif source.outcome == "unknown":
        says = _unknown(answer, source)
    elif source.outcome == "unsolved" and source.raised_by:
        says = f"warns, and is {words.bad(source.scope)}"
    says = f"{says} {where}".rstrip()
    if source.outcome == "unsolved" and source.note and not source.workarounds:
        says = f"{says} ({source.note.rstrip('.')})"
    return says


def _raises(answer: Answer, source: SourceAnswer) -> str:
    """Return with which setting a call raises an error, and what it does without."""
    called = _raised_in(answer, source)
    still = _still(answer, source)
    refusing = cases.refusing(answer, source.raised_by)
    if called or not refusing:
        labels = set(together(source.raised_by or ""))
        with_ = f" with {cases.named(answer, labels)}" if labels and not called else ""
        return f"raises an error{with_}{still}"
    good = source.default == "deterministic"
    without = words.line("deterministic", source.scope) if good else words.bad(source.scope)
    return f"{without}; raises an error with {refusing}{still}"


def _still(answer: Answer, source: SourceAnswer) -> str:
    """Return the newest release that is known to raise the same error, where none is fixed."""
    home = answer.kb.home(source.id)
    last = answer.kb.sources[source.id].timeline[home][-1]
    here = answer.advice.environment.releases.get(home, [])
    newest = last.verified_through
    is_same = source.fixed_in is None and last.outcome == "raises" and len(source.possible) == 1
    if newest is None or not is_same:
        return ""
    return f", also in {newest}" if here and not covers(newest, here[-1]) else ""


def _raised_in(answer: Answer, source: SourceAnswer) -> list[HelperAnswer]:
    """Return the calls of the user that make the setting with which an op raises an error."""
    labels = set(together(source.raised_by or ""))
    helpers = answer.advice.helpers
    return [helper for helper in helpers if helper.used and labels & set(helper.turns_on)]


def _unknown(answer: Answer, source: SourceAnswer) -> str:
    says = words.line("unknown", source.scope)
    if source.last_verified is not None:
        seen = source.last_verified
        did = words.line(seen.outcome, source.scope)
        return f"{says}; {did} in {seen.release}, the last one verified"
    if source.default == "nondeterministic":
        says = f"{words.bad(source.scope)} by default; no fix verified for this release"
    return f"{says} ({source.note.rstrip('.')})" if source.note else says


def _hints(answer: Answer, op: OpAnswer) -> Iterator[str]:
    """Return what decides an op, its workarounds, and where it is worse."""
    open_ = [source for source in op.sources if source.outcome == op.outcome]
    yield from _assumptions(answer, filter(_is_exception, op.otherwise))
    if op.outcome == "solved" and _is_alone(answer):
        good = op.default == "deterministic"
        does = words.line("deterministic", open_[0].scope) if good else words.bad(open_[0].scope)
        alike = [source for source in open_ if source.default == op.default]
        causes = ((good and source.note) or source.title for source in alike[:MOST_CAUSES])
        if alike:
            yield f"{does} by default: {'; '.join(causes)}"
    if len(op.names) > 1 and op.outcome in WORSE:
        yield from (f"cause: {source.title}" for source in open_)
    yield from _deciding(open_)
    yield from _workarounds(answer, open_)
    others = op.otherwise
    if not answer.everything:
        others = [other for other in others if other.outcome in WORSE]
    yield from _assumptions(answer, others)


def _is_alone(answer: Answer) -> bool:
    """Whether the question is about one op: then there is room for its cause."""
    return answer.named_ops and sum(op.query != "*" for op in answer.advice.ops) == 1


def _assumptions(answer: Answer, others: Iterable[Otherwise]) -> Iterator[str]:
    """Return where an op is worse than assumed."""
    for other in others:
        where = phrases.condition(answer.kb, other.when)
        gradient = "gradient " if other.direction == ["backward"] else ""
        decide = f" ({_to_type(other.decide)})" if other.decide else ""
        says = f"{where}: {gradient}{_under_assumption(answer, other)}{decide}"
        ways = other.workarounds[:1] if other.outcome in WORSE else []
        yield " ".join([f"{says}." if ways else says, *(way.text for way in ways)])


def _under_assumption(answer: Answer, other: Otherwise) -> str:
    if other.outcome == "solved":
        return "needs more settings"
    refusing = cases.refusing(answer, other.raised_by) if other.outcome == "raises" else ""
    if not refusing:
        return _line(answer, other.outcome)
    good = other.default == "deterministic"
    without = _line(answer, "deterministic") if good else words.bad(answer.advice.scope)
    return f"{without}; raises an error with {refusing}"


def _deciding(sources: Sequence[SourceAnswer]) -> Iterator[str]:
    """Return what to type for one branch of each outcome."""
    ways: dict[str, None] = {}
    for source in sources:
        found = {branch.outcome for branch in source.possible} - {"unknown"}
        decides = source.outcome == "depends" and found != {"unsolved"}
        for _outcome, branches in cases.by_outcome(source.possible if decides else []):
            if branches[0].decide:
                ways[_to_type(branches[0].decide)] = None
    options = {_VERSION.sub(r"\1VERSION", way) for way in ways}
    if len(ways) >= MOST_WAYS and len(options) == 1:
        yield f"name your release: {options.pop()}"
    elif ways:
        yield f"say which you have: {' or '.join(list(ways)[:MOST_WAYS])}"


_VERSION = re.compile(r"^(--with [\w-]+=|--\w+ )[\d.]+$")
"""One option that names a release."""


def _to_type(decide: Sequence[str]) -> str:
    """Return options and an op item as a person types them."""
    return " ".join(word if word.startswith("--") else f"--ops {_quoted(word)}" for word in decide)


def _quoted(word: str) -> str:
    """Quote a word for a shell; one with single quotes in double ones, if nothing else needs it."""
    is_plain = "'" in word and not set(word) & set('"$`\\!')
    return f'"{word}"' if is_plain else shlex.quote(word)


def _workarounds(answer: Answer, sources: Sequence[SourceAnswer]) -> Iterator[str]:
    """Return the upgrade that several causes need, and the workarounds of each."""
    releases: dict[str, str] = {}
    needed: dict[str, dict[str, None]] = {}
    for source in sources:
        for package, release in _fixing_releases(answer, source):
            releases[package] = max(releases.get(package, release), release, key=key)
            needed.setdefault(package, {}).update(dict.fromkeys(source.fixed_with))
    advised = {solution.label for solution in answer.advice.solutions}
    for package, release in releases.items():
        calls = [
            phrases.call_with_setting(answer.kb, label, {package: [release]})
            for label in needed[package]
            if label not in advised
        ]
        there = f" and set {phrases.join(calls)}" if calls else ""
        yield f"upgrade to {phrases.title(answer.kb, package)} {release}{there}"
    for source in sources:
        if source.outcome not in REPEATS:
            yield from (workaround.text for workaround in source.workarounds)


def _fixing_releases(answer: Answer, source: SourceAnswer) -> Iterator[tuple[str, str]]:
    """Return the newer releases that are deterministic."""
    if source.outcome in REPEATS:
        return
    asked = set[str]().union(*(branch.when for branch in source.possible))
    releases = answer.advice.environment.releases
    for package, release in (source.fixed_in or {}).items():
        is_newer = all(key(release) > key(known) for known in releases.get(package, [])[-1:])
        is_known = source.outcome != "unknown" or source.default == "nondeterministic"
        if is_known and package not in asked and is_newer:
            yield package, release
