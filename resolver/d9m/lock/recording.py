"""Runs of a program with a plan, each recorded to a number of steps."""

from __future__ import annotations

import subprocess
from collections.abc import Generator, Mapping, Sequence
from contextlib import contextmanager
from pathlib import Path

import msgspec

from d9m.kb.store import KnowledgeBase
from d9m.run.plan import RunPlan
from d9m.run.report import ProgramRun
from d9m.run.start import start
from d9m.trace import folder
from d9m.trace.hunt_folder import RecordingsFolder
from d9m.trace.start import RecordingRequest


@contextmanager
def temporary_folder() -> Generator[Path]:
    """A folder for recordings, removed at the end."""
    recordings = RecordingsFolder.temporary()
    try:
        yield recordings.path
    finally:
        recordings.close(keep=False)


def record(
    kb: KnowledgeBase,
    command: Sequence[str],
    made: RunPlan,
    changes: Mapping[str, str | None],
    path: Path,
    steps: int,
) -> ProgramRun:
    """Run a program, recorded in `path`, until it has made `steps` steps or ends. It reads no
    input, and what it prints goes to stderr.

    Raises UsageError where the command cannot be run.
    """
    request = RecordingRequest(variables=tuple(kb.variables()), last=steps - 1, stop=steps)
    about = folder.begun(command, request.level)
    folder.make(path, about)
    done = start(
        command, made, changes, recording=(path, request), stdin=subprocess.DEVNULL, stdout=2
    )
    ended = msgspec.structs.replace(about, ended=folder.now(), exit_code=done.code)
    folder.write_about(path, ended)
    return done
