"""Findings as JUnit XML: a test for each process. A cause fails it; what was
not compared is an error.
"""

from __future__ import annotations

from d9m.render.junit import Suite, error, fail
from d9m.trace.findings import Cause
from d9m.trace.report import sentences, text, verdict
from d9m.trace.report.text import FindingsView


def render(view: FindingsView) -> str:
    found = view.findings
    suite = Suite("d9m hunt" if found.stages else "d9m diff")
    for process in found.runs[0].processes or found.runs[1].processes:
        case = suite.case("processes", process)
        causes = [cause for cause in found.causes if process in (cause.process, *cause.also)]
        for cause in causes:
            fail(case, sentences.sentence(found, cause), _block(view, cause))
        if not causes and not found.complete:
            error(case, verdict.sentences(found))
    return suite.text([verdict.sentences(found), *text.notes(found), text.extent(found)])


def _block(view: FindingsView, cause: Cause) -> str:
    lines = [f"{name}: {said}" for name, said in text.facts(view, cause)]
    return "\n".join([*lines, *(line for line in text.fix(view, cause) if line)])
