"""What each op does in each line of releases: the cells of the status tables."""

from __future__ import annotations

import itertools
from collections.abc import Iterable, Iterator, Mapping, Sequence

import msgspec

from d9m.api import advise
from d9m.browse.changes import deciding_calls
from d9m.environment.environment import DEVICES, Setup
from d9m.kb.store import KnowledgeBase
from d9m.model.advice import WORST_LAST, Advice, OpAnswer
from d9m.model.op_syntax import BOTH, Direction
from d9m.model.records import Default, Outcome
from d9m.model.versions import minor
from pages import phrases


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
    branches: str
    """What decides, where the outcome depends on something; else empty."""
    first: MinorRelease
    last: MinorRelease
    width: int
    """Number of lines."""


class GridRow(msgspec.Struct, frozen=True):
    op: str
    arguments: str
    """``mode=bilinear`` where a row is about such calls only; empty for the op as it is called
    without.
    """
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
        ops = [op for op in advice.ops if op.query == "*" or f"{package}:{op.query}" in kb.ops]
        return msgspec.structs.replace(advice, ops=ops)

    return kb.once(("answer", package, release, device), found)


def grids(kb: KnowledgeBase, package: str) -> list[Grid]:
    """One for each device on which any source applies; several rooms ask for them."""
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
    answers = [_judged(answer(kb, package, line.newest, device)) for line in every]
    deciding: dict[str, set[str]] = {}
    for here in answers:
        for op, answered in here.items():
            deciding.setdefault(op, set()).update(deciding_calls(answered))
    calls = [
        _called(kb, Setup(((package, line.newest),), device=device), here, deciding)
        for line, here in zip(every, answers)
    ]
    for op in sorted(deciding, key=str.lower):
        plain = _row(kb, op, [each.get(op) for each in answers], every)
        yield plain
        like: dict[tuple[GridCell | int, ...], list[str]] = {}
        rows: dict[tuple[GridCell | int, ...], GridRow] = {}
        for call in sorted(deciding[op]):
            row = _row(kb, op, [each.get(call) for each in calls], every)
            if row.cells != plain.cells:
                like.setdefault(row.cells, []).append(call[len(op) + 1 : -1])
                rows[row.cells] = row
        for cells, row in rows.items():
            yield msgspec.structs.replace(row, arguments=" or ".join(like[cells]))


def _row(
    kb: KnowledgeBase, op: str, answers: Sequence[OpAnswer | None], every: Sequence[MinorRelease]
) -> GridRow:
    ways: set[Direction] = set()
    for found in answers:
        for source in found.sources if found else ():
            ways.update(source.direction)
    cells = tuple(_cells(kb, answers, every))
    return GridRow(op, "", tuple(way for way in BOTH if way in ways), cells)


def _called(
    kb: KnowledgeBase, setup: Setup, here: Iterable[str], deciding: Mapping[str, set[str]]
) -> dict[str, OpAnswer]:
    """The answers of calls whose arguments decide in some release, as ``op[mode=bilinear]``."""
    wanted = sorted(call for op in here for call in deciding[op])
    if not wanted:
        return {}
    return {op.query: op for op in advise(kb, setup, wanted).ops if op.sources}


def _judged(advice: Advice) -> dict[str, OpAnswer]:
    """Ops that meet a source, by name."""
    return {op.query: op for op in advice.ops if op.sources and op.query != "*"}


def _cells(
    kb: KnowledgeBase, answers: Sequence[OpAnswer | None], every: Sequence[MinorRelease]
) -> Iterator[GridCell | int]:
    states = [_state(kb, each) if each else None for each in answers]
    place = 0
    for state, group in itertools.groupby(states):
        width = len(list(group))
        if state is None:
            yield width
        else:
            last = every[place + width - 1]
            yield GridCell(*state, first=every[place], last=last, width=width)
        place += width


def _state(kb: KnowledgeBase, op: OpAnswer) -> tuple[Outcome, Default, tuple[str, ...], str, str]:
    worst = max(op.sources, key=lambda each: WORST_LAST.index(each.outcome))
    by = tuple(op.solutions)
    if op.outcome == "raises" and worst.raised_by:
        by = (worst.raised_by,)
    said = branches(kb, op) if op.outcome == "depends" else ""
    return op.outcome, op.default, by, worst.id, said


def branches(kb: KnowledgeBase, op: OpAnswer) -> str:
    """What an op does under each condition, best first."""
    said: dict[str, None] = {}
    for source in op.sources:
        for branch in source.possible if source.outcome == "depends" else ():
            condition = phrases.plain(kb, branch.when)
            said.setdefault(f"{phrases.WORDS[branch.outcome]} {condition}".rstrip())
    return "; ".join(said)
