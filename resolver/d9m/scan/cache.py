"""Keep the facts of scanned files for the next scan: ``.d9m_cache/`` at the root of the scan."""

from __future__ import annotations

import contextlib
import functools
import hashlib
import os
import sys

import msgspec

from d9m import about, files
from d9m.errors import DataError
from d9m.kb.store import KnowledgeBase
from d9m.scan.file_kinds import Kind
from d9m.scan.file_names import on_disk
from d9m.scan.read_file import FileRead, load
from d9m.scan.walk import Walk

FOLDER = ".d9m_cache"
_FILES = "files"


class _Reads(msgspec.Struct, array_like=True):
    made_by: str
    entries: dict[str, tuple[str, bytes]]
    """By path: the digest of the file, and what was read of it."""


class Cache:
    """Reads of one root. What another d9m, Python or edition of the records left there is
    forgotten.
    """

    def __init__(self, kb: KnowledgeBase, root: str) -> None:
        self._folder = os.path.join(root, FOLDER)
        self._root = root
        minor = f"{sys.version_info[0]}.{sys.version_info[1]}"
        self._made_by = f"{about.__version__} {_last_edit()} {minor} {kb.meta.digest}"
        self._changed = False

    @functools.cached_property
    def _entries(self) -> dict[str, tuple[str, bytes]]:
        try:
            content = files.content(os.path.join(self._folder, _FILES))
            stored = msgspec.msgpack.decode(content, type=_Reads)
        except (OSError, DataError, *files.UNREADABLE):
            return {}
        return stored.entries if stored.made_by == self._made_by else {}

    def get(self, path: str, digest: str) -> FileRead | None:
        """Return the facts of a file, if its bytes are unchanged."""
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
        """Write the reads, if any has changed."""
        if not self._changed:
            return
        kept: dict[str, tuple[str, bytes]] = {}
        for path in sorted(self._entries):
            if os.path.lexists(on_disk(self._root, path)):
                kept[path] = self._entries[path]
        self._write(msgspec.msgpack.encode(_Reads(self._made_by, kept)))

    def _write(self, encoded: bytes) -> None:
        """A folder that cannot be written is left alone."""
        partial = os.path.join(self._folder, f"{_FILES}.{os.getpid()}")
        with contextlib.suppress(OSError):
            os.makedirs(self._folder, exist_ok=True)
            ignore = os.path.join(self._folder, ".gitignore")
            if not os.path.exists(ignore):
                with open(ignore, "w", encoding="utf-8") as file:
                    file.write("*\n")
            try:
                with open(partial, "wb") as file:
                    file.write(encoded)
                os.replace(partial, os.path.join(self._folder, _FILES))
            finally:
                with contextlib.suppress(OSError):
                    os.unlink(partial)


def digests_of(walk: Walk) -> dict[str, str]:
    """The identity of each file that can be read: its bytes and what it is read as."""
    found: dict[str, str] = {}
    for path, kind in walk.files:
        data = load(walk.root, path, kind)
        if isinstance(data, bytes):
            found[path] = _digest(kind, data)
    return found


def _digest(kind: Kind, data: bytes) -> str:
    return hashlib.blake2b(data, digest_size=16, person=kind.encode()).hexdigest()


def _last_edit() -> int:
    """Return the time of the last change to a module of d9m, in nanoseconds: an edited rule must
    not give the old answer.
    """
    newest = 0
    for folder, _folders, names in os.walk(os.path.dirname(about.__file__)):
        for name in names:
            if name.endswith(".py"):
                newest = max(newest, os.stat(os.path.join(folder, name)).st_mtime_ns)
    return newest
