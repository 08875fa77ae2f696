"""The progress on stderr while probes run."""

from __future__ import annotations

import sys
import time
from typing import TextIO

from d9m.errors import printable

EVERY = 10.0
"""Seconds between lines where stderr is not a terminal: a log must not fill up."""


class Progress:
    """Called with each thing that happened; one line that renews itself, or a line now and then."""

    def __init__(self, stream: TextIO | None = None) -> None:
        self.stream = sys.stderr if stream is None else stream
        self.live = self.stream.isatty()
        self.last = -EVERY  # the first line comes at once: it says how long all of it takes

    def __call__(self, text: str) -> None:
        now, text = time.monotonic(), printable(text)
        if self.live:
            self._write(f"\r\x1b[K{text[:76]}")
        elif now - self.last >= EVERY:
            self.last = now
            self._write(f"d9m check: {text}\n")

    def end(self) -> None:
        if self.live:
            self._write("\r\x1b[K")

    def _write(self, text: str) -> None:
        try:
            self.stream.write(text)
            self.stream.flush()
        except OSError:
            self.live = False  # the terminal is gone; the check goes on


def duration(seconds: float) -> str:
    """Return a duration in words."""
    if seconds < 60:
        return f"{seconds:.0f} s"
    minutes = round(seconds / 60)
    return f"{minutes} min" if minutes < 60 else f"{minutes // 60} h {minutes % 60} min"
