"""Probes and self-test, for a person at a terminal."""

from __future__ import annotations

from collections.abc import Sequence

from d9m.check.plan.catalogue import Probe
from d9m.check.report.ops import BAD, GOOD
from d9m.check.trust import SelftestFact
from d9m.render.page import WIDTH, Page


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
