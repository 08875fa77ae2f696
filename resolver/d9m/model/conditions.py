"""The worlds in which conditions are decided, and what can be done with clauses.

What the user left open is not a third truth value but several *worlds*: each
undecided variable is cut into the cells that no condition at hand can
distinguish, and each combination of cells is a world in which everything is plainly
true or false. Worlds with the same answer are joined again, and what they have
in common is the answer's residual `when`.
"""

from __future__ import annotations

import functools
import itertools
from collections.abc import Callable, Hashable, Iterable, Iterator, Mapping
from types import MappingProxyType
from typing import TypeAlias, TypeVar

import msgspec

from d9m.model.versions import FIRST, Key, key
from d9m.model.when import Allowed, Clause, Range, Value, World, restriction


def meet(first: Clause, second: Clause) -> Clause | None:
    """The clause that says both; None if they exclude each other."""
    both: Clause = {**first, **second}
    for name in first.keys() & second.keys():
        shared = _shared(first[name], second[name])
        if shared is None:
            return None
        both[name] = shared
    return both


def _shared(first: Allowed, second: Allowed) -> Allowed | None:
    if isinstance(first, Range) and isinstance(second, Range):
        low = max((each.from_ for each in (first, second) if each.from_), key=key, default=None)
        high = min((each.until for each in (first, second) if each.until), key=key, default=None)
        return None if low and high and key(high) <= key(low) else Range(from_=low, until=high)
    values = [value for value in restriction(first).values if value in restriction(second).values]
    return (values if len(values) > 1 else values[0]) if values else None


def united(clauses: Iterable[Clause]) -> list[Clause]:
    """Fewer clauses that say the same: none that another one covers, ranges that touch as one
    range.
    """
    found: list[Clause] = []
    for clause in clauses:
        if not any(covers(known, clause) for known in found):
            found = [*(known for known in found if not covers(clause, known)), clause]
    for first, second in itertools.permutations(found, 2):
        joined = _touching(first, second)
        if joined is not None:
            found[found.index(first)] = joined
            return united([clause for clause in found if clause is not second])
    return found


def covers(wide: Clause, narrow: Clause) -> bool:
    """Whether `wide` holds wherever `narrow` does."""
    return all(
        name in narrow and _shared(narrow[name], wide[name]) == narrow[name] for name in wide
    )


def _touching(first: Clause, second: Clause) -> Clause | None:
    """The one clause for two that differ only in ranges of which one ends where the other
    starts.
    """
    differing = [name for name in {**first, **second} if first.get(name) != second.get(name)]
    if len(differing) != 1:
        return None
    low, high = first.get(differing[0]), second.get(differing[0])
    if not (
        isinstance(low, Range) and isinstance(high, Range) and low.until and low.until == high.from_
    ):
        return None
    rest = {name: allowed for name, allowed in first.items() if name != differing[0]}
    if low.from_ is None and high.until is None:
        return rest
    return {**rest, differing[0]: Range(from_=low.from_, until=high.until)}


class Cell(msgspec.Struct, frozen=True):
    """A part of a variable's domain that no condition at hand divides."""

    value: Value
    """Any member: it stands for all of them."""
    low: str | None = None
    high: str | None = None
    name: str | None = None
    """The value as written, for a variable without order."""


Cells: TypeAlias = tuple[Cell, ...]


def cell_of(cells: Cells, value: Value) -> Cell:
    """The cell that a fact's value lies in."""
    if isinstance(value, int):
        return [cell for cell in cells if isinstance(cell.value, int) and cell.value <= value][-1]
    return next(cell for cell in cells if cell.value == value)


@functools.cache
def intervals(cuts: tuple[str, ...], of: Callable[[str], Key | int], first: Key | int) -> Cells:
    """The whole of an ordered domain, cut at `cuts`."""
    bounds = sorted(cuts, key=of)
    edges: list[str | None] = [None]
    for place, bound in enumerate(bounds):
        if place == 0 or of(bound) != of(bounds[place - 1]):
            edges.append(bound)
    edges.append(None)
    found: list[Cell] = []
    for low, high in itertools.pairwise(edges):
        found.append(Cell(first if low is None else of(low), low, high))
    return tuple(found)


@functools.cache
def releases(cuts: tuple[str, ...], known: tuple[str, ...]) -> Cells:
    """The intervals between `cuts` that hold one of the `known` releases."""
    keys = [key(release) for release in known]
    found: list[Cell] = []
    for cell in intervals(cuts, key, FIRST):
        if any(_within(each, cell) for each in keys):
            found.append(Cell(cell.value, cell.low if found else None, cell.high))
    return (*found[:-1], Cell(found[-1].value, found[-1].low)) if found else ()


