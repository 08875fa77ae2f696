"""Programs recorded through the command line, in the framework that the emitted code runs in."""

from __future__ import annotations

import json
import os
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest
from written import opened

from conftest import needs, shared
from process import COMMAND, d9m, environment

TESTS = Path(__file__).parents[1]
LONGEST = 300
"""Seconds; importing or compiling with a framework takes many on a busy machine."""
PROGRAMS = Path(__file__).with_name("programs")

TRIES = 3
"""Pairs of runs until an op that adds in no fixed order must have differed."""

sys.path.append(str(TESTS / "emitted"))
from environments import (  # noqa: E402  its folder has to be on the path
    FRAMEWORKS,
    LAUNCHERS,
    PROBED,
    UnavailableError,
    find_python,
)


def framework_python(name: str) -> str:
    """The interpreter that has a framework; skips the test where there is none."""
    framework = next(found for found in FRAMEWORKS if found.name == name)
    needs(framework.stands, framework.name, framework.how)
    return str(framework.interpreter)


def python_of(version: str) -> str:
    """An interpreter without frameworks; skips the test where there is none of this version."""
    try:
        return find_python(version)
    except UnavailableError as reason:
        pytest.skip(str(reason))


def torch_python() -> str:
    return framework_python("torch-2.13.0")


def tensorflow_python() -> str:
    return framework_python("tensorflow-2.21.0")


def jax_python() -> str:
    """The interpreter that has JAX; skips the test where there is none."""
    (jax,) = PROBED
    needs(jax.stands, jax.name, jax.how)
    return str(jax.interpreter)


def launcher_python() -> str:
    """The interpreter that has Accelerate and Jupyter beside torch; skips the test where there is
    none.
    """
    (launcher,) = LAUNCHERS
    needs(launcher.stands, launcher.name, launcher.how)
    return str(launcher.interpreter)


class Recorded:
    """What came of `d9m trace`."""

    def __init__(self, folder: Path) -> None:
        self.run = folder / "run"
        self.code, self.stdout, self.stderr = json.loads((folder / "ended.json").read_text())

    @property
    def errors(self) -> str:
        path = self.run / "errors.txt"
        return path.read_text() if path.exists() else ""

    def streams(self) -> list[list[Any]]:
        """The lines of each stream, decoded."""
        files = sorted(self.run.glob("*.d9m"))
        return [[json.loads(line) for line in opened(file)] for file in files]

    def stream(self) -> list[Any]:
        """The lines of the only one."""
        found = self.streams()
        assert len(found) == 1, f"{len(found)} streams; stderr: {self.stderr}"
        return found[0]

    def records(self, letters: str) -> list[Any]:
        """Those of the only stream whose letter is one of these."""
        return [line for line in self.stream() if isinstance(line, list) and line[0] in letters]


def record(folder: Path, options: str, *command: str, **variables: str) -> Recorded:
    """Record a command into `folder`/run. It runs where the programs lie."""
    folder.mkdir(parents=True, exist_ok=True)
    done = subprocess.run(
        [*COMMAND, "trace", "-o", str(folder / "run"), *options.split(), "--", *command],
        cwd=PROGRAMS,
        env=environment(**variables),
        stdin=subprocess.DEVNULL,
        capture_output=True,
        text=True,
        timeout=LONGEST,
    )
    ended = [done.returncode, done.stdout, done.stderr]
    (folder / "ended.json").write_text(json.dumps(ended))
    return Recorded(folder)


def recording(
    name: str,
    options: str,
    program: str,
    *arguments: str,
    python: str | None = None,
    **variables: str,
) -> Recorded:
    """A recording that all tests of a run share, by its name; with torch's interpreter, unless
    `python` is another one.
    """
    python = python or torch_python()

    def make(place: Path) -> None:
        record(place, options, python, program, *arguments, **variables)

    return Recorded(shared(name, make))


def need_processors() -> None:
    """Skip the test where ops that add in no fixed order have nothing to race with."""
    if len(os.sched_getaffinity(0)) < 2:
        pytest.skip("with one processor, threads add in a fixed order")


def compared(
    path: Path, name: str, values: tuple[str, str] = ("", ""), steps: str = "3", more: str = ""
) -> dict[str, Any]:
    """What `d9m diff` says of two runs of `causes.py`, recorded op by op."""
    options = f"--level op --inputs exact --steps {steps} {more}"
    command = torch_python(), "causes.py", name
    return difference(
        *(
            record(path / run, options, *command, *filter(None, [value]))
            for run, value in zip("ab", values)
        )
    )


def difference(one: Recorded, other: Recorded) -> dict[str, Any]:
    """What `d9m diff` says of two recordings in which nothing went wrong."""
    for recorded in (one, other):
        assert recorded.code == 0, recorded.stderr
        assert recorded.errors == ""
    code, found = json_diff(one, other)
    assert code == (1 if found["causes"] else 0)
    return found


def json_diff(one: Recorded, other: Recorded) -> tuple[int, dict[str, Any]]:
    """The exit code of `d9m diff`, and what it says."""
    done = d9m("diff", "--format", "json", str(one.run), str(other.run))
    assert done.stderr == ""
    return done.returncode, json.loads(done.stdout)


def kinds(found: dict[str, Any]) -> list[str]:
    return [cause["kind"] for cause in found["causes"]]
