"""A wheel on disk: its name, its checksum, and its members one at a time."""

from __future__ import annotations

import hashlib
import mmap
import re
import shutil
import tempfile
import zipfile
import zlib
from collections.abc import Generator
from contextlib import contextmanager
from pathlib import Path
from types import TracebackType

from d9m import files
from d9m.errors import DataError

_NAME = re.compile(
    r"(?P<distribution>[\w.]+)-(?P<version>[\w.+!]+)(-\d\w*)?-[\w.]+-[\w.]+-(?P<platform>[\w.]+)\.whl"
)
_MOVED = re.compile(r"[^/]+\.data/(?:purelib|platlib)/")
"""Where some wheels keep what the installer puts with the rest."""

_METADATA = re.compile(r"[^/]+\.dist-info/METADATA")

_BROKEN = (zipfile.BadZipFile, zlib.error, EOFError, OSError, NotImplementedError, RuntimeError)
"""Errors that `zipfile` raises for a damaged or unusual archive."""

_PIECE = 1 << 20

_LARGE = 1 << 26
"""Bytes of a member beyond which its packing is looked at."""

_DENSEST = 100
"""How many times its packed size a large member may have. A framework's libraries have four."""

_MOST = 1 << 33
"""Bytes of all members together: four times what the largest framework has."""


class Wheel:
    """An open wheel. Every method raises DataError where the file is damaged."""

    def __init__(self, path: Path) -> None:
        if not path.is_file():
            raise DataError(f"{path}: no such file")
        named = _NAME.fullmatch(path.name)
        if named is None:
            raise DataError(
                f"{path.name}: not the name of a wheel", tip="NAME-VERSION-PYTHON-ABI-PLATFORM.whl"
            )
        self.path = path
        self.distribution = named["distribution"].replace("_", "-").lower()
        self.version = named["version"]
        self.platform = named["platform"]
        try:
            self._zip = zipfile.ZipFile(path)
        except _BROKEN as error:
            raise self._damaged(error) from None
        self._refuse_bombs()
        self._places = {_MOVED.sub("", name, count=1): name for name in self._zip.namelist()}

    def __enter__(self) -> Wheel:
        return self

    def __exit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        at: TracebackType | None,
    ) -> None:
        self._zip.close()

    def _refuse_bombs(self) -> None:
        """By the sizes that it states: `zipfile` unpacks no more of a member than that."""
        left = _MOST
        for packed in self._zip.infolist():
            left -= packed.file_size
            dense = packed.file_size > _DENSEST * packed.compress_size
            if left < 0 or (packed.file_size > _LARGE and dense):
                raise DataError(
                    f"{self.path.name}: {packed.filename} unpacks to {packed.file_size} bytes of "
                    f"{_MOST - left} in all: no wheel does"
                )

    def members(self) -> list[str]:
        """Paths as they are after installation."""
        return sorted(self._places)

    def bytes(self, member: str) -> bytes:
        """Content of a small member; empty where there is none."""
        if member not in self._places:
            return b""
        packed = self._zip.getinfo(self._places[member])
        if packed.file_size > files.LARGEST:
            raise DataError(
                f"{self.path.name}: {member} is larger than {files.LARGEST >> 20} MiB: no text is"
            )
        try:
            return self._zip.read(packed)
        except _BROKEN as error:
            raise self._damaged(error, member) from None

    def text(self, member: str) -> str:
        """Content of a text member; empty where there is none."""
        return self.bytes(member).decode("utf-8", errors="replace")

    @contextmanager
    def mapped(self, member: str) -> Generator[mmap.mmap | bytes, None, None]:
        """Content of a large member, on disk rather than in memory, gone afterwards."""
        with tempfile.TemporaryFile() as file:
            try:
                with self._zip.open(self._places[member]) as packed:
                    shutil.copyfileobj(packed, file, _PIECE)
            except _BROKEN as error:
                raise self._damaged(error, member) from None
            if not file.tell():
                yield b""
                return
            file.flush()
            with mmap.mmap(file.fileno(), 0, access=mmap.ACCESS_READ) as content:
                yield content

    def checksum(self) -> str:
        return checksum(self.path)

    def oldest_python(self) -> tuple[int, ...]:
        """The first Python that it is made for; empty where it does not say."""
        metadata = next((member for member in self.members() if _METADATA.fullmatch(member)), "")
        stated = re.search(
            r"^Requires-Python:.*>=\s*(\d{1,9}(?:\.\d{1,9})*)", self.text(metadata), re.MULTILINE
        )
        return tuple(int(number) for number in stated[1].split(".")) if stated else ()

    def _damaged(self, error: BaseException, member: str = "") -> DataError:
        place = f"{self.path.name}: {member}" if member else self.path.name
        return DataError(
            f"{place}: cannot be read as a wheel: {error}", tip="fetch it again, whole"
        )


def checksum(path: Path) -> str:
    """SHA-256 of a file of any size, as package indexes list it."""
    digest = hashlib.sha256()
    with path.open("rb") as file:
        while piece := file.read(_PIECE):
            digest.update(piece)
    return digest.hexdigest()
