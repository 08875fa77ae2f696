"""Names of files as text: a name may hold bytes that are not UTF-8, line breaks and worse."""

from __future__ import annotations

import os
import re

_ESCAPED_BYTE = re.compile(r"\\x([89a-f][0-9a-f])")


def as_text(path: str) -> str:
    r"""Return a path with each byte that is not UTF-8 spelled ``\xff``.

    >>> as_text("a\udcff.py")
    'a\\xff.py'
    """
    return path.encode("utf-8", "surrogateescape").decode("utf-8", "backslashreplace")


def on_disk(root: str, path: str) -> str:
    """Return the full name of a file from its path as text."""
    full = os.path.join(root, path)
    if "\\x" in path and not os.path.lexists(full):
        raw = _ESCAPED_BYTE.sub(lambda match: chr(0xDC00 + int(match[1], 16)), path)
        return os.path.join(root, raw)
    return full


def printable_path(path: str) -> str:
    r"""Return a path on one line, each control character spelled as Python does.

    >>> printable_path("a\nb\x1b.py")
    'a\\nb\\x1b.py'
    """
    if path.isprintable():
        return path
    return "".join(letter if letter.isprintable() else repr(letter)[1:-1] for letter in path)
