"""A program run in a process of its own, as a person would."""

from __future__ import annotations

import os
import subprocess
from collections.abc import Mapping, Sequence
from pathlib import Path

NEUTRAL = ("PATH", "HOME", "TMPDIR", "LANG", "LD_LIBRARY_PATH")
"""What a process gets of the environment of the tests; none of it matters to a framework."""

LONGEST = 300
"""Seconds; importing TensorFlow for the first time takes up to twenty on a slow disk."""


def run(
    python: str,
    program: str,
    folder: Path,
    variables: Mapping[str, str] | None = None,
    arguments: Sequence[str] = (),
) -> subprocess.CompletedProcess[str]:
    """What came of `program` in a fresh interpreter with only these variables set."""
    folder.mkdir(exist_ok=True)
    path = folder / "program.py"
    path.write_text(program, encoding="utf-8")
    environment = {name: os.environ[name] for name in NEUTRAL if name in os.environ}
    return subprocess.run(
        [python, str(path), *arguments],
        env={**environment, "TF_CPP_MIN_LOG_LEVEL": "3", **(variables or {})},
        cwd=folder,
        capture_output=True,
        text=True,
        timeout=LONGEST,
    )


def said(run: subprocess.CompletedProcess[str]) -> str:
    """The last lines of a run, for the message of a failing test."""
    return f"exit {run.returncode}\n{run.stdout[-1500:]}\n{run.stderr[-3000:]}"
