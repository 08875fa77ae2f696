"""Annotations of a GitHub workflow: a command a line."""

from __future__ import annotations

import os
from collections import Counter

from d9m.errors import printable
from d9m.scan.card_line import CardCheck
from d9m.scan.file_names import printable_path
from d9m.scan.finding import ScanFinding, Severity
from d9m.scan.report import words
from d9m.scan.result import ScanReport, missing
from d9m.scan.scanned import ScannedProgram, UnreadableFile

MOST = 10
"""Annotations of one level that GitHub shows for a step."""

_COMMANDS: dict[Severity, str] = {"error": "error", "missing": "warning", "place": "notice"}


def render(report: ScanReport) -> str:
    """The gravest findings as annotations, at most ten of a level, and a line with all counts."""
    lines: list[str] = []
    shown: Counter[str] = Counter()
    annotations = [_unread(report, file) for file in report.files.unreadable]
    annotations += [_annotation(report, finding) for finding in report.findings]
    annotations += [_missing(report, program, check) for program, check in missing(report)]
    for level, rest in annotations:
        shown[level] += 1
        if shown[level] <= MOST:
            lines.append(f"::{level} {rest}")
    for sentence in report.unknown_releases:
        lines.append(f"::error ::{_data(sentence)}")
    if report.did_nothing:
        lines.append(f"::error ::{_data(report.nothing)}")
    lines.append(words.headline(report))
    return "".join(f"{line}\n" for line in lines)


def _unread(report: ScanReport, file: UnreadableFile) -> tuple[str, str]:
    fields = {"file": _path(report, file.path), "title": "unreadable"}
    return "error" if file.needed else "notice", _rest(fields, words.unread_sentence(file))


def _missing(report: ScanReport, program: ScannedProgram, check: CardCheck) -> tuple[str, str]:
    """Return the annotation of a missing line of a card; one that has no place is at the top."""
    fields = {"file": _path(report, check.path or program.path), "title": check.code}
    fields["line"] = str(check.line or 1)
    level = "error" if report.strict else "warning"
    return level, _rest(fields, words.check_sentence(program, check))


def _path(report: ScanReport, path: str) -> str:
    return printable_path(path if report.root == "." else os.path.join(report.root, path))


def _annotation(report: ScanReport, finding: ScanFinding) -> tuple[str, str]:
    fields = {"file": _path(report, finding.path), "title": finding.code}
    if finding.cell is None:
        fields["line"] = str(finding.line)
        fields["endLine"] = str(finding.end_line)
        fields["col"] = str(finding.column)
    message = finding.message if finding.cell is None else f"Cell {finding.cell}: {finding.message}"
    if finding.workaround:
        message = f"{message}\n-> {finding.workaround}"
    return _COMMANDS[finding.severity], _rest(fields, message)


def _rest(fields: dict[str, str], message: str) -> str:
    listed = ",".join(f"{name}={_property(value)}" for name, value in fields.items())
    return f"{listed}::{_data(message)}"


def _data(text: str) -> str:
    """The text of a workflow command.

    >>> _data("100%\\nsure")
    '100%25%0Asure'
    """
    escaped = text.replace("%", "%25").replace("\r", "%0D").replace("\n", "%0A")
    return printable(escaped)


def _property(text: str) -> str:
    return _data(text).replace(":", "%3A").replace(",", "%2C")
