"""A run that is watched while it is recorded: whether it need not go on."""

from __future__ import annotations

import time
from pathlib import Path

from d9m.errors import D9mError
from d9m.trace import folder
from d9m.trace.comparison import Wanted, compare
from d9m.trace.findings import Findings

LOOK = 1.0
"""Seconds between two looks at a run that is watched."""


def first_step(found: Findings) -> int | None:
    """The first step with any difference, a generator's included; settings are none yet."""
    if not found.causes:
        return None
    began = [cause for cause in found.causes if cause.kind != "settings"]
    began += [cause for cause in found.harmless if cause.kind == "generator"]
    return min(cause.step for cause in began)


class RunWatch:
    """Whether a run that is being recorded need not go on: it has differed for a whole step."""

    def __init__(self, first: Path, other: Path, kb_date: str) -> None:
        self._paths = first, other
        self._kb_date = kb_date
        self._looked = 0.0
        self._size: int = 0

    def __call__(self) -> bool:
        now = time.monotonic()
        size = sum(stream.stat().st_size for stream in folder.streams(self._paths[1]))
        if now - self._looked < LOOK or size == self._size:
            return False
        self._looked, self._size = now, size
        try:
            found = compare(*self._paths, self._kb_date, Wanted(resume=False))
        except D9mError:  # it has only begun
            return False
        step = first_step(found)
        return step is not None and found.runs[1].steps > step + 1
