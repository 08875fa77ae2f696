"""d9m answers alike however it was installed, from any directory, and leaves no traces."""

from __future__ import annotations

import json
from collections.abc import Iterator
from pathlib import Path

import archives
import pytest
from installations import (
    Installation,
    checkout,
    editable_wheel,
    installed,
    is_installed,
)

from conftest import needs

QUESTION = ("advise", "--tf", "2.0", "--ops", "conv,bias_add")
WAYS = ("wheel", "wheel from sdist", "editable", "checkout")


@pytest.fixture(scope="module")
def installations(tmp_path_factory: pytest.TempPathFactory) -> dict[str, Installation]:
    needs(is_installed("d9m"), "d9m", "python -m pip install -e '.[dev]'")
    folder = tmp_path_factory.mktemp("installations")
    return {
        "wheel": installed(archives.wheel(), folder / "a"),
        "wheel from sdist": installed(archives.rebuilt_wheel(), folder / "b"),
        "editable": installed(editable_wheel(folder / "editable"), folder / "c"),
        "checkout": checkout(folder / "d"),
    }


@pytest.mark.parametrize("way", WAYS)
def test_the_first_question_is_answered_from_any_directory(
    installations: dict[str, Installation], way: str, tmp_path: Path
) -> None:
    done = installations[way].run(*QUESTION, cwd=tmp_path)
    assert (done.returncode, done.stderr) == (0, "")
    assert done.stdout.startswith("Both ops are deterministic with tfdeterminism.patch (TDP).")


def test_every_installation_gives_the_same_json(
    installations: dict[str, Installation], tmp_path: Path
) -> None:
    answers = {
        way: each.run(*QUESTION, "--format", "json", cwd=tmp_path).stdout
        for way, each in installations.items()
    }
    assert json.loads(answers["wheel"])["outcome"] == "solved"
    assert len(set(answers.values())) == 1


@pytest.mark.parametrize("way", WAYS)
def test_every_command_is_there(
    installations: dict[str, Installation], way: str, tmp_path: Path
) -> None:
    for command in ("advise", "check", "explain", "show", "list", "kb"):
        done = installations[way].run(command, "--help", cwd=tmp_path)
        assert (done.returncode, done.stderr) == (0, ""), command


def test_records_are_edited_in_a_checkout_only(
    installations: dict[str, Installation], tmp_path: Path
) -> None:
    done = installations["wheel"].run("kb", "lint", "--format", "json", cwd=tmp_path)
    assert (done.returncode, done.stdout) == (2, "")
    assert "works in a checkout" in done.stderr


@pytest.mark.parametrize(
    "arguments",
    [
        QUESTION,
        (*QUESTION, "--format", "json"),
        ("advise", "--tf", "2.0", "--from-env"),
        ("advise",),
        ("check",),
        ("list", "sources"),
        ("show", "bias_add"),
        ("explain", "No algorithm worked!"),
        ("kb", "stats"),
        ("advise", "--tf", "2.0", "--ops", "no_such_op"),
    ],
    ids=" ".join,
)
def test_nothing_is_written_anywhere(
    installations: dict[str, Installation], arguments: tuple[str, ...], tmp_path: Path
) -> None:
    home, temporary, here = (tmp_path / name for name in ("home", "temporary", "here"))
    for each in (home, temporary, here):
        each.mkdir()
    installation = installations["wheel"]
    before = dict(_files(tmp_path, installation.environment))
    done = installation.run(*arguments, cwd=here, HOME=str(home), TMPDIR=str(temporary))
    assert "Traceback" not in done.stderr
    assert dict(_files(tmp_path, installation.environment)) == before


def test_a_file_is_written_where_it_was_asked_for_and_nowhere_else(
    installations: dict[str, Installation], tmp_path: Path
) -> None:
    done = installations["wheel"].run(
        *QUESTION, "-o", "advice.txt", cwd=tmp_path, HOME=str(tmp_path / "home")
    )
    assert (done.returncode, done.stdout, done.stderr) == (0, "", "")
    assert [each.name for each in tmp_path.iterdir()] == ["advice.txt"]


def _files(*folders: Path) -> Iterator[tuple[Path, tuple[int, int]]]:
    """What lies there. A folder's own times do not count: a prober's nameless temporary file
    changes them.
    """
    for folder in folders:
        for path in folder.rglob("*"):
            found = path.lstat()
            yield path, (0, 0) if path.is_dir() else (found.st_size, found.st_mtime_ns)
