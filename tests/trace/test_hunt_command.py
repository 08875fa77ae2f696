"""`d9m hunt` of a program that only pretends to train: exit codes, signals, folders."""

from __future__ import annotations

import json
import os
import signal
import subprocess
import sys
import time
from pathlib import Path
from typing import Any
from xml.etree import ElementTree

import pytest
from recorded import PROGRAMS

from process import COMMAND, d9m, environment

PROGRAM = str(PROGRAMS / "pretends.py")
PATH = os.pathsep.join(place for place in sys.path if place)
"""Where this process finds d9m, a process of its own finds the same."""
PATIENCE = 120
"""Seconds until something must have happened on a busy machine."""


def hunt(tmp_path: Path, steps: int, *how: str, options: str = "") -> tuple[int, dict[str, Any]]:
    """The exit code, and the JSON."""
    done = d9m(
        "hunt", "--format", "json", "--no-replay", *options.split(), "--",
        sys.executable, PROGRAM, str(steps), *how, TMPDIR=str(tmp_path),
    )  # fmt: skip
    return done.returncode, json.loads(done.stdout) if done.stdout else {}


def why(found: dict[str, Any]) -> list[str]:
    return [gap["why"] for gap in found["incomplete"]]


@pytest.mark.parametrize(
    ("steps", "options", "code", "reasons", "limited"),
    [
        (25, "", 3, ["steps"], True),
        (25, "--steps 20", 0, [], True),
        (25, "--steps all", 0, [], False),
        (5, "", 0, [], False),
        (25, "--time 0.001", 3, ["steps"], True),
        (25, "--time 0.001 --steps 7", 0, [], True),
    ],
)
def test_only_the_default_number_of_steps_makes_equal_runs_incomplete(
    tmp_path: Path, steps: int, options: str, code: int, reasons: list[str], limited: bool
) -> None:
    came, found = hunt(tmp_path, steps, "ends", options=options)
    assert (came, found["same"], found["complete"]) == (code, True, code == 0)
    assert (why(found), found["steps"]["limited"]) == (reasons, limited)


def test_the_cut_is_in_the_headline_with_the_option_that_ends_it(tmp_path: Path) -> None:
    done = d9m("hunt", "--", sys.executable, PROGRAM, "30", "ends", TMPDIR=str(tmp_path))
    assert done.returncode == 3
    said = " ".join(done.stdout.split())
    assert said.startswith(
        "Each run was ended after 20 steps, the default: --steps all compares all of them. "
        "What was compared is bitwise identical: steps 0 to 19 of 1 process."
    )
    assert "d9m hunt --steps all -- " in said


@pytest.mark.parametrize(
    ("how", "code", "same", "reasons"),
    [
        (("fails",), 3, True, ["error", "error"]),
        (("ends", "fails"), 1, False, ["error"]),
        (("fails", "ends"), 1, False, ["error"]),
        (("ends", "nothing"), 1, False, ["error"]),
        (("ends", "other"), 1, False, []),
        (("ends", "ends", "fails"), 1, False, ["error"]),
    ],
)
def test_runs_that_fail_are_never_equal(
    tmp_path: Path, how: tuple[str, ...], code: int, same: bool, reasons: list[str]
) -> None:
    came, found = hunt(tmp_path, 3, *how, options=f"--runs {max(2, len(how))}")
    assert (came, found["same"], why(found)) == (code, same, reasons)
    assert bool(list(tmp_path.glob("d9m-hunt-*"))) is (code == 1)


def test_a_program_that_records_nothing_exits_4(tmp_path: Path) -> None:
    done = d9m("hunt", "--", sys.executable, PROGRAM, "3", "nothing", TMPDIR=str(tmp_path))
    assert (done.returncode, done.stdout) == (4, "")
    assert "started no Python that imports torch, tensorflow or jax and ended with exit code 7" in (
        done.stderr
    )
    assert not list(tmp_path.iterdir())


