"""The run folder: what is replaced, what is refused, in which order its streams come."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from d9m.errors import DataError, UsageError
from d9m.trace import folder
from d9m.trace.inject._d9m_recorder.core import seals


def recording(path: Path) -> Path:
    folder.make(path, folder.begun(["python", "train.py"], "step", {"OMP_NUM_THREADS": "8"}))
    return path


def test_what_was_written_is_read_back(tmp_path: Path) -> None:
    about = folder.about(recording(tmp_path / "runs" / "a"))
    assert about.command == ("python", "train.py")
    assert about.env == {"OMP_NUM_THREADS": "8"}
    assert about.exit_code is None


def test_a_folder_that_holds_something_is_not_used(tmp_path: Path) -> None:
    recording(tmp_path / "a")
    with pytest.raises(UsageError, match="not empty"):
        recording(tmp_path / "a")


def test_force_replaces_a_recording(tmp_path: Path) -> None:
    path = recording(tmp_path / "a")
    (path / "r0-0.d9m").write_text("{}\n")
    (path / "zoom").mkdir()
    (path / "zoom" / "3.in0.npy").write_text("")
    folder.make(path, folder.begun(["other"], "op"), force=True)
    assert [entry.name for entry in path.iterdir()] == ["run.json"]
    assert folder.about(path).command == ("other",)


@pytest.mark.parametrize("foreign", [["thesis.tex"], ["run.json", "thesis.tex"]])
def test_force_removes_nothing_else(tmp_path: Path, foreign: list[str]) -> None:
    for name in foreign:
        (tmp_path / name).write_text("{}")
    with pytest.raises(UsageError, match="not a recording alone"):
        folder.make(tmp_path, folder.begun(["python"], "step"), force=True)
    assert sorted(entry.name for entry in tmp_path.iterdir()) == sorted(foreign)


def test_force_follows_no_link(tmp_path: Path) -> None:
    elsewhere = tmp_path / "elsewhere"
    elsewhere.mkdir()
    (elsewhere / "kept").write_text("")
    path = recording(tmp_path / "a")
    (path / "zoom").symlink_to(elsewhere)
    folder.make(path, folder.begun(["python"], "step"), force=True)
    assert (elsewhere / "kept").exists()


@pytest.mark.parametrize(
    ("text", "says"),
    [
        (None, "is not a recording"),
        ("", "is damaged"),
        ("[]", "is damaged"),
        ('{"d9m_run": 2}', "is damaged"),
        ('{"d9m_run": 1, "level": "op"}', "older d9m; record it again"),
        ('{"d9m_run": 3}', "newer d9m"),
        ('{"d9m_run": 3, "checksum": "00000000"}', "is damaged"),
        ("\xff", "is damaged"),
    ],
)
def test_what_is_no_recording_is_refused(tmp_path: Path, text: str | None, says: str) -> None:
    if text is not None:
        (tmp_path / "run.json").write_text(text, "latin-1")
    with pytest.raises(DataError, match=says):
        folder.about(tmp_path)


def test_an_absent_folder_is_refused(tmp_path: Path) -> None:
    with pytest.raises(DataError, match="does not exist"):
        folder.about(tmp_path / "a")


def test_keys_of_a_later_release_do_no_harm(tmp_path: Path) -> None:
    path = recording(tmp_path / "a")
    written = json.loads((path / "run.json").read_text())
    more = json.dumps({**written, "more": 1})
    (path / "run.json").write_bytes(seals.document(more))
    assert folder.about(path).level == "step"


def test_streams_come_by_rank_and_number(tmp_path: Path) -> None:
    for name in ("r10-0", "r2-1", "r2-0", "r0-10", "r0-9"):
        (tmp_path / f"{name}.d9m").write_text("")
    names = [stream.stem for stream in folder.streams(tmp_path)]
    assert names == ["r0-9", "r0-10", "r2-0", "r2-1", "r10-0"]
