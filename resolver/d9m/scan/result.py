"""The answer of `d9m scan`. Field names are those of its JSON."""

from __future__ import annotations

import msgspec

from d9m.model.advice import Tool
from d9m.scan.finding import ScanFinding
from d9m.scan.project.project import Goal
from d9m.scan.scanned import FilesRead, ScannedEnvironment, ScannedProgram
from d9m.scan.surroundings.statements import Contradiction
from d9m.scan.walk import Walk


class Suppressed(msgspec.Struct, frozen=True):
    """A finding that a comment or the baseline hides."""

    finding: ScanFinding
    by: str
    """``comment`` or ``baseline``."""
    reason: str = ""


class ScanReport(msgspec.Struct, frozen=True, kw_only=True):
    """What a scan found, after ignores and the baseline."""

    schema_version: int
    d9m: Tool
    root: str
    goal: Goal
    environments: list[ScannedEnvironment]
    programs: list[ScannedProgram]
    jobs: list[str] = []
    """Job files that start a Python program."""
    findings: list[ScanFinding]
    """Those that are shown."""
    hints: int
    """Hints that are not shown."""
    suppressed: int
    known: int = 0
    """Findings that the baseline holds."""
    gone: list[str] = []
    """Entries of the baseline that nothing fits any more: code and path."""
    contradictions: list[Contradiction] = []
    beyond: list[str] = []
    """Stated releases that are newer than the records."""
    before: list[str] = []
    """Stated releases that are older than the records."""
    unlisted: list[str] = []
    """Which files state releases or images that no record has."""
    files: FilesRead
    nothing: str = ""
    """Why no file was scanned; empty if any was."""
    did_nothing: bool = False
    """Whether that is a fault: there was nothing to scan, rather than no change."""


class ScanOutcome(msgspec.Struct, frozen=True):
    """A report, and what formats need beyond its JSON."""

    walk: Walk
    report: ScanReport
    hidden: tuple[Suppressed, ...] = ()
    every: tuple[ScanFinding, ...] = ()
    """What a baseline of today would hold."""


def counts(findings: list[ScanFinding]) -> dict[str, int]:
    """How many findings there are of each severity, the gravest first."""
    found = {"error": 0, "missing": 0, "place": 0}
    for finding in findings:
        found[finding.severity] += 1
    return found
