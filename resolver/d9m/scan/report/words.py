"""Sentences that several formats of a scan share."""

from __future__ import annotations

from d9m.errors import printable
from d9m.render.phrases import DEVICES, join, plural
from d9m.scan.card_line import CardCheck
from d9m.scan.file_names import printable_path
from d9m.scan.finding import ScanFinding
from d9m.scan.result import ScanReport, counts
from d9m.scan.scanned import ScannedPackage, ScannedProgram, UnreadableFile


def headline(report: ScanReport) -> str:
    """``1 error, 3 missing, 4 places · 2 programs in 31 files``."""
    if report.nothing:
        return report.nothing
    found = counts(report)
    parts = [plural(found["error"], "error"), f"{found['missing']} missing"]
    parts.append(plural(found["place"], "place"))
    unread = f", {len(report.files.unreadable)} not read" if report.files.unreadable else ""
    programs = plural(len(report.programs), "program")
    return f"{', '.join(parts)} · {programs} in {plural(report.files.read, 'file')}{unread}"


def is_incomplete(report: ScanReport) -> bool:
    """Whether a file was not read that the answer needs, or a release is not known."""
    return bool(incomplete_line(report))


def incomplete_line(report: ScanReport) -> str:
    """``INCOMPLETE  1 file could not be read, 3 read``; empty where nothing is missing."""
    unread = sum(file.needed for file in report.files.unreadable)
    unknown = len(report.unknown_releases)
    parts = [f"{plural(unread, 'file')} could not be read"] if unread else []
    parts += [f"{plural(unknown, 'release')} unknown"] if unknown else []
    return f"INCOMPLETE  {', '.join(parts)}, {report.files.read} read" if parts else ""


def unread_sentence(file: UnreadableFile) -> str:
    return f"This file was not read: {file.why}."


def program_line(program: ScannedProgram) -> str:
    """``train.py · PyTorch 2.4 (requirements.txt:1) · CUDA (Dockerfile:1) · torchrun, 8 ranks``."""
    packages = [_package(package) for package in program.packages.values()]
    device = DEVICES.get(program.device, program.device)
    device += f" ({printable_path(program.device_from) or 'assumed'})"
    started = [program.launcher] if program.launcher else []
    if program.ranks not in ("", "?", "1"):
        started.append(f"{program.ranks} ranks")
    elif program.ranks == "?":
        started.append("ranks not known")
    job = ""
    if program.jobs:
        more = f" and {len(program.jobs) - 1} more" if len(program.jobs) > 1 else ""
        job = f"{', '.join(started)} ({printable_path(program.jobs[0])}{more})".lstrip()
    name = printable_path(program.path) if program.path != "." else "the project as one"
    return "  ·  ".join(filter(None, [name, *packages, device, job]))


def _package(package: ScannedPackage) -> str:
    where = printable_path(package.from_)
    release = package.version or "any release"
    if package.how == "range":
        return f"{package.title} {release} (newest that {where} allows)"
    if package.how == "assumed":
        why = f"{where} names no release" if where else "no file names one"
        return f"{package.title} {release} (assumed: {why})"
    return f"{package.title} {release} ({where})"


def check_sentence(program: ScannedProgram, check: CardCheck) -> str:
    """A line of a card where the card is not around it."""
    return f"{printable_path(program.path)}: {check.name}: {check.text}."


def hidden_line(report: ScanReport) -> str:
    """Return the line about findings that are not shown; empty where there are none."""
    parts: list[str] = []
    if report.suppressed:
        parts.append(f"{plural(report.suppressed, 'finding')} hidden by comments")
    if report.known:
        parts.append(f"{report.known} known from the baseline")
    if report.gone:
        entries = f"{len(report.gone)} entr{'y' if len(report.gone) == 1 else 'ies'}"
        parts.append(f"{entries} of the baseline gone: --write-baseline shortens it")
    return join(parts)


def place(finding: ScanFinding) -> str:
    """``40``, or ``[3]:2`` in the third cell of a notebook."""
    return f"[{finding.cell}]:{finding.line}" if finding.cell else str(finding.line)


def at(path: str, line: int, cell: int | None) -> str:
    path = printable_path(path)
    return f"{path}:[{cell}]:{line}" if cell else f"{path}:{line}"


def one_line(text: str) -> str:
    """A text without line breaks and what a terminal would obey."""
    return printable(" ".join(text.split()))
