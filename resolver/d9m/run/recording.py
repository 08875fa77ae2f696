"""Runs of a program with a plan, recorded in order to compare them."""

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
from d9m.trace import folder, outcomes
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
    *,
    steps: int | None = None,
    collects: bool = False,
    ends: bool = False,
    stdout: int | None = None,
) -> ProgramRun:
    """Run a program without input, recorded in `path`, to its end or until it made `steps` steps.
    With `collects` the hook keeps warnings about refused ops; with `ends` a signal ends this
    process, too.

    Raises UsageError where the command cannot be run.
    """
    last = None if steps is None else steps - 1
    request = RecordingRequest(variables=tuple(kb.variables()), last=last, stop=steps)
    about = folder.begun(command, request.level)
    folder.make(path, about)
    done = start(
        command, made, changes, collects=collects, recording=(path, request), ends=ends,
        stdin=subprocess.DEVNULL, stdout=stdout,
    )  # fmt: skip
    ended = msgspec.structs.replace(about, ended=folder.now(), exit_code=done.code)
    folder.write_about(path, ended)
    return done


def require_recorded(path: Path, code: int) -> None:
    """Raises AbsentError, with the reason, where a run that ended with `code` has no process."""
    if not folder.streams(path):
        raise outcomes.unrecorded(path, code)
