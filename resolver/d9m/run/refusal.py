"""Ops that refused to run because they have no deterministic version, as the records know them."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from typing import Any

from d9m.browse.explain import explain
from d9m.browse.explanation import Explanation
from d9m.environment.environment import Setup
from d9m.errors import D9mError
from d9m.kb.store import KnowledgeBase
from d9m.run.plan import SettingNote
from d9m.run.report import RefusedOp


def refused_op(
    kb: KnowledgeBase, setup: Setup, notes: Iterable[Sequence[Mapping[str, Any]]]
) -> RefusedOp | None:
    """Return the first op that ended a process; None where none did."""
    for line in (line for lines in notes for line in lines):
        known = _known(kb, setup, line["error"]) if line.get("error") else None
        if known is not None:
            place = place_of(line)
            return RefusedOp(known.ops, place, line["error"], known.id, known.advice)
    return None


def warned_ops(
    kb: KnowledgeBase, setup: Setup, notes: Iterable[Sequence[Mapping[str, Any]]]
) -> list[SettingNote]:
    """Return the ops that warned instead, each once."""
    found: dict[str, SettingNote] = {}
    for line in (line for lines in notes for line in lines):
        if line["kind"] == "warned":
            known = _known(kb, setup, line["why"])
            name = known.ops[0] if known is not None and known.ops else line["why"]
            why = f"no deterministic version, called at {place_of(line) or 'an unknown place'}"
            found.setdefault(name, SettingNote(name, why))
    return list(found.values())


def place_of(line: Mapping[str, Any]) -> str | None:
    """Return file and line of the program in a note."""
    return "{}:{}".format(*line["places"][-1]) if line["places"] else None


def _known(kb: KnowledgeBase, setup: Setup, text: str) -> Explanation | None:
    try:
        found = explain(kb, text, setup if setup.packages else None).found
    except D9mError:
        return None
    return next((each for each in found if each.kind != "notice"), None)
