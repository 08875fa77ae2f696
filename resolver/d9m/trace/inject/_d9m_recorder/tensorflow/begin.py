# pyright: basic
"""TensorFlow: which hooks there are at which level, and what the header says of it."""

from __future__ import annotations

import sys

from . import ops, settings
from .memory import Memories
from .place import Places
from .steps import Steps
from .values import Values

LEVELS = ("step", "op")


def begin(tensorflow, session, watcher) -> None:
    """Called when `import tensorflow` has ended, or at once where that was before."""
    framework = TensorFlow(tensorflow, session, watcher)
    session.frameworks.append(framework)
    framework.begin()


class TensorFlow:
    """TensorFlow, as a session sees it. Many programs import TensorFlow and compute with
    another one: nothing is said of it before it was used.
    """

    def __init__(self, tensorflow, session, watcher) -> None:
        self.tensorflow = tensorflow
        self.session = session
        self.watcher = watcher
        self.used = False
        self._refused = _why_not(session.settings.level, tensorflow)
        """Why nothing is recorded; empty: something is."""
        self._settings = None
        self.values = Values(tensorflow, session)
        self.steps = Steps(self, watcher)
        self._memories = Memories(self.values, session)
        self._ops = None
        """While ops are recorded: the callback of TensorFlow."""
        if session.settings.level == "op" and not self._refused:
            self.steps.text = self._memories.read
            places = Places(tensorflow, self.steps)
            self._ops = ops.Ops(self, self._memories, places)

    def begin(self) -> None:
        tensorflow = self.tensorflow
        self.session.settings.make(tf=tensorflow, tensorflow=tensorflow)
        if self.session.settings.compiled == "eager":
            tensorflow.config.run_functions_eagerly(True)
        self.steps.begin()
        if self._ops is not None:
            self._ops.fit()

    def wanted(self) -> bool:
        """Whether something that happens right now is to be recorded. It makes TensorFlow one of
        the frameworks of the recording.
        """
        if not self.used:
            self.used = True
            if self._refused:
                sys.stderr.write(f"d9m: {self._refused}\n")
        return self.session.on and not self._refused

    def step(self, rule: str) -> None:
        """A step ended by `rule`."""
        if not self._refused:
            self.session.end_step(rule)

    def about(self) -> dict:
        if not self.used:
            return {}
        self._settings = settings.switches(self.tensorflow)
        return {
            "packages": settings.packages(self.tensorflow),
            "device": settings.device(self.tensorflow),
            "gpu": settings.gpu(self.tensorflow),
            "threads": settings.threads(self.tensorflow),
            "deterministic": self._settings,
        }

    def write_settings(self) -> None:
        """A record, if settings have changed since they were last written."""
        if not self.used or not self.session.stream.begun:
            return
        now = settings.switches(self.tensorflow)
        if now != self._settings:
            self._settings = now
            self.session.record("t", now, settings.threads(self.tensorflow))

    def generators(self) -> dict:
        return {}

    def step_ended(self) -> None:
        if self._ops is not None:
            self._memories.sweep()
            self._ops.fit()

    def end(self) -> None:
        self.steps.end()
        if self._ops is not None:
            self._ops.leave()

    def forked(self) -> None:
        """Of a fork nothing is recorded but a separate training."""


def _why_not(level: str, tensorflow) -> str:
    if level not in LEVELS:
        return f"a TensorFlow program is not recorded at level {level}: use {' or '.join(LEVELS)}"
    if level == "op" and not ops.has_callbacks():
        return (
            f"TensorFlow {tensorflow.__version__} says of no op that it ran (op_callbacks is "
            "missing): use level step"
        )
    return ""
