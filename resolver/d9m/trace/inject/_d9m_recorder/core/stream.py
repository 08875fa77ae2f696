# pyright: basic
"""A process's stream: each line goes out as it comes, so that a program that hangs and is killed
has lost none of them.
"""

from __future__ import annotations

import json
import os
import threading

from . import private, seals

APPENDED = os.O_WRONLY | os.O_APPEND | os.O_CREAT | os.O_EXCL | getattr(os, "O_BINARY", 0)
"""Binary: Windows would write its own ends of lines."""


compact = json.JSONEncoder(separators=(",", ":")).encode
"""The text of a value. json.dumps makes an encoder for each call."""


class Stream:
    """Opened with the first record: a process without one leaves no file.

    Writing may fail (a full disk); then nothing more is recorded and `failure` says why.
    """

    def __init__(self, folder: str, rank, header, most: int) -> None:
        self._folder = folder
        self._rank = rank
        """Asked with the first record: before it, a process that was spawned has no group."""
        self._header = header
        self._most = most
        self._file: int | None = None
        self._early: list[str] | None = None
        """Lines that come while the header is made."""
        self._written = 0
        self._lines = 0
        self._lock = threading.RLock()
        self.closed = False
        self.over = False
        """Whether it has become larger than it may."""
        self.failure: OSError | None = None

    @property
    def begun(self) -> bool:
        return self._file is not None

    def add(self, line: str) -> None:
        """`line` ends with its only line break."""
        with self._lock:
            if self.closed:
                return
            if self._early is not None:
                self._early.append(line)
                return
            try:
                if self._file is None:
                    self._open()
                self._write(line)
            except OSError as error:
                self.failure = error
                self.closed = True

    def record(self, *items) -> None:
        self.add(compact(items) + "\n")

    def end(self, tail: dict) -> None:
        """The last line, if there was a first one: it counts those before it."""
        with self._lock:
            if self.begun:
                self.add(compact({**tail, "lines": self._lines}) + "\n")
            self.closed = True
            if self._file is not None:
                os.close(self._file)
                self._file = None

    def _open(self) -> None:
        rank, number, file = self._rank(), 0, None
        while file is None:
            path = os.path.join(self._folder, f"r{rank}-{number}.d9m")
            try:
                file = os.open(path, APPENDED, private.FILE)
            except FileExistsError:
                number += 1
        self._early = []
        header = compact(self._header(number)) + "\n"
        early, self._early = self._early, None
        self._file = file
        for line in (header, *early):
            self._write(line)

    def _write(self, line: str) -> None:
        self._lines += 1
        data = seals.line(line[:-1])
        self._written += len(data)
        self.over = self._written > self._most
        while data:
            data = data[os.write(self._file, data) :]  # type: ignore[arg-type]
