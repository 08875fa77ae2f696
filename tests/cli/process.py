"""The `d9m` process as a shell starts it, on the knowledge base of this checkout, compiled."""

from __future__ import annotations

import atexit
import functools
import os
import subprocess
import sys
import tempfile
from pathlib import Path

from d9m.kb import compiled
from golden import knowledge_base

COMMAND = (sys.executable, "-m", "d9m")


@functools.cache
def compiled_kb() -> Path:
    folder = tempfile.TemporaryDirectory()
    atexit.register(folder.cleanup)
    path = Path(folder.name) / compiled.FILE
    compiled.write(knowledge_base(), path)
    return path


def environment(**variables: str) -> dict[str, str]:
    """What a process starts with: nothing that changes an answer, then `variables`."""
    return {"PATH": os.environ["PATH"], "LANG": "C.UTF-8", "D9M_KB": str(compiled_kb()), **variables}


def d9m(
    *arguments: str, stdin: str | bytes = b"", cwd: Path | None = None, **variables: str
) -> subprocess.CompletedProcess[str]:
    """Run `d9m` to its end. What it says must be UTF-8."""
    done = subprocess.run(
        [*COMMAND, *arguments],
        input=stdin.encode() if isinstance(stdin, str) else stdin,
        capture_output=True,
        check=False,
        cwd=cwd,
        env=environment(**variables),
        timeout=60,
    )
    return subprocess.CompletedProcess(done.args, done.returncode, done.stdout.decode(), done.stderr.decode())
