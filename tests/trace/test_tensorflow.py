"""TensorFlow programs, recorded and compared through the command line in a real TensorFlow."""

from __future__ import annotations

import json
import subprocess
from pathlib import Path
from typing import Any

import pytest
from recorded import (
    PROGRAMS,
    Recorded,
    framework_python,
    json_diff,
    kinds,
    record,
    recording,
    tensorflow_python,
)

from process import COMMAND, d9m, environment

LONGEST = 600
"""Seconds for the runs of one hunt, on a busy machine."""


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
    """What `d9m diff` says, whatever became of the runs."""
    _code, found = json_diff(a, b)
    return found


def test_every_eager_step_has_its_records(loop: Recorded) -> None:
    assert (loop.code, loop.errors) == (0, "")
    assert letters(loop) == "bligpd" + 3 * "blgpd"
    assert [line[1:4:2] for line in loop.records("d")] == [[at, "optimizer"] for at in range(4)]
    for letter in "gp":
        assert len({line[1] for line in loop.records(letter)}) == 4
    end = loop.stream()[-1]
    assert (end["ended"], end["steps"]) == ("exit", 4)


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
    again = record(tmp_path / "again", "", tensorflow_python(), "tensorflow_loop.py", "0", "1")
    found = compared(loop, again)
    assert found["same"]
    assert "Recordings of TensorFlow programs are experimental." in found["notes"]


def test_another_seed_is_a_setting_that_differs(fit: Recorded, tmp_path: Path) -> None:
    found = compared(fit, record(tmp_path, "", tensorflow_python(), "tensorflow_fit.py", "2"))
    names = {setting["name"]: (setting["a"], setting["b"]) for setting in found["settings"]}
    assert names["tf.random.set_seed"] == ("1", "2")
    assert kinds(found) == ["settings", "state"]
    assert found["causes"][0]["reaches"]["parameters"] == 0


@pytest.mark.nightly
def test_a_model_without_a_seed_has_a_hint(tmp_path: Path) -> None:
    runs = [
        record(tmp_path / name, "--steps 1", tensorflow_python(), "tensorflow_fit.py", "none")
        for name in "ab"
    ]
    (cause,) = compared(*runs)["causes"]
    assert (cause["kind"], cause["step"], cause["records"]) == ("state", 0, ["seeds"])
    assert cause["hints"] == [
        "TensorFlow has no seed: what it draws without one differs in each run."
    ]


def test_a_release_whose_python_is_too_old_runs_and_is_not_recorded(tmp_path: Path) -> None:
    python = framework_python("tensorflow-2.0.4")
    found = record(tmp_path, "--level op --steps 1", python, "tensorflow_loop.py", "0", "1")
    assert (found.code, found.errors) == (4, "")
    assert "d9m: A child of Python 3.7 was not recorded" in found.stderr
    assert found.stdout.startswith("loss")


@pytest.mark.nightly
def test_a_killed_run_stays_readable(loop: Recorded, tmp_path: Path) -> None:
    killed = record(tmp_path, "", tensorflow_python(), "tensorflow_loop.py", "0", "1", "kill")
    assert killed.code == 137
    assert [line[1] for line in killed.records("d")] == [0, 1, 2]
    found = compared(loop, killed)
    assert (found["same"], found["runs"][1]["ended"]) == (False, "killed")
    assert kinds(found) == ["error"]


@pytest.mark.nightly
def test_steps_bound_the_recording(tmp_path: Path) -> None:
    found = record(tmp_path, "--steps 2", tensorflow_python(), "tensorflow_fit.py", "1")
    assert (found.code, found.stdout) == (0, "")
    assert [line[1] for line in found.records("d")] == [0, 1]
    assert found.stream()[-1]["ended"] == "steps"


@pytest.mark.nightly
def test_modules_are_not_recorded_and_that_is_said(tmp_path: Path) -> None:
    found = record(tmp_path, "--level module", tensorflow_python(), "tensorflow_loop.py", "0", "1")
    assert found.code == 4
    assert (
        "d9m: a TensorFlow program is not recorded at level module: use step or op" in found.stderr
    )
    assert "nothing was recorded" in found.stderr
    assert found.stdout.startswith("loss")


OPS = "--level op --inputs exact --steps 2"


@pytest.fixture(scope="module")
def ops() -> Recorded:
    return recording("tf-ops", OPS, "tensorflow_loop.py", "0", "1", python=tensorflow_python())


def test_equal_runs_have_equal_ops(ops: Recorded, tmp_path: Path) -> None:
    again = record(tmp_path, OPS, tensorflow_python(), "tensorflow_loop.py", "0", "1")
    assert (ops.code, ops.errors, again.errors) == (0, "", "")
    assert ops.records("Soblgpi") == again.records("Soblgpi")
    found = compared(ops, again)
    assert (found["same"], found["compared"]["forks"]) == (True, 0)
    ends = zip(ops.records("d"), again.records("d"))
    other = sum(mine != its for mine, its in ends)  # Python's own generator, if something drew
    assert found["compared"]["records"] == found["compared"]["equal"] + other > 200


