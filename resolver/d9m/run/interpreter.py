"""The Python that a command will start."""

from __future__ import annotations

import os
import re
import shlex
import shutil
import sys
from collections.abc import Iterator, Sequence
from pathlib import Path

from d9m.errors import AbsentError

_PYTHON = re.compile(r"(python|pypy)[\d.]*(\.exe)?")
_SHEBANG = re.compile(rb"(?:/usr/bin/env(?: -S)? )?([^\s'\"]*python[\d.]*)")
_SHELL = re.compile(r"-[a-z]*c")


def find_python(command: Sequence[str]) -> str:
    """Return the first Python that a command names, itself or in the first line of a script;
    else the one of the virtual environment or of PATH. Raises AbsentError.
    """
    for word in (*_words(command), *_defaults()):
        program = shutil.which(word)
        if program is None:
            continue
        if _PYTHON.fullmatch(os.path.basename(word)):
            return program
        python = _of_script(program)
        if python is not None:
            return python
    raise AbsentError("no Python was found", tip="name it in the command: -- python train.py")


def _words(command: Sequence[str]) -> Iterator[str]:
    """The words of a command, and those of a text that a shell gets."""
    for before, word in zip(("", *command), command):
        if _SHELL.fullmatch(before) and " " in word:
            try:
                yield from shlex.split(word)
            except ValueError:
                continue
        else:
            yield word


def _defaults() -> list[str]:
    places = [os.environ.get("VIRTUAL_ENV") or ".venv", os.environ.get("CONDA_PREFIX") or ""]
    found = [str(Path(place, "bin", "python")) for place in places if place]
    return [*found, "python", "python3", *([sys.executable] if os.name == "nt" else [])]


def _of_script(program: str) -> str | None:
    try:
        with open(program, "rb") as file:
            if file.read(2) != b"#!":
                return None
            first, second = file.readline(), file.readline()
    except OSError:
        return None
    for line in (first, second):  # pip writes a long path into the second
        found = _SHEBANG.search(line.strip())
        if found:
            return shutil.which(found[1].decode("utf-8", "replace"))
    return None
