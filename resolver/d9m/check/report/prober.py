"""Probes, self-test and two reports side by side, for a person at a terminal."""

from __future__ import annotations

from collections.abc import Iterator, Sequence

from d9m.check.plan.catalogue import Probe
from d9m.check.ranks.compare import ReportComparison, exit_code
from d9m.check.report.ops import BAD, GOOD
from d9m.check.trust import SelftestFact
from d9m.errors import ExitCode
from d9m.render.page import WIDTH, Page, Span


def catalogue(probes: Sequence[Probe], width: int = WIDTH) -> Page:
    """`--list`."""
    page = Page(width)
    rows = [(probe.id, probe.direction, probe.op) for probe in probes]
    page.table(("probe", "", "op"), rows, shrink=(2,))
    pairs = {(probe.source or probe.id, probe.direction) for probe in probes}
    page.gap()
    page.line(f"{len(probes)} probes of {len(pairs)} records and directions")
    return page


def selftest(facts: Sequence[SelftestFact], width: int = WIDTH) -> Page:
    page = Page(width)
    holds = all(fact.holds for fact in facts)
    page.paragraph(
        "The probes see every difference that they should."
        if holds
        else "Do not trust the verdicts of this installation.",
        style="good" if holds else "bad",
    )
    page.gap()
    for fact in facts:
        page.marked(GOOD if fact.holds else BAD, "", f"{fact.text}: {fact.seen}")
    return page


def comparison(found: ReportComparison, width: int = WIDTH) -> Page:
    page = Page(width)
    same, other, unlike = (found.count(kind) for kind in ("same", "differs", "not comparable"))
    is_good = exit_code(found) == ExitCode.ANSWERED
    style = "bad" if other else "good" if is_good else "doubt"
    page.paragraph(" ".join(_comparison_verdict(found)), style=style)
    page.line(Span(f"{same} results the same, {other} different, {unlike} not comparable", "dim"))
    if found.differences:
        page.gap()
        machines = [(key, left, right) for key, (left, right) in found.differences.items()]
        page.table(("machines", *found.files), machines, shrink=(0, 1, 2))
    if other:
        page.gap()
        differing = [pair for pair in found.pairs if pair.result == "differs"]
        results = [(pair.id, pair.dtype, pair.arm) for pair in differing]
        page.table(("differs", "type", "arm"), results, shrink=(0,))
    return page


def _comparison_verdict(found: ReportComparison) -> Iterator[str]:
    """Yield the result, then why it is incomplete."""
    if found.result == "differs":
        yield "Results differ between the two machines."
    elif found.result == "same":
        yield "The two machines give the same results, bit for bit."
    elif found.unlike:
        unlike = ", ".join(found.unlike)
        yield f"The two machines are not alike ({unlike}): their results cannot be compared."
    elif not found.count("same"):
        yield "Nothing in these reports can be compared."
    else:
        yield "What could be compared is the same, bit for bit."
        if count := len(found.uncompared()):
            probes = "1 probe" if count == 1 else f"{count} probes"
            yield f"{probes} could not be compared."
    for why in found.incomplete:
        yield f"{why}."