def test_an_op_says_what_it_read_and_where_it_was_called(ops: Recorded) -> None:
    sites = {line[1]: line for line in ops.records("S")}
    by_op = {site[2]: site for site in sites.values() if site[4] == "fwd"}
    product = by_op["tf.raw_ops.MatMul"]
    assert product[7] == ["tensorflow_loop.py", 26, "<module>"]
    assert product[8:] == [["float32[8, 4]", "float32[4, 1]"], "cpu"]
    assert {site[4] for site in sites.values()} == {"fwd", "bwd", "opt"}
    assert {site[6] for site in sites.values() if site[4] == "opt"} == {"Adam"}
    draws = [line for line in ops.records("o") if len(line) > 5]
    assert {sites[line[1]][2] for line in draws} == {"tf.raw_ops.RandomStandardNormal"}
    assert {line[5][0] for line in draws} == {"1"}
    assert len({line[5][1] for line in draws}) == len(draws) == 3
    call = next(line for line in ops.records("o") if line[1] == product[1])
    read = next(line for line in ops.records("o") if line[4] == [call[3][1]])
    assert sites[read[1]][2] == "tf.raw_ops.ReadVariableOp"
    assert read[3][0].partition(".")[0] == call[3][1].partition(".")[0]


def test_an_op_without_a_seed_is_the_only_cause(tmp_path: Path) -> None:
    runs: list[Recorded] = []
    for name in "ab":
        planted = ["tensorflow_loop.py", "0", "1", "unseeded"]
        runs.append(record(tmp_path / name, OPS, tensorflow_python(), *planted))
        assert runs[-1].errors == ""
    found = compared(*runs)
    (cause,) = found["causes"]
    assert (cause["kind"], cause["op"]) == ("seed", "tf.raw_ops.RandomStandardNormal")
    source = {"file": "tensorflow_loop.py", "line": 20, "function": "noise"}
    assert (cause["step"], cause["source"]) == (0, source)
    assert cause["reaches"]["loss"] == cause["reaches"]["parameters"] == 0
    assert cause["records"] == ["seeds"]
    text = d9m("diff", str(runs[0].run), str(runs[1].run)).stdout
    assert "draws random\nnumbers, and no seed is set." in text


@pytest.mark.nightly
def test_another_seed_shows_at_the_op_that_draws(ops: Recorded, tmp_path: Path) -> None:
    found = compared(
        ops, record(tmp_path, OPS, tensorflow_python(), "tensorflow_loop.py", "0", "2")
    )
    assert kinds(found) == ["settings", "seed"]
    assert (found["causes"][1]["a"], found["causes"][1]["b"]) == ("1", "2")
    assert found["causes"][1]["source"]["line"] == 13


def test_a_function_is_one_record_and_a_hunt_looks_inside(tmp_path: Path) -> None:
    answer = tmp_path / "answer.json"
    done = subprocess.run(
        [
            *COMMAND, "hunt", "--format", "json", "-o", str(answer), "--steps", "2",
            "--", tensorflow_python(), "tensorflow_function.py", "unseeded",
        ],
        cwd=PROGRAMS,
        env=environment(),
        capture_output=True,
        text=True,
        timeout=LONGEST,
    )  # fmt: skip
    assert done.returncode == 1, done.stderr
    found = json.loads(answer.read_text())
    (cause,) = found["causes"]
    assert (cause["kind"], cause["argument"]) == ("compiled", "function train_step")
    assert (cause["certain"], cause["records"]) == (True, [])
    (inside,) = found["inside"]
    assert (inside["kind"], inside["source"]["function"]) == ("seed", "noise")


@pytest.mark.nightly
def test_a_function_that_gets_an_iterator_is_no_certain_cause(tmp_path: Path) -> None:
    runs: list[Recorded] = []
    for name, order in (("a", "in"), ("b", "reversed")):
        program = [tensorflow_python(), "tensorflow_fit.py", "1", order]
        runs.append(record(tmp_path / name, "--level op --inputs exact --steps 1", *program))
        assert (runs[-1].code, runs[-1].errors) == (0, "")
    found = compared(*runs)
    (cause,) = found["causes"]
    assert (cause["kind"], cause["certain"]) == ("compiled", False)
    assert "iterator" in cause["hints"][0]


def test_recording_every_op_changes_no_bit(loop: Recorded, fit: Recorded, tmp_path: Path) -> None:
    for name, plain, program in (
        ("loop", loop, ["tensorflow_loop.py", "0", "1"]),
        ("fit", fit, ["tensorflow_fit.py", "1"]),
    ):
        found = record(tmp_path / name, "--level op", tensorflow_python(), *program)
        assert (found.code, found.errors, found.stdout) == (0, "", plain.stdout)
