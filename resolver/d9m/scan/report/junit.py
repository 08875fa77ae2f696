"""The report of `d9m scan` as JUnit XML, which every CI server reads."""

from __future__ import annotations

from d9m.render.junit import Suite, error, fail, skip
from d9m.scan.file_names import printable_path
from d9m.scan.report import words
from d9m.scan.result import ScanReport


def render(report: ScanReport) -> str:
    """A case for each finding and each line of a card. Errors fail, and with --strict what is
    missing; places and what the files do not say are skipped.
    """
    suite = Suite("d9m scan", 0)
    for finding in report.findings:
        where = words.at(finding.path, finding.line, finding.cell)
        path = printable_path(finding.path)
        case = suite.case(path, f"{finding.code} {where}", file=path, line=str(finding.line))
        if finding.severity == "error":
            fail(case, finding.message, finding.workaround, type=finding.severity)
        else:
            skip(case, finding.message, finding.workaround)
    for program in report.programs:
        path = printable_path(program.path)
        for check in program.checks:
            case = suite.case(path, f"{check.code} {path}", file=path)
            if check.status == "missing" and report.strict:
                fail(case, check.text, type="missing")
            elif check.status != "ok":
                skip(case, f"{check.status}: {check.text}")
    for file in report.files.unreadable:
        path = printable_path(file.path)
        case = suite.case(path, f"unreadable {path}", file=path)
        outcome = error if file.needed else skip
        outcome(case, words.unread_sentence(file))
    for sentence in report.unknown_releases:
        error(suite.case("d9m scan", "known releases"), sentence)
    if report.nothing:
        case = suite.case("d9m scan", "anything to scan")
        if report.did_nothing:
            error(case, report.nothing)
    elif not suite.is_filled():
        suite.case("d9m scan", "nothing found")
    return suite.text([words.headline(report)])
