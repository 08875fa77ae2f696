"""Programs of JAX, recorded by function through the command line and compared."""

from __future__ import annotations

import json
import subprocess
from pathlib import Path

import pytest
from recorded import PROGRAMS, Recorded, jax_python, json_diff, recording

from process import d9m

LINES = (PROGRAMS / "jax_train.py").read_text().splitlines()
CALL = 1 + next(number for number, line in enumerate(LINES) if "= train_step(params" in line)


def recorded(run: str, *arguments: str, options: str = "", **variables: str) -> Recorded:
    """A recording of `jax_train.py`; all tests share those of one name."""
    return recording(
        f"jax-{run}", options, "jax_train.py", *arguments, python=jax_python(), **variables
    )


@pytest.fixture(scope="module")
def plain() -> Recorded:
    return recorded("plain", "plain")


def test_outermost_calls_are_records_and_a_repeated_one_begins_a_step(plain: Recorded) -> None:
    assert (plain.code, plain.errors) == (0, "")
    sites = {line[1]: line for line in plain.records("S")}
    called = [sites[line[1]][2] for line in plain.records("o")]
    assert called == ["jax.random.key", *4 * ["train_step"], "evaluate", "apply"]
    assert [line[1:4:2] for line in plain.records("d")] == [[step, "call"] for step in range(4)]
    end = plain.stream()[-1]
    assert (end["ended"], end["steps"]) == ("exit", 4)


def test_a_call_has_its_line_its_arguments_and_its_arrays(plain: Recorded) -> None:
    step = next(line for line in plain.records("S") if line[2] == "train_step")
    assert step[7] == ["jax_train.py", CALL, "<module>"]
    assert step[8] == [
        "params['hidden'] float32[64, 32]",
        "params['out'] float32[32, 1]",
        "x float32[16, 64]",
        "y float32[16, 1]",
    ]
    first, second = [line for line in plain.records("o") if line[1] == step[1]][:2]
    assert first[2] == "lr=0.1"
    assert first[4][:2] == second[3][:2], "parameters come back in as they were returned"
    assert first[4] != second[4]


def test_the_header_says_what_ran(plain: Recorded) -> None:
    header = plain.stream()[0]
    assert set(header["packages"]) == {"jax", "jaxlib"}
    assert (header["device"], header["inputs"]) == ("cpu", "exact")
    assert header["deterministic"]["jax_default_prng_impl"] == "threefry2x32"
    assert header["generators"] == {}, "nothing but the import drew from NumPy's generator"


def test_the_program_prints_the_bits_that_it_prints_alone(plain: Recorded) -> None:
    alone = subprocess.run(
        [jax_python(), "jax_train.py", "plain"],
        cwd=PROGRAMS,
        capture_output=True,
        text=True,
        check=True,
    )
    assert plain.stdout == alone.stdout
    assert "train_step train_step True" in alone.stdout


def test_equal_runs_are_equal(plain: Recorded) -> None:
    code, found = json_diff(plain, recorded("again", "plain"))
    assert (code, found["same"], found["learned"]) == (0, True, ["outputs"])
    assert found["notes"] == ["Recordings of JAX programs are experimental."]


def test_a_callback_that_draws_makes_its_function_the_cause() -> None:
    code, found = json_diff(recorded("callback", "callback"), recorded("callback-2", "callback"))
    (cause,) = found["causes"]
    assert (code, cause["kind"], cause["argument"]) == (1, "compiled", "train_step")
    assert (cause["step"], cause["certain"]) == (0, True)
    assert cause["source"] == {"file": "jax_train.py", "line": CALL, "function": "<module>"}
    assert cause["reaches"]["outputs"] == 0


def test_a_number_of_the_host_is_named_with_the_input_that_has_it() -> None:
    code, found = json_diff(recorded("host", "host"), recorded("host-2", "host"))
    (cause,) = found["causes"]
    assert (code, cause["kind"], cause["step"]) == (1, "outside-value", 2)
    assert (cause["op"], cause["argument"]) == ("train_step", "x float32[16, 64]")
    assert cause["source"]["line"] == CALL
    assert cause["inherited"]


