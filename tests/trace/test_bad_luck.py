"""Programs that end badly or oddly, and disks that are full: a clear sentence, the right code."""

from __future__ import annotations

import json
import shutil
import subprocess
from pathlib import Path
from typing import Any

import pytest
from recorded import PROGRAMS, Recorded, record, torch_python

from process import d9m


def steps(stream: list[Any]) -> list[int]:
    return [line[1] for line in stream if isinstance(line, list) and line[0] == "d"]


def diff(one: Recorded, other: Recorded) -> tuple[int, str]:
    done = d9m("diff", str(one.run), str(other.run))
    assert done.stderr == ""
    return done.returncode, " ".join(done.stdout.split())


@pytest.fixture(scope="module")
def whole(tmp_path_factory: pytest.TempPathFactory) -> Recorded:
    return record(tmp_path_factory.mktemp("whole"), "", torch_python(), "bad_luck.py")


def test_a_program_that_leaves_without_cleaning_up(whole: Recorded, tmp_path: Path) -> None:
    found = record(tmp_path, "", torch_python(), "bad_luck.py", "leaves")
    assert (found.code, steps(found.stream())) == (0, [0, 1])
    code, out = diff(whole, found)
    assert code == 3
    assert "Run B ended with exit code 0, but rank 0 wrote no end" in out


@pytest.mark.nightly
def test_a_program_that_another_one_replaces(tmp_path: Path) -> None:
    found = record(tmp_path, "", torch_python(), "bad_luck.py", "replaces")
    assert found.code == 0
    before, after = found.streams()
    assert (steps(before), steps(after)) == ([0, 1], [0, 1, 2, 3])
    assert (after[-1]["ended"], after[-1]["steps"]) == ("exit", 4)


@pytest.mark.nightly
def test_a_fork_that_trains_has_a_separate_stream(tmp_path: Path) -> None:
    found = record(tmp_path, "", torch_python(), "bad_luck.py", "forks")
    assert (found.code, found.errors) == (0, "")
    parent, child = found.streams()
    assert steps(parent) == [0, 1, 2, 3, 4]
    assert [line[2] for line in child if isinstance(line, list) and line[0] == "p"]
    assert child[-1]["ended"] == "exit"
    ends = [line for line in child if isinstance(line, list) and line[0] == "d"]
    assert not any("python" in line[2] for line in ends), "the fork seeded it"


@pytest.mark.nightly
def test_a_program_that_changes_its_folder(whole: Recorded, tmp_path: Path) -> None:
    found = record(tmp_path, "", torch_python(), "bad_luck.py", "moves")
    assert (found.code, steps(found.stream())) == (0, [0, 1, 2, 3])
    assert diff(whole, found)[0] == 0


def test_a_program_that_fails_keeps_its_code(whole: Recorded, tmp_path: Path) -> None:
    found = record(tmp_path, "", torch_python(), "bad_luck.py", "fails")
    assert (found.code, steps(found.stream())) == (9, [0, 1, 2, 3])
    code, out = diff(whole, found)
    assert code == 1
    assert "Run B ended with an error after 4 steps, run A did not: exit code 9." in out


def test_a_full_disk_ends_the_recording_and_not_the_program(
    whole: Recorded, tmp_path: Path
) -> None:
    # Python would leave a module that it compiles cut off, and the next program would read it.
    program = f"exec '{torch_python()}' '{PROGRAMS / 'bad_luck.py'}'"
    limited = f"export PYTHONDONTWRITEBYTECODE=1; ulimit -f 4; {program}"
    found = record(tmp_path, "--level op", "sh", "-c", limited)
    assert (found.code, found.stdout) == (3, whole.stdout)
    assert "the stream: OSError" in found.errors
    shown = d9m("trace", "--show", str(found.run))
    assert shown.returncode == 0
    assert "File too large" in shown.stdout


def test_a_stream_that_was_cut_is_compared_up_to_there(whole: Recorded, tmp_path: Path) -> None:
    cut = tmp_path / "cut"
    shutil.copytree(whole.run.parent, cut)
    other = Recorded(cut)
    (file,) = other.run.glob("*.d9m")
    content = file.read_bytes()
    file.write_bytes(content[: content.index(b'["d",2') + 9])
    code, out = diff(whole, other)
    assert code == 3
    assert "What was compared is bitwise identical: 2 steps of 1 process." in out


def test_programs_that_were_killed_are_compared_op_by_op_up_to_there(tmp_path: Path) -> None:
    runs = [
        record(tmp_path / run, "--level op", torch_python(), "small.py", "kill") for run in "ab"
    ]
    assert [run.code for run in runs] == [137, 137]
    done = d9m("diff", "--format", "json", *(str(run.run) for run in runs))
    assert (done.returncode, done.stderr) == (3, "")
    found = json.loads(done.stdout)
    assert [run["ended"] for run in found["runs"]] == ["killed", "killed"]
    lines = runs[0].records("olgipdv")
    assert steps(lines) == [0, 1]
    assert "o" in [line[0] for line in lines[lines.index(runs[0].records("d")[1]) :]]
    assert found["compared"]["records"] == len(lines)


def test_an_error_is_recorded_and_the_programs_output_is_its_own(tmp_path: Path) -> None:
    alone = subprocess.run(
        [torch_python(), "bad_luck.py", "raises"], cwd=PROGRAMS, capture_output=True, text=True
    )
    found = record(tmp_path, "", torch_python(), "bad_luck.py", "raises")
    assert (found.code, found.stdout) == (1, alone.stdout)
    assert found.stderr.startswith(alone.stderr)
    assert found.stderr.removeprefix(alone.stderr).startswith("d9m: 1 process, 2 steps, ")
    shown = d9m("trace", "--show", str(found.run)).stdout
    lines = (PROGRAMS / "bad_luck.py").read_text().splitlines()
    line = lines.index('    raise ValueError("two\\nlines")') + 1
    assert f"ended with exit code 1: ValueError: two lines (bad_luck.py:{line})" in shown


def test_a_deleted_recording_is_said_and_keeps_the_exit_code(tmp_path: Path) -> None:
    found = record(tmp_path, "", torch_python(), "bad_luck.py", "deletes")
    assert found.code == 9
    assert found.stderr.startswith("d9m: nothing was recorded: the folder of the recording is gone")
    assert "Traceback" not in found.stderr


def test_a_program_that_dies_after_an_op_is_not_said_to_import_nothing(tmp_path: Path) -> None:
    found = record(tmp_path, "", torch_python(), "bad_luck.py", "dies")
    assert found.code == 139
    assert "imported torch and was killed by SIGSEGV (signal 11), but called no" in found.stderr


def test_a_fix_that_stops_the_program_is_not_a_fix(tmp_path: Path) -> None:
    setting = "torch.use_deterministic_algorithms"
    done = d9m(
        "hunt", "--no-replay", "--runs", "2", "--set", setting, "--format", "json", "--",
        torch_python(), str(PROGRAMS / "bad_luck.py"), "refuses", TMPDIR=str(tmp_path),
    )  # fmt: skip
    found = json.loads(done.stdout)
    assert (done.returncode, found["same"], found["complete"]) == (1, False, False)
    (cause,) = found["causes"]
    assert (cause["kind"], cause["argument"], cause["step"]) == ("error", setting, 2)