def _within(release: Key, cell: Cell) -> bool:
    return (cell.low is None or key(cell.low) <= release) and (
        cell.high is None or release < key(cell.high)
    )


Answer = TypeVar("Answer", bound=Hashable)


def worlds(domains: Mapping[str, Cells]) -> Iterator[World]:
    """Every combination of the cells of some variables."""
    for cells in itertools.product(*domains.values()):
        yield {name: cell.value for name, cell in zip(domains, cells)}


def by_answer(
    domains: Mapping[str, Cells],
    answer: Callable[[World], Answer | None],
    without: World = MappingProxyType({}),
) -> list[tuple[Clause, Answer]]:
    """Every distinct answer over all worlds, with the clause that leads to it; worlds without an
    answer, which is None, are left out, and so is every world that shares a value with `without`.

    An answer whose worlds are not one clause comes once for each clause. Order
    is that of the worlds.
    """
    if not without and all(len(cells) == 1 for cells in domains.values()):
        only = answer({name: cells[0].value for name, cells in domains.items()})
        return [] if only is None else [({}, only)]
    open_ = {name: cells for name, cells in domains.items() if len(cells) > 1}
    decided = {name: cells[0].value for name, cells in domains.items() if len(cells) == 1}
    if decided.items() & without.items():
        return []
    boxes: dict[Answer, list[_Box]] = {}
    for places in itertools.product(*_places(open_, without)):
        world = dict(decided)
        for (name, cells), place in zip(open_.items(), places):
            world[name] = cells[place].value
        answered = answer(world)
        if answered is not None:
            boxes.setdefault(answered, []).append(tuple(map(_one, places)))
    ordered = tuple(cells[0].name is None for cells in open_.values())
    return [
        (_clause(box, open_), answered)
        for answered, group in boxes.items()
        for box in _joined(group, ordered)
    ]


def _places(domains: Mapping[str, Cells], without: World) -> Iterator[list[int]]:
    """For each variable the places of the cells that count."""
    for name, cells in domains.items():
        every = range(len(cells))
        if name in without:
            yield [place for place in every if cells[place].value != without[name]]
        else:
            yield list(every)


@functools.cache
def _one(place: int) -> frozenset[int]:
    return frozenset([place])


_Box: TypeAlias = tuple[frozenset[int], ...]
"""Worlds side by side: for each undecided variable the cells that it may be in."""


def _joined(boxes: list[_Box], ordered: tuple[bool, ...]) -> list[_Box]:
    """Fewer boxes for the same worlds, in the order of variables that leaves fewer: one that is
    joined early can hide that another one does not matter.
    """
    forth = _joined_along(boxes, ordered, range(len(ordered)))
    if len(forth) <= LEAST_BOXES:
        return forth
    back = _joined_along(boxes, ordered, range(len(ordered) - 1, -1, -1))
    return back if len(back) < len(forth) else forth


LEAST_BOXES = 2
"""Boxes that no other order is likely to make fewer."""


def _joined_along(boxes: list[_Box], ordered: tuple[bool, ...], places: range) -> list[_Box]:
    """Boxes that differ in one variable only become one, variable by variable.

    Along an ordered variable only neighbours join, so that a box stays a range.
    """
    known = len(boxes)
    for place in places:
        lines: dict[_Box, list[frozenset[int]]] = {}
        for box in boxes:
            lines.setdefault((*box[:place], *box[place + 1 :]), []).append(box[place])
        unite = _runs if ordered[place] else _whole
        boxes = [
            (*rest[:place], cells, *rest[place:])
            for rest, line in lines.items()
            for cells in unite(line)
        ]
    return boxes if len(boxes) in (known, 1) else _joined_along(boxes, ordered, places)


def _whole(line: list[frozenset[int]]) -> list[frozenset[int]]:
    return [frozenset().union(*line)]


def _runs(line: list[frozenset[int]]) -> list[frozenset[int]]:
    """Ranges, those that touch as one; in their order."""
    found: list[frozenset[int]] = []
    for cells in sorted(line, key=min):
        if found and max(found[-1]) + 1 == min(cells):
            found[-1] |= cells
        else:
            found.append(cells)
    return found


def _clause(box: _Box, domains: Mapping[str, Cells]) -> Clause:
    clause: Clause = {}
    for (name, cells), places in zip(domains.items(), box):
        if len(places) == len(cells):
            continue
        chosen = [cells[place] for place in sorted(places)]
        if all(cell.name is not None for cell in chosen):
            names = [cell.name or "" for cell in chosen]
            clause[name] = names[0] if len(names) == 1 else names
        else:
            clause[name] = Range(from_=chosen[0].low, until=chosen[-1].high)
    return clause
