"""The report of `d9m scan` as JUnit XML, which every CI server reads."""

from __future__ import annotations

from d9m.render.junit import Suite, fail, skip
from d9m.render.scan import words
from d9m.scan.report import ScanReport


def render(report: ScanReport) -> str:
    """A case for each finding. Errors and warnings fail, hints are skipped; nothing found is one
    case that passes.
    """
    suite = Suite("d9m scan", 0)
    for finding in report.findings:
        where = words.at(finding.path, finding.line, finding.cell)
        case = suite.case(
            finding.path, f"{finding.code} {where}", file=finding.path, line=str(finding.line)
        )
        if finding.severity == "hint":
            skip(case, finding.message, finding.way_out)
        else:
            fail(case, finding.message, finding.way_out, type=finding.severity)
    if not report.findings:
        suite.case("d9m scan", "nothing found")
    return suite.text([words.headline(report)])
