"""What is recorded step by step, of programs that are started in every way there is."""

from __future__ import annotations

import functools
import subprocess
from pathlib import Path

import pytest
from recorded import PROGRAMS, Recorded, record, recording, torch_python

from process import d9m


@pytest.fixture(scope="module")
def plain() -> Recorded:
    return recording("step-plain", "", "train.py")


@pytest.fixture(scope="module")
def again() -> Recorded:
    return recording("step-again", "", "train.py", "3")


def test_every_step_has_its_records(plain: Recorded) -> None:
    letters = "".join(line[0] for line in plain.stream() if isinstance(line, list))
    assert letters == "xblitgpd" + 3 * "xblgpd", "t: the learning rate, from the first step on"
    steps = [line[1] for line in plain.records("d")]
    assert steps == [0, 1, 2, 3]
    assert {line[3] for line in plain.records("d")} == {"optimizer"}
    end = plain.stream()[-1]
    assert end == {"ended": "exit", "steps": 4, "lines": len(plain.stream()) - 1}
    assert plain.errors == ""


def test_of_every_second_step_nothing_is_recorded_where_that_is_asked_for(plain: Recorded) -> None:
    found = recording("step-every", "--steps every:2", "train.py")
    assert [line[1] for line in found.records("d")] == [0, 2]
    whole = plain.records("gp")
    assert found.records("gp") == [*whole[:2], *whole[4:6]]
    assert (found.stream()[0]["every"], found.stream()[-1]["steps"]) == (2, 4)


def test_the_header_says_what_ran(plain: Recorded) -> None:
    header = plain.stream()[0]
    assert header["packages"]["torch"].startswith("2.13.0")
    assert (header["d9m_trace"], header["level"], header["device"]) == (2, "step", "cpu")
    assert (header["argv"], header["hashseed"]) == (["train.py"], None)
    assert header["deterministic"]["torch.use_deterministic_algorithms"] is False
    assert header["steps"] == [0, None]


def test_what_is_learned_changes_from_step_to_step(plain: Recorded) -> None:
    for letter in "xbgp":
        digests = [str(line[1:]) for line in plain.records(letter)]
        assert len(set(digests)) == 4, letter


def test_equal_runs_leave_equal_streams(plain: Recorded, again: Recorded) -> None:
    assert plain.stream()[1:-1] == again.stream()[1:-1]


def test_a_generator_is_recorded_from_its_first_use_on(tmp_path: Path) -> None:
    found = record(tmp_path, "", torch_python(), "outside.py")
    assert found.errors == ""
    assert found.stream()[0]["generators"] == {}
    assert [set(line[2]) for line in found.records("d")] == [
        {"torch"},
        {"torch", "numpy"},
        {"torch", "numpy"},
    ]


def test_a_thread_of_the_program_is_told_and_one_that_moves_data_is_not(tmp_path: Path) -> None:
    found = record(tmp_path, "", torch_python(), "outside.py")
    told = [line[0] for line in found.stream() if isinstance(line, list) and line[0] in "ud"]
    assert told == ["d", "d", "u", "d"]
    (tmp_path / "workers").mkdir()
    assert record(tmp_path / "workers", "", torch_python(), "loaders.py").records("u") == []


def test_the_exit_code_is_the_programs_own(plain: Recorded, again: Recorded) -> None:
    assert (plain.code, again.code) == (0, 3)
    assert plain.stderr == f"d9m: 1 process, 4 steps, {_size(plain)} in {plain.run}\n"


def _size(recorded: Recorded) -> str:
    return f"{next(recorded.run.glob('*.d9m')).stat().st_size / 1000:.1f} KB"


@pytest.mark.parametrize("level", ["step", "module", "op --inputs exact"])
@pytest.mark.parametrize("program", ["train.py", "small.py", "compiled.py"])
def test_the_bits_are_those_of_the_program_alone(tmp_path: Path, program: str, level: str) -> None:
    found = record(tmp_path, f"--level {level}", torch_python(), program)
    assert (found.code, found.errors) == (0, "")
    assert found.stdout == _alone(program)


@functools.cache
def _alone(program: str) -> str:
    return subprocess.run(
        [torch_python(), program], cwd=PROGRAMS, capture_output=True, text=True, check=True
    ).stdout


def test_a_recording_shows_what_it_holds(plain: Recorded) -> None:
    done = d9m("trace", "--show", str(plain.run))
    assert done.returncode == 0
    assert "train.py" in done.stdout
    assert "4 steps, to its end" in done.stdout
    assert (
        "4 sets of picked indices, 4 batches, 4 losses, 4 sets of gradients, 4 sets of parameters"
        in done.stdout
    )


