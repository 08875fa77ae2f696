# pyright: basic
"""The launcher's request, read once from the variable D9M_TRACE."""

from __future__ import annotations

import json

VARIABLE = "D9M_TRACE"


class Settings:
    """Settings of a recording. A key that is not listed here is a fault of the caller."""

    level: str = "step"
    first: int = 0
    last: int | None = None
    stop: int | None = None
    every: int = 1
    inputs: str = "cached"
    step_by: str = "auto"
    compiled: str = "as-is"
    max_size: int = 2 << 30
    xxhash: str | None = None
    python: tuple = ()
    zoom: tuple = ()
    modules: tuple = ()
    variables: tuple = ()
    varying: bool = False
    env: dict = {}  # noqa: RUF012  Python 3.8 has no better way
    held: tuple = ()
    samples: bool = False
    keep: str = ""

    def __init__(self, folder: str, **given) -> None:
        self.folder = folder
        for name, value in given.items():
            if not hasattr(type(self), name):
                raise TypeError(name)
            setattr(self, name, tuple(value) if isinstance(value, list) else value)

    def holds(self, step: int) -> bool:
        """Whether this step is to be recorded."""
        wanted = self.first <= step and (self.last is None or step <= self.last)
        return wanted and (step - self.first) % self.every == 0

    def make(self, **modules) -> None:
        """Run the advised statements about one framework, which `modules` has by the names that
        they use. Those about another one wait for its import.
        """
        for statement in self.python:
            words = statement.split()  # Python 3.8 has no removeprefix
            named = words[1] if words[0] == "import" else words[0]
            if named.partition(".")[0] in modules:
                exec(statement, dict(modules))  # noqa: S102  what the advice says to run

    def over(self, step: int) -> bool:
        """Whether nothing is to be recorded from this step on."""
        return self.last is not None and step > self.last


def read(text: str) -> Settings:
    return Settings(**json.loads(text))
