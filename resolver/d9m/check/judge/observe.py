"""The results of all processes of an arm as one: how often calls differed, and by how much."""

from __future__ import annotations

import statistics
from collections import Counter
from collections.abc import Iterable, Mapping, Sequence

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
    failed: str | None = None
    """Why a process did not finish it."""
    digest: str | None = None
    """Of the result, where there was only one."""
    same_as: str | None = None

    @property
    def varies(self) -> bool:
        return self.distinct > 1

    @property
    def quiet(self) -> bool:
        return self.distinct == 1 and self.raised is None


def varies_by_default(arms: Mapping[str, ArmResult]) -> bool:
    """Return whether two results differ that were made without settings, of one process or of two.

    >>> varies_by_default({})
    False
    """
    found = [arms[name] for name in ("default", "default-again") if name in arms]
    return any(arm.varies for arm in found) or len({arm.digest for arm in found if arm.quiet}) > 1


def bounds(arms: Iterable[ArmResult]) -> Bounds:
    """Return how often a call, or a process start, may give another than the usual result at most,
    with a confidence of 95 %, in the quiet arm that says least. A rate that was seen is no bound.

    All of N results are equal with a chance of at most (1 - p)^(N - 1), if each is the usual one
    with a chance of 1 - p.
    """
    quiet = [arm for arm in arms if arm.quiet]
    repeats = min((arm.repeats for arm in quiet), default=0)
    processes = min((arm.processes for arm in quiet), default=0)
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
    for reading in readings:
        raised = raised or reading.raised
        failed = failed or reading.failed
        absent = absent or reading.absent
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
        failed=failed or absent,
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
