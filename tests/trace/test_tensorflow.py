"""TensorFlow programs, recorded and compared through the command line in a real TensorFlow."""

from __future__ import annotations

import json
import subprocess
from pathlib import Path
from typing import Any

import pytest
from recorded import PROGRAMS, Recorded, record, recording, tensorflow_python

from process import d9m


@pytest.fixture(scope="module")
def loop() -> Recorded:
    return recording("tf-loop", "", "tensorflow_loop.py", "0", "1", python=tensorflow_python())


@pytest.fixture(scope="module")
def fit() -> Recorded:
    return recording("tf-fit", "", "tensorflow_fit.py", "1", python=tensorflow_python())


def alone(program: str, *arguments: str) -> str:
    """What a program prints that is not recorded."""
    done = subprocess.run(
        [tensorflow_python(), program, *arguments],
        cwd=PROGRAMS,
        capture_output=True,
        text=True,
        check=True,
    )
    return done.stdout


def letters(recorded: Recorded) -> str:
    records = [str(line[0]) for line in recorded.stream() if isinstance(line, list)]
    return "".join(records)


def compared(a: Recorded, b: Recorded) -> dict[str, Any]:
    done = d9m("diff", "--format", "json", str(a.run), str(b.run))
    assert done.stderr == ""
    return json.loads(done.stdout)


def kinds(found: dict[str, Any]) -> list[str]:
    return [cause["kind"] for cause in found["causes"]]


def test_every_eager_step_has_its_records(loop: Recorded) -> None:
    assert (loop.code, loop.errors) == (0, "")
    assert letters(loop) == "bligpd" + 3 * "blgpd"
    assert [line[1:4:2] for line in loop.records("d")] == [[at, "optimizer"] for at in range(4)]
    for letter in "gp":
        assert len({line[1] for line in loop.records(letter)}) == 4
    assert loop.stream()[-1] == {"ended": "exit", "steps": 4}


def test_the_header_says_what_ran(loop: Recorded) -> None:
    header = loop.stream()[0]
    assert header["packages"]["tensorflow"].startswith("2.21.0")
    assert header["packages"]["keras"]
    assert header["deterministic"]["tf.config.experimental.enable_op_determinism"] is False
    assert header["deterministic"]["tf.random.set_seed"] == 1
    assert (header["device"], header["argv"]) == ("cpu", ["tensorflow_loop.py", "0", "1"])
    assert header["threads"] >= 1


def test_each_call_of_a_compiled_training_function_is_a_step(fit: Recorded) -> None:
    assert (fit.code, fit.errors) == (0, "")
    assert letters(fit) == "iMmpd" + 3 * "mpd"
    assert len({line[1] for line in fit.records("ip")}) == 5
    assert fit.stream()[-1]["steps"] == 4


def test_recording_changes_no_bit_and_no_exit_code(loop: Recorded, fit: Recorded) -> None:
    assert alone("tensorflow_loop.py", "0", "1") == loop.stdout
    assert alone("tensorflow_fit.py", "1") == fit.stdout


def test_equal_runs_are_equal_and_the_answer_is_marked(loop: Recorded, tmp_path: Path) -> None:
    again = record(tmp_path, "", tensorflow_python(), "tensorflow_loop.py", "7", "1")
    assert again.code == 7
    found = compared(loop, again)
    assert found["same"]
    assert "Recordings of TensorFlow programs are experimental." in found["notes"]


def test_another_seed_is_a_setting_that_differs(fit: Recorded, tmp_path: Path) -> None:
    found = compared(fit, record(tmp_path, "", tensorflow_python(), "tensorflow_fit.py", "2"))
    names = {setting["name"]: (setting["a"], setting["b"]) for setting in found["settings"]}
    assert names["tf.random.set_seed"] == ("1", "2")
    assert kinds(found) == ["settings", "state"]
    assert found["causes"][0]["reaches"]["parameters"] == 0


def test_a_killed_run_stays_readable(loop: Recorded, tmp_path: Path) -> None:
    killed = record(tmp_path, "", tensorflow_python(), "tensorflow_loop.py", "0", "1", "kill")
    assert killed.code == 137
    assert [line[1] for line in killed.records("d")] == [0, 1, 2]
    found = compared(loop, killed)
    assert (found["complete"], found["runs"][1]["ended"]) == (False, "killed")
    assert kinds(found) == []


def test_steps_bound_the_recording(tmp_path: Path) -> None:
    found = record(tmp_path, "--steps 2", tensorflow_python(), "tensorflow_fit.py", "1")
    assert (found.code, found.stdout) == (0, "")
    assert [line[1] for line in found.records("d")] == [0, 1]
    assert found.stream()[-1]["ended"] == "steps"


def test_modules_are_not_recorded_and_that_is_said(tmp_path: Path) -> None:
    found = record(tmp_path, "--level module", tensorflow_python(), "tensorflow_loop.py", "0", "1")
    assert found.code == 4
    assert "d9m: a TensorFlow program is not recorded at level module: use step" in found.stderr
    assert "nothing was recorded" in found.stderr
    assert found.stdout.startswith("loss")
