"""What the processes of one arm saw, as one result: how often a call differed, and by how much."""

from __future__ import annotations

import statistics
from collections import Counter
from collections.abc import Sequence

import msgspec

from d9m.check.messages import Reading
from d9m.model.runs import Bounds

CONFIDENCE = 0.95


class ArmResult(msgspec.Struct, frozen=True, omit_defaults=True):
    """One arm of one probe, over all its processes."""

    repeats: int
    processes: int
    distinct: int
    differing: int
    """Repeats that differ from the most common result."""
    changed: float
    """Largest share of elements that differ between two results of one process."""
    max_ulp: int | None
    """Largest distance between two elements, in units in the last place."""
    raised: str | None
    seconds: float | None
    """Median of one call."""
    quartiles: tuple[float, float] | None = None
    """Between which half of the calls lie, in seconds."""
    only_between_starts: bool = False
    """Every process repeats itself; they differ from each other."""
    failed: str | None = None
    """Why a process did not finish it."""
    warned: list[str] = []
    digest: str | None = None
    """Of the result, where there was only one."""
    same_as: str | None = None

    @property
    def varies(self) -> bool:
        return self.distinct > 1

    @property
    def quiet(self) -> bool:
        return self.distinct == 1 and self.raised is None


def bounds(repeats: int, processes: int) -> Bounds:
    """N quiet observations leave a chance p with (1 - p)^(N - 1) = 5 %: the others are held to the
    first.
    """
    return Bounds(_bound(repeats), _bound(processes))


def _bound(observed: int) -> float:
    return 1 - (1 - CONFIDENCE) ** (1 / (observed - 1)) if observed > 1 else 1.0


def united(readings: Sequence[Reading]) -> ArmResult:
    """One result for the processes of an arm."""
    ran = [reading for reading in readings if reading.ran]
    counts: Counter[str] = Counter()
    for reading in ran:
        counts.update(reading.digests)
    raised = failed = absent = None
    warned: dict[str, None] = {}
    for reading in readings:
        raised = raised or reading.raised
        failed = failed or reading.failed
        absent = absent or reading.absent
        warned.update(dict.fromkeys(reading.warned))
    return ArmResult(
        repeats=counts.total(),
        processes=len(ran),
        distinct=len(counts),
        differing=counts.total() - max(counts.values(), default=0),
        changed=max((reading.changed for reading in ran), default=0.0),
        max_ulp=max(
            (reading.max_ulp for reading in ran if reading.max_ulp is not None), default=None
        ),
        raised=raised,
        seconds=_median([reading.seconds for reading in ran if reading.seconds is not None]),
        quartiles=_middle([reading.quartiles for reading in ran if reading.quartiles is not None]),
        only_between_starts=len(counts) > 1 and all(len(reading.digests) == 1 for reading in ran),
        failed=failed or absent,
        warned=list(warned),
        digest=next(iter(counts)) if len(counts) == 1 else None,
    )


def _median(values: Sequence[float]) -> float | None:
    return statistics.median_low(values) if values else None


def _middle(quartiles: Sequence[tuple[float, float]]) -> tuple[float, float] | None:
    """The quartiles of a usual process."""
    if not quartiles:
        return None
    return (
        statistics.median_low([lower for lower, _upper in quartiles]),
        statistics.median_low([upper for _lower, upper in quartiles]),
    )


def not_run(why: str) -> ArmResult:
    """An arm of which nothing was seen."""
    return msgspec.structs.replace(united([]), failed=why)
