"""The grammar of `when`, and the worlds in which conditions are decided.

A condition is a disjunction of clauses; a clause restricts some *variables*
(packages, facts, ``device``). What the user left open is not a third truth
value but several *worlds*: each undecided variable is cut into the cells that
no condition at hand can tell apart, and each combination of cells is a world
in which everything is plainly true or false. Worlds with the same answer are
joined again, and what they have in common is the answer's residual `when`.
"""

from __future__ import annotations

import functools
import itertools
from collections.abc import Callable, Hashable, Iterable, Mapping, Sequence
from typing import TypeAlias, TypeVar

import msgspec

from d9m.model.records import Allowed, Clause, Range, When
from d9m.model.versions import FIRST, Key, key

Value: TypeAlias = Key | str | int | None
"""A variable in one world: a release's key, a fact's value, or None for an absent package."""

World: TypeAlias = Mapping[str, Value]


ABSENT = "absent"
"""What a `when` says of a package that must not be there."""


class Restriction(msgspec.Struct, frozen=True):
    """What one clause says of one variable."""

    values: tuple[str, ...] = ()
    """One of these; empty where ``bounded``."""
    bounded: bool = False
    from_: str | None = None
    until: str | None = None

    def bounds(self) -> tuple[str, ...]:
        """Where it divides an ordered domain; a single number is an interval of its own."""
        around = [
            edge
            for value in self.values
            if value.isdigit()
            for edge in (value, str(int(value) + 1))
        ]
        return (*around, *(bound for bound in (self.from_, self.until) if bound is not None))

    def allows(self, value: Value) -> bool:
        if not self.bounded:
            return (ABSENT if value is None else str(value)) in self.values
        if value is None:
            return False
        low = True if self.from_ is None else _place(self.from_, value) <= value  # type: ignore[operator]
        return low and (self.until is None or value < _place(self.until, value))  # type: ignore[operator]


def _place(bound: str, like: Value) -> Key | int:
    return int(bound) if isinstance(like, int) else key(bound)


Condition: TypeAlias = tuple[Mapping[str, Restriction], ...]
"""Clauses of which one must hold. One without restrictions always does."""


def parse(when: When) -> Condition:
    """The typed form of a record's `when`."""
    clauses: Sequence[Clause] = when if isinstance(when, list) else [when]
    return tuple(
        {name: _restriction(allowed) for name, allowed in clause.items()} for clause in clauses
    )


def _restriction(allowed: str | list[str] | Range) -> Restriction:
    if isinstance(allowed, Range):
        return Restriction(bounded=True, from_=allowed.from_, until=allowed.until)
    return Restriction(values=(allowed,) if isinstance(allowed, str) else tuple(allowed))


def holds(condition: Condition, world: World) -> bool:
    """Whether a condition holds in a world; a variable that the world lacks is an absent
    package.
    """
    for clause in condition:
        for name, restriction in clause.items():
            if not restriction.allows(world[name]):
                break
        else:
            return True
    return False


def cuts(conditions: Iterable[Condition]) -> dict[str, tuple[str, ...]]:
    """Every variable that the conditions restrict, with all bounds at which they divide it."""
    found: dict[str, set[str]] = {}
    for condition in conditions:
        for clause in condition:
            for name, restriction in clause.items():
                found.setdefault(name, set()).update(restriction.bounds())
    return {name: tuple(sorted(bounds)) for name, bounds in found.items()}


Cuts: TypeAlias = Mapping[str, tuple[str, ...]]
"""Variables that a condition restricts, with the bounds at which it divides them."""

_READ: dict[int, tuple[When, Condition, Cuts]] = {}
_MOST_READ = 100_000


def read(when: When) -> tuple[Condition, Cuts]:
    """The typed form of a record's `when` and its cuts, remembered: a record never changes.

    The memory goes by identity, since records cannot be hashed, and holds each
    `when` so that no other object takes its identity.
    """
    known = _READ.get(id(when))
    if known is None:
        if len(_READ) == _MOST_READ:
            _READ.clear()
        condition = parse(when)
        known = _READ[id(when)] = (when, condition, cuts([condition]))
    return known[1], known[2]


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
    values = [value for value in _restriction(first).values if value in _restriction(second).values]
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
            return united(
                [joined if each is first else each for each in found if each is not second]
            )
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
    bounds = [
        bound
        for place, bound in enumerate(bounds)
        if place == 0 or of(bound) != of(bounds[place - 1])
    ]
    edges = [None, *bounds, None]
    return tuple(
        Cell(first if low is None else of(low), low, high)
        for low, high in itertools.pairwise(edges)
    )


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


def by_answer(
    domains: Mapping[str, Cells], answer: Callable[[World], Answer]
) -> list[tuple[Clause, Answer]]:
    """Every distinct answer over all worlds, with the clause that leads to it.

    An answer whose worlds are not one clause comes once for each clause. Order
    is that of the worlds.
    """
    if all(len(cells) == 1 for cells in domains.values()):
        return [({}, answer({name: cells[0].value for name, cells in domains.items()}))]
    open_ = {name: cells for name, cells in domains.items() if len(cells) > 1}
    decided = {name: cells[0].value for name, cells in domains.items() if len(cells) == 1}
    boxes: dict[Answer, list[_Box]] = {}
    for places in itertools.product(*(range(len(cells)) for cells in open_.values())):
        world = dict(decided)
        for (name, cells), place in zip(open_.items(), places):
            world[name] = cells[place].value
        boxes.setdefault(answer(world), []).append(tuple(frozenset([place]) for place in places))
    ordered = tuple(cells[0].name is None for cells in open_.values())
    return [
        (_clause(box, open_), each)
        for each, group in boxes.items()
        for box in _joined(group, ordered)
    ]


_Box: TypeAlias = tuple[frozenset[int], ...]
"""Worlds side by side: for each undecided variable the cells that it may be in."""


def _joined(boxes: list[_Box], ordered: tuple[bool, ...]) -> list[_Box]:
    """Fewer boxes for the same worlds: those that differ in one variable only become one, variable
    by variable.

    Along an ordered variable only neighbours join, so that a box stays a range.
    """
    known = len(boxes)
    for place in range(len(ordered)):
        lines: dict[_Box, list[frozenset[int]]] = {}
        for box in boxes:
            lines.setdefault((*box[:place], *box[place + 1 :]), []).append(box[place])
        unite = _runs if ordered[place] else _whole
        boxes = [
            (*rest[:place], cells, *rest[place:])
            for rest, line in lines.items()
            for cells in unite(line)
        ]
    return boxes if len(boxes) in (known, 1) else _joined(boxes, ordered)


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
