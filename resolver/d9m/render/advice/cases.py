"""What an op does where that depends on something: one sentence for two cases, else a line each."""

from __future__ import annotations

from collections.abc import Sequence
from typing import NamedTuple

from d9m.model.advice import REPEATS, Possible, SourceAnswer
from d9m.model.records import Outcome, together
from d9m.model.when import Clause, Range
from d9m.render import phrases, words
from d9m.render.interface import Answer
from d9m.render.page import Page

MOST_IN_A_SENTENCE = 2
"""Cases that a person takes in without a list."""

MOST_LINES = 5
"""Cases of one source that are listed; `--all` shows the rest."""

REST = "otherwise"
"""The condition of all other cases."""


class OpCase(NamedTuple):
    """A condition, and what happens where it holds."""

    where: str
    outcome: Outcome
    does: str
    """What follows `it`: ``repeats``; for what nobody looked at, a sentence of its own."""


def of_source(answer: Answer, source: SourceAnswer) -> list[OpCase]:
    """The cases of a source, what nobody has checked last; one condition and the rest of two
    outcomes.
    """
    groups = [_of_outcome(answer, *group) for group in by_outcome(source.possible)]
    if len(groups) == 2 and sum(map(len, groups)) > MOST_IN_A_SENTENCE:
        short, long = sorted(groups, key=len)
        if len(short) == 1 and short[0].outcome == "unknown":
            return [long[0]._replace(where=""), short[0]]
        if len(short) == 1:
            return [short[0], long[0]._replace(where=REST)]
    found = [case for group in groups for case in group]
    return sorted(found, key=lambda case: case.outcome == "unknown")


def _of_outcome(answer: Answer, outcome: Outcome, branches: Sequence[Possible]) -> list[OpCase]:
    """A case for each condition under which one thing happens."""
    does = _does(answer, outcome, branches)
    clauses = phrases.fewest(answer.kb, [branch.when for branch in branches])
    where = list(dict.fromkeys(phrases.condition(answer.kb, clause) for clause in clauses))
    if _are_releases(answer, clauses):
        start = f"with {phrases.title(answer.kb, next(iter(clauses[0])))} "
        where = [start + _OR.join(span.removeprefix(start) for span in where)]
    return [OpCase(condition, outcome, does) for condition in where]


def _are_releases(answer: Answer, clauses: Sequence[Clause]) -> bool:
    """Whether all conditions are about the releases of one package."""
    names = {name for clause in clauses for name in clause}
    spans = [value for clause in clauses for value in clause.values()]
    is_package = len(names) == 1 and names.issubset(answer.kb.packages)
    return is_package and all(isinstance(span, Range) for span in spans)


def worse(answer: Answer, source: SourceAnswer) -> list[OpCase]:
    """The cases in which it does not repeat, and one for all the others."""
    bad = [case for case in of_source(answer, source) if case.outcome not in REPEATS]
    if any(case.where == REST for case in bad):
        return of_source(answer, source)
    return [*bad, OpCase(REST, "solved", words.does("solved", answer.advice.scope))]


def fit_in_a_sentence(cases: Sequence[OpCase]) -> bool:
    """Whether there are few of them, and none is a list itself."""
    return len(cases) <= MOST_IN_A_SENTENCE and not any(_OR in case.where for case in cases)


def sentence(cases: Sequence[OpCase]) -> str:
    """``repeats on 2-D inputs; on inputs of 3 or more dimensions it raises an error``."""
    first, *others = cases
    parts = [f"{first.does} {first.where}".rstrip()]
    if "," in first.does:
        parts = [f"{first.where} {_it(first)}".strip()]
    parts += [f"{case.where} {_it(case)}".strip() for case in others]
    return "; ".join(parts)


def write(page: Page, answer: Answer, cases: Sequence[OpCase], indent: str) -> None:
    """A line for each case."""
    most = len(cases) if answer.everything else MOST_LINES
    for case in cases[:most]:
        where = f"{case.where[:1].upper()}{case.where[1:]}"
        page.paragraph(f"{where}: {case.does}", f"{indent}• ", f"{indent}  ")
    if len(cases) > most:
        left = phrases.plural(len(cases) - most, "more case")
        page.paragraph(f"{left}: --all", f"{indent}  ", style="dim")


def by_outcome(possible: Sequence[Possible]) -> list[tuple[Outcome, list[Possible]]]:
    """Branches that do the same, together, in the order of their first."""
    found: dict[str, tuple[Outcome, list[Possible]]] = {}
    for branch in possible:
        found.setdefault(words.DOES[branch.outcome], (branch.outcome, []))[1].append(branch)
    return list(found.values())


def refusing(answer: Answer, raised_by: str | None) -> str:
    """The switch that makes a call raise, where the advised settings leave it out."""
    switches = set(together(raised_by or ""))
    if switches <= {solution.label for solution in answer.advice.solutions}:
        return ""
    releases = answer.advice.environment.releases
    named = [phrases.call_here(answer.kb, label, releases) for label in sorted(switches)]
    return phrases.join(named)


def _it(case: OpCase) -> str:
    return f"{_NOBODY} it" if case.does == _NOBODY else f"it {case.does}"


_OR = ", or "
"""Between spans of releases in which one thing happens."""

_NOBODY = "nobody has checked"
"""How an outcome begins that has a subject of its own."""


def _does(answer: Answer, outcome: Outcome, branches: Sequence[Possible]) -> str:
    """What all branches of one outcome do."""
    switch = refusing(answer, branches[0].raised_by) if outcome == "raises" else ""
    if switch:
        return f"can differ, and raises an error with {switch}"
    scope = answer.advice.scope
    if outcome != "unknown":
        return words.does(outcome, scope)
    if all(branch.default == "nondeterministic" for branch in branches):
        return f"{words.does('unsolved', scope)}, and nobody has checked what prevents it"
    return _NOBODY
