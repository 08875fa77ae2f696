"""`d9m hunt --fix`: cause after cause, until the runs are equal or a cause needs an edit."""

from __future__ import annotations

import time
from collections.abc import Callable

import msgspec

from d9m.trace.findings import AppliedFix, CauseFix, Findings, Gap, with_gaps
from d9m.trace.hunt import Hunt, HuntLimits
from d9m.trace.trials import RUNS, Trials, joined

MOST_FIXES = 10

Begin = Callable[[CauseFix, HuntLimits], Hunt]
"""Begins a hunt of the program with these settings."""

Answer = Callable[[Hunt, CauseFix, bool], Findings]
"""Returns what a hunt finds; with True, its fix is tried in whole runs."""


def fixed(begin: Begin, answer: Answer, limits: HuntLimits, applied: list[AppliedFix]) -> Findings:
    """Return what is left when each fix that was found has been applied, and these fixes, which are
    in `applied` as soon as they are found.
    """
    began = time.monotonic()

    def left() -> HuntLimits:
        if limits.seconds is None:
            return limits
        seconds = limits.seconds - (time.monotonic() - began)
        return msgspec.structs.replace(limits, seconds=seconds)

    found = answer(begin(CauseFix(), left()), CauseFix(), False)
    while found.causes:
        cause = found.causes[0]
        fix = cause.fix
        if fix is None:
            used_up = cause.origin is None and _is_used_up(left())
            gaps = [Gap("budget")] if used_up else []
            return _with_fixes(with_gaps(found, gaps), applied)
        if any(each.fix == fix for each in applied) or len(applied) == MOST_FIXES:
            return _with_fixes(found, applied)
        if _is_used_up(left()):
            return _with_fixes(with_gaps(found, [Gap("budget")]), applied)
        applied.append(AppliedFix(cause, fix))
        base = joined([each.fix for each in applied])
        found = answer(begin(base, msgspec.structs.replace(left(), fewest=RUNS)), base, False)
    proved = [
        msgspec.structs.replace(each, fix=msgspec.structs.replace(each.fix, proved=True, runs=RUNS))
        for each in applied
    ]
    return _with_fixes(found, _needed(proved, begin, left))


def _needed(
    applied: list[AppliedFix], begin: Begin, left: Callable[[], HuntLimits]
) -> list[AppliedFix]:
    """The fixes, each marked by whether the runs differ without it. One that is not needed is left
    out when the next one is tried.
    """
    if len(applied) == 1:
        return [msgspec.structs.replace(applied[0], needed=True)]
    for number, each in enumerate(applied):
        if _is_used_up(left()):
            break
        others = [other.fix for other in applied if other is not each and other.needed is not False]
        base = joined(others)
        trials = Trials(begin(base, left()), lambda _cause: None)
        applied[number] = msgspec.structs.replace(each, needed=not trials.proved(base).proved)
    return applied


def _is_used_up(limits: HuntLimits) -> bool:
    return limits.seconds is not None and limits.seconds <= 0


def _with_fixes(found: Findings, applied: list[AppliedFix]) -> Findings:
    return msgspec.structs.replace(found, fixes=applied)