def test_another_seed_is_named_with_both_values() -> None:
    code, found = json_diff(recorded("seed-1", "seed", "1"), recorded("seed-2", "seed", "2"))
    (cause,) = found["causes"]
    assert (code, cause["kind"], cause["op"]) == (1, "seed", "jax.random.key")
    assert (cause["a"], cause["b"]) == ("1", "2")
    assert "key(" in LINES[cause["source"]["line"] - 1]
    assert cause["reaches"]["outputs"] == 0
    assert cause["records"] == ["jax-keys"]


@pytest.mark.nightly
def test_a_learning_rate_is_an_argument() -> None:
    runs = [recorded(f"lr-{value}", "learning_rate", value) for value in ("0.1", "0.2")]
    code, found = json_diff(*runs)
    (cause,) = found["causes"]
    assert (code, cause["kind"], cause["argument"]) == (1, "argument", "lr")
    assert (cause["a"], cause["b"]) == ("0.1", "0.2")


@pytest.mark.nightly
def test_other_settings_come_first(plain: Recorded) -> None:
    other = recorded("x64", "plain", JAX_ENABLE_X64="1")
    _code, found = json_diff(plain, other)
    names = {setting["name"] for setting in found["settings"]}
    assert names == {"jax_enable_x64"}
    assert found["causes"][0]["kind"] == "settings"


def test_the_exit_code_is_the_programs_own() -> None:
    assert recorded("code", "code").code == 3


def test_a_killed_program_stays_readable(plain: Recorded) -> None:
    killed = recorded("kill", "kill")
    assert killed.code == 128 + 9
    assert [line[1] for line in killed.records("d")] == [0, 1]
    code, found = json_diff(plain, killed)
    assert (code, found["same"], found["complete"]) == (1, False, False)


@pytest.mark.nightly
def test_steps_bound_the_recording() -> None:
    found = recorded("bounded", "plain", options="--steps 2")
    assert [line[1] for line in found.records("d")] == [0, 1]
    end = found.stream()[-1]
    assert (end["ended"], end["steps"]) == ("steps", 2)
    window = recorded("window", "plain", options="--steps 1:2")
    assert [line[1] for line in window.records("d")] == [1, 2]


@pytest.mark.nightly
def test_each_call_ends_a_step_where_that_is_wanted() -> None:
    found = recorded("forward", "plain", options="--step-by forward")
    assert [line[3] for line in found.records("d")] == 6 * ["forward"]


def test_the_answer_reads_as_a_colleague_says_it() -> None:
    runs = recorded("callback", "callback"), recorded("callback-2", "callback")
    done = d9m("diff", *(str(run.run) for run in runs))
    text = " ".join(done.stdout.split())
    assert "Compiled train_step returned different results for equal inputs." in text
    assert f"where jax_train.py:{CALL} in <module>" in text
    assert "! Recordings of JAX programs are experimental." in text
    assert "torch" not in text


def test_a_level_that_jax_has_not_got_is_said_in_one_error() -> None:
    found = recorded("no-module", "plain", options="--level module")
    assert found.code == 4
    assert "a program of JAX cannot be recorded at --level module" in found.stderr
    assert "--level op --compiled eager" in found.stderr
    assert found.stdout.splitlines()[2:3] == ["train_step train_step True"]
    assert recorded("no-module-3", "code", options="--level module").code == 3


def test_a_hunt_names_the_function_and_the_op_in_it(tmp_path: Path) -> None:
    command = ["--", jax_python(), str(PROGRAMS / "jax_train.py"), "callback"]
    done = d9m("hunt", "--format", "json", "-o", str(tmp_path / "answer.json"), *command)
    found = json.loads((tmp_path / "answer.json").read_text())
    (cause,) = found["causes"]
    assert (done.returncode, cause["kind"], cause["argument"]) == (1, "compiled", "train_step")
    stages = [(stage["level"], stage["runs"]) for stage in found["stages"]]
    assert stages == [("step", 2), ("eager", 2)]
    (op,) = found["inside"]
    assert (op["op"], op["module"], op["step"]) == ("jax::pure_callback", "train_step", 0)
    assert "pure_callback" in LINES[op["source"]["line"] - 1]
    assert any("results differ from those of the compiled" in note for note in found["notes"])
