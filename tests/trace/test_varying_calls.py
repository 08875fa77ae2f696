"""Calls of the program's own files that vary: noted with their lines, and held where asked."""

from __future__ import annotations

import json
import os
import subprocess
import sys
from pathlib import Path

import pytest
from recorded import torch_python

from d9m.trace.start import RecordingRequest, variables
from d9m.trace.varying_calls import calls

PROGRAM = """
import os, random, time, uuid
import json.decoder  # a library that may ask the clock is not noted

def seed():
    random.seed(int(time.time()))

seed()
print(time.time(), os.getpid(), os.urandom(4), uuid.uuid4(), random.random())
"""


def run(path: Path, python: str = sys.executable, program: str = PROGRAM, **request: object) -> str:
    script = path / "train.py"
    script.write_text(program)
    folder = path / "run"
    folder.mkdir()
    asked = variables(folder, RecordingRequest(varying=True, **request), os.environ)  # type: ignore[arg-type]
    done = subprocess.run(
        [python, str(script)], env={**os.environ, **asked}, capture_output=True, text=True,
        cwd=path, check=True,
    )  # fmt: skip
    assert done.stderr == ""
    return done.stdout


def test_calls_are_noted_with_the_lines_that_led_to_them(tmp_path: Path) -> None:
    run(tmp_path)
    found = {(call.kind, call.function): call for call in calls(tmp_path / "run")}
    assert [line[:2] for line in found["clock", "time.time"].lines] == [("train.py", 9)]
    seeded = found["seed", "random.seed"]
    assert [line[1] for line in seeded.lines] == [6, 8]
    assert isinstance(seeded.value, int)
    assert {kind for kind, _function in found} == {
        "clock", "pid", "entropy", "seed", "draw random"
    }  # fmt: skip
    assert (tmp_path / "run" / "varying.txt").stat().st_mode & 0o777 == 0o600


@pytest.mark.parametrize("held", [("clock", "pid", "entropy")])
def test_what_is_held_is_the_same_in_each_run(tmp_path: Path, held: tuple[str, ...]) -> None:
    printed: set[str] = set()
    for name in "ab":
        (tmp_path / name).mkdir()
        printed.add(run(tmp_path / name, held=held))
    assert len(printed) == 1


ENTROPY = (
    "os.urandom(4)",
    "uuid.uuid4()",
    "secrets.token_hex(4)",
    "secrets.randbelow(10**9)",
    "random.SystemRandom().random()",
    "secrets.choice(range(10**9))",
    "numpy.random.default_rng().random()",
    "numpy.random.Generator(numpy.random.PCG64()).random()",
    "numpy.random.SeedSequence().entropy",
    "numpy.random.RandomState(numpy.random.MT19937()).random()",
)  # fmt: skip


def test_every_way_to_the_systems_entropy_is_noted_once_and_held(tmp_path: Path) -> None:
    lines = ["import os, random, secrets, uuid, numpy", *(f"print({each})" for each in ENTROPY)]
    printed: set[str] = set()
    for name in "ab":
        (tmp_path / name).mkdir()
        text = "\n".join(lines)
        printed.add(run(tmp_path / name, torch_python(), program=text, held=("entropy",)))
    assert len(printed) == 1
    noted = [call.lines[0][1] for call in calls(tmp_path / "a" / "run") if call.kind == "entropy"]
    assert noted == [line for line in range(2, len(lines) + 1) if line in noted]
    assert {*noted} == {*range(2, len(lines) + 1)}
    assert len(noted) == len(ENTROPY)


def test_without_the_request_nothing_is_replaced(tmp_path: Path) -> None:
    asked = variables(tmp_path, RecordingRequest(), os.environ)
    settings = json.loads(asked["D9M_TRACE"])
    assert (settings["varying"], settings["held"]) == (False, [])
    code = "import time, os; print(type(time.time).__name__, type(os.getpid).__name__)"
    done = subprocess.run(
        [sys.executable, "-c", code], env={**os.environ, **asked}, capture_output=True, text=True,
        check=True,
    )  # fmt: skip
    assert done.stdout.split() == ["builtin_function_or_method"] * 2


def test_a_seed_right_after_the_import_is_one_that_the_program_can_replace(tmp_path: Path) -> None:
    code = "import random; print(random.random())"
    request = RecordingRequest(python=("random.seed(0)",))
    asked = variables(tmp_path, request, os.environ)
    printed = {
        subprocess.run(
            [sys.executable, "-c", code], env={**os.environ, **asked}, capture_output=True,
            check=True,
        ).stdout
        for _ in range(2)
    }  # fmt: skip
    assert len(printed) == 1
