"""Files that the user named: read whole, and never more than they may hold."""

from __future__ import annotations

from pathlib import Path

import msgspec

from d9m.errors import DataError, quote

LARGEST = 1 << 28
"""Bytes of any file that is read at once. The largest one that d9m writes has a tenth of that."""

UNREADABLE = (msgspec.DecodeError, RecursionError, UnicodeDecodeError)
"""Errors that a decoder of msgspec raises for bytes that are something else: nested too deep, not
UTF-8.
"""


def content(file: str | Path, most: int = LARGEST) -> bytes:
    """Raises DataError for a longer file: a device has no end. OSError for an unreadable one."""
    with open(file, "rb") as opened:
        found = opened.read(most + 1)
    if len(found) > most:
        raise DataError(f"{quote(str(file))} is larger than {most >> 20} MiB")
    return found


def require_version(file: str, found: bytes | str, key: str, version: int, tip: str = "") -> None:
    """Raises DataError for JSON of another version, before a decoder meets fields that it does not
    know.
    """
    try:
        says = msgspec.json.decode(found, type=dict[str, msgspec.Raw])[key]
        other = msgspec.json.decode(says, type=int)
    except (KeyError, *UNREADABLE):  # it is something else, as its decoder says
        return
    if other != version:
        age = "an older" if other < version else "a newer"
        raise DataError(
            f"{quote(file)} was written by {age} d9m: it has {key} {other}; "
            f"this d9m reads {version}",
            tip=tip,
        )


def text(file: str | Path, most: int = LARGEST) -> str:
    """As `content`, of a text in UTF-8. Raises UnicodeDecodeError for another one."""
    return content(file, most).decode("utf-8").replace("\r\n", "\n").replace("\r", "\n")
