"""Whether the silence of the advised arm can be chance: a rare difference that no setting touches
is silent, too.
"""

from __future__ import annotations

import math
from collections.abc import Sequence

from d9m.check.messages import Reading

CHANCE = 0.001
"""Likelihood from which on silence proves nothing. A check asks about a hundred times."""


def silence(usual: Sequence[Reading], advised: Sequence[Reading]) -> float:
    """How likely the advised arm would be as silent as it is, if the settings changed nothing.

    Fisher's exact test on calls, and on process starts where every process repeats itself. A
    reading that chose its own rung counts for nothing, for it was chosen because it differed; and
    calls that differ in one process of several say that this process was another, not how often
    calls differ."""
    before = [reading for reading in usual if reading.ran and not reading.chosen]
    after = [reading for reading in advised if reading.ran]
    restless = [reading for reading in before if len(reading.digests) > 1]
    starts = [_most_common(reading) for reading in before]
    odd_starts = len(starts) - max((starts.count(start) for start in starts), default=0)
    likely = _all_before(len(before), len(after), odd_starts)
    if len(restless) > 1 or len(before) == 1:
        odd_calls = sum(_odd(reading) for reading in restless)
        likely = min(likely, _all_before(_calls(before), _calls(after), odd_calls))
    return likely


def _all_before(before: int, after: int, odd: int) -> float:
    """How likely all odd ones of `before + after` lie before, if they lie anywhere."""
    return math.comb(before, odd) / math.comb(before + after, odd) if before else 1.0


def _calls(readings: Sequence[Reading]) -> int:
    return sum(reading.repeats for reading in readings)


def _most_common(reading: Reading) -> str:
    return max(reading.digests, key=reading.digests.__getitem__)


def _odd(reading: Reading) -> int:
    """Calls that differ from the most common result."""
    return reading.repeats - max(reading.digests.values())
