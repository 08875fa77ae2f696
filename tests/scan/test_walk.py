"""Which files a scan reads, and which of them it shows findings of."""

from __future__ import annotations

import os
import subprocess
from pathlib import Path

import pytest

from d9m.errors import UsageError
from d9m.scan.walk import Walk, walk


def write(root: Path, *names: str) -> None:
    for name in names:
        (root / name).parent.mkdir(parents=True, exist_ok=True)
        (root / name).write_text("x = 1\n")


def git(root: Path, *words: str) -> None:
    identity = ["-c", "user.name=n", "-c", "user.email=e@example.org", "-c", "init.defaultBranch=m"]
    subprocess.run(["git", *identity, *words], cwd=root, check=True, capture_output=True)


def names(found: Walk) -> list[str]:
    return [path for path, _kind in found.files]


@pytest.fixture
def project(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    monkeypatch.chdir(tmp_path)
    write(
        tmp_path, "train.py", "pkg/model.py", "run.sh", "README.md", "tests/test_a.py", "b_test.py"
    )
    write(tmp_path, ".venv/lib/x.py", "node_modules/y.py", "env/pyvenv.cfg", "env/z.py")
    write(tmp_path, ".github/workflows/ci.yml", "notes/a.ipynb", "old/third.py")
    return tmp_path


def test_all_that_a_scan_can_read_in_order(project: Path) -> None:
    found = walk(["."])
    assert found.files == (
        (".github/workflows/ci.yml", "yaml"),
        ("notes/a.ipynb", "notebook"),
        ("old/third.py", "python"),
        ("pkg/model.py", "python"),
        ("run.sh", "shell"),
        ("train.py", "python"),
    )
    assert found.shows("train.py")


def test_tests_are_read_if_asked_for(project: Path) -> None:
    assert {"tests/test_a.py", "b_test.py"} <= set(names(walk(["."], tests=True)))
    assert names(walk(["tests"], tests=False)) == []


@pytest.mark.parametrize("pattern", ["old", "old/", "old/**", "third.py", "old/*.py"])
def test_a_pattern_excludes(project: Path, pattern: str) -> None:
    assert "old/third.py" in names(walk(["."]))
    assert "old/third.py" not in names(walk(["."], exclude=[pattern]))


def test_patterns_count_from_the_folder_of_the_configuration(project: Path) -> None:
    assert names(walk(["old"], exclude=["old/third.py"])) == []
    assert names(walk(["old"], exclude=["third.py"], exclude_from="old")) == []
    assert names(walk(["old"], exclude=["old/third.py"], exclude_from="old")) == ["old/third.py"]


def test_git_says_which_files_there_are(project: Path) -> None:
    write(project, "made/out.py", "kept.py", "gone.py")
    (project / ".gitignore").write_text("made/\n")
    git(project, "init")
    git(project, "add", "kept.py", "gone.py", ".gitignore")
    (project / "gone.py").unlink()
    found = names(walk(["."]))
    assert "kept.py" in found
    assert "train.py" in found
    assert "made/out.py" not in found
    assert "gone.py" not in found


def test_a_named_file_brings_its_project_along(project: Path) -> None:
    write(project, "setup.py")
    found = walk(["pkg/model.py"])
    assert {"train.py", "run.sh"} <= set(names(found))
    assert found.shown == frozenset(["pkg/model.py"])
    assert not found.shows("train.py")
    assert walk([str(project / "tests/test_a.py")]).shows("tests/test_a.py")


def test_changed_files(project: Path) -> None:
    git(project, "init")
    git(project, "add", "train.py", "run.sh")
    git(project, "commit", "-m", "first")
    (project / "train.py").write_text("y = 2\n")
    found = walk(["."], changed="HEAD")
    assert found.shows("train.py")
    assert found.shows("old/third.py")
    assert not found.shows("run.sh")
    assert "run.sh" in names(found)
    with pytest.raises(UsageError, match="no revision 'nowhere'"):
        walk(["."], changed="nowhere")
    with pytest.raises(UsageError, match="no revision '--output=x'"):
        walk(["."], changed="--output=x")


def test_changed_needs_git(project: Path) -> None:
    with pytest.raises(UsageError, match="needs a git repository"):
        walk(["."], changed="HEAD")


def test_links_are_not_followed(project: Path) -> None:
    (project / "loop").symlink_to(project)
    (project / "again.py").symlink_to("train.py")
    (project / "round.py").symlink_to("round.py")
    (project / "gone.py").symlink_to("nothing.py")
    found = walk(["."])
    assert not {"again.py", "round.py", "loop/train.py"} & set(names(found))
    assert [(file.path, file.why) for file in found.unread] == [
        ("gone.py", "a link that leads nowhere"),
        ("round.py", "a link that leads nowhere"),
    ]


def test_what_is_named_must_be_there(project: Path) -> None:
    with pytest.raises(UsageError, match="no file or folder 'nothing'"):
        walk(["nothing"])
    found = walk(["README.md"])
    assert found.unread[0].named
    assert "not a kind of file" in found.unread[0].why


def test_a_script_without_an_ending(project: Path) -> None:
    (project / "launch").write_text("#!/usr/bin/env bash\n")
    (project / "prepare").write_text("#!/usr/bin/python3 -u\n")
    (project / "notes.adoc").write_text("text\n")
    kinds = dict(walk(["."]).files)
    assert kinds["launch"] == "shell"
    assert kinds["prepare"] == "python"
    assert "notes.adoc" not in kinds


def test_the_order_of_the_paths_does_not_matter(project: Path) -> None:
    assert walk(["pkg", "old", "train.py"]) == walk(["train.py", "old", "pkg", "pkg"])


def test_a_folder_keeps_the_versions_that_are_stated_above_it(project: Path) -> None:
    write(project, "requirements.txt", "sub/uv.lock", "sub/deep/a.py", "sub/b.py")
    assert names(walk(["sub/deep"])) == ["requirements.txt", "sub/deep/a.py", "sub/uv.lock"]


def test_a_folder_elsewhere_is_the_root(project: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(project / "notes")
    found = walk([str(project / "pkg")])
    assert found.root == str(project / "pkg")
    assert names(found) == ["model.py"]
    monkeypatch.chdir(project)
    assert names(walk([str(project / "pkg")])) == ["pkg/model.py"]


def test_a_pipe_is_not_read(project: Path) -> None:
    os.mkfifo(project / "pipe.py")
    walked = walk(["."])
    assert "pipe.py" not in dict(walked.files)
    assert [(file.path, file.why) for file in walked.unread] == [("pipe.py", "not a regular file")]


def test_a_named_link_that_leads_nowhere_is_named_once(project: Path) -> None:
    (project / "gone.py").symlink_to("nowhere.py")
    walked = walk(["gone.py"])
    assert [(file.path, file.named) for file in walked.unread] == [("gone.py", True)]


def test_a_link_to_what_is_not_scanned_is_unread(
    project: Path, tmp_path_factory: pytest.TempPathFactory
) -> None:
    elsewhere = tmp_path_factory.mktemp("elsewhere")
    write(elsewhere, "shared.py", "LICENSE")
    (project / "shared.py").symlink_to(elsewhere / "shared.py")
    (project / "LICENSE").symlink_to(elsewhere / "LICENSE")
    (project / "again.py").symlink_to("train.py")
    found = walk(["."])
    assert [(file.path, file.why) for file in found.unread] == [
        ("shared.py", "a link to a file that is not scanned"),
    ]
    assert walk(["shared.py"]).unread == ()
    assert "shared.py" in names(walk(["shared.py"]))


def test_a_folder_that_cannot_be_listed_is_unread(
    project: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    usual = os.scandir

    def refusing(path: str) -> object:
        if str(path).endswith("pkg"):
            raise PermissionError(13, "Permission denied", path)
        return usual(path)

    monkeypatch.setattr(os, "scandir", refusing)
    found = walk(["."])
    assert [(file.path, file.why) for file in found.unread] == [
        ("pkg", "the system refuses: Permission denied"),
    ]


def test_what_is_left_out_is_named(project: Path) -> None:
    found = walk(["."], exclude=["old"])
    assert found.left_out == (
        "tests (--tests scans them)", ".venv/", "env/", "files of other kinds", "node_modules/",
        "what exclude names",
    )  # fmt: skip
    git(project, "init", "sub")
    git(project, "init")
    assert "git repositories inside this one" in walk(["."]).left_out
