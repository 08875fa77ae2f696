"""Two streams, record by record: what is to be compared with what, and where they part."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Iterator, Sequence
from difflib import SequenceMatcher
from pathlib import Path
from typing import Literal

import msgspec

from d9m.trace.reading import Placed, RecordStream, sums
from d9m.trace.stream_records import InitialParameters, StepEnd

WINDOW = 20_000
"""Records of one step that are looked through after a fork."""

MOST_PAIRS = 5_000_000
"""Pairs of records with the same key in a window; with more, only its end is matched."""


class Matched(msgspec.Struct, frozen=True):
    """Two records of the same place in both programs."""

    a: Placed
    b: Placed


class Alike(msgspec.Struct, frozen=True):
    """Ops that both streams wrote alike, byte for byte."""

    count: int


class Fork(msgspec.Struct, frozen=True):
    """The programs do different things here: what each does next; None: it ends."""

    a: Placed | None
    b: Placed | None
    more: Literal["A", "B"] | None = None
    """The run that does more here, before both do the same again."""
    records: tuple[Sequence[Placed], Sequence[Placed]] = ((), ())
    """All that each run does here before both do the same again."""


def align(
    a: RecordStream, b: RecordStream, quiet: Callable[[], bool], start: tuple[int, int] | None
) -> Iterator[Matched | Alike | Fork]:
    """Pair the records of both streams in order.

    While `quiet`, ops that are written alike are passed over. `start` names the step of each that
    is the first to be compared: before it nothing is, and no fork there is one.
    """
    if start is not None:
        yield from _from_steps(a, b, start)
    while True:
        if quiet() and (count := a.pass_equal(b)):
            yield Alike(count)
        one, other = a.next(), b.next()
        if one is None or other is None:
            if _goes_on(a, one, b) or _goes_on(b, other, a):
                yield Fork(one, other)
            return
        if one.key == other.key:
            yield Matched(one, other)
        else:
            a.hold([one])
            b.hold([other])
            yield from _matched_again(_window(a), _window(b))


def _goes_on(stream: RecordStream, record: Placed | None, other: RecordStream) -> bool:
    """Whether `stream` does more than `other`, which ended normally."""
    return record is not None and other.ended == "exit"


def _from_steps(
    a: RecordStream, b: RecordStream, start: tuple[int, int]
) -> Iterator[Matched | Fork]:
    """The first step of both, from its end backwards: its beginning holds what only a start does,
    such as making the parameters.
    """
    _skip(a, start[0])
    _skip(b, start[1])
    if start[0] == start[1]:
        return
    one, other = _training(_window(a)), _training(_window(b))
    end = _common_end(one, other)
    for mine, its in zip(one[len(one) - end :], other[len(other) - end :]):
        yield Matched(mine, its)


def _training(records: list[Placed]) -> list[Placed]:
    """Without what is recorded at a start alone."""
    return [placed for placed in records if not isinstance(placed.record, InitialParameters)]


def _skip(stream: RecordStream, step: int) -> None:
    while (record := stream.next()) is not None:
        if record.step >= step:
            stream.hold([record])
            return


def _window(stream: RecordStream) -> list[Placed]:
    """Return what is left of the step, with its end."""
    found: list[Placed] = []
    while len(found) < WINDOW and (record := stream.next()) is not None:
        found.append(record)
        if isinstance(record.record, StepEnd):
            break
    return found


def _matched_again(one: list[Placed], other: list[Placed]) -> Iterator[Matched | Fork]:
    """Pair what can be paired within a step; what is left over are forks."""
    at, its_at = 0, 0
    for block in [*_blocks(one, other), (len(one), len(other), 0)]:
        begin, its_begin, length = block
        if begin > at or its_begin > its_at:
            more = None if begin > at and its_begin > its_at else "A" if begin > at else "B"
            yield Fork(
                one[at] if at < len(one) else None,
                other[its_at] if its_at < len(other) else None,
                more,
                (one[at:begin], other[its_at:its_begin]),
            )
        for place in range(length):
            yield Matched(one[begin + place], other[its_begin + place])
        at, its_at = begin + length, its_begin + length


def _blocks(one: Sequence[Placed], other: Sequence[Placed]) -> list[tuple[int, int, int]]:
    """Places in both, and how many records match from there."""
    end = _common_end(one, other)
    keys = [placed.key for placed in one[: len(one) - end]]
    its_keys = [placed.key for placed in other[: len(other) - end]]
    counts, its_counts = Counter(keys), Counter(its_keys)
    blocks: list[tuple[int, int, int]] = []
    if sum(count * its_counts[key] for key, count in counts.items()) <= MOST_PAIRS:
        matcher = SequenceMatcher(None, keys, its_keys, autojunk=False)
        blocks = [(block.a, block.b, block.size) for block in matcher.get_matching_blocks()]
    return [block for block in [*blocks, (len(keys), len(its_keys), end)] if block[2]]


def _common_end(one: Sequence[Placed], other: Sequence[Placed]) -> int:
    length = 0
    for mine, its in zip(reversed(one), reversed(other)):
        if mine.key != its.key:
            break
        length += 1
    return length


def resumed_after(a: Path, b: Path) -> int | None:
    """The step of run A after which run B goes on: B begins with the parameters that A had then.

    None where both begin with the same parameters, or B with others than A ever had.
    """
    begin = next((whole for letter, _step, whole in sums(b) if letter == "i"), None)
    for letter, step, whole in sums(a):
        if whole == begin:
            return None if letter == "i" else step
    return None
