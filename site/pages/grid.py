"""What each op does in each line of releases: the cells of the status tables."""

from __future__ import annotations

import itertools
from collections.abc import Iterator, Sequence

import msgspec

from d9m.api import advise
from d9m.environment.environment import DEVICES, Setup
from d9m.kb.store import KnowledgeBase
from d9m.model.advice import WORST_LAST, Advice, OpAnswer
from d9m.model.op_syntax import BOTH, Direction
from d9m.model.records import Default, Outcome
from d9m.model.versions import minor


class MinorRelease(msgspec.Struct, frozen=True):
    """Releases that share their first two numbers; the newest stands for them."""

    name: str
    releases: tuple[str, ...]

    @property
    def newest(self) -> str:
        return self.releases[-1]


class GridCell(msgspec.Struct, frozen=True):
    """What an op does in some lines that follow each other."""

    outcome: Outcome
    default: Default
    by: tuple[str, ...]
    """Labels that solve it, or that raise."""
    source: str
    """The record that decides: the worst."""
    first: MinorRelease
    last: MinorRelease
    width: int
    """Number of lines."""


class GridRow(msgspec.Struct, frozen=True):
    op: str
    directions: tuple[str, ...]
    cells: tuple[GridCell | int, ...]
    """A number: so many lines in which the op is not there, or meets nothing."""


class Grid(msgspec.Struct, frozen=True):
    package: str
    device: str
    lines: tuple[MinorRelease, ...]
    rows: tuple[GridRow, ...]


def lines(kb: KnowledgeBase, package: str) -> tuple[MinorRelease, ...]:
    """Oldest first."""
    groups = itertools.groupby(kb.releases(package), key=minor)
    return tuple(MinorRelease(name, tuple(releases)) for name, releases in groups)


def answer(kb: KnowledgeBase, package: str, release: str, device: str) -> Advice:
    """Everything known of one release, and of its own ops: a library brings its framework along,
    which has pages of its own.
    """

    def found() -> Advice:
        advice = advise(kb, Setup(((package, release),), device=device))
        own = set(kb.ops)
        ops = [op for op in advice.ops if op.query == "*" or f"{package}:{op.query}" in own]
        return msgspec.structs.replace(advice, ops=ops)

    return kb.once(("answer", package, release, device), found)


def grids(kb: KnowledgeBase, package: str) -> list[Grid]:
    """One for each device on which anything is met; several rooms ask for them."""
    return kb.once(("grids", package), lambda: _grids(kb, package))


def _grids(kb: KnowledgeBase, package: str) -> list[Grid]:
    every = lines(kb, package)
    found: list[Grid] = []
    for device in DEVICES:
        rows = tuple(_rows(kb, package, device, every))
        if rows:
            found.append(Grid(package, device, every, rows))
    return found


def _rows(
    kb: KnowledgeBase, package: str, device: str, every: Sequence[MinorRelease]
) -> Iterator[GridRow]:
    answers = [_met(answer(kb, package, line.newest, device)) for line in every]
    for op in sorted(set[str]().union(*answers), key=str.lower):
        met = [ops.get(op) for ops in answers]
        ways: set[Direction] = set()
        for found in met:
            for source in found.sources if found else ():
                ways.update(source.direction)
        yield GridRow(op, tuple(way for way in BOTH if way in ways), tuple(_cells(met, every)))


def _met(advice: Advice) -> dict[str, OpAnswer]:
    """Ops that meet a source, by name."""
    return {op.query: op for op in advice.ops if op.sources and op.query != "*"}


def _cells(
    met: Sequence[OpAnswer | None], every: Sequence[MinorRelease]
) -> Iterator[GridCell | int]:
    states = [_state(each) if each else None for each in met]
    place = 0
    for state, group in itertools.groupby(states):
        width = len(list(group))
        if state is None:
            yield width
        else:
            outcome, default, by, source = state
            yield GridCell(
                outcome, default, by, source, every[place], every[place + width - 1], width
            )
        place += width


def _state(op: OpAnswer) -> tuple[Outcome, Default, tuple[str, ...], str]:
    worst = max(op.sources, key=lambda each: WORST_LAST.index(each.outcome))
    by = tuple(op.solutions)
    if op.outcome == "raises" and worst.raised_by:
        by = (worst.raised_by,)
    return op.outcome, op.default, by, worst.id
