"""Runs of a program: recorded as a stream of digests, to be compared with one another.

The two functions here record from within a program, with the recorder that `d9m trace` puts into
one from outside. They import nothing but the standard library.
"""

from __future__ import annotations

import contextlib
import importlib
import json
import os
import sys
import time
from collections.abc import Generator
from types import ModuleType

from d9m.about import __version__

_RECORDER = "_d9m_recorder.core.start"
_SHARED = ("private", "seals")
"""Modules of the recorder that write what is not a stream, too."""


@contextlib.contextmanager
def record(
    path: str | os.PathLike[str],
    *,
    level: str = "step",
    steps: tuple[int | None, int | None] = (None, None),
    inputs: str = "cached",
    step_by: str = "auto",
) -> Generator[None, None, None]:
    """Record what happens inside of the `with` block, into a new or empty folder.

    `steps`: first and last step that are recorded, both included, counted from the block's begin.
    The other arguments are those of `d9m trace`. Where `d9m trace` records the process already,
    the block adds nothing. Raises ValueError for an argument that is none of these, OSError where
    the folder cannot be used.
    """
    _one_of("level", level, ("step", "module", "op"))
    _one_of("inputs", inputs, ("cached", "exact"))
    _one_of("step_by", step_by, ("auto", "optimizer", "backward", "forward", "explicit"))
    first, last = steps
    start = _load_recorder()
    if start.current is not None:
        yield
        return
    folder = os.path.abspath(path)
    _make(folder, level)
    settings = importlib.import_module("_d9m_recorder.core.settings")
    start.begin(
        settings.Settings(
            folder,
            level=level,
            first=first or 0,
            last=last,
            inputs=inputs,
            step_by=step_by,
            variables=_variables(),
        )
    )
    try:
        yield
    finally:
        start.end()


def step() -> None:
    """End a step here. Does nothing where nothing is recorded."""
    start = sys.modules.get(_RECORDER)
    if start is not None:
        start.step()


def _one_of(name: str, value: str, allowed: tuple[str, ...]) -> None:
    if value not in allowed:
        raise ValueError(f"{name} is {value!r}; allowed: {', '.join(allowed)}")


def _load_recorder() -> ModuleType:
    """The recorder's own package, wherever it came from first."""
    if _RECORDER in sys.modules:
        return sys.modules[_RECORDER]
    place = os.path.join(os.path.dirname(os.path.abspath(__file__)), "inject")
    sys.path.insert(0, place)
    try:
        return importlib.import_module(_RECORDER)
    finally:
        sys.path.remove(place)


def _command() -> list[str]:
    """Return what starts this program again; nothing does, where it is a notebook."""
    notebook = os.path.basename(sys.argv[0]) == "ipykernel_launcher.py"
    return [] if notebook else ["python", *sys.argv]


def _variables() -> tuple[str, ...]:
    """Environment variables that the records know, as the wheel lists them. A checkout has no list,
    so that a program that records itself stores none.
    """
    package = os.path.dirname(os.path.dirname(os.path.abspath(__file__)))
    try:
        with open(os.path.join(package, "_kb", "variables.txt"), encoding="utf-8") as file:
            return tuple(line.strip() for line in file)
    except FileNotFoundError:
        return ()


def _make(folder: str, level: str) -> None:
    private, seals = (importlib.import_module(f"_d9m_recorder.core.{name}") for name in _SHARED)
    private.make_folder(folder)
    about = {
        "d9m_run": seals.FORMAT,
        "d9m": __version__,
        "command": private.masked(_command()),
        "folder": os.path.basename(os.getcwd()),
        "level": level,
        "started": time.strftime("%Y-%m-%dT%H:%M:%S%z"),
    }
    if os.listdir(folder):
        raise FileExistsError(f"{folder} is not empty")
    with open(os.path.join(folder, "run.json"), "xb", opener=private.open_file) as file:
        file.write(seals.document(json.dumps(about, indent=1)))
