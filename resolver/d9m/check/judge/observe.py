"""From what the processes of an arm told to one line: how many repeats, how many results, how far apart."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, TypeAlias

import msgspec

from d9m.model.runs import Bounds

Found: TypeAlias = dict[str, Any]
"""What one process told of one probe."""

CONFIDENCE = 0.95


class ArmResult(msgspec.Struct, frozen=True, omit_defaults=True):
    """One arm of one probe, over all its processes."""

    repeats: int
    processes: int
    distinct: int
    differing: int
    """Repeats that differ from the first of the first process."""
    changed: float
    """Largest share of elements that differ between two results of one process."""
    max_ulp: int | None
    """Largest distance between two elements, in units in the last place."""
    raised: str | None
    seconds: float | None
    """Median of one call."""
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
    """N quiet observations leave a chance p with (1 - p)^(N - 1) = 5 %: the others are held to the first."""
    return Bounds(_bound(repeats), _bound(processes))


def _bound(observed: int) -> float:
    return 1 - (1 - CONFIDENCE) ** (1 / (observed - 1)) if observed > 1 else 1.0


def united(told: Sequence[Found]) -> ArmResult:
    """One result for the processes of an arm."""
    ran = [each for each in told if "digests" in each]
    raised = next((each["raised"] for each in told if each.get("raised")), None)
    failed = next((each["failed"] for each in told if each.get("failed")), None)
    absent = next((each["absent"] for each in told if each.get("absent")), None)
    counts: dict[str, int] = {}
    for each in ran:
        for digest, often in each["digests"].items():
            counts[digest] = counts.get(digest, 0) + often
    first = next(iter(counts), None)
    ulps = [each["max_ulp"] for each in ran if each["max_ulp"] is not None]
    seconds = sorted(each["seconds"] for each in ran)
    return ArmResult(
        repeats=sum(counts.values()),
        processes=len(ran),
        distinct=len(counts),
        differing=sum(counts.values()) - (counts[first] if first else 0),
        changed=max((each["changed"] for each in ran), default=0.0),
        max_ulp=max(ulps, default=None),
        raised=raised,
        seconds=seconds[len(seconds) // 2] if seconds else None,
        only_between_starts=len(counts) > 1 and all(len(each["digests"]) == 1 for each in ran),
        failed=failed or absent,
        warned=list(dict.fromkeys(text for each in told for text in each.get("warned", ()))),
        digest=first if len(counts) == 1 else None,
    )
