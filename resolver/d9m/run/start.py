"""Start a program with a plan, and collect what its processes noted."""

from __future__ import annotations

import json
import os
import shutil
import subprocess
import tempfile
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

import msgspec

from d9m.run.plan import RunPlan, for_hook
from d9m.trace.start import cannot_run, wait_for

VARIABLE = "D9M_RUN"
HOOK = Path(__file__).with_name("hook")


def start(
    command: Sequence[str], made: RunPlan, changes: Mapping[str, str | None]
) -> tuple[int, list[list[dict[str, Any]]]]:
    """Return the program's exit code and the notes of each process that was reached.

    Raises UsageError where the command cannot be run.
    """
    environment = dict(os.environ)
    for name, value in changes.items():
        environment.pop(name, None)
        if value is not None:
            environment[name] = value
    if shutil.which(command[0]) is None:
        raise cannot_run(command, "there is no such program")
    with tempfile.TemporaryDirectory(prefix="d9m-run-", ignore_cleanup_errors=True) as folder:
        Path(folder, "plan.json").write_bytes(msgspec.json.encode(for_hook(made)))
        environment[VARIABLE] = folder
        places = [str(HOOK), environment.get("PYTHONPATH", "")]
        environment["PYTHONPATH"] = os.pathsep.join(place for place in places if place)
        return _run(command, environment), _notes(Path(folder))


def join_outer(command: Sequence[str]) -> int | None:
    """Run a command inside an outer `d9m run`, which reports on it; None where there is none."""
    if not Path(os.environ.get(VARIABLE, ""), "plan.json").is_file():
        return None
    if shutil.which(command[0]) is None:
        raise cannot_run(command, "there is no such program")
    return _run(command, os.environ)


def _run(command: Sequence[str], environment: Mapping[str, str]) -> int:
    try:
        child = subprocess.Popen(list(command), env=environment)  # noqa: S603  the user's own
    except (OSError, ValueError) as error:
        why = (error.strerror if isinstance(error, OSError) else None) or error
        raise cannot_run(command, str(why)) from None
    code = wait_for(child)
    return code if code >= 0 else 128 - code


def _notes(folder: Path) -> list[list[dict[str, Any]]]:
    """The lines of each process; the last may be cut where it was killed."""
    found: list[list[dict[str, Any]]] = []
    for path in sorted(folder.glob("*.jsonl"), key=lambda each: each.stat().st_mtime):
        lines: list[dict[str, Any]] = []
        with path.open(encoding="utf-8", errors="replace") as file:
            for line in file:
                try:
                    lines.append(json.loads(line))
                except ValueError:
                    break
        if lines:
            found.append(lines)
    return found
