"""`d9m run` over every release on record, and over launchers, flags of Python and ways to start
processes: the program's output and exit code stay what they are, and settings are made.
"""

from __future__ import annotations

import importlib
import itertools
import json
import os
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest
from fake_release import fake_release
from started import ROOT, python, records, run

from d9m.environment.environment import Setup
from d9m.model.versions import key
from d9m.run.hook import _d9m_hook
from d9m.run.plan import RunOptions, for_hook, plan
from golden import knowledge_base

RELEASES = [
    (package, release, device)
    for package in ("torch", "tensorflow")
    for release in json.loads(
        (ROOT / "kb" / "evidence" / "releases" / f"{package}.json").read_text()
    )["releases"]
    for device in ("cuda", "cpu")
]

SWITCHES = {
    "torch": [
        ("1.8.0", "torch.use_deterministic_algorithms(True)"),
        ("1.7.0", "torch.set_deterministic(True)"),
        ("0.4.0", "torch.backends.cudnn.deterministic = True"),
    ],
    "tensorflow": [("2.8.0", "tensorflow.config.experimental.enable_op_determinism()")],
}
"""The first release that has a switch -> how it is turned on, from the newest to the oldest."""


def switch_of(package: str, release: str) -> str | None:
    known = (text for since, text in SWITCHES[package] if key(since) <= key(release))
    return next(known, None)


@pytest.mark.parametrize(("package", "release", "device"), RELEASES)
def test_each_release_gets_statements_that_it_has(
    package: str, release: str, device: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    setup = Setup(((package, release),), device=device)
    made = plan(knowledge_base(), setup, RunOptions(seed=3), {})
    before = set(sys.modules)
    monkeypatch.syspath_prepend(fake_release(tmp_path, package, release))
    notes: list[dict[str, Any]] = []
    hook: Any = _d9m_hook.Hook(for_hook(made, {}), lambda **event: notes.append(event), False)
    hook.begin()
    try:
        calls = importlib.import_module(package).calls
    finally:
        sys.meta_path.remove(hook)
        for name in set(sys.modules) - before:
            if name.split(".")[0] == package:
                del sys.modules[name]
    assert [note for note in notes if note["kind"] == "failed"] == []
    switch = switch_of(package, release)
    if switch is not None and (device == "cuda" or "use_deterministic" in switch):
        assert switch in calls
    ours = [each for each in made.statements if each.module == package]
    assert len(calls) >= len(ours)


PROGRAM = """
import multiprocessing, os, subprocess, sys

def work(number):
    import torch
    with open(os.environ["NOTED"], "a") as file:
        file.write(";".join(torch.calls) + "\\n")
    return number * number

if __name__ == "__main__":
    method = sys.argv[1]
    print(sys.path, sorted(set(os.environ) - {"D9M_RUN", "PYTHONHASHSEED"}))
    print("sitecustomize" in sys.modules, repr(sys.stdin.read()))
    if method == "alone":
        print(work(3))
    elif method == "subprocess":
        flags = subprocess._args_from_interpreter_flags()
        command = [sys.executable] + flags + [__file__, "alone"]
        sys.stdout.flush()
        print(subprocess.call(command, stdin=subprocess.DEVNULL))
    else:
        with multiprocessing.get_context(method).Pool(2) as pool:
            print(pool.map(work, range(3)))
    sys.stdout.flush()
    sys.exit(int(sys.argv[2]) if len(sys.argv) > 2 else 0)
"""

LAUNCHERS = {
    "direct": [],
    "shell": ["sh", "-c", '"$@"', "sh"],
    "env": ["env", "OTHER=1"],
    "nice": ["nice"],
}
FLAGS = [[], ["-u"], ["-X", "dev"], ["-O"], ["-s"], ["-W", "error"], ["-E"], ["-I"], ["-S"]]
DROPPING = ("-E", "-I", "-S")
METHODS = ["alone", "subprocess", "fork", "spawn", "forkserver"]
PYTHONS = {"1.6.0": "3.6", "1.7.1": "3.7", "1.13.1": "3.8", "2.4.0": "3.12", "2.13.0": ""}
"""Release -> a Python of its time; none: that of the tests."""

CELLS = list(itertools.product(LAUNCHERS, FLAGS, METHODS, PYTHONS))[::13]
"""Each thirteenth: 13 is prime to the length of every axis, so that all pairs of values occur."""


@pytest.mark.parametrize(
    ("launcher", "flags", "method", "release"), CELLS, ids=lambda each: "".join(each) or "none"
)
def test_output_and_exit_code_are_those_of_the_program(
    launcher: str, flags: list[str], method: str, release: str, tmp_path: Path
) -> None:
    place = fake_release(tmp_path / "packages", "torch", release)
    (tmp_path / "train.py").write_text(PROGRAM)
    interpreter = python(PYTHONS[release]) if PYTHONS[release] else sys.executable
    command = [*LAUNCHERS[launcher], interpreter, *flags, "train.py", method]
    own = {name: value for name, value in os.environ.items() if name != "PYTHONHASHSEED"}
    noted = tmp_path / "noted"
    env = {**own, "PYTHONPATH": str(place), "NOTED": str(noted), "D9M_KB": str(records())}
    plain = subprocess.run(
        command, env=env, cwd=tmp_path, capture_output=True, text=True, check=False, input="in"
    )
    noted.write_text("")
    done = run("--", *command, env=env, cwd=tmp_path, stdin="in")
    is_reached = not set(flags) & set(DROPPING)
    assert done.stdout == plain.stdout, done.stderr
    assert done.returncode == (plain.returncode or (0 if is_reached else 4)), done.stderr
    switch = switch_of("torch", release)
    if is_reached and "use_deterministic" in str(switch):  # the older ones are for GPUs
        assert {switch in each for each in noted.read_text().splitlines()} == {True}
