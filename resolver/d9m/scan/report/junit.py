"""The report of `d9m scan` as JUnit XML, which every CI server reads."""

from __future__ import annotations

from d9m.render.junit import Suite, error, fail, skip
from d9m.scan.file_names import printable_path
from d9m.scan.report import words
from d9m.scan.result import ScanReport


def render(report: ScanReport) -> str:
    """A case for each finding. Errors and warnings fail, hints are skipped; nothing found is one
    case that passes.
    """
    suite = Suite("d9m scan", 0)
    for finding in report.findings:
        where = words.at(finding.path, finding.line, finding.cell)
        path = printable_path(finding.path)
        case = suite.case(path, f"{finding.code} {where}", file=path, line=str(finding.line))
        if finding.severity != "error":
            skip(case, finding.message, finding.way_out)
        else:
            fail(case, finding.message, finding.way_out, type=finding.severity)
    for file in report.files.unreadable:
        path = printable_path(file.path)
        case = suite.case(path, f"unreadable {path}", file=path)
        outcome = error if file.needed else skip
        outcome(case, words.unread_sentence(file))
    for sentence in words.unknown_releases(report):
        error(suite.case("d9m scan", "known releases"), sentence)
    if report.nothing:
        case = suite.case("d9m scan", "anything to scan")
        if report.did_nothing:
            error(case, report.nothing)
    elif not (report.findings or report.files.unreadable or words.unknown_releases(report)):
        suite.case("d9m scan", "nothing found")
    return suite.text([words.headline(report)])
