"""The folder of a hunt's recordings, and what hunts that were killed left behind."""

from __future__ import annotations

import contextlib
import os
import shutil
import tempfile
from pathlib import Path

PREFIX = "d9m-hunt-"
LOCK = "hunting"
"""A file in the temporary folder of a hunt. The hunt holds a lock on it as long as it runs."""


class RecordingsFolder:
    """A folder that was named, which stays; or a temporary one."""

    def __init__(self, path: Path) -> None:
        self.path = path
        self._lock: int | None = None
        self._temporary = False

    @classmethod
    def temporary(cls) -> RecordingsFolder:
        """Make one. What hunts left that no longer run is removed."""
        _remove_stale(Path(tempfile.gettempdir()))
        made = cls(Path(tempfile.mkdtemp(prefix=PREFIX)))
        made._temporary = True
        partial = made.path / f".{LOCK}"
        made._lock = os.open(partial, os.O_RDWR | os.O_CREAT, 0o600)
        _take(made._lock)
        partial.rename(made.path / LOCK)
        return made

    def close(self, keep: bool) -> None:
        """The hunt is over: a temporary folder goes, unless there is something to keep."""
        if not self._temporary:
            return
        (self.path / LOCK).unlink(missing_ok=True)
        if self._lock is not None:
            os.close(self._lock)
        if not keep:
            shutil.rmtree(self.path, ignore_errors=True)


def _remove_stale(place: Path) -> None:
    """Remove the folders of hunts that were killed: nothing holds their locks any more."""
    for lock in place.glob(f"{PREFIX}*/{LOCK}"):
        with contextlib.suppress(OSError):
            file = os.open(lock, os.O_RDWR)
            try:
                if lock.parent.stat().st_uid == os.getuid() and _take(file):
                    shutil.rmtree(lock.parent, ignore_errors=True)
            finally:
                os.close(file)


def _take(file: int) -> bool:
    """Lock a file, if the system can and no other process has."""
    try:
        import fcntl

        fcntl.flock(file, fcntl.LOCK_EX | fcntl.LOCK_NB)
    except (ImportError, OSError):
        return False
    return True
