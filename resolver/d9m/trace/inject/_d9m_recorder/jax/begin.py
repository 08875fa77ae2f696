# pyright: basic
"""JAX: which functions are wrapped, and what the header says of it."""

from __future__ import annotations

import sys

from . import settings
from .arrays import Arrays
from .calls import Calls


def begin(jax, session, watcher) -> None:
    """Called when `import jax` has ended, or at once where that was before."""
    framework = Jax(jax, session)
    session.frameworks.append(framework)
    framework.begin()


class Jax:
    """JAX, as a session sees it. Of a program that imports JAX and computes with another
    one, nothing is said.
    """

    def __init__(self, jax, session) -> None:
        self._jax = jax
        self._session = session
        self._arrays = Arrays(jax, session.digester)
        self._calls = Calls(jax, session, self._arrays)
        self._settings: dict = {}

    def begin(self) -> None:
        self._session.settings.make(jax=self._jax)
        self._calls.begin()

    def _alone(self) -> bool:
        """Whether the program computes with JAX alone."""
        others = [framework for framework in self._session.frameworks if framework is not self]
        return not any(getattr(framework, "used", True) for framework in others)

    @property
    def used(self) -> bool:
        return self._calls.used

    def about(self) -> dict:
        if not self._calls.used:
            return {}
        self._settings = settings.settings(self._jax)
        packages = {"jax": str(self._jax.__version__)}
        jaxlib = getattr(sys.modules.get("jaxlib"), "__version__", None)
        if jaxlib is not None:
            packages["jaxlib"] = str(jaxlib)
        if not self._alone():  # what else there is says the rest
            return {"packages": packages}
        return {
            "packages": packages,
            "inputs": "exact",  # each is hashed whenever it is read, if it can change
            "device": self._arrays.device,
            "gpu": self._arrays.gpu,
            "deterministic": self._settings,
        }

    def write_settings(self) -> None:
        """A record, if settings have changed since they were last written."""
        if not (self._calls.used and self._session.stream.begun and self._alone()):
            return
        now = settings.settings(self._jax)
        if now != self._settings:
            self._settings = now
            self._session.record("t", now, None)

    def generators(self) -> dict:
        """None: a key is an array, and goes in where it is used."""
        return {}

    def step_ended(self) -> None:
        self._calls.step_ended()

    def end(self) -> None:
        self._calls.end()

    def forked(self) -> None:
        """Nothing is open that a child would have to leave."""
