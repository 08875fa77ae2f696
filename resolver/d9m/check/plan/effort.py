"""The effort of a check."""

from __future__ import annotations

import msgspec


class Effort(msgspec.Struct, frozen=True):
    """Numbers of repeats and processes, and limits of time."""

    repeats: int = 32
    processes: int = 3
    again: int = 1
    """Processes of the arms that only guard: default-again, advised-no-fill."""
    budget: float = 1.0
    """Seconds for the repeats of one probe in one process; slow ops get fewer repeats."""
    calls: int = 32
    """Repeats of a collective: every rank has to make the same number, however slow it is."""
    climb: bool = True
    """Whether ladders are climbed, or only their first rung is tried."""
    total: float | None = None
    """Seconds for all processes of a framework, of which each gets the same share; None: as long as
    their repeats take.
    """


QUICK = Effort(repeats=96, budget=0.5, climb=False, total=54.0)
NORMAL = Effort()
FULL = Effort(repeats=100, processes=8, again=3, budget=10.0, calls=100)
