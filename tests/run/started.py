"""Programs started under `d9m run`, and the packages that they find."""

from __future__ import annotations

import os
import subprocess
import sys
from functools import cache
from pathlib import Path

import pytest

from conftest import shared
from d9m.kb import compiled
from d9m.kb.locate import from_yaml

ROOT = Path(__file__).parents[2]
MAIN = "import sys; sys.path.insert(0, sys.argv.pop(1)); from d9m.__main__ import main; main()"
COMMAND = [sys.executable, "-c", MAIN, str(ROOT / "resolver"), "run"]
"""`d9m run` of this tree, in a Python whose program need not find it."""


@cache
def records() -> Path:
    """The knowledge base, compiled once for all programs."""
    return shared("run-records", _compile) / "kb.d9m"


def _compile(place: Path) -> None:
    compiled.write(from_yaml(ROOT / "kb"), place / "kb.d9m")


def python(version: str) -> str:
    found = sorted(Path.home().glob(f".pyenv/versions/{version}.*/bin/python"))
    if not found:
        pytest.skip(f"Python {version} is not here")
    return str(found[0])


def run(
    *words: str,
    env: dict[str, str] | None = None,
    cwd: Path | None = None,
    before: str = "",
    stdin: str | None = None,
) -> subprocess.CompletedProcess[str]:
    """Run `d9m run` with these words; `before` is Python that it runs first."""
    command = [*COMMAND[:2], before + MAIN, *COMMAND[3:]]
    return subprocess.run(
        [*command, *words], env={**(env or os.environ), "D9M_KB": str(records())}, cwd=cwd,
        capture_output=True, text=True, check=False, timeout=300, input=stdin,
    )  # fmt: skip
