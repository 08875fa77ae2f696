"""Whether the silence of the advised arm can be chance: a rare difference that no setting touches
is silent, too.
"""

from __future__ import annotations

import math
from collections.abc import Sequence

from d9m.check.messages import Reading

CHANCE = 0.001
"""Likelihood from which on silence proves nothing. A check asks about a hundred times."""

PROCESSES = 0.05
"""The same for processes, counted alone: so often at most is an op called fixed that varies in some
processes and not in others, whatever is set. With fewer odd processes calls are no evidence.
"""


def silence(usual: Sequence[Reading], advised: Sequence[Reading]) -> float:
    """Return how likely the advised arm would be as silent as seen, if the settings changed
    nothing.

    Fisher's exact test, on processes first: those whose calls differ, or whose result is not the
    most common one. The calls of one process depend on each other, for it may have chosen another
    kernel when it started; they are tested only where the processes say the same. A reading that
    chose its own rung counts for nothing, for it was chosen because it differed.
    """
    before = [reading for reading in usual if reading.ran and not reading.chosen]
    after = [reading for reading in advised if reading.ran]
    results = [_only_result(reading) for reading in before]
    same = max((results.count(result) for result in results if result), default=0)
    likely = _all_before(len(before), len(after), len(before) - same)
    if likely <= PROCESSES:
        odd_calls = sum(_odd(reading) for reading in before)
        likely = min(likely, _all_before(_calls(before), _calls(after), odd_calls))
    return likely


def _all_before(before: int, after: int, odd: int) -> float:
    """Return how likely all odd ones of `before + after` lie before, if they lie anywhere."""
    return math.comb(before, odd) / math.comb(before + after, odd) if before else 1.0


def _calls(readings: Sequence[Reading]) -> int:
    return sum(reading.repeats for reading in readings)


def can_prove(processes: int) -> bool:
    """Return whether so many processes of each arm are enough where all of them vary by default.

    >>> can_prove(2), can_prove(3)
    (False, True)
    """
    return _all_before(processes, processes, processes) <= PROCESSES


def _only_result(reading: Reading) -> str | None:
    return next(iter(reading.digests)) if len(reading.digests) == 1 else None


def _odd(reading: Reading) -> int:
    """Calls that differ from the most common result."""
    return reading.repeats - max(reading.digests.values())
