"""The report of `d9m scan` at a terminal: the verdict, the environment, findings by file."""

from __future__ import annotations

import re
import textwrap
from collections import Counter
from collections.abc import Sequence
from itertools import groupby

from d9m.render.page import WIDTH, Page, Span, Style
from d9m.render.phrases import join, plural
from d9m.scan.file_names import printable_path
from d9m.scan.finding import RelatedSpot, ScanFinding, Severity
from d9m.scan.report import words
from d9m.scan.result import ScanReport, counts
from d9m.scan.scanned import ScannedProgram

_STYLES: dict[Severity, Style] = {"error": "bad", "missing": "doubt", "place": "dim"}

MOST_ENVIRONMENTS = 3
MOST_JOBS = 4
MOST_RELATED = 3


def render(report: ScanReport, width: int = WIDTH, statistics: bool = False) -> Page:
    page = Page(width)
    found = counts(report.findings)
    verdict: Style = "bad" if found["error"] else "doubt" if found["missing"] else "good"
    if verdict == "good" and (report.nothing or words.is_incomplete(report)):
        verdict = "doubt"
    page.paragraph(words.headline(report), style=verdict)
    _surroundings(page, report)
    _programs(page, report)
    _findings(page, report.findings)
    _unread(page, report)
    if statistics:
        _statistics(page, report)
    _foot(page, report)
    return page


def _surroundings(page: Page, report: ScanReport) -> None:
    jobs = ""
    if report.jobs:
        more = f" and {len(report.jobs) - MOST_JOBS} more" * (len(report.jobs) > MOST_JOBS)
        named = map(printable_path, report.jobs[:MOST_JOBS])
        jobs = f" · jobs: {', '.join(named)}{more}"
    known = [environment for environment in report.environments if environment.packages]
    for number, environment in enumerate(known[:MOST_ENVIRONMENTS]):
        several = len(known) > 1
        where = f"{', '.join(map(printable_path, environment.paths))}: " if several else ""
        line = where + words.environment_line(environment) + (jobs if number == 0 else "")
        page.paragraph(line, "", "  ", "dim")
    left = len(known) - MOST_ENVIRONMENTS
    if left > 0:
        page.paragraph(f"{plural(left, 'more environment')}: --format json", style="dim")
    if not known and jobs:
        page.paragraph(jobs.removeprefix(" · "), "", "  ", "dim")


def _programs(page: Page, report: ScanReport) -> None:
    page.gap()
    folded = words.programs_line(report)
    if folded:
        page.paragraph(folded)
    else:
        for program in report.programs:
            page.paragraph(_program(program), "", "  ")
    page.gap()


def _program(program: ScannedProgram) -> str:
    does = [f"seeds {join(program.seeds)}" if program.seeds else "seeds nothing"]
    if program.switches:
        switch = program.switches[0]
        does.append(f"{switch.name} in {words.at(switch.path, switch.line, None)}")
    return f"{printable_path(program.path)}  {' · '.join(does)}"


def _findings(page: Page, findings: Sequence[ScanFinding]) -> None:
    if not findings:
        return
    column = max(len(words.place(finding)) for finding in findings)
    codes = max(len(finding.code) for finding in findings)
    for path, here in groupby(findings, key=lambda finding: finding.path):
        page.line(Span(printable_path(path), "head"))
        for finding in here:
            _finding(page, finding, column, codes)


def _finding(page: Page, finding: ScanFinding, column: int, codes: int) -> None:
    indent = 2 + column + 2 + len("missing") + 2 + codes + 2
    room = page.width - indent
    lines = _wrapped(finding.message, room)
    for spot in finding.related[:MOST_RELATED]:
        if _is_named(finding, spot):
            continue
        where = words.at(spot.path, spot.line, spot.cell)
        lines += _wrapped(f"{where}: {spot.message}", room)
    out = finding.way_out or (finding.fix.title if finding.fix else "")
    mark = ""
    if finding.fix is not None:
        mark = " [--fix]" if finding.fix.safe else " [--fix --unsafe]"
    if out:
        first, *more = _wrapped(f"{out}{mark}", room - 2)
        lines += [f"→ {first}", *(f"  {line}" for line in more)]
    place = words.place(finding).rjust(column)
    page.line(
        f"  {place}  ",
        Span(finding.severity.ljust(7), _STYLES[finding.severity]),
        f"  {finding.code.ljust(codes)}  {lines[0]}",
    )
    for line in lines[1:]:
        page.line(" " * indent + line)


def _is_named(finding: ScanFinding, spot: RelatedSpot) -> bool:
    """Whether the message names a place already: a line of its file, or a program as a whole."""
    if spot.path == finding.path:
        return re.search(rf"\bline {spot.line}\b", finding.message) is not None
    return spot.line == 1 and finding.message.startswith(f"{spot.path} ")


def _wrapped(text: str, room: int) -> list[str]:
    return textwrap.wrap(
        words.one_line(text), max(room, 24), break_long_words=False, break_on_hyphens=False
    ) or [""]


def _unread(page: Page, report: ScanReport) -> None:
    needed = [file for file in report.files.unreadable if file.needed]
    others = [file for file in report.files.unreadable if not file.needed]
    for files, more in ((needed, ""), (others, " that no program here needs")):
        if files:
            page.gap()
            page.paragraph(f"{plural(len(files), 'file')}{more} could not be read:")
        for file in files:
            page.paragraph(f"{printable_path(file.path)}: {file.why}", "  ", "    ", "dim")


def _statistics(page: Page, report: ScanReport) -> None:
    page.gap()
    page.line(Span("By rule", "head"))
    severity = {finding.code: finding.severity for finding in report.findings}
    tally = Counter(finding.code for finding in report.findings)
    codes = sorted(tally, key=lambda code: (-tally[code], code))
    rows = [(str(tally[code]), severity[code], code) for code in codes]
    page.table(("findings", "severity", "rule"), rows)
    if report.contradictions:
        page.gap()
        page.line(Span("Versions that contradict each other", "head"))
        for one in report.contradictions:
            page.paragraph(f"{one.package}: {one.followed}, not {one.other}", "  ", "    ")
    page.gap()


def _foot(page: Page, report: ScanReport) -> None:
    page.gap()
    hidden = words.hidden_line(report)
    if hidden:
        page.paragraph(f"{hidden}.", style="dim")
    for sentence in words.unknown_releases(report):
        page.paragraph(words.one_line(sentence))
    if report.nothing:
        return
    if not report.findings:
        page.paragraph(
            "This scan does not prove that a run repeats: d9m check, and two runs, do.", style="dim"
        )
        page.line(Span(f"kb {report.d9m.kb_date}", "dim"))
        return
    fixable = sum(finding.fix is not None and finding.fix.safe for finding in report.findings)
    parts: list[str] = []
    if fixable:
        parts.append(f"{fixable} can be fixed: d9m scan --fix")
    parts.append(f"why: d9m scan --explain {report.findings[0].code}")
    parts.append(f"kb {report.d9m.kb_date}")
    page.paragraph(" · ".join(parts), style="dim")
