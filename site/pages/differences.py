"""What two answers about everything say differently, op by op."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence

import msgspec

from d9m.api import advise
from d9m.browse.changes import deciding_calls
from d9m.environment.environment import Setup
from d9m.kb.store import KnowledgeBase
from d9m.model.advice import WORST_LAST, Advice, OpAnswer
from d9m.model.records import Outcome
from pages import grid
from pages.grid import GridRow

LEFT: dict[str, tuple[Outcome, ...]] = {
    "Ops without a fix": ("raises", "unsolved"),
    "Ops not verified": ("unknown",),
}
"""What the advised settings do not make deterministic, or not as far as is known."""


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


_Call = tuple[str, str]
"""An op and its arguments, as ``mode=bilinear``."""
_Sides = tuple["ShownAnswer | None", "ShownAnswer | None"]


def _badness(shown: ShownAnswer | None) -> int:
    return WORST_LAST.index(shown.outcome) if shown else -1


def answers(advice: Advice) -> dict[str, OpAnswer]:
    """The ops that have a source, by name."""
    return {op.query: op for op in advice.ops if op.sources and op.query != "*"}


def between(kb: KnowledgeBase, setups: Sequence[Setup], whole: Sequence[Advice]) -> list[Change]:
    """Ops, and calls with an argument, that two setups answer differently, what got worse first.
    `whole`: the answers about everything.
    """
    plain = [answers(each) for each in whole]
    calls = {call for side in plain for op in side.values() for call in deciding_calls(op)}
    sides: list[dict[_Call, ShownAnswer]] = []
    for setup, own in zip(setups, plain):
        wanted = sorted(call for call in calls if call.partition("[")[0] in own)
        called = answers(advise(kb, setup, wanted)) if wanted else {}
        sides.append({_call(op): _shown(kb, each) for op, each in {**own, **called}.items()})
    before, after = sides
    return _named({call: (before.get(call), after.get(call)) for call in {**before, **after}})


def _call(query: str) -> _Call:
    op, _bracket, arguments = query.removesuffix("]").partition("[")
    return op, arguments


def of_rows(rows: Iterable[GridRow], earlier: int, later: int) -> list[Change]:
    """Changes between two lines of a table of releases."""
    changes: dict[_Call, _Sides] = {}
    for row in rows:
        states: list[ShownAnswer | None] = []
        for cell in row.cells:
            if isinstance(cell, int):
                states += [None] * cell
                continue
            by = cell.by if cell.outcome == "solved" else ()
            states += [ShownAnswer(cell.outcome, by, cell.branches)] * cell.width
        changes[row.op, row.arguments] = (states[earlier], states[later])
    return _named(changes)


def _named(changes: Mapping[_Call, _Sides]) -> list[Change]:
    """The changes by names. A call with arguments is named where it changed in another way than its
    op, and than the call with fewer of them.
    """
    own: dict[str, _Sides] = {}
    for (op, arguments), change in changes.items():
        names = set(arguments.split(",")) if arguments else set[str]()
        fewer = [each for each in changes if each[0] == op and changes[each] == change]
        if not any(set(each.split(",")) - {""} < names for _op, each in fewer):
            own[f"{op}({arguments})" if arguments else op] = change
    return _grouped(own)


def _grouped(changes: Mapping[str, _Sides]) -> list[Change]:
    """Ops that changed in the same way, together, what got worse first."""
    groups: dict[_Sides, list[str]] = {}
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
