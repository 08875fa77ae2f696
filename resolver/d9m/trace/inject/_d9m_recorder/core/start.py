# pyright: basic
"""Begins the recording of a process, and ends it with the process."""

from __future__ import annotations

import atexit
import importlib
import os

from . import generators, outcome
from .imports import Watcher
from .session import Session
from .settings import VARIABLE, read
from .varying import Varying

FRAMEWORKS = {"torch": "..torch.begin", "tensorflow": "..tensorflow.begin", "jax": "..jax.begin"}
"""Module that a program imports -> the module here that records it."""

current = None
"""The session of this process, and what watches its imports: (Session, Watcher) or None."""

_follows_forks = False
"""A hook for forks cannot be removed again."""


def begin_from_environment() -> None:
    """As the launcher asked; nothing where it did not."""
    text = os.environ.get(VARIABLE)
    if text and os.path.isdir(read(text).folder):
        settings = read(text)
        begin(settings)
        if current is not None:
            for name in FRAMEWORKS:
                current[1].when_imported(
                    name, lambda found: outcome.imported(settings.folder, found)
                )
        atexit.register(_end_with_process, settings.folder)


def _end_with_process(folder: str) -> None:
    outcome.ended(folder)
    end()


def begin(settings):
    """Record this process from here on."""
    global current, _follows_forks
    session, watcher = Session(settings), Watcher()
    current = session, watcher
    for name, recorder in FRAMEWORKS.items():
        starter = _Starter(session, watcher, recorder)
        watcher.when_imported(name, starter.begin, starter.look)
    for name in generators.MODULES:
        watcher.when_imported(name, _fresh(session))
    for name in ("random", "numpy"):
        watcher.when_imported(name, lambda module: settings.make(**{module.__name__: module}))
    if settings.varying:
        session.guarded("varying calls", Varying(settings).begin, watcher)
    watcher.begin()
    session.guarded("threads", session.threads.begin)
    if not _follows_forks and hasattr(os, "register_at_fork"):
        os.register_at_fork(after_in_child=_forked)
        _follows_forks = True
    return session


class _Starter:
    """Begins the recording of a framework. What its import draws from a generator does not count as
    drawn by the program.
    """

    def __init__(self, session, watcher, recorder: str) -> None:
        self._session = session
        self._watcher = watcher
        self._recorder = recorder
        self._used: set | None = None

    def look(self) -> None:
        self._used = set(self._session.used_generators())

    def begin(self, module) -> None:
        if self._used is not None:
            used = self._session.used_generators()
            self._session.fresh.update(
                {name: state for name, state in used.items() if name not in self._used}
            )
        begin_framework = importlib.import_module(self._recorder, __package__).begin
        place = f"the begin of {module.__name__}"
        self._session.guarded(place, begin_framework, module, self._session, self._watcher)


def _fresh(session):
    def act(module) -> None:
        for name, state in session.used_generators().items():
            session.fresh.setdefault(name, state)
        if module.__name__ == "random" and hasattr(os, "register_at_fork"):
            os.register_at_fork(after_in_child=_reseeded)

    return act


def _reseeded() -> None:
    """Python seeds its generator by chance in the child of a fork: that is no use of it."""
    if current is not None:
        session = current[0]
        states, _done = session.guarded("generators", generators.states, session.digester)
        session.fresh["python"] = (states or {}).get("python")


def _forked() -> None:
    if current is not None:
        current[0].guarded("a fork", current[0].forked)


def end() -> None:
    global current
    if current is not None:
        session, watcher = current
        watcher.end()
        session.close()
        current = None


def step() -> None:
    """A step ended, as the program says."""
    if current is not None:
        session = current[0]
        session.explicit = True
        session.end_step("explicit")
