"""Ops round the first excess, computed again in float64 from what `trace --keep` saved of both."""

from __future__ import annotations

import contextlib
import subprocess
from collections.abc import Sequence
from pathlib import Path

import msgspec

from d9m import files
from d9m.errors import DataError
from d9m.trace import folder
from d9m.trace.findings import ExactCall, Tolerance
from d9m.trace.replay import START, SavedAbout, call_again
from d9m.trace.tolerance import KeptCalls

BEFORE, AFTER = 8, 1
"""Saved ops on either side of the first excess that are computed again."""


def with_exact(found: Tolerance, runs: Sequence[Path], kept: Sequence[KeptCalls]) -> Tolerance:
    """Add which run is further from float64 in the ops round the first excess."""
    record = found.first.record if found.first else 0
    at = sum(number < record for number, _op, _folders in kept)
    near = kept[max(0, at - BEFORE) : at + 1 + AFTER]
    if found.first is None or not near:
        return found
    mine, its = (
        _distances(run / folder.ZOOM, [folders[side] for _number, _op, folders in near])
        for side, run in enumerate(runs)
    )
    exact = [ExactCall(op, line, a, b) for (line, op, _folders), a, b in zip(near, mine, its)]
    return msgspec.structs.replace(found, exact=exact)


def _distances(place: Path, names: Sequence[str | None]) -> list[float | str | None]:
    found = iter(_computed([place / name for name in names if name]))
    return [next(found) if name else None for name in names]


def _computed(places: Sequence[Path]) -> list[float | str]:
    """Return for each saved call how far its results are from those in float64, or why not."""
    if not places:
        return []
    why = "it could not be started"
    with contextlib.suppress(OSError, DataError, subprocess.SubprocessError, *files.UNREADABLE):
        about = msgspec.json.decode(files.content(places[0] / "call.json"), type=SavedAbout)
        code, last = call_again(about.python, ["--exact", *map(str, places)], about.env, START)
        why = f"its process ended with {code}"
        return msgspec.json.decode(last, type=list[float | str])
    return [why] * len(places)
