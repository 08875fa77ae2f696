"""The `d9m` process, on the knowledge base of this checkout, compiled.

Most tests ask what a command answers, and start-up is most of what that costs: `d9m` forks a
process that has d9m imported already. Where starting is what is tested, `COMMAND` is what a shell
starts."""

from __future__ import annotations

import atexit
import functools
import json
import os
import subprocess
import sys
import tempfile
from pathlib import Path

import output_schema
from conftest import shared
from d9m.kb import compiled
from golden import knowledge_base

COMMAND = (sys.executable, "-m", "d9m")

LONGEST = 300
"""Seconds after which a command hangs: a loaded machine is slow."""


def compiled_kb() -> Path:
    return (
        shared("kb", lambda folder: compiled.write(knowledge_base(), folder / compiled.FILE))
        / compiled.FILE
    )


def environment(**variables: str) -> dict[str, str]:
    """What a process starts with: nothing that changes an answer, then `variables`."""
    return {
        "PATH": os.environ["PATH"],
        "LANG": "C.UTF-8",
        "D9M_KB": str(compiled_kb()),
        **variables,
    }


def d9m(
    *arguments: str, stdin: str | bytes = b"", cwd: Path | None = None, **variables: str
) -> subprocess.CompletedProcess[str]:
    """Run `d9m` to its end. What it says must be UTF-8, and JSON must be as schema/3.json says."""
    with tempfile.TemporaryDirectory(prefix="d9m-process-") as folder:
        streams = [os.path.join(folder, name) for name in ("stdin", "stdout", "stderr")]
        for path, data in zip(
            streams, (stdin.encode() if isinstance(stdin, str) else stdin, b"", b"")
        ):
            Path(path).write_bytes(data)
        order = {
            "arguments": arguments, "streams": streams, "cwd": str(cwd or os.getcwd()),
            "environment": environment(**variables), "longest": LONGEST,
        }  # fmt: skip
        code = _forked(json.dumps(order))
        stdout, stderr = (Path(path).read_bytes().decode() for path in streams[1:])
    if stdout and "--format json" in " ".join(arguments) and "-o" not in arguments:
        wrong = output_schema.faults(json.loads(stdout), output_schema.names(arguments))
        assert not wrong, "\n".join(wrong)
    return subprocess.CompletedProcess(["d9m", *arguments], code, stdout, stderr)


def _forked(order: str) -> int:
    server = _server()
    assert server.stdin is not None
    assert server.stdout is not None
    print(order, file=server.stdin, flush=True)
    return int(server.stdout.readline())


@functools.cache
def _server() -> subprocess.Popen[str]:
    path = os.pathsep.join(each for each in sys.path if each)
    server = subprocess.Popen(
        [sys.executable, str(Path(__file__).with_name("forks.py"))],
        stdin=subprocess.PIPE,
        stdout=subprocess.PIPE,
        text=True,
        env={**os.environ, "PYTHONPATH": path},
    )
    atexit.register(server.communicate)
    return server