class Started:
    """A hunt that runs until a signal ends it."""

    def __init__(self, tmp_path: Path, *how: str, options: str = "") -> None:
        self.temporary = tmp_path / "temporary"
        self.temporary.mkdir(exist_ok=True)
        self.out = tmp_path / "report.xml"
        self.process = subprocess.Popen(
            [
                *COMMAND, "hunt", "--format", "junit", "-o", str(self.out), *options.split(), "--",
                sys.executable, PROGRAM, "3", *how,
            ],
            env=environment(TMPDIR=str(self.temporary), PYTHONPATH=PATH),
            stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True,
        )  # fmt: skip

    def wait_for_run(self, number: int) -> None:
        until = time.monotonic() + PATIENCE
        while not list(self.temporary.glob(f"d9m-hunt-*/run-{number}/r0-0.d9m")):
            assert time.monotonic() < until
            assert self.process.poll() is None
            time.sleep(0.05)

    def ended(self) -> tuple[int, str]:
        _stdout, stderr = self.process.communicate(timeout=PATIENCE)
        return self.process.returncode, stderr


def children() -> list[str]:
    """Processes that still run the program."""
    found: list[str] = []
    for entry in Path("/proc").glob("[0-9]*/cmdline"):
        try:
            words = entry.read_bytes().split(b"\0")
        except OSError:
            continue
        if PROGRAM.encode() in words:
            found.append(entry.parent.name)
    return found


@pytest.mark.parametrize(
    ("name", "times"), [("SIGTERM", 2), ("SIGINT", 1), ("SIGHUP", 1), ("SIGQUIT", 1)]
)
def test_a_signal_writes_the_report_of_what_is_known(tmp_path: Path, name: str, times: int) -> None:
    number = signal.Signals[name]
    hunting = Started(tmp_path, "ends", "ends", "waits", options="--runs 3")
    hunting.wait_for_run(3)
    for _ in range(times):
        hunting.process.send_signal(number)
    code, stderr = hunting.ended()
    assert code == 128 + number
    assert stderr.endswith("d9m: interrupted\n")
    suite = ElementTree.parse(hunting.out).getroot()
    assert (suite.attrib["errors"], suite.attrib["failures"]) == ("1", "0")
    (error,) = suite.iter("error")
    assert error.attrib["message"].startswith(
        "The hunt was interrupted. What was compared is bitwise identical"
    )
    assert not list(hunting.temporary.iterdir())
    assert not children()


def test_an_interrupted_second_run_is_compared_as_far_as_it_went(tmp_path: Path) -> None:
    hunting = Started(tmp_path, "ends", "waits")
    hunting.wait_for_run(2)
    hunting.process.send_signal(signal.SIGTERM)
    assert hunting.ended()[0] == 143
    suite = ElementTree.parse(hunting.out).getroot()
    assert "What was compared is bitwise identical: 3 steps" in (suite.findtext("system-out") or "")


def test_a_hunt_that_is_interrupted_in_its_first_run_leaves_nothing(tmp_path: Path) -> None:
    hunting = Started(tmp_path, "waits")
    hunting.wait_for_run(1)
    hunting.process.send_signal(signal.SIGTERM)
    code, stderr = hunting.ended()
    assert (code, hunting.out.exists()) == (143, False)
    assert "interrupted before two runs could be compared" in stderr
    assert not list(hunting.temporary.iterdir())


def test_the_next_hunt_removes_what_a_killed_one_left(tmp_path: Path) -> None:
    hunting = Started(tmp_path, "waits")
    hunting.wait_for_run(1)
    assert hunt(hunting.temporary, 3, "ends")[0] == 0
    assert list(hunting.temporary.iterdir()), "it still runs"
    hunting.process.kill()
    hunting.ended()  # that includes the program, which holds stderr
    assert not children()
    (left,) = hunting.temporary.iterdir()
    kept = hunting.temporary / "d9m-hunt-kept"
    kept.mkdir()
    assert hunt(hunting.temporary, 3, "ends")[0] == 0
    assert not left.exists()
    assert kept.exists(), "the recordings of a hunt that found something stay"


@pytest.mark.parametrize(
    ("options", "said"),
    [
        (["--a", "python train.py"], "--b is empty"),
        (["--a", "x", "--b", "y", "--fix"], "are run once each"),
        (["--a", "x", "--b", "y", "--", "python", "train.py"], "are run once each"),
        (["--a", "'x", "--b", "y"], '--a "\'x"'),
    ],
)
def test_two_commands_are_asked_for_as_two_commands(options: list[str], said: str) -> None:
    done = d9m("hunt", *options)
    assert done.returncode == 2
    assert said in " ".join(done.stderr.split())
    assert "Traceback" not in done.stderr
