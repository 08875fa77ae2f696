"""What two answers about everything say differently, op by op."""

from __future__ import annotations

from collections.abc import Iterable, Mapping

import msgspec

from d9m.kb.store import KnowledgeBase
from d9m.model.advice import WORST_LAST, Advice, OpAnswer
from d9m.model.records import Outcome
from pages import grid
from pages.grid import GridRow

LEFT: tuple[Outcome, ...] = ("unknown", "raises", "unsolved")
"""What the advised settings do not make deterministic."""


class ShownAnswer(msgspec.Struct, frozen=True):
    """What a page shows of an answer: what has no part in its outcome is left out."""

    outcome: Outcome
    solutions: tuple[str, ...]
    """Labels; none where they do not make the op deterministic."""
    branches: str
    """What decides, where the outcome depends on something; else empty."""


class Change(msgspec.Struct, frozen=True):
    """Ops that changed in the same way."""

    ops: tuple[str, ...]
    before: ShownAnswer | None
    """None: not there, or no record is about it."""
    after: ShownAnswer | None

    @property
    def worse(self) -> bool:
        return _badness(self.after) > _badness(self.before)


def _badness(shown: ShownAnswer | None) -> int:
    return WORST_LAST.index(shown.outcome) if shown else -1


def answers(advice: Advice) -> dict[str, OpAnswer]:
    """The ops that have a source, by name."""
    return {op.query: op for op in advice.ops if op.sources and op.query != "*"}


def between(kb: KnowledgeBase, earlier: Advice, later: Advice) -> list[Change]:
    """Ops that are answered differently, what got worse first."""
    before, after = (
        {op: _shown(kb, answer) for op, answer in answers(each).items()}
        for each in (earlier, later)
    )
    return grouped({op: (before.get(op), after.get(op)) for op in {*before, *after}})


def of_rows(rows: Iterable[GridRow], earlier: int, later: int) -> list[Change]:
    """Changes between two lines of a table of releases. A call with an argument is named where it
    changed in another way than its op.
    """
    changes: dict[str, tuple[ShownAnswer | None, ShownAnswer | None]] = {}
    for row in rows:
        states: list[ShownAnswer | None] = []
        for cell in row.cells:
            if isinstance(cell, int):
                states += [None] * cell
                continue
            by = cell.by if cell.outcome == "solved" else ()
            states += [ShownAnswer(cell.outcome, by, cell.branches)] * cell.width
        change = (states[earlier], states[later])
        if not row.arguments:
            changes[row.op] = change
        elif change != changes[row.op]:
            changes[f"{row.op}({row.arguments})"] = change
    return grouped(changes)


def grouped(
    changes: Mapping[str, tuple[ShownAnswer | None, ShownAnswer | None]],
) -> list[Change]:
    """Ops that changed in the same way, together, what got worse first."""
    groups: dict[tuple[ShownAnswer | None, ShownAnswer | None], list[str]] = {}
    for op, (one, two) in sorted(changes.items(), key=lambda each: each[0].lower()):
        if one != two:
            groups.setdefault((one, two), []).append(op)
    found = [Change(tuple(ops), one, two) for (one, two), ops in groups.items()]
    return sorted(found, key=lambda each: (not each.worse, each.ops))


def _shown(kb: KnowledgeBase, op: OpAnswer) -> ShownAnswer:
    solutions = tuple(op.solutions) if op.outcome == "solved" else ()
    return ShownAnswer(
        op.outcome, solutions, grid.branches(kb, op) if op.outcome == "depends" else ""
    )
