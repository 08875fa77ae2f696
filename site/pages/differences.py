"""What two answers about everything say differently, op by op."""

from __future__ import annotations

import msgspec

from d9m.kb.store import KnowledgeBase
from d9m.model.advice import WORST_LAST, Advice, OpAnswer
from d9m.model.records import Outcome
from pages import grid

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
    before, after = answers(earlier), answers(later)
    groups: dict[tuple[ShownAnswer | None, ShownAnswer | None], list[str]] = {}
    for op in sorted({*before, *after}, key=str.lower):
        one, two = _shown(kb, before.get(op)), _shown(kb, after.get(op))
        if one != two:
            groups.setdefault((one, two), []).append(op)
    found = [Change(tuple(ops), one, two) for (one, two), ops in groups.items()]
    return sorted(found, key=lambda each: (not each.worse, each.ops))


def _shown(kb: KnowledgeBase, op: OpAnswer | None) -> ShownAnswer | None:
    if op is None:
        return None
    solutions = tuple(op.solutions) if op.outcome == "solved" else ()
    return ShownAnswer(
        op.outcome, solutions, grid.branches(kb, op) if op.outcome == "depends" else ""
    )
