"""What was read of files, kept between scans: ``.d9m_cache/`` at the root of the scan."""

from __future__ import annotations

import contextlib
import hashlib
import os
import sys

import msgspec

from d9m import files
from d9m.about import __version__
from d9m.errors import DataError
from d9m.kb.store import KnowledgeBase
from d9m.scan.file_kinds import Kind
from d9m.scan.read_file import FileRead

FOLDER = ".d9m_cache"
_NAME = "files"


class _Stored(msgspec.Struct, array_like=True):
    made_by: str
    entries: dict[str, tuple[str, bytes]]
    """By path: the digest of the file, and what was read of it."""


class Cache:
    """Reads of one root. What another d9m, Python or edition of the records read is forgotten."""

    def __init__(self, kb: KnowledgeBase, root: str) -> None:
        self._folder = os.path.join(root, FOLDER)
        self._root = root
        minor = f"{sys.version_info[0]}.{sys.version_info[1]}"
        self._made_by = f"{__version__} {minor} {kb.meta.digest}"
        self._entries = self._load()
        self._changed = False

    def _load(self) -> dict[str, tuple[str, bytes]]:
        try:
            content = files.content(os.path.join(self._folder, _NAME))
            stored = msgspec.msgpack.decode(content, type=_Stored)
        except (OSError, DataError, *files.UNREADABLE):
            return {}
        return stored.entries if stored.made_by == self._made_by else {}

    def get(self, path: str, digest: str) -> FileRead | None:
        """What was read of a file, if its bytes are still the same."""
        known = self._entries.get(path)
        if known is None or known[0] != digest:
            return None
        try:
            return msgspec.msgpack.decode(known[1], type=FileRead)
        except files.UNREADABLE:
            return None

    def put(self, path: str, digest: str, read: FileRead) -> None:
        self._entries[path] = (digest, msgspec.msgpack.encode(read))
        self._changed = True

    def save(self) -> None:
        """Write what has changed. A folder that cannot be written is left alone."""
        if not self._changed:
            return
        kept: dict[str, tuple[str, bytes]] = {}
        for path in sorted(self._entries):
            if os.path.lexists(os.path.join(self._root, path)):
                kept[path] = self._entries[path]
        encoded = msgspec.msgpack.encode(_Stored(self._made_by, kept))
        partial = os.path.join(self._folder, f"{_NAME}.{os.getpid()}")
        with contextlib.suppress(OSError):
            os.makedirs(self._folder, exist_ok=True)
            ignore = os.path.join(self._folder, ".gitignore")
            if not os.path.exists(ignore):
                with open(ignore, "w", encoding="utf-8") as file:
                    file.write("*\n")
            try:
                with open(partial, "wb") as file:
                    file.write(encoded)
                os.replace(partial, os.path.join(self._folder, _NAME))
            finally:
                with contextlib.suppress(OSError):
                    os.unlink(partial)


def digest_of(kind: Kind, data: bytes) -> str:
    """The identity of a file's content, read as this kind."""
    return hashlib.blake2b(data, digest_size=16, person=kind.encode()).hexdigest()
