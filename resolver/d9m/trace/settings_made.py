"""`--set LABEL`: the settings of a solution, as a recorded run can make them."""

from __future__ import annotations

import os
import shutil
from collections.abc import Sequence

import msgspec

from d9m.check.workers.launch import interpreter
from d9m.check.workers.look import look
from d9m.environment.environment import Environment, Setup, describe
from d9m.errors import AbsentError, UsageError, nearest, quote
from d9m.kb.store import KnowledgeBase
from d9m.resolve.merge import alone, demands


class MadeSettings(msgspec.Struct, frozen=True):
    env: dict[str, str] = {}
    """Set before the program starts."""
    python: tuple[str, ...] = ()
    """Statements that run right after the framework's import."""


def made(kb: KnowledgeBase, labels: Sequence[str], command: Sequence[str]) -> MadeSettings:
    """Raises UsageError for an unknown label, and for settings that only the program can make."""
    env: dict[str, str] = {}
    python: list[str] = []
    for label in labels:
        if label.lower() not in kb.labels:
            raise UsageError(
                f"--set {quote(label)}: there is no such solution",
                nearest=nearest(label, [kb.solutions[id_].label for id_ in kb.labels.values()]),
                tip="see: d9m list solutions",
            )
    solutions = [kb.solution(label) for label in labels]
    environment = _environment(kb, [kb.home(id_) for id_, _solution in solutions], command)
    for label, _id, solution in kb.with_required(labels):
        settings = alone(kb, demands(kb, environment, label, solution.settings))
        elsewhere = [
            name
            for name in ("append", "unset", "flags", "config", "install", "code")
            if getattr(settings, name)
        ]
        if elsewhere:
            raise UsageError(
                f"--set {label} needs more than d9m can set from outside ({elsewhere[0]})",
                tip=f"make the settings yourself: d9m show {label}",
            )
        env |= settings.env
        python += [line for line in settings.python if line not in python]
    return MadeSettings(env, tuple(python))


def _environment(kb: KnowledgeBase, homes: Sequence[str], command: Sequence[str]) -> Environment:
    """Of the Python that is started; of the latest releases where the command starts it itself."""
    program = shutil.which(command[0])
    if program is not None and os.path.basename(program).startswith("python"):
        try:
            return describe(kb, look(kb, interpreter(program)).asked)
        except AbsentError:
            pass
    return describe(kb, Setup(tuple((home, "latest") for home in dict.fromkeys(homes))))
