"""Compare the records with what wheels say (``kb/evidence/``), both ways; each kind of difference
has a code.

Every difference is one of two: the records claim what no wheel carries, or a wheel carries what no
record knows. A difference that is correct has its reason in ``evidence/explained.yaml``; a reason
that is no longer needed is a difference too.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from pathlib import Path

import msgspec

from d9m import exit_codes
from d9m.about import SCHEMA_VERSION
from d9m.authoring.audit import (
    alerts,
    compiled,
    cpu,
    dispatch,
    errors,
    kernels,
    listed,
    messages,
    names,
    parameters,
    releases,
    seed_runs,
    seeds,
    texts,
    variables,
)
from d9m.authoring.audit.shipped import AuditDifference, Known, Shipped, shipped
from d9m.errors import ExitCode
from d9m.exit_codes import CommandResult
from d9m.kb import build, yaml_files

CHECKS: tuple[Callable[[Known, Shipped], Iterator[AuditDifference]], ...] = (
    texts.differences,
    messages.differences,
    alerts.differences,
    listed.differences,
    variables.differences,
    names.differences,
    parameters.differences,
    compiled.differences,
    dispatch.differences,
    seeds.differences,
    seed_runs.differences,
    cpu.differences,
    errors.differences,
    kernels.differences,
    releases.differences,
)


class Audit(msgspec.Struct, frozen=True):
    """The answer of `d9m kb audit`."""

    schema_version: int
    compared: list[str]
    """Fact files that were read."""
    differences: list[AuditDifference]
    """Those that nothing explains."""
    explained: dict[str, str]
    """Id of a difference -> reason."""

    def text(self) -> str:
        if not self.compared:
            return "nothing to compare: no facts extracted from wheels are in this knowledge base\n"
        lines = [f"{each.id}\n    {each.detail}" for each in self.differences]
        count = f"{len(self.differences)} differences, {len(self.explained)} explained"
        return "\n".join([*lines, f"{count}, {len(self.compared)} fact files compared"]) + "\n"

    def exit_code(self) -> ExitCode:
        """Return how the audit ends: a difference is a finding."""
        return exit_codes.exit_code(
            CommandResult(did_nothing=not self.compared, has_findings=bool(self.differences))
        )


def audit(folder: Path) -> Audit:
    """Return what only the wheels or only the records say.

    Raises DataError for records or fact files that cannot be read.
    """
    loaded = yaml_files.load(folder)
    found = shipped(folder)
    if not found.files:
        return Audit(SCHEMA_VERSION, [], [], {})
    known = Known(loaded, build.build(loaded))
    reasons = loaded.explained
    differences: set[AuditDifference] = set()
    for check in CHECKS:
        differences.update(check(known, found))
    stale = reasons.keys() - {difference.id for difference in differences}
    open_ = sorted(one for one in differences if one.id not in reasons)
    for id_ in sorted(stale):
        why = "nothing needs this reason any more"
        open_.append(AuditDifference("explanation-stale", id_, "", why))
    needed = {id_: reason for id_, reason in reasons.items() if id_ not in stale}
    return Audit(SCHEMA_VERSION, found.files, open_, needed)
