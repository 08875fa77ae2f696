# pyright: basic
"""Threads that the program starts: what they compute does not come by here."""

from __future__ import annotations

import functools
import sys
import threading
import weakref

QUIET = (
    "multiprocessing.queues.", "torch.", "tqdm.", "tensorboard.", "wandb.", "ipykernel.",
    "IPython.", "zmq.", "tornado.",
)  # fmt: skip
"""Modules whose threads move data or show progress, and compute nothing that is learned."""

STARTERS = ("threading.", "concurrent.futures.", "multiprocessing.pool.")
"""Modules that start threads for others."""


class Threads:
    """Says that something cannot be seen, as soon as a thread can compute."""

    def __init__(self, session) -> None:
        self._session = session
        self._original = None
        self._quiet = weakref.WeakSet()

    def begin(self) -> None:
        original = self._original = threading.Thread.start
        session, quiet = self._session, self._quiet

        @functools.wraps(original)
        def start(self):
            if _is_quiet(_starter(sys._getframe(1))):
                quiet.add(self)
            elif session.stream.begun and _computes(self):
                session.unseen("thread")
            return original(self)

        threading.Thread.start = start

    def end(self) -> None:
        if self._original is not None:
            threading.Thread.start = self._original
            self._original = None

    def look(self) -> None:
        """At those that run right now: they may have begun before the recording."""
        for thread in threading.enumerate():
            if thread is threading.main_thread() or thread in self._quiet:
                continue
            if _computes(thread):
                self._session.unseen("thread")


def _computes(thread) -> bool:
    """Whether it runs code that can compute."""
    function = type(thread).run
    if function is threading.Thread.run:
        function = getattr(thread, "_target", None)
    return not _is_quiet(getattr(function, "__module__", None) or "")


def _is_quiet(module: str) -> bool:
    return (module + ".").startswith(QUIET)


def _starter(frame) -> str:
    """The module that wants a thread, whatever starts it for that one."""
    while frame is not None:
        name = frame.f_globals.get("__name__", "")
        if not (name + ".").startswith(STARTERS):
            return name
        frame = frame.f_back
    return ""
