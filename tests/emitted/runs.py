"""A program run in a process of its own, as a person would."""

from __future__ import annotations

import json
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
    variables: Mapping[str, str],
) -> subprocess.CompletedProcess[str]:
    """What came of `program` in a fresh interpreter with only these variables set."""
    path = _written(program, folder)
    return subprocess.run(
        [python, str(path)],
        env=_environment(variables),
        cwd=folder,
        capture_output=True,
        text=True,
        timeout=LONGEST,
    )


class ForkedInterpreter:
    """A Python that imports packages once, and runs each program in a fork of itself.

    To a program it is a fresh interpreter, but for what C libraries read of the environment when
    they are loaded, and for the seed of hashes.
    """

    def __init__(self, python: str, *packages: str) -> None:
        self._server = subprocess.Popen(
            [python, str(Path(__file__).with_name("forked.py")), *packages],
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            stderr=subprocess.DEVNULL,
            text=True,
            env=_environment({}),
        )

    def run(
        self,
        program: str,
        folder: Path,
        variables: Mapping[str, str] | None = None,
        arguments: Sequence[str] = (),
    ) -> subprocess.CompletedProcess[str]:
        """What came of `program` with only these variables set."""
        path = _written(program, folder)
        streams = [folder / "stdout", folder / "stderr"]
        for stream in streams:
            stream.write_bytes(b"")
        order = {
            "command": [str(path), *arguments], "folder": str(folder),
            "streams": list(map(str, streams)), "environment": _environment(variables or {}),
            "longest": LONGEST,
        }  # fmt: skip
        assert self._server.stdin is not None
        assert self._server.stdout is not None
        print(json.dumps(order), file=self._server.stdin, flush=True)
        code = int(self._server.stdout.readline())
        stdout, stderr = (stream.read_text(encoding="utf-8") for stream in streams)
        return subprocess.CompletedProcess(order["command"], code, stdout, stderr)

    def close(self) -> None:
        self._server.communicate()


def _written(program: str, folder: Path) -> Path:
    folder.mkdir(exist_ok=True)
    path = folder / "program.py"
    path.write_text(program, encoding="utf-8")
    return path


def _environment(variables: Mapping[str, str]) -> dict[str, str]:
    kept = {name: os.environ[name] for name in NEUTRAL if name in os.environ}
    return {**kept, "TF_CPP_MIN_LOG_LEVEL": "3", **variables}


def said(run: subprocess.CompletedProcess[str]) -> str:
    """The last lines of a run, for the message of a failing test."""
    return f"exit {run.returncode}\n{run.stdout[-1500:]}\n{run.stderr[-3000:]}"
