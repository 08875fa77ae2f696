"""The report of `d9m scan` as JUnit XML, which every CI server reads."""

from __future__ import annotations

from xml.etree import ElementTree

from d9m.errors import printable
from d9m.render.scan import words
from d9m.scan.report import ScanReport


def render(report: ScanReport) -> str:
    """A case for each finding. Errors and warnings fail, hints are skipped; nothing found is one
    case that passes.
    """
    suite = ElementTree.Element("testsuite", name="d9m scan", errors="0", time="0")
    for finding in report.findings:
        where = words.at(finding.path, finding.line, finding.cell)
        case = ElementTree.SubElement(
            suite,
            "testcase",
            classname=finding.path,
            name=f"{finding.code} {where}",
            file=finding.path,
            line=str(finding.line),
        )
        kind = "skipped" if finding.severity == "hint" else "failure"
        message = printable(finding.message)
        said = ElementTree.SubElement(case, kind, message=message)
        if kind == "failure":
            said.set("type", finding.severity)
        said.text = printable(finding.way_out)
    if not report.findings:
        ElementTree.SubElement(suite, "testcase", classname="d9m scan", name="nothing found")
    suite.set("tests", str(len(suite)))
    suite.set("failures", str(sum(case.find("failure") is not None for case in suite)))
    suite.set("skipped", str(sum(case.find("skipped") is not None for case in suite)))
    ElementTree.SubElement(suite, "system-out").text = printable(words.headline(report))
    ElementTree.indent(suite)
    return (
        '<?xml version="1.0" encoding="UTF-8"?>\n'
        + ElementTree.tostring(suite, encoding="unicode")
        + "\n"
    )
