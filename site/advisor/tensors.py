"""What a condition or a source answers in one environment, for every combination of facts."""

from __future__ import annotations

import itertools
from collections.abc import Callable, Hashable
from typing import Any, TypeVar

from d9m.environment.environment import Environment
from d9m.model.conditions import Cells
from d9m.model.when import World

Leaf = TypeVar("Leaf", bound=Hashable)


class Pool:
    """Distinct values in the order in which they came; each is known by its place."""

    def __init__(self) -> None:
        self.places: dict[Hashable, int] = {}

    def place(self, value: Hashable) -> int:
        return self.places.setdefault(value, len(self.places))

    @property
    def values(self) -> list[Any]:
        return list(self.places)


class Tensors:
    """Tensors, each stored once.

    A tensor is the variables that are open, and an answer for each combination
    of their cells, the last variable changing fastest. A decided one is one answer.
    """

    def __init__(self) -> None:
        self.domains = Pool()
        self.tensors = Pool()

    def place(self, domains: dict[str, Cells], answer: Callable[[World], Hashable]) -> int:
        """Place of the tensor of `answer` over all worlds."""
        open_ = {name: cells for name, cells in domains.items() if len(cells) > 1}
        world = {name: cells[0].value for name, cells in domains.items()}
        leaves: list[Hashable] = []
        for combined in itertools.product(*open_.values()):
            for name, cell in zip(open_, combined):
                world[name] = cell.value
            leaves.append(answer(world))
        if len(set(leaves)) == 1:
            return self.tensors.place(((), (leaves[0],)))
        named = ((name, _cells(cells)) for name, cells in open_.items())
        variables = tuple(map(self.domains.place, named))
        return self.tensors.place((variables, tuple(leaves)))


def _cells(cells: Cells) -> tuple[Any, ...]:
    """How the page distinguishes cells: by name, or by the bounds of an interval."""
    if all(cell.name is not None for cell in cells):
        return tuple(cell.name for cell in cells)
    return tuple((cell.low, cell.high) for cell in cells)


def open_domains(environment: Environment, cuts: dict[str, tuple[str, ...]]) -> dict[str, Cells]:
    """Domains with every fact open, its default notwithstanding: the page knows what was given."""
    return environment.domains(cuts, assume=False)
