"""The report of `d9m scan` at a terminal: a card for each program, errors, places."""

from __future__ import annotations

import re
import textwrap
from collections import Counter
from collections.abc import Iterable, Sequence

from d9m.render.page import WIDTH, Page, Span, Style
from d9m.render.phrases import plural
from d9m.scan.card_line import LEGEND, LINES, SIGNS, WORST_FIRST, Status
from d9m.scan.file_names import printable_path
from d9m.scan.finding import RelatedSpot, ScanFinding
from d9m.scan.report import words
from d9m.scan.result import ScanReport
from d9m.scan.scanned import ScannedProgram

_STYLES: dict[Status, Style] = {"ok": "good", "missing": "bad", "unknown": "doubt"}

MOST_CARDS = 5
MOST_PROGRAMS = 20
MOST_PLACES = 3
MOST_RELATED = 3
LABEL = max(len(line.name) for line in LINES.values())


def render(
    report: ScanReport, width: int = WIDTH, statistics: bool = False, places: bool = False
) -> Page:
    page = Page(width)
    first = report.nothing or words.incomplete_line(report)
    if first:
        page.paragraph(first, style="doubt")
    if not report.nothing and not report.programs:
        page.paragraph("No card: no program here uses a package that d9m knows.", style="dim")
    for program in report.programs[:MOST_CARDS]:
        _card(page, program)
        page.gap()
    _other_programs(page, report.programs[MOST_CARDS:])
    errors = [finding for finding in report.findings if finding.severity == "error"]
    if not report.nothing:
        page.line(Span(plural(len(errors), "error"), "bad" if errors else "head"))
    _findings(page, errors)
    _places(page, report, places)
    _unread(page, report)
    if statistics:
        _statistics(page, report)
    _foot(page, report, errors)
    return page


def _card(page: Page, program: ScannedProgram) -> None:
    page.paragraph(words.program_line(program), "", "    ", "head")
    for check in program.checks:
        sign = Span(SIGNS[check.status], _STYLES[check.status])
        page.marked(sign, check.name.ljust(LABEL + 1), words.one_line(check.text))
    if not program.checks:
        page.paragraph("the records ask for nothing here", "  ", "  ", "dim")


def _other_programs(page: Page, programs: Sequence[ScannedProgram]) -> None:
    """A line for each program beyond those with a card."""
    for program in programs[:MOST_PROGRAMS]:
        parts: list[str] = []
        for status in WORST_FIRST:
            names = [check.name for check in program.checks if check.status == status]
            if names:
                parts.append(f"{SIGNS[status]} {', '.join(names)}")
        page.paragraph(f"{printable_path(program.path)}  {'  '.join(parts)}", "", "    ")
    left = len(programs) - MOST_PROGRAMS
    if left > 0:
        page.paragraph(
            f"{plural(left, 'more program')}: name a path, or --format json", style="dim"
        )
    page.gap()


def _findings(page: Page, findings: Sequence[ScanFinding]) -> None:
    where = [words.at(each.path, each.line, each.cell) for each in findings]
    column = min(max(map(len, where), default=0), page.width // 3)
    for finding, place in zip(findings, where, strict=True):
        _finding(page, finding, place, column)


def _finding(page: Page, finding: ScanFinding, place: str, column: int) -> None:
    indent = 2 + column + 2
    room = page.width - indent
    mark = ""
    if finding.fix is not None:
        mark = " [--fix]" if finding.fix.safe else " [--fix --unsafe]"
    lines = _wrapped(f"{finding.message} [{finding.code}]", room)
    for spot in finding.related[:MOST_RELATED]:
        if not _is_named(finding, spot):
            lines += _wrapped(f"{words.at(spot.path, spot.line, spot.cell)}: {spot.message}", room)
    out = finding.workaround or (finding.fix.title if finding.fix else "")
    if out:
        first, *more = _wrapped(f"{out}{mark}", room - 2)
        lines += [f"→ {first}", *(f"  {line}" for line in more)]
    if len(place) > column:
        page.line(f"  {place}")
        lines = ["", *lines]
    else:
        page.line(f"  {place.ljust(column)}  {lines[0]}")
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


def _places(page: Page, report: ScanReport, is_whole: bool) -> None:
    found = [finding for finding in report.findings if finding.severity == "place"]
    if not found:
        return
    shown = found if is_whole else _first_places(report.programs, found)
    enters = "where order or chance enters"
    tip = "" if len(shown) == len(found) else "; d9m scan --places lists all"
    page.line(Span(f"{plural(len(found), 'place')} {enters} (no verdict{tip})", "head"))
    _findings(page, shown)


def _first_places(
    programs: Iterable[ScannedProgram], places: Sequence[ScanFinding]
) -> list[ScanFinding]:
    """Return the first three of each program with a card; without any program, the first three."""
    found: dict[int, ScanFinding] = {}
    for files in [program.files for program in programs][:MOST_CARDS] or [None]:
        own = [place for place in places if files is None or place.path in files]
        found.update((places.index(place), place) for place in own[:MOST_PLACES])
    return [found[number] for number in sorted(found)]


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


def _foot(page: Page, report: ScanReport, errors: Sequence[ScanFinding]) -> None:
    page.gap()
    hidden = words.hidden_line(report)
    if hidden:
        page.paragraph(f"{hidden}.", style="dim")
    for sentence in report.unknown_releases:
        page.paragraph(words.one_line(sentence))
    if report.nothing:
        return
    seen = {check.status for program in report.programs for check in program.checks}
    legend = [f"{SIGNS[status]} {text}" for status, text in LEGEND.items() if status in seen]
    parts = ["  ".join(legend)] if legend else []
    if any(finding.fix is not None and finding.fix.safe for finding in errors):
        parts.append("d9m scan --fix")
    if errors:
        parts.append(f"d9m scan --explain {errors[0].code}")
    parts.append(f"kb {report.d9m.kb_date}")
    page.paragraph(" · ".join(parts), style="dim")
