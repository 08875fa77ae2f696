"""Probes, self-test and two reports side by side, for a person at a terminal."""

from __future__ import annotations

from collections.abc import Sequence

from d9m.check.plan.catalogue import Probe
from d9m.check.ranks.compare import Comparison
from d9m.check.trust import SelftestFact
from d9m.render.check.text import SHORT
from d9m.render.page import Page, Span


def catalogue(probes: Sequence[Probe]) -> Page:
    """`--list`."""
    page = Page()
    rows = [
        (each.id, SHORT[each.direction], each.op.replace("torch.nn.functional.", "F."))
        for each in probes
    ]
    page.table(("probe", "", "op"), rows, shrink=(2,))
    pairs = {(each.source or each.id, each.direction) for each in probes}
    page.gap()
    page.line(f"{len(probes)} probes of {len(pairs)} sources and directions")
    return page


def selftest(facts: Sequence[SelftestFact]) -> Page:
    page = Page()
    for each in facts:
        page.line(
            Span("[ok]    " if each.holds else "[FAILED]", "good" if each.holds else "bad"),
            f" {each.text}: {each.seen}",
        )
    holds = all(each.holds for each in facts)
    page.line(
        "The prober sees what is there." if holds else "Do not trust this installation's verdicts."
    )
    return page


def comparison(found: Comparison) -> Page:
    page = Page()
    head = Span("DIFFERENT", "bad") if found.count("differs") else Span("ALIKE", "good")
    page.line(
        head,
        f"  {found.count('same')} results the same, {found.count('differs')} different, "
        f"{found.count('not comparable')} not comparable",
    )
    rows = [(key, left, right) for key, (left, right) in found.differences.items()]
    if rows:
        page.gap()
        page.table(("machines", *found.files), rows, shrink=(2,))
    if found.count("differs"):
        page.gap()
        rows = [(each.id, each.dtype, each.arm) for each in found.pairs if each.result == "differs"]
        page.table(("differs", "type", "arm"), rows)
    return page
