"""The lines of a recording, undecoded. What two recordings have alike is compared in blocks."""

from __future__ import annotations

import re
from collections.abc import Iterator
from pathlib import Path

from d9m.errors import DataError, quote, reason
from d9m.trace.inject._d9m_recorder.core import seals

LONGEST = 1 << 24
"""Bytes of one line."""
BLOCK = 1 << 16
FIRST_LOOK = 512
"""Bytes that are compared first: the next line is often another one."""

_OTHER_THAN_OPS = re.compile(rb'\n(?!\["o")')


class WholeLines:
    """The lines of a file that are complete; of a file that grows, when they are asked for.

    Raises DataError where the file cannot be read, and for a line that is not as it was written.
    """

    def __init__(self, file: Path) -> None:
        self.number = 0
        """How many were read or passed over."""
        self._file = file
        self._blocks = _blocks(file)
        self._block = b""
        self._at = 0

    def next(self) -> bytes | None:
        """The next one, without its seal; None after the last."""
        end = self._block.find(b"\n", self._at)
        if end < 0:
            if not self._left():
                return None
            end = self._block.index(b"\n")
        line = self._block[self._at : end]
        self._at = end + 1
        return self._opened(line)

    def pass_equal_ops(self, other: WholeLines) -> int:
        """Pass over the ops that both files have alike from here on; how many there were."""
        count, look = 0, FIRST_LOOK
        while (left := self._left()) and (its_left := other._left()):
            size = min(look, left, its_left)
            mine = self._block[self._at : self._at + size]
            alike = _alike(mine, other._block[other._at : other._at + size])
            ops = _ops(mine, alike)
            lines = mine[:ops].split(b"\n")[:-1]
            if not seals.are_whole(lines):
                for line in lines:
                    self._opened(line)
            self.number += len(lines)
            count += len(lines)
            self._at += ops
            other._at += ops
            if alike < size or b"\n" in mine[ops:]:
                break
            look *= 2
        other.number += count
        return count

    def _opened(self, line: bytes) -> bytes:
        self.number += 1
        data = seals.opened(line)
        if data is None:
            raise damaged(self._file, self.number)
        return data

    def _left(self) -> int:
        """Bytes of the block that were not read; those of the next one if there are none."""
        if self._at == len(self._block):
            self._block, self._at = next(self._blocks, b""), 0
        return len(self._block) - self._at


def starting(file: Path, letters: str) -> Iterator[bytes]:
    """The lines of a recording that begin with one of so many letters, without their seals."""
    pattern = re.compile(rb'\n(\["[' + letters.encode() + rb']".*)')
    passed = 0
    for block in _blocks(file):
        block = b"\n" + block
        for found in pattern.finditer(block):
            data = seals.opened(found[1])
            if data is None:
                raise damaged(file, passed + block.count(b"\n", 0, found.start(1)))
            yield data
        passed += block.count(b"\n") - 1


def damaged(file: Path, line: int, why: str = "its checksum does not fit") -> DataError:
    """Return what to raise for a line of a recording; the first one is line 1."""
    return DataError(f"{quote(str(file))} is damaged at line {line}: {why}")


def first_line(file: Path) -> bytes:
    """As it is in the file, with its seal. Empty where no line is complete."""
    return next(_blocks(file), b"").partition(b"\n")[0]


def _blocks(file: Path) -> Iterator[bytes]:
    """Complete lines, many at once. What follows the last one was cut off, unless it is more than a
    line.
    """
    passed = 0
    rest = b""
    try:
        with open(file, "rb", buffering=0) as opened:
            while block := opened.read(BLOCK):
                end = block.rfind(b"\n") + 1
                passed += block.count(b"\n")
                if end:
                    yield rest + block[:end]
                    rest = b""
                rest += block[end:]
                if len(rest) > LONGEST:
                    raise DataError(f"{quote(str(file))} is not a recording of d9m: no line ends")
            if seals.opened(rest[:-1]) is not None:
                raise damaged(file, passed + 1, "its last line was changed")
    except OSError as error:
        raise DataError(f"cannot read {quote(str(file))}: {reason(error)}") from None


def _alike(mine: bytes, its: bytes) -> int:
    """With how many equal bytes two of the same length begin."""
    if mine == its:
        return len(mine)
    low, high = 0, len(mine)
    while low < high:
        middle = (low + high + 1) // 2
        if mine[low:middle] == its[low:middle]:
            low = middle
        else:
            high = middle - 1
    return low


def _ops(lines: bytes, end: int) -> int:
    """Return where the complete lines end, of those before `end`, that are ops from the beginning
    on.
    """
    if not lines.startswith(b'["o"'):
        return 0
    whole = lines.rfind(b"\n", 0, end) + 1
    other = _OTHER_THAN_OPS.search(lines, 0, whole)
    return other.start() + 1 if other else whole
