"""The report of `d9m scan` as Markdown, for an issue or a job summary."""

from __future__ import annotations

from itertools import groupby

from d9m.scan.card_line import SIGNS
from d9m.scan.file_names import printable_path
from d9m.scan.finding import ScanFinding
from d9m.scan.report import words
from d9m.scan.result import ScanReport
from d9m.scan.scanned import ScannedProgram


def render(report: ScanReport) -> str:
    parts = ["## d9m scan", f"**{_plain(words.headline(report))}**"]
    parts += [_card(program) for program in report.programs]
    for path, here in groupby(report.findings, key=lambda finding: finding.path):
        rows = "\n".join(_row(finding) for finding in here)
        parts.append(f"### {_path(path)}\n\n| Line | | Rule | |\n|---:|---|---|---|\n{rows}")
    unread = [f"- {_path(file.path)}: {_plain(file.why)}" for file in report.files.unreadable]
    if unread:
        parts.append("Files that could not be read:\n\n" + "\n".join(unread))
    parts += map(_plain, report.unknown_releases)
    parts.append(_plain(words.hidden_line(report)))
    return "\n\n".join(part for part in parts if part) + "\n"


def _card(program: ScannedProgram) -> str:
    rows = [
        f"| {SIGNS[check.status]} | {check.name} | {_plain(check.text)} |"
        for check in program.checks
    ]
    table = "\n".join(["| | | |", "|---|---|---|", *rows]) if rows else ""
    return f"### {_plain(words.program_line(program))}\n\n{table}".rstrip()


def _row(finding: ScanFinding) -> str:
    text = _plain(finding.message)
    if finding.workaround:
        text += f"<br>→ {_plain(finding.workaround)}"
    link = f"[{finding.code}]({finding.help})"
    return f"| {_plain(words.place(finding))} | {finding.severity} | {link} | {text} |"


def _path(path: str) -> str:
    return _plain(printable_path(path))


def _plain(text: str) -> str:
    """Escape a text so that Markdown shows it unchanged."""
    escaped = words.one_line(text).replace("\\", "\\\\").replace("&", "&amp;").replace("<", "&lt;")
    for sign in "`*_[]|#":
        escaped = escaped.replace(sign, f"\\{sign}")
    return escaped
