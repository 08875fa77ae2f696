"""`--set NAME`: the settings of a solution, as a recorded run can make them."""

from __future__ import annotations

import os
import shutil
from collections.abc import Sequence

import msgspec

from d9m.environment.environment import Environment, Setup, describe
from d9m.environment.interpreter import installed_in
from d9m.errors import AbsentError, UsageError
from d9m.kb.store import KnowledgeBase
from d9m.resolve.merge import alone, demands
from d9m.resolve.solution_names import label_of, written


class MadeSettings(msgspec.Struct, frozen=True):
    env: dict[str, str] = {}
    """Set before the program starts."""
    python: tuple[str, ...] = ()
    """Statements that run right after the framework's import."""


_ELSEWHERE = {
    "append": "an option added to an environment variable",
    "unset": "a variable that must be absent",
    "flags": "an option on the program's command line",
    "config": "a key of the configuration",
    "install": "a package to install",
    "code": "a change in your code",
}
"""Settings that only the program's own files can make -> what they are."""


def made(kb: KnowledgeBase, names: Sequence[str], command: Sequence[str]) -> MadeSettings:
    """Raises UsageError for a name that no solution has, and for settings that only the program can
    make.
    """
    env: dict[str, str] = {}
    python: list[str] = []
    labels = [label_of(kb, name) for name in names]
    solutions = [kb.solution(label) for label in labels]
    environment = _environment(kb, [kb.home(id_) for id_, _solution in solutions], command)
    for label, _id, solution in kb.labelled(labels):
        settings = alone(kb, demands(kb, environment, label, solution.settings))
        elsewhere = [name for name in _ELSEWHERE if getattr(settings, name)]
        if elsewhere:
            raise UsageError(
                f"--set {written(kb, label)} needs more than d9m can set from outside "
                f"({_ELSEWHERE[elsewhere[0]]})",
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
            return describe(kb, installed_in(kb, program, os.environ))
        except AbsentError:
            pass
    return describe(kb, Setup(tuple((home, "latest") for home in dict.fromkeys(homes))))
