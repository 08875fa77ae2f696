"""Assumptions of an answer: those without which it would be worse."""

from __future__ import annotations

import itertools
from collections.abc import Callable, Mapping

from d9m.model import conditions
from d9m.model.advice import WORST_LAST
from d9m.model.conditions import Cells
from d9m.model.records import Outcome
from d9m.model.when import Clause, Value, World


def deviations(
    opened: Mapping[str, Cells],
    assumed: Mapping[str, Value],
    outcome_at: Callable[[World], Outcome],
    base: Outcome,
) -> list[tuple[Clause, Outcome]]:
    """Where assumptions fall, and what is worse than `base` there.

    First each assumption alone, then two that make it worse only together, and so
    on: a clause never says more than it needs to. `opened` holds the whole domain
    of each fact that is `assumed`.
    """
    found: list[tuple[Clause, Outcome]] = []
    enough: list[World] = []

    def answer(world: World) -> Outcome | None:
        """None where fewer assumptions have to fall, and where nothing is worse."""
        if any(smaller.items() <= world.items() for smaller in enough):
            return None
        outcome = outcome_at(world)
        if WORST_LAST.index(outcome) <= WORST_LAST.index(base):
            return None
        enough.append(dict(world))
        return outcome

    for size in range(1, len(opened) + 1):
        for names in itertools.combinations(opened, size):
            domains = {name: opened[name] for name in names}
            found += conditions.by_answer(domains, answer, without=assumed)
    return found
