"""The cases of an op that depends on something: a sentence for two, else a line each."""

from __future__ import annotations

from collections.abc import Sequence
from typing import NamedTuple

from d9m.model.advice import REPEATS, Possible, SourceAnswer
from d9m.model.records import Outcome, Scope, together
from d9m.model.when import Clause, Range
from d9m.render import phrases, words
from d9m.render.interface import Answer
from d9m.render.page import Page

MOST_IN_A_SENTENCE = 2
"""Cases that a line holds."""

REST = "otherwise"
"""The condition of all other cases."""


class OpCase(NamedTuple):
    """A condition, and what happens where it holds."""

    where: str
    outcome: Outcome
    does: str


def of_source(answer: Answer, source: SourceAnswer) -> list[OpCase]:
    """Return the cases of a source, what is not verified last."""
    groups = [_of_outcome(answer, source.scope, *group) for group in by_outcome(source.possible)]
    if len(groups) == 2 and sum(map(len, groups)) > MOST_IN_A_SENTENCE:
        short, long = sorted(groups, key=len)
        if len(short) == 1 and short[0].outcome == "unknown":
            return [long[0]._replace(where=""), short[0]]
        if len(short) == 1:
            return [short[0], long[0]._replace(where=REST)]
    found = [case for group in groups for case in group]
    return sorted(found, key=lambda case: case.outcome == "unknown")


def worse(answer: Answer, source: SourceAnswer) -> list[OpCase]:
    """Return the cases that are not deterministic, and one for all the others."""
    bad = [case for case in of_source(answer, source) if case.outcome not in REPEATS]
    if any(case.where == REST for case in bad):
        return of_source(answer, source)
    return [*bad, OpCase(REST, "solved", words.line("solved", source.scope))]


def by_outcome(possible: Sequence[Possible]) -> list[tuple[Outcome, list[Possible]]]:
    """Group branches that do the same, in the order of their first."""
    found: dict[str, list[Possible]] = {}
    for branch in possible:
        kind = "deterministic" if branch.outcome in REPEATS else branch.outcome
        found.setdefault(kind, []).append(branch)
    return [(_outcome(branches), branches) for branches in found.values()]


def _outcome(branches: Sequence[Possible]) -> Outcome:
    """Return the outcome of branches that are alike: `deterministic` if one is known to be."""
    known = [branch for branch in branches if branch.outcome != "no-known-source"]
    return (known or branches)[0].outcome


def fit_in_a_sentence(cases: Sequence[OpCase]) -> bool:
    """Whether there are few of them, and none is a list itself."""
    return len(cases) <= MOST_IN_A_SENTENCE and not any(_OR in case.where for case in cases)


def sentence(cases: Sequence[OpCase]) -> str:
    """Return ``deterministic on 2-D inputs; otherwise raises an error``."""
    parts: list[str] = []
    for case in cases:
        if case.where == REST:
            parts.append(f"{REST} {case.does}")
        elif case.where and "," in case.does:
            parts.append(f"{case.where}: {case.does}")
        else:
            parts.append(f"{case.does} {case.where}".rstrip())
    return "; ".join(parts)


def write(page: Page, cases: Sequence[OpCase], indent: str, most: int) -> None:
    """Write a line for each case."""
    for case in cases[:most]:
        where = f"{case.where[:1].upper()}{case.where[1:]}"
        page.paragraph(f"{where}: {case.does}", f"{indent}• ", f"{indent}  ")
    if len(cases) > most:
        left = phrases.plural(len(cases) - most, "more case")
        page.paragraph(f"{left}: --all", f"{indent}  ", style="dim")


def refusing(answer: Answer, raised_by: str | None) -> str:
    """Return the setting that makes a call raise an error, where it is not among those advised."""
    labels = set(together(raised_by or ""))
    if labels <= {solution.label for solution in answer.advice.solutions}:
        return ""
    return named(answer, labels)


def named(answer: Answer, labels: set[str]) -> str:
    """Return settings by the names that these releases have for them."""
    releases = answer.advice.environment.releases
    return phrases.join([phrases.call_here(answer.kb, label, releases) for label in sorted(labels)])


def _of_outcome(
    answer: Answer, scope: Scope, outcome: Outcome, branches: Sequence[Possible]
) -> list[OpCase]:
    """Return a case for each condition under which one thing happens."""
    does = _does(answer, scope, outcome, branches)
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


_OR = ", or "
"""Between spans of releases in which one thing happens."""


def _does(answer: Answer, scope: Scope, outcome: Outcome, branches: Sequence[Possible]) -> str:
    """Return what all branches of one outcome do."""
    defaults = {branch.default for branch in branches}
    if outcome == "unknown" and defaults == {"nondeterministic"}:
        return f"{words.bad(scope)} by default, no fix verified"
    if outcome == "unknown":
        return "not verified"
    setting = refusing(answer, branches[0].raised_by) if outcome == "raises" else ""
    if setting:
        return f"raises an error with {setting}, nondeterministic without it"
    if outcome == "no-known-source":
        return words.line(outcome, scope).partition(" (")[0]
    return words.bad(scope) if outcome == "unsolved" else words.line(outcome, scope)
