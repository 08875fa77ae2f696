"""`d9m run --twice`: run a program a second time and compare what both computed."""

from __future__ import annotations

import subprocess
from collections.abc import Callable, Mapping, Sequence
from pathlib import Path

from d9m.errors import D9mError
from d9m.kb.store import KnowledgeBase
from d9m.run.plan import RunPlan
from d9m.run.recording import record, temporary_folder
from d9m.run.report import ProgramRun, SecondRun
from d9m.trace.comparison import Wanted, compare
from d9m.trace.report import verdict


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
    with temporary_folder() as place:
        first = record(kb, command, made, changes, place / "run-1", collects=collects)

        def again() -> ProgramRun:
            return record(
                kb, command, made, changes, place / "run-2",
                collects=collects, stdout=subprocess.DEVNULL,
            )  # fmt: skip

        return first, _second(kb, first, place, again)


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
