"""Runs on a CPU: does the answer say of each op on what its results depended, and only that?"""

from __future__ import annotations

from collections.abc import Iterator

from d9m.authoring.audit.operators import HARMLESS, find_item
from d9m.authoring.audit.shipped import AuditDifference, Known, Shipped
from d9m.environment.environment import Environment, Setup, describe
from d9m.model.dispatch_facts import CpuRuns
from d9m.model.records import Scope
from d9m.resolve.resolver import resolve

_BATCH = "batch"


def differences(known: Known, shipped: Shipped) -> Iterator[AuditDifference]:
    """`cpu-without-source`: a result differed, and the answer says nothing of it.
    `cpu-never-differed`: an answer depends on the type, and no call of this type differed.
    """
    for runs in shipped.cpu:
        environment = describe(known.kb, Setup(((runs.package, runs.version),), device="cpu"))
        for code, subject, count in _differing(known, environment, runs):
            detail = f"{runs.package} {runs.version}: {count[0]} of {count[1]} differed"
            yield AuditDifference(code, subject, "", detail)


def _differing(
    known: Known, environment: Environment, runs: CpuRuns
) -> Iterator[tuple[str, str, tuple[int, int]]]:
    for op, causes in runs.ops.items():
        for cause, count in causes.items():
            scope: Scope = "batch" if cause == _BATCH else "hardware"
            if count[0] and not _says(known, environment, f"{op}:forward", scope, cause):
                yield "cpu-without-source", f"{op}:{cause}", count
    for op, types in runs.repeats.items():
        for type_, count in types.items():
            typed = f"{op.rstrip(']')}{',' if ']' in op else '['}dtype={type_}]"
            says = _says(known, environment, typed, "run", "")
            if says != bool(count[0]):
                code = "cpu-never-differed" if says else "cpu-without-source"
                yield code, typed, count


def _says(known: Known, environment: Environment, query: str, scope: Scope, cause: str) -> bool:
    """Whether an op differs there, or the advice sets the variable that made it differ."""
    item = find_item(known, environment, query)
    if item is None:
        return False
    advice = resolve(known.kb, environment, [item], scope)
    is_set = any(step.name == cause for step in advice.steps)
    return is_set or advice.ops[0].outcome not in HARMLESS
