"""The answer of `d9m scan`. Field names are those of its JSON."""

from __future__ import annotations

import msgspec

from d9m.model.advice import Tool
from d9m.scan.card_line import CardCheck
from d9m.scan.finding import ScanFinding
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
    """The findings of a scan, after ignores and the baseline."""

    schema_version: int
    d9m: Tool
    root: str
    strict: bool = False
    """Whether a missing line of a card fails the scan."""
    environments: list[ScannedEnvironment]
    programs: list[ScannedProgram]
    jobs: list[str] = []
    """Job files that start a Python program."""
    findings: list[ScanFinding]
    """Errors, and places where order or chance enters."""
    suppressed: int
    known: int = 0
    """Findings that the baseline holds."""
    gone: list[str] = []
    """Entries of the baseline that nothing fits any more: code and path."""
    contradictions: list[Contradiction] = []
    unknown_releases: list[str] = []
    """A sentence for each stated release or image of which nothing is known."""
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
    """The findings that a new baseline would hold."""


def counts(report: ScanReport) -> dict[str, int]:
    """Return how many errors there are, missing lines of cards, and places."""
    found = {"error": 0, "missing": len(missing(report)), "place": 0}
    for finding in report.findings:
        found[finding.severity] += 1
    return found


def missing(report: ScanReport) -> list[tuple[ScannedProgram, CardCheck]]:
    """Return the lines of cards that say that something is missing, each with its program."""
    found: list[tuple[ScannedProgram, CardCheck]] = []
    for program in report.programs:
        found += ((program, check) for check in program.checks if check.status == "missing")
    return found


def without_places(report: ScanReport) -> ScanReport:
    """Return a report of errors and cards alone."""
    errors = [finding for finding in report.findings if finding.severity != "place"]
    return msgspec.structs.replace(report, findings=errors)
