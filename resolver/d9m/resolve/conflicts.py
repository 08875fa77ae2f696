"""Contradictions between layers: what each choice costs, and those that another scope would
bring.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import get_args

import msgspec

from d9m.environment.environment import Environment
from d9m.kb.store import KnowledgeBase
from d9m.model.records import INCLUDED, Scope, Solution
from d9m.model.settings import Conflict
from d9m.resolve import applied_sources
from d9m.resolve.merge import Demand, SettingConflict, merge
from d9m.resolve.needs import by_label, covered, needs, turned
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

    Scopes are never mixed in one answer, but a process has one environment, and it
    cannot give both.
    """
    for other in get_args(Scope):
        if other in INCLUDED[scope]:
            continue
        wanted = needs(
            each
            for each in applied_sources.of_packages(kb, environment, other)
            if each.op_source.source.scope == other and environment.packages[each.home].is_chosen
        )
        if wanted:
            yield from _with_scope(kb, environment, other, wanted, own)


def _with_scope(
    kb: KnowledgeBase, environment: Environment, scope: Scope, wanted: Sequence[Need], own: Chosen
) -> Iterator[Conflict]:
    """Conflicts of `own` with the best set of solutions for what another scope needs."""

    def together(labels: frozenset[str]) -> tuple[SettingConflict, ...]:
        further = turned(kb, environment, labels, wanted)
        names = {demand.setting.name for demand in further}
        shared = [demand for demand in own.demands if demand.setting.name in names]
        return merge([*shared, *further]).conflicts

    labels = choose(wanted, lambda labels: not together(labels))
    conflicts = together(labels)
    if not conflicts:
        return
    within = (
        *merge(own.demands).conflicts,
        *merge(turned(kb, environment, labels, wanted)).conflicts,
    )
    known = {conflict.name for conflict in within}
    both = Chosen(own.labels | labels, [*own.wanted, *wanted], ())
    for conflict in conflicts:
        if conflict.name not in known:
            yield priced(kb, environment, conflict, both, scope)


def priced(
    kb: KnowledgeBase,
    environment: Environment,
    conflict: SettingConflict,
    chosen: Chosen,
    scope: Scope,
) -> Conflict:
    """The choices that a conflict leaves, each with its cost; one of them may be to run two
    separate programs.
    """
    sides = _sides(conflict)
    choices: list[str] = []
    costs: list[str] = []
    for side, values in sides.items():
        choices.append(f"for {_listed(kb, side)}: {' or '.join(values)}")
        costs.append(_cost(kb, environment, side, conflict, chosen))
    homes = dict.fromkeys(home for by in conflict.parties if (home := _home(kb, by)) is not None)
    packages = [kb.packages[home] for home in homes]
    if len(packages) > 1 and any(package.kind == "application" for package in packages):
        titles = " and ".join(package.title for package in packages)
        choices.append(f"separate environments for {titles}")
        costs.append("loses nothing; start each program with its own settings")
    return Conflict(conflict.name, list(conflict.parties), choices, costs, scope)


def party(kb: KnowledgeBase, by: str) -> str:
    """Return the common name of a side of a conflict by: the title of a solution or an ingredient,
    a call as it is written.
    """
    found = _solution(kb, by)
    if found is not None:
        return found[1].title
    ingredient = kb.ingredients.get(by)
    return ingredient.title if ingredient is not None else by


def _listed(kb: KnowledgeBase, side: Sequence[str]) -> str:
    return " and ".join(party(kb, by) for by in side)


def _sides(conflict: SettingConflict) -> dict[tuple[str, ...], list[str]]:
    """Parties that one value suits, as many as possible together, with all such values."""
    by_value: dict[str, tuple[str, ...]] = {}
    for values in conflict.parties.values():
        for value in values:
            suited = (by for by, accepted in conflict.parties.items() if value in accepted)
            by_value[value] = tuple(suited)
    sides: dict[tuple[str, ...], list[str]] = {}
    for value, side in by_value.items():
        if not any(set(side) < set(other) for other in by_value.values()):
            sides.setdefault(side, []).append(value)
    return sides


def _cost(
    kb: KnowledgeBase,
    environment: Environment,
    side: Sequence[str],
    conflict: SettingConflict,
    chosen: Chosen,
) -> str:
    """Return what it costs to do as some parties want: the sources that the others cover, and the
    price of theirs.
    """
    others = [by for by in conflict.parties if by not in side]
    lost: dict[str, None] = {}
    naming = by_label(chosen.wanted)
    for by in others:
        lost.update(dict.fromkeys(covered(by, chosen.labels, naming)))
    given_up = f"loses {_listed(kb, others)}"
    if lost:
        titles = " and ".join(f'"{kb.sources[id_].title}"' for id_ in lost)
        given_up += f", which fixes {titles}"
    prices: list[str] = []
    for by in side:
        found = _solution(kb, by)
        for cost in found[1].costs if found is not None else ():
            if environment.holding(cost.condition):
                prices.append(cost.text.rstrip("."))
    return f"{given_up}. Cost: {'; '.join(prices)}" if prices else given_up


def _solution(kb: KnowledgeBase, by: str) -> tuple[str, Solution] | None:
    """A party as a solution; None for an ingredient or a call."""
    return kb.solution(by) if kb.labels.get(by.lower()) is not None else None


def _home(kb: KnowledgeBase, by: str) -> str | None:
    solution = _solution(kb, by)
    return kb.meta.folders.get(solution[0].partition("/")[0]) if solution else None
