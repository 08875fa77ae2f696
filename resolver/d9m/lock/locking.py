"""Make a lock from runs that are equal."""

from __future__ import annotations

import functools
import os
from collections.abc import Mapping, Sequence

import msgspec

from d9m.about import __version__
from d9m.errors import AbsentError
from d9m.kb.store import KnowledgeBase
from d9m.lock.code_state import code_state
from d9m.lock.lock_file import LockFile, header, packed
from d9m.model.advice import Tool
from d9m.run.plan import PlannedVariable, RunPlan, environment_for
from d9m.run.recording import record, require_recorded, temporary_folder
from d9m.run.report import RunReport, report
from d9m.trace import folder
from d9m.trace.comparison import Wanted, compare
from d9m.trace.findings import Findings, exit_code
from d9m.trace.inject._d9m_recorder.core import private
from d9m.trace.report import verdict


def lock_runs(
    kb: KnowledgeBase, program: Sequence[str], made: RunPlan, runs: int, steps: int
) -> tuple[Findings, LockFile | None]:
    """Return the comparison of the runs, and a lock if all are equal to the first.

    Raises AbsentError where nothing of the program was recorded, UsageError where it cannot be run.
    """
    changes = environment_for(made, os.environ, False)
    tool = Tool(__version__, kb.meta.date)
    with temporary_folder() as place:
        recorded = functools.partial(
            record, kb, program, made, changes, steps=steps, ends=True, stdout=2
        )
        run = recorded(place / "1")
        require_recorded(place / "1", run.code)
        seen = report(tool, made, changes, run)
        if seen.unreached:
            raise AbsentError(f"not reached: {'; '.join(seen.unreached)}; nothing is locked")

        def compared(number: int) -> Findings:
            recorded(place / str(number))
            return compare(place / "1", place / str(number), kb.meta.date, Wanted())

        found = compared(2)
        for number in range(3, runs + 1):
            if exit_code(found):
                break
            found = compared(number)
        if exit_code(found):
            return found, None
        recording = packed(place / "1")
    lock = LockFile(
        d9m=tool,
        made=folder.now(),
        statement=_statement(found, recording, runs),
        command=list(private.masked(program)),
        code=code_state(),
        runs=runs,
        steps=steps,
        variables=_effective(made, changes),
        statements=made.statements,
        left=_left(seen),
        recording=recording,
    )
    return found, lock


def _statement(found: Findings, recording: Mapping[str, list[str]], runs: int) -> str:
    about = header(recording)
    where = about.gpu or about.cpu or about.device or "this machine"
    missed = 1 - 0.05 ** (1 / (runs - 1))
    later = "Later steps were not run. " if found.runs[0].ended == "steps" else ""
    return (
        f"Equal in {runs} of {runs} runs on {where}: {verdict.steps(found)} of "
        f"{verdict.processes(found)}. {later}A difference in fewer than {missed:.0%} of the pairs "
        "of runs may have been missed."
    )


def _effective(made: RunPlan, changes: Mapping[str, str | None]) -> list[PlannedVariable]:
    """Return the variables with the values that the program got."""
    now = {**os.environ, **changes}
    return [
        msgspec.structs.replace(each, value=now.get(each.name) or each.value)
        for each in made.variables
    ]


def _left(seen: RunReport) -> list[str]:
    undone = [f"{each.name}={each.value}, set by the program" for each in seen.undone]
    return undone + [f"{each.name}: {each.why}" for each in (*seen.refused, *seen.left)]
