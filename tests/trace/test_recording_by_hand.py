"""A program that records a part of itself, and what that leaves behind: nothing."""

from __future__ import annotations

import json
import shutil
import subprocess
from pathlib import Path

import pytest
from recorded import PROGRAMS, TESTS, torch_python

from d9m.trace import contents, record, step


@pytest.mark.parametrize("level", ["module", "op"])
def test_a_recorded_part_leaves_no_trace(tmp_path: Path, level: str) -> None:
    done = subprocess.run(
        [torch_python(), "by_hand.py", str(tmp_path / "run"), level],
        cwd=PROGRAMS, capture_output=True, text=True, check=False,
        env={"PYTHONPATH": str(TESTS.parent / "resolver"), "PYTHONDONTWRITEBYTECODE": "1"},
    )  # fmt: skip
    assert (done.returncode, done.stderr) == (0, "")
    found = json.loads(done.stdout)
    assert found["changed"] == []
    assert set(found["attributes"]) == {0}
    assert found["same_bytes"], "a saved model tells whether it was recorded"
    assert found["modules"] == ["d9m", "d9m.about", "d9m.trace"]
    run = contents.contents(tmp_path / "run")
    (stream,) = run.streams
    assert (run.about.level, run.complaints, stream.ended) == (level, (), "exit")
    assert (stream.steps, stream.header["steps"]) == (2, [1, 2])
    assert stream.counts["o" if level == "op" else "m"] > 0


@pytest.mark.parametrize(
    ("name", "command", "arguments"),
    [("mine.py", ["python", "mine.py"], ["mine.py"]), ("ipykernel_launcher.py", [], ["notebook"])],
)
def test_what_starts_it_again_is_said_but_of_a_notebook(
    tmp_path: Path, name: str, command: list[str], arguments: list[str]
) -> None:
    shutil.copy(PROGRAMS / "by_hand.py", tmp_path / name)
    subprocess.run(
        [torch_python(), name, "run", "op"],
        cwd=tmp_path, capture_output=True, check=True,
        env={"PYTHONPATH": str(TESTS.parent / "resolver"), "PYTHONDONTWRITEBYTECODE": "1"},
    )  # fmt: skip
    run = contents.contents(tmp_path / "run")
    assert list(run.about.command) == [*command, *(["run", "op"] if command else [])]
    assert run.streams[0].header["argv"][:1] == arguments


def test_a_step_ends_nothing_where_nothing_is_recorded() -> None:
    step()


@pytest.mark.parametrize("wrong", [{"level": "deep"}, {"inputs": "some"}, {"step_by": "moon"}])
def test_other_arguments_are_refused(tmp_path: Path, wrong: dict[str, str]) -> None:
    with pytest.raises(ValueError, match="allowed"), record(tmp_path / "run", **wrong):
        pass
    assert not (tmp_path / "run").exists()


def test_a_folder_in_use_is_refused(tmp_path: Path) -> None:
    (tmp_path / "kept").write_text("")
    with pytest.raises(FileExistsError, match="not empty"), record(tmp_path):
        pass
