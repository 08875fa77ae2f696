"""How much longer a longer text takes, and how much work there is to more of anything."""

from __future__ import annotations

import gc
import sys
import time
from collections.abc import Callable
from types import FrameType

TIMES = 8
"""How many times as long the longer text is."""

LINEAR = 32
"""Between 8, of work that grows with its text, and 64, of work that grows with its square. Memory
beyond a cache and other work on the machine make it up to 24.
"""

ENOUGH = 0.012
"""Seconds of work that can be compared with the work of more."""


def growth(work: Callable[[int], object], most: int) -> float:
    """How many times longer eight times as much takes, without what any text takes; the least of a
    few tries, for a busy machine makes it more, never less. 0 where `most` takes next to nothing.
    """
    gc.collect()
    gc.freeze()  # what other tests hold: a collection need not walk over it again
    try:
        return _growth(work, most)
    finally:
        gc.unfreeze()


def _growth(work: Callable[[int], object], most: int) -> float:
    anyway = _seconds(work, 1)
    size = most // 64
    while (took := _seconds(work, size) - anyway) < ENOUGH:
        if size >= most:
            return 0
        size *= 2
    found: list[float] = []
    for _ in range(4):
        found.append((_seconds(work, TIMES * size) - anyway) / took)
        if found[-1] < LINEAR:
            break
        took = max(_seconds(work, size) - anyway, ENOUGH / 2)
    return min(found)


def _seconds(work: Callable[[int], object], size: int) -> float:
    gc.collect()
    gc.disable()  # it walks over all that there is
    began = time.process_time()
    work(size)
    took = time.process_time() - began
    gc.enable()
    return took


def calls(work: Callable[[], object]) -> int:
    """Functions that it calls: work that no busy machine makes more."""
    count = 0

    def called(_frame: FrameType, event: str, _argument: object) -> None:
        nonlocal count
        count += event in ("call", "c_call")

    before = sys.getprofile()
    sys.setprofile(called)
    try:
        work()
    finally:
        sys.setprofile(before)
    return count
