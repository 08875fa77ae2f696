"""Start a program with a plan, and collect what its processes noted."""

from __future__ import annotations

import json
import os
import tempfile
import time
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

import msgspec

from d9m.run.plan import VARIABLE, RunPlan, for_hook
from d9m.run.report import ProgramRun
from d9m.trace.start import (
    RecordingRequest,
    as_in_a_shell,
    launch,
    python_path,
    require_program,
    variables,
    wait_for,
)

GRACE = 2.0
"""Seconds that processes have to end after the command."""
TICK = 0.02
"""Seconds between two looks at them."""
HOOK = Path(__file__).with_name("hook")


def start(
    command: Sequence[str],
    made: RunPlan,
    changes: Mapping[str, str | None],
    *,
    collects: bool = False,
    recording: tuple[Path, RecordingRequest] | None = None,
    ends: bool = False,
    **streams: int | None,
) -> ProgramRun:
    """Run a command to its end; its streams are those of this process, or `streams`. With `ends`, a
    signal ends this process, too.

    Raises UsageError where the command cannot be run.
    """
    environment = dict(os.environ)
    for name, value in changes.items():
        environment.pop(name, None)
        if value is not None:
            environment[name] = value
    require_program(command, environment)
    with tempfile.TemporaryDirectory(prefix="d9m-run-", ignore_cleanup_errors=True) as folder:
        plan = for_hook(made, environment, collects)
        Path(folder, "plan.json").write_bytes(msgspec.json.encode(plan))
        environment[VARIABLE] = folder
        environment["PYTHONPATH"] = python_path(HOOK, environment)
        if recording is not None:
            environment |= variables(*recording, environment)
        code = wait_for(launch(command, environment, **streams), ends=ends)
        return ProgramRun(as_in_a_shell(code), _last_notes(Path(folder)))


def join_outer(command: Sequence[str]) -> int:
    """Run a command inside an outer `d9m run`, and return its exit code."""
    require_program(command, os.environ)
    return as_in_a_shell(wait_for(launch(command, os.environ)))


def _last_notes(folder: Path) -> list[list[dict[str, Any]]]:
    """The notes once no process writes any more: helpers such as a fork server end after the
    command. What runs on beyond `GRACE` is left alone.
    """
    until = time.monotonic() + GRACE
    while True:
        notes = _notes(folder)
        open_ = [lines[0]["pid"] for lines in notes if lines[-1]["kind"] != "end"]
        if time.monotonic() > until or not any(map(_is_running, open_)):
            return notes
        time.sleep(TICK)


def _is_running(pid: int) -> bool:
    if os.name != "posix":  # elsewhere signal 0 is no question
        return False
    try:
        os.kill(pid, 0)
    except OSError:
        return False
    return True


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
