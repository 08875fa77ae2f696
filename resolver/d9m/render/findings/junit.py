"""What was found as JUnit XML: a test for each process, and each cause fails it."""

from __future__ import annotations

from xml.etree import ElementTree

from d9m.errors import printable
from d9m.render.findings import sentences, text
from d9m.render.findings.text import FindingsView
from d9m.trace.findings import Cause


def render(view: FindingsView) -> str:
    found = view.findings
    suite = ElementTree.Element("testsuite", name="d9m diff")
    for process in found.runs[0].processes:
        case = ElementTree.SubElement(suite, "testcase", classname="processes", name=process)
        causes = [cause for cause in found.causes if process in (cause.process, *cause.also)]
        for cause in causes:
            failure = ElementTree.SubElement(
                case, "failure", message=printable(sentences.sentence(found, cause))
            )
            failure.text = printable(_block(view, cause))
        if not causes and not found.complete:
            ElementTree.SubElement(case, "skipped", message=sentences.verdict(found))
    suite.set("tests", str(len(suite)))
    for kind, name in (("failures", "failure"), ("skipped", "skipped")):
        suite.set(kind, str(sum(case.find(name) is not None for case in suite)))
    suite.set("errors", "0")
    said = [sentences.verdict(found), *text.notes(found), text.extent(found)]
    ElementTree.SubElement(suite, "system-out").text = printable("\n".join(said))
    ElementTree.indent(suite)
    body = ElementTree.tostring(suite, encoding="unicode")
    return f'<?xml version="1.0" encoding="UTF-8"?>\n{body}\n'


def _block(view: FindingsView, cause: Cause) -> str:
    lines = [f"{name}: {said}" for name, said in text.facts(view, cause)]
    return "\n".join([*lines, *(line for line in text.fix(view, cause) if line)])
