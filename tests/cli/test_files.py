"""`--from`: a file of packages on the disk, or on standard input."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

from process import d9m

FROZEN = "torch==2.4.0+cu121\nlightning==2.4.0\nfilelock==3.15.4\n"


def environment(*arguments: str, stdin: str = "") -> dict[str, Any]:
    done = d9m("advise", "--ops", "index_add", "--format", "json", *arguments, stdin=stdin)
    assert done.stderr == ""
    return json.loads(done.stdout)["environment"]


def test_a_file_names_the_environment(tmp_path: Path) -> None:
    (tmp_path / "requirements.txt").write_text(FROZEN)
    found = environment("--from", str(tmp_path / "requirements.txt"))
    assert {"torch": "2.4.0+cu121", "lightning": "2.4.0"}.items() <= found["packages"].items()
    assert found["ignored"] == 1
    assert environment("--from", "-", stdin=FROZEN) == found


def test_several_files_add_up_and_what_is_typed_wins(tmp_path: Path) -> None:
    (tmp_path / "frozen.txt").write_text(FROZEN)
    (tmp_path / "more.txt").write_text("transformers==4.44.0\n")
    files = ["--from", str(tmp_path / "frozen.txt"), "--from", str(tmp_path / "more.txt")]
    found = environment(*files, "--pytorch", "2.6", "--gpu", "L4")
    assert {"transformers": "4.44.0", "torch": "2.6"}.items() <= found["packages"].items()
    assert (found["gpu"], found["facts"]["sm"]) == ("L4", "89")


def test_a_file_that_lists_nothing_says_what_can_be_read(tmp_path: Path) -> None:
    (tmp_path / "notes.md").write_text("# Notes\n")
    done = d9m("advise", "--from", str(tmp_path / "notes.md"))
    assert (done.returncode, done.stdout) == (5, "")
    assert "no package is listed there" in done.stderr
    assert "poetry.lock" in done.stderr


def test_quiet_is_the_verdict_alone() -> None:
    whole = d9m("advise", "--torch", "2.4", "--ops", "index_add,mm")
    quiet = d9m("advise", "--torch", "2.4", "--ops", "index_add,mm", "-q")
    assert quiet.returncode == whole.returncode
    (verdict,) = quiet.stdout.splitlines()  # it points to nothing: there is nothing below
    start, end = whole.stdout.split("the settings below.")[0], "CUBLAS_WORKSPACE_CONFIG=:4096:8."
    assert verdict == f"{start}torch.use_deterministic_algorithms(True) and {end}"
