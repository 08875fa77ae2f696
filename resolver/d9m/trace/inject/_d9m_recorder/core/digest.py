# pyright: basic
"""Digests of bytes: xxh3 where its library can be loaded, else crc32."""

from __future__ import annotations

import ctypes
import importlib.util
import os
import zlib
from importlib.machinery import EXTENSION_SUFFIXES

MOST_TEXT = 400
"""Characters of an op's arguments; of longer ones a digest stands for the rest."""


class Digester:
    """Makes hex text of bytes. `name` goes into the stream: other digests cannot be compared."""

    def __init__(self, folder: str | None) -> None:
        found = _xxhash(folder)
        self.name = "crc32" if found is None else "xxh3-64"
        self.of = _crc32 if found is None else found.xxh3_64_hexdigest
        """Of any object with a buffer."""
        self._empty = self.of(b"")
        self.width = len(self._empty)
        """Of the text."""

    def at(self, address: int, count: int) -> str:
        """Of `count` bytes of memory. Nothing is copied."""
        return self.of((_CHAR * count).from_address(address)) if count else self._empty

    def cut(self, text: str) -> str:
        """The arguments of an op, no longer than a record may be."""
        if len(text) <= MOST_TEXT:
            return text
        return f"{text[:MOST_TEXT]}… {self.of(text.encode())}"


_CHAR = ctypes.c_char


def _crc32(data) -> str:
    return f"{zlib.crc32(data):08x}"


def _xxhash(folder: str | None):
    """The compiled part of xxhash: the program's own, or the launcher's if this Python can load it.

    It is loaded without a place in `sys.modules`: the program sees no module that it did not
    import.
    """
    for where in (_installed(), folder):
        path = _extension(where)
        if path is None:
            continue
        spec = importlib.util.spec_from_file_location("_xxhash", path)
        if spec is None or spec.loader is None:
            continue
        try:
            module = importlib.util.module_from_spec(spec)
            spec.loader.exec_module(module)
        except ImportError:  # of another system or libc
            continue
        if hasattr(module, "xxh3_64_hexdigest"):
            return module
    return None


def _installed() -> str | None:
    spec = importlib.util.find_spec("xxhash")
    return spec.origin and os.path.dirname(spec.origin) if spec else None


def _extension(folder: str | None) -> str | None:
    if folder is None:
        return None
    paths = [os.path.join(folder, "_xxhash" + suffix) for suffix in EXTENSION_SUFFIXES]
    return next((path for path in paths if os.path.isfile(path)), None)
