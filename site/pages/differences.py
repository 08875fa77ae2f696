"""What two answers about everything say differently, op by op."""

from __future__ import annotations

import itertools

import msgspec

from d9m.model.advice import WORST_LAST, Advice, OpAnswer
from d9m.model.records import Outcome

LEFT: tuple[Outcome, ...] = ("unknown", "raises", "unsolved")
"""What the advised settings do not make deterministic."""


class Change(msgspec.Struct, frozen=True):
    """Ops that changed in the same way."""

    ops: tuple[str, ...]
    before: OpAnswer | None
    """None: not there, or no record is about it."""
    after: OpAnswer | None

    @property
    def worse(self) -> bool:
        return _badness(self.after) > _badness(self.before)


def _badness(op: OpAnswer | None) -> int:
    return WORST_LAST.index(op.outcome) if op else -1


def answers(advice: Advice) -> dict[str, OpAnswer]:
    """The ops that meet a source, by name."""
    return {op.query: op for op in advice.ops if op.sources and op.query != "*"}


def between(earlier: Advice, later: Advice) -> list[Change]:
    """Ops that are answered differently, what got worse first."""
    before, after = answers(earlier), answers(later)
    found: list[tuple[str, OpAnswer | None, OpAnswer | None]] = []
    for op in sorted({*before, *after}, key=str.lower):
        one, two = before.get(op), after.get(op)
        if _answer(one) != _answer(two):
            found.append((op, one, two))
    found.sort(key=lambda each: (_answer(each[1]), _answer(each[2])))
    groups = itertools.groupby(found, key=lambda each: (_answer(each[1]), _answer(each[2])))
    joined = [[*group] for _answers, group in groups]
    several = [Change(tuple(op for op, _one, _two in group), *group[0][1:]) for group in joined]
    return sorted(several, key=lambda each: (not each.worse, each.ops))


def _answer(op: OpAnswer | None) -> tuple[str, ...]:
    return (op.outcome, op.default, *op.solutions) if op else ()
