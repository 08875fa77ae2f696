"""Contradictions between layers: what each way out costs, and those that another scope would
bring.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import get_args

import msgspec

from d9m.environment.environment import Environment
from d9m.kb.store import KnowledgeBase
from d9m.model.records import Scope, Solution
from d9m.model.settings import Conflict
from d9m.resolve import sources_met
from d9m.resolve.merge import Contest, Demand, settle
from d9m.resolve.needs import covered, needs, turned
from d9m.resolve.select import Need, choose


class Chosen(msgspec.Struct, frozen=True):
    """Solutions, what they are for, and what they turn."""

    labels: frozenset[str]
    wanted: Sequence[Need]
    demands: Sequence[Demand]


def across(
    kb: KnowledgeBase, environment: Environment, scope: Scope, own: Chosen
) -> Iterator[Conflict]:
    """Where what other scopes ask of the named packages contradicts the answer.

    Scopes are never mixed in one answer, but a process has one environment: whoever
    wants both must be told that one environment cannot give both.
    """
    for other in get_args(Scope):
        wanted = needs(sources_met.of_no_op(kb, environment, other)) if other != scope else []
        if wanted:
            yield from _beside(kb, environment, other, wanted, own)


def _beside(
    kb: KnowledgeBase, environment: Environment, scope: Scope, wanted: Sequence[Need], own: Chosen
) -> Iterator[Conflict]:
    """Conflicts of `own` with the best way to meet further needs."""

    def together(labels: frozenset[str]) -> tuple[Contest, ...]:
        further = turned(kb, environment, labels, wanted)
        knobs = {each.setting.name for each in further}
        return settle(
            [*(each for each in own.demands if each.setting.name in knobs), *further]
        ).contests

    labels = choose(wanted, lambda labels: not together(labels))
    contests = together(labels)
    if not contests:
        return
    apart = {
        each.name
        for each in (
            *settle(own.demands).contests,
            *settle(turned(kb, environment, labels, wanted)).contests,
        )
    }
    both = Chosen(own.labels | labels, [*own.wanted, *wanted], ())
    for each in contests:
        if each.name not in apart:
            yield priced(kb, environment, each, both, scope)


def priced(
    kb: KnowledgeBase, environment: Environment, contest: Contest, chosen: Chosen, scope: Scope
) -> Conflict:
    """The choices that a contest leaves, each with its cost; one of them may be to keep two
    programs apart.
    """
    sides = _sides(contest)
    choices = [f"{' and '.join(side)}: {' or '.join(values)}" for side, values in sides.items()]
    costs = [_cost(kb, environment, side, contest, chosen) for side in sides]
    homes = list(
        dict.fromkeys(home for by in contest.parties if (home := _home(kb, by)) is not None)
    )
    if len(homes) > 1 and any(kb.package(each).kind == "application" for each in homes):
        choices.append(f"separate environments for {' and '.join(homes)}")
        costs.append("no setting is given up; each program is started with its own")
    return Conflict(contest.name, list(contest.parties), choices, costs, scope)


def _sides(contest: Contest) -> dict[tuple[str, ...], list[str]]:
    """Parties that one value suits, as many as possible together, with all such values."""
    by_value = {
        value: tuple(by for by, accepted in contest.parties.items() if value in accepted)
        for values in contest.parties.values()
        for value in values
    }
    sides: dict[tuple[str, ...], list[str]] = {}
    for value, side in by_value.items():
        if not any(set(side) < set(other) for other in by_value.values()):
            sides.setdefault(side, []).append(value)
    return sides


def _cost(
    kb: KnowledgeBase,
    environment: Environment,
    side: Sequence[str],
    contest: Contest,
    chosen: Chosen,
) -> str:
    """What it costs to do as some parties want: the sources that the others cover, and the price of
    theirs.
    """
    others = [each for each in contest.parties if each not in side]
    lost = dict.fromkeys(
        source for each in others for source in covered(each, chosen.labels, chosen.wanted)
    )
    given_up = f"gives up {' and '.join(others)}" + (
        f", which is for {', '.join(lost)}" if lost else ""
    )
    solutions = [found[1] for by in side if (found := _solution(kb, by)) is not None]
    prices = [
        each.text
        for solution in solutions
        for each in solution.costs
        if environment.holding(each.when)
    ]
    return "; ".join([given_up, *(price.rstrip(".") for price in prices)])


def _solution(kb: KnowledgeBase, by: str) -> tuple[str, Solution] | None:
    """A party as a solution; None for an ingredient or a call."""
    return kb.solution(by) if kb.get("labels", by.lower()) is not None else None


def _home(kb: KnowledgeBase, by: str) -> str | None:
    solution = _solution(kb, by)
    return kb.meta.folders.get(solution[0].partition("/")[0]) if solution else None
