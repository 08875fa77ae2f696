"""`d9m run --twice`: run a program a second time and compare what both computed."""

from __future__ import annotations

import subprocess
from collections.abc import Callable, Mapping, Sequence
from pathlib import Path

import msgspec

from d9m.errors import D9mError
from d9m.kb.store import KnowledgeBase
from d9m.run.plan import RunPlan
from d9m.run.report import ProgramRun, SecondRun
from d9m.run.start import start
from d9m.trace import folder
from d9m.trace.comparison import Wanted, compare
from d9m.trace.hunt_folder import RecordingsFolder
from d9m.trace.report import verdict
from d9m.trace.start import RecordingRequest


def run_twice(
    kb: KnowledgeBase,
    command: Sequence[str],
    made: RunPlan,
    changes: Mapping[str, str | None],
    collects: bool,
) -> tuple[ProgramRun, SecondRun]:
    """Return the first run and its comparison with a second one, whose stdout is dropped.

    Neither can read stdin: the second would find it empty.
    """
    request = RecordingRequest(variables=tuple(kb.variables()))
    recordings = RecordingsFolder.temporary()
    place = recordings.path

    def run(name: str, stdout: int | None) -> ProgramRun:
        path = place / name
        about = folder.begun(command, request.level)
        folder.make(path, about)
        done = start(
            command, made, changes, collects=collects, recording=(path, request),
            stdin=subprocess.DEVNULL, stdout=stdout,
        )  # fmt: skip
        about = msgspec.structs.replace(about, ended=folder.now(), exit_code=done.code)
        folder.write_about(path, about)
        return done

    try:
        first = run("run-1", None)
        return first, _second(kb, first, place, lambda: run("run-2", subprocess.DEVNULL))
    finally:
        recordings.close(keep=False)


def _second(
    kb: KnowledgeBase, first: ProgramRun, place: Path, run: Callable[[], ProgramRun]
) -> SecondRun:
    if first.code:
        return SecondRun(None, False, f"not started, since the first run ended with {first.code}")
    code = run().code
    try:
        found = compare(place / "run-1", place / "run-2", kb.meta.date, Wanted())
    except D9mError as error:
        return SecondRun(None, False, f"nothing to compare: {error.what}", program_exit=code)
    step = found.first.step if found.first is not None else None
    equal = not found.causes and code == 0
    return SecondRun(equal, found.complete, verdict.sentences(found), step, code)
