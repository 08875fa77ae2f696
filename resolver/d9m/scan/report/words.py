"""Sentences that several formats of a scan share."""

from __future__ import annotations

from d9m.environment.version_options import VERSION_OPTIONS
from d9m.errors import printable
from d9m.render.phrases import join, plural
from d9m.scan.file_names import printable_path
from d9m.scan.finding import ScanFinding
from d9m.scan.result import ScanReport, counts
from d9m.scan.scanned import ScannedEnvironment, UnreadableFile


def headline(report: ScanReport) -> str:
    """``FINDINGS  4 errors, 3 warnings in 31 files (12 hints: --hints)``."""
    if report.nothing:
        return report.nothing
    found = counts(report.findings)
    shown = [plural(count, severity) for severity, count in found.items() if count]
    hints = f" ({plural(report.hints, 'hint')}: --hints)" if report.hints else ""
    files = plural(report.files.read, "file")
    unread = len(report.files.unreadable)
    more = f", {unread} unread" if unread else ""
    if shown:
        return f"FINDINGS  {', '.join(shown)} in {files}{more}{hints}"
    if is_incomplete(report):
        unknown = unknown_releases(report)
        missing = [f"{plural(unread, 'file')} could not be read"] if unread else []
        if unknown:
            missing.append(f"{plural(len(unknown), 'release')} unknown")
        return f"INCOMPLETE  {', '.join(missing)}, {report.files.read} read{hints}"
    programs = f", {plural(len(report.programs), 'program')}" if report.programs else ""
    return f"NOTHING FOUND  {files}{more}{programs}{hints}"


def is_incomplete(report: ScanReport) -> bool:
    """Whether a file was not read that the answer needs, or a release is not known."""
    return any(file.needed for file in report.files.unreadable) or bool(unknown_releases(report))


def unknown_releases(report: ScanReport) -> list[str]:
    """A sentence for each stated release of which nothing is known."""
    found: list[str] = []
    for release in report.beyond:
        found.append(f"{release} is newer than the records: what changed there is not known.")
    for release in report.before:
        found.append(f"{release} is older than the records: what holds there is not known.")
    return [*found, *(f"{statement}, which no record has." for statement in report.unlisted)]


def unread_sentence(file: UnreadableFile) -> str:
    return f"This file was not read: {file.why}."


def environment_line(environment: ScannedEnvironment) -> str:
    """``torch 2.4.1 (requirements.txt:3) · cuda``: frameworks come first, then what is
    stated; a long list is cut.
    """
    packages = sorted(
        environment.packages.items(),
        key=lambda entry: (entry[0] not in VERSION_OPTIONS, entry[1].how == "assumed"),
    )
    parts: list[str] = []
    for name, package in packages[:MOST_PACKAGES]:
        source = package.from_ or "assumed: no file names a known release"
        parts.append(f"{name} {package.version or 'any'} ({source})")
    if len(packages) > MOST_PACKAGES:
        parts.append(plural(len(packages) - MOST_PACKAGES, "more package"))
    return " · ".join([*parts, environment.device])


MOST_PACKAGES = 5


def hidden_line(report: ScanReport) -> str:
    """What is not shown although it was found; empty where nothing is."""
    parts: list[str] = []
    if report.suppressed:
        parts.append(f"{plural(report.suppressed, 'finding')} hidden by comments")
    if report.known:
        parts.append(f"{report.known} known from the baseline")
    if report.gone:
        entries = f"{len(report.gone)} entr{'y' if len(report.gone) == 1 else 'ies'}"
        parts.append(f"{entries} of the baseline gone: --write-baseline shortens it")
    return join(parts)


def programs_line(report: ScanReport) -> str:
    """How many programs seed, and how many ask for more; empty for fewer than three."""
    if len(report.programs) < FOLDED:
        return ""
    nothing = sum(not program.seeds and not program.switches for program in report.programs)
    seeded = sum(bool(program.seeds) and not program.switches for program in report.programs)
    switched = len(report.programs) - nothing - seeded
    parts: list[str] = []
    if nothing:
        parts.append(f"{nothing} seed nothing")
    if seeded:
        parts.append(f"{seeded} seed but ask for no deterministic algorithms")
    if switched:
        parts.append(f"{switched} ask for deterministic algorithms")
    tip = (
        " (--goal repeatable reports each)"
        if report.goal != "repeatable" and nothing + seeded
        else ""
    )
    return f"{len(report.programs)} programs: {join(parts)}{tip}"


FOLDED = 3
"""Programs from which on one line speaks for all."""


def place(finding: ScanFinding) -> str:
    """``40``, or ``[3]:2`` in the third cell of a notebook."""
    return f"[{finding.cell}]:{finding.line}" if finding.cell else str(finding.line)


def at(path: str, line: int, cell: int | None) -> str:
    path = printable_path(path)
    return f"{path}:[{cell}]:{line}" if cell else f"{path}:{line}"


def one_line(text: str) -> str:
    """A text without line breaks and what a terminal would obey."""
    return printable(" ".join(text.split()))