def test_modules_subprocesses_and_a_sitecustomize_of_the_users_own(tmp_path: Path) -> None:
    (tmp_path / "sitecustomize.py").write_text("import marker\nmarker.seen = True\n")
    (tmp_path / "marker.py").write_text("seen = False\n")
    found = record(
        tmp_path, "", torch_python(), "-m", "launcher", PYTHONPATH=f"{tmp_path}:{PROGRAMS}"
    )
    assert "own sitecustomize: True sitecustomize\n" in found.stdout
    assert "paths of d9m: []\n" in found.stdout.replace(str(tmp_path), "").replace("d9m-", "")
    assert [line[1] for line in found.records("d")] == [0, 1, 2]
    assert found.stream()[0]["argv"][0] == "-c"


@pytest.mark.parametrize(("how", "number"), [("kill", 9), ("term", 15)])
def test_a_killed_program_stays_readable(tmp_path: Path, how: str, number: int) -> None:
    found = record(tmp_path, "", torch_python(), "small.py", how)
    assert found.code == 128 + number
    assert [line[1] for line in found.records("d")] == [0, 1]
    assert found.stream()[-1][0] == "l", "what it did last, in a step that did not end"
    shown = d9m("trace", "--show", str(found.run))
    assert "until it was killed" in shown.stdout


def test_a_folder_that_goes_away_is_no_fault_of_the_program(tmp_path: Path) -> None:
    found = record(tmp_path, "", torch_python(), "small.py", "lose")
    assert found.stdout.startswith("weight [")
    assert "Traceback" not in found.stderr


def test_each_call_of_a_model_is_a_step_of_inference(tmp_path: Path) -> None:
    found = record(tmp_path, "--step-by forward --steps 1:2", torch_python(), "inference.py")
    assert (found.code, found.errors) == (0, "")
    letters = "".join(line[0] for line in found.stream() if isinstance(line, list))
    assert letters == "Mmdmd"
    assert [line[1:4:2] for line in found.records("d")] == [[1, "forward"], [2, "forward"]]
    assert len({str(line) for line in found.records("m")}) == 1
    (tmp_path / "2").mkdir()
    ended = record(tmp_path / "2", "--step-by forward --steps 2", torch_python(), "inference.py")
    assert (ended.code, ended.stdout) == (0, found.stdout.splitlines(keepends=True)[0])


@pytest.mark.parametrize(
    ("how", "rules", "said"),
    [
        ("infers", ["forward"] * 4, " (each ended by a forward pass)"),
        ("by_hand", ["backward"] * 4, " (each ended by backward())"),
        ("accumulates", ["optimizer"] * 2, ""),
        ("late", ["forward"] * 2 + ["optimizer"] * 2, ""),
    ],
)
def test_auto_falls_back_from_the_optimizer_to_backward_to_the_forward_pass(
    tmp_path: Path, how: str, rules: list[str], said: str
) -> None:
    found = record(tmp_path, "", torch_python(), "step_rules.py", how)
    assert (found.code, found.errors) == (0, "")
    assert [line[3] for line in found.records("d")] == rules
    assert f" steps{said}, " in found.stderr


def test_steps_of_inference_bound_the_recording(tmp_path: Path) -> None:
    found = record(tmp_path, "--steps 2", torch_python(), "step_rules.py", "infers")
    assert (found.code, found.stdout) == (0, "")
    assert [line[1:4:2] for line in found.records("d")] == [[0, "forward"], [1, "forward"]]
    end = found.stream()[-1]
    assert (end["ended"], end["steps"]) == ("steps", 2)


def test_workers_that_prepare_data_leave_no_stream(tmp_path: Path) -> None:
    found = record(tmp_path, "", torch_python(), "loaders.py")
    assert (found.code, found.errors) == (0, "")
    assert [line[1] for line in found.records("d")] == [0, 1, 2, 3]
    contents = [line[2] for line in found.records("b")]
    assert contents[:2] == contents[2:]


@pytest.mark.parametrize(
    ("steps", "recorded", "ended"), [("2", [0, 1], "steps"), ("1:2", [1, 2], "exit")]
)
def test_steps_bound_the_recording(
    tmp_path: Path, steps: str, recorded: list[int], ended: str
) -> None:
    found = record(tmp_path, f"--steps {steps}", torch_python(), "small.py")
    assert found.code == 0
    assert [line[1] for line in found.records("d")] == recorded
    assert found.stream()[-1]["ended"] == ended
    assert bool(found.stdout) is (ended == "exit")


def test_the_recording_stops_at_its_size(tmp_path: Path) -> None:
    found = record(tmp_path, "--max-size 800B", torch_python(), "train.py")
    assert found.code == 3
    assert found.stream()[-1]["ended"] == "size"
    assert found.stream()[-2] == ["u", "size"]
    assert len(found.records("d")) < 4


@pytest.mark.parametrize("option", ["-I", "-E", "-S"])
def test_a_python_that_nothing_reaches_is_said_to_be(tmp_path: Path, option: str) -> None:
    found = record(tmp_path, "", torch_python(), option, "-c", "print('ran')")
    assert (found.code, found.stdout) == (4, "ran\n")
    assert "nothing was recorded" in found.stderr
