"""The program of keep.md does what the page prints, and README shows lines of that page."""

from __future__ import annotations

import os
import re
import shlex
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path

import pytest

from conftest import needs
from test_documentation import README, ROOT, blocks

PAGE = (ROOT / "site" / "docs" / "keep.md").read_text(encoding="utf-8")
TORCH = ROOT / "build" / "frameworks" / "torch-2.13.0" / "bin"

OF_A_RUN = (r"loss [\d.]+", r" on [^:]+:", r"numpy .* python [\d.]+")
"""What another run, machine or environment prints in other words."""


def masked(text: str) -> str:
    for pattern in OF_A_RUN:
        text = re.sub(pattern, "…", text)
    return text


def shown(text: str) -> Iterator[tuple[str, list[str]]]:
    """Each command of the console blocks, with the lines that it prints."""
    for block in blocks(text, "console"):
        for part in re.split(r"^\$ ", block, flags=re.MULTILINE)[1:]:
            command, *lines = part.splitlines()
            yield command, [line for line in lines if line and line != "..."]


def test_the_program_of_the_page_does_what_the_page_prints(tmp_path: Path) -> None:
    needs(TORCH.exists(), "PyTorch", "python tests/emitted/environments.py torch-2.13.0")
    program, _ = blocks(PAGE, "python")
    (tmp_path / "train.py").write_text(program, encoding="utf-8")
    environment = {**os.environ, "PATH": f"{TORCH}:{os.environ['PATH']}"}
    environment.pop("PYTHONHASHSEED", None)
    for command, lines in shown(PAGE):
        words = shlex.split(command)
        if words[0] == "d9m":
            words[:1] = [sys.executable, "-m", "d9m"]
        done = subprocess.run(
            words, cwd=tmp_path, env=environment, stdin=subprocess.DEVNULL, text=True,
            capture_output=True, check=False, timeout=600,
        )  # fmt: skip
        printed = masked(done.stdout + done.stderr)
        missing = [line for line in lines if masked(line) not in printed]
        assert not missing, f"{command}\n{printed}"


@pytest.mark.parametrize(("command", "lines"), list(shown(README.partition("\n## ")[0])))
def test_the_first_screen_of_the_readme_is_of_that_page(command: str, lines: list[str]) -> None:
    assert f"$ {command}\n" in PAGE
    assert [line for line in lines if line not in PAGE] == []
