# pyright: basic
"""Checksums of what a recording holds, so that damage is not taken for a difference.

A line ends with a space and the CRC-32 of what comes before it, as 8 hex digits; the last key of a
document is that of all bytes before the digits.
"""

from __future__ import annotations

import zlib
from collections.abc import Iterable

FORMAT = 2
"""Of a recording: its folder and its streams."""

_KEY = b',\n "checksum": "'
_END = b'%08x"\n}\n'
_END_SIZE = len(_END % 0)
_SIZE = 9


def line(text: str) -> bytes:
    """Seal a line. `text` has no line break."""
    data = text.encode("utf-8", "backslashreplace")
    return b"%b %08x\n" % (data, zlib.crc32(data))


def opened(sealed: bytes) -> bytes | None:
    """Return what a line holds that was given without its line break; None where it is damaged."""
    data = sealed[:-_SIZE]
    return data if sealed[-_SIZE:] == b" %08x" % zlib.crc32(data) else None


def are_whole(lines: Iterable[bytes]) -> bool:
    """Whether all of these lines are as they were written."""
    crc32 = zlib.crc32
    return all(each[-_SIZE:] == b" %08x" % crc32(each[:-_SIZE]) for each in lines)


def document(text: str) -> bytes:
    """Seal a JSON object with at least one key."""
    data = text.encode("utf-8").rstrip()[:-1].rstrip() + _KEY
    return data + _END % zlib.crc32(data)


def is_whole(content: bytes) -> bool:
    """Whether a document is as it was written."""
    data = content[:-_END_SIZE]
    return data.endswith(_KEY) and content[-_END_SIZE:] == _END % zlib.crc32(data)
