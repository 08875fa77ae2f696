# pyright: basic
"""Begins the recording of a process, and ends it with the process."""

from __future__ import annotations

import atexit
import importlib
import os

from . import generators
from .imports import Watcher
from .session import Session
from .settings import VARIABLE, read

FRAMEWORKS = {"torch": "torch_begin", "tensorflow": "tensorflow_begin"}
"""Module that a program imports -> the module here that records it."""

current = None
"""The session of this process, and what watches its imports: (Session, Watcher) or None."""

_follows_forks = False
"""What is registered for forks stays so for good."""


def begin_from_environment() -> None:
    """As the launcher asked; nothing where it did not."""
    text = os.environ.get(VARIABLE)
    if text and os.path.isdir(read(text).folder):
        begin(read(text))
        atexit.register(end)


def begin(settings):
    """Record this process from here on."""
    global current, _follows_forks
    session, watcher = Session(settings), Watcher()
    current = session, watcher
    for name, recorder in FRAMEWORKS.items():
        watcher.when_imported(name, _starter(session, watcher, recorder))
    for name in generators.MODULES:
        watcher.when_imported(name, _fresh(session))
    watcher.begin()
    session.guarded("threads", session.threads.begin)
    if not _follows_forks and hasattr(os, "register_at_fork"):
        os.register_at_fork(after_in_child=_forked)
        _follows_forks = True
    return session


def _starter(session, watcher, recorder: str):
    def act(module) -> None:
        begin_framework = importlib.import_module("." + recorder, __package__).begin
        session.guarded(
            f"the begin of {module.__name__}", begin_framework, module, session, watcher
        )

    return act


def _fresh(session):
    def act(_module) -> None:
        for name, state in session.used_generators().items():
            session.fresh.setdefault(name, state)

    return act


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
