"""Start a program with a plan, and collect what its processes noted."""

from __future__ import annotations

import json
import os
import tempfile
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

import msgspec

from d9m.run.plan import RunPlan, for_hook
from d9m.trace.start import as_in_a_shell, launch, python_path, require_program, wait_for

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
    require_program(command, environment)
    with tempfile.TemporaryDirectory(prefix="d9m-run-", ignore_cleanup_errors=True) as folder:
        Path(folder, "plan.json").write_bytes(msgspec.json.encode(for_hook(made)))
        environment[VARIABLE] = folder
        environment["PYTHONPATH"] = python_path(HOOK, environment)
        code = wait_for(launch(command, environment))
        return as_in_a_shell(code), _notes(Path(folder))


def join_outer(command: Sequence[str]) -> int | None:
    """Run a command inside an outer `d9m run`, which reports on it; None where there is none."""
    if not Path(os.environ.get(VARIABLE, ""), "plan.json").is_file():
        return None
    require_program(command, os.environ)
    return as_in_a_shell(wait_for(launch(command, os.environ)))


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
