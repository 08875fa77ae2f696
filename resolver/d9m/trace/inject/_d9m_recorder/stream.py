# pyright: basic
"""A process's stream: lines out, in few writes, and in time for a program that is killed."""

from __future__ import annotations

import json
import os
import threading
import time

MOST = 1 << 16
"""Characters that are gathered before they are written."""

LATE = 0.2
"""Seconds after which a record is written, at the next one."""


def compact(value) -> str:
    return json.dumps(value, separators=(",", ":"))


class Stream:
    """Opened with the first record: a process without one leaves no file.

    Writing may fail (a full disk); then nothing more is recorded and `failure` says why.
    """

    def __init__(self, folder: str, rank: int, header, most: int) -> None:
        self._folder = folder
        self._rank = rank
        self._header = header
        self._most = most
        self._file: int | None = None
        self._lines: list[str] = []
        self._held = 0
        self._written = 0
        self._last = time.monotonic()
        self._lock = threading.RLock()
        self.closed = False
        self.over = False
        """Whether it has become larger than it may."""
        self.failure: OSError | None = None

    @property
    def begun(self) -> bool:
        return self._file is not None

    def add(self, line: str) -> None:
        """`line` ends with a line break."""
        with self._lock:
            if self.closed:
                return
            self._lines.append(line)
            self._held += len(line)
            if self._held >= MOST or time.monotonic() - self._last > LATE:
                self.flush()

    def record(self, *items) -> None:
        self.add(compact(items) + "\n")

    def flush(self) -> None:
        with self._lock:
            if self.closed or not self._lines:
                return
            lines, self._lines, self._held = self._lines, [], 0
            self._last = time.monotonic()
            try:
                if self._file is None:
                    self._open()
                self._write("".join(lines))
            except OSError as error:
                self.failure = error
                self.closed = True

    def end(self, tail: dict) -> None:
        """The last line, if there was a first one."""
        with self._lock:
            if self.begun or self._lines:
                self.add(compact(tail) + "\n")
                self.flush()
            self.closed = True
            if self._file is not None:
                os.close(self._file)
                self._file = None

    def _open(self) -> None:
        number = 0
        while self._file is None:
            path = os.path.join(self._folder, f"r{self._rank}-{number}.d9m")
            try:
                self._file = os.open(
                    path, os.O_WRONLY | os.O_APPEND | os.O_CREAT | os.O_EXCL, 0o644
                )
            except FileExistsError:
                number += 1
        self._write(compact(self._header(number)) + "\n")

    def _write(self, text: str) -> None:
        data = text.encode("utf-8", "backslashreplace")
        self._written += len(data)
        self.over = self._written > self._most
        while data:
            data = data[os.write(self._file, data) :]  # type: ignore[arg-type]
