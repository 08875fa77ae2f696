"""A log of any size as readable text: in blocks, whatever its encoding, without what only a
terminal shows.
"""

from __future__ import annotations

import codecs
import re
from collections.abc import Iterator
from typing import BinaryIO

BLOCK = 1_000_000
"""Bytes that are read at a time."""

_ESCAPES = re.compile(r"\x1b(?:\[[0-?]*[ -/]*[@-~]|\][^\x07\x1b\n]*(?:\x07|\x1b\\)?|[ -/]*[0-~])")
"""Colours, cursor moves, window titles."""

_MARKS = {
    codecs.BOM_UTF16_LE: "utf-16-le",
    codecs.BOM_UTF16_BE: "utf-16-be",
    codecs.BOM_UTF8: "utf-8",
}


def blocks(stream: BinaryIO) -> Iterator[str]:
    """The text of a stream, in blocks that end with a line where lines are not too long."""
    first = stream.read(BLOCK)
    encoding, mark = _encoding(first)
    decoder = codecs.getincrementaldecoder(encoding)(errors="replace")
    raw, rest = first[mark:], ""
    while raw:
        text = rest + decoder.decode(raw)
        end = text.rfind("\n", len(text) // 2) + 1 or len(text)
        rest = text[end:]
        yield readable(text[:end])
        raw = stream.read(BLOCK)
    rest += decoder.decode(b"", final=True)
    if rest:
        yield readable(rest)


def readable(text: str) -> str:
    """Without terminal escapes, one kind of line end."""
    if "\x1b" in text:
        text = _ESCAPES.sub("", text)
    return text.replace("\r\n", "\n").replace("\r", "\n") if "\r" in text else text


def _encoding(start: bytes) -> tuple[str, int]:
    """The encoding, and how many bytes only say so. UTF-16 (of PowerShell) has a mark, or zero as
    every other byte.
    """
    for mark, encoding in _MARKS.items():
        if start.startswith(mark) and _sixteen(encoding, start):
            return encoding, len(mark)
    for encoding, zeros in (("utf-16-le", start[1:2_000:2]), ("utf-16-be", start[:2_000:2])):
        if zeros.count(0) > len(zeros) * 0.6:
            return encoding, 0
    return "utf-8", 0


def _sixteen(encoding: str, start: bytes) -> bool:
    """Whether what begins with the mark of UTF-16 goes on like it: broken bytes begin so, too."""
    return encoding == "utf-8" or start[:2_000].count(0) > len(start[:2_000]) * 0.2
