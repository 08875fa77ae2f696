"""Records and histories for a person at a terminal."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import msgspec

from d9m.browse import spans
from d9m.browse.show import Showing, Shown, SourceHistory
from d9m.kb.store import KnowledgeBase
from d9m.model.advice import Possible
from d9m.model.records import Clause, Existence, Range
from d9m.render import phrases, words
from d9m.render.browse import fields
from d9m.render.page import WIDTH, Page, Span
from d9m.resolve import op_lookup


def render(kb: KnowledgeBase, showing: Showing, width: int = WIDTH) -> Page:
    page = Page(width)
    for each in showing.found:
        _shown(page, kb, each)
        page.gap()
    page.line(f"knowledge base of {showing.d9m.kb_date}")
    return page


def _shown(page: Page, kb: KnowledgeBase, shown: Shown) -> None:
    label = shown.record.get("label") or shown.record.get("name") or shown.id
    page.line(
        Span(str(label), "head"), f"  {shown.kind}" + (f" {shown.id}" if label != shown.id else "")
    )
    for field in ("title", "summary"):
        if field in shown.record:
            page.paragraph(str(shown.record[field]))
    if shown.kind == "op":
        reaches = shown.record.get("reaches", [])
        reached = [f"{each['op']}{_arguments(each)}" for each in reaches if each["op"] != shown.id]
        spans = op_lookup.spans_in_words(
            msgspec.convert(shown.record.get("spans", []), list[Existence])
        )
        if spans:
            page.paragraph(f"in {shown.record['package']} {spans}", "", "  ")
        if reached:
            page.paragraph(f"reaches {', '.join(reached)}", "", "  ")
        if not shown.history:
            page.paragraph("No record names a source of nondeterminism here. That is not a proof.")
    for each in shown.history:
        history_table(page, kb, each, shown.kind != "source")
    if "releases" in shown.record:
        _releases(page, shown.record["releases"])
    if shown.kind != "op":
        fields.write(page, kb, shown.record)
    if shown.evidence:
        page.gap()
        page.line(Span("Who says so", "head"))
    for proof in shown.evidence:
        mark = "" if proof.follows else " (the record does not follow it)"
        says = proof.note or proof.where or ""
        page.paragraph(f"{proof.kind}{mark}: {says}".rstrip(" :"), "  ", "    ")
        if proof.url:
            page.line(Span(f"    {proof.url}", "dim"))


def _arguments(reached: dict[str, Any]) -> str:
    fixed = ",".join(f"{name}={value}" for name, value in reached.get("arguments", {}).items())
    return f"[{fixed}]" if fixed else ""


def history_table(page: Page, kb: KnowledgeBase, history: SourceHistory, titled: bool) -> None:
    """What a source does, a line for each range of releases."""
    page.gap()
    if titled:
        page.paragraph(f"{history.title} ({history.id})", "", "  ")
    device = f"on {phrases.DEVICES.get(history.device, history.device)}"
    _ranges(page, kb, device, history.home, history.ranges)
    for other in history.others:
        under = phrases.condition(kb, other.under) or phrases.title(kb, other.package)
        page.gap()
        _ranges(page, kb, under, other.package, other.ranges)
    page.gap()


def _ranges(
    page: Page, kb: KnowledgeBase, head: str, package: str, ranges: Sequence[Possible]
) -> None:
    rows = [
        (
            _where(kb, package, answer.when),
            Span(words.DOES[answer.outcome], words.STYLES[answer.outcome]),
            _with(kb, answer),
        )
        for answer in ranges
    ]
    page.table((head, "", "with"), rows, shrink=(0, 2))


def _where(kb: KnowledgeBase, package: str, when: Clause) -> str:
    """``PyTorch 2.6 and later``, and what else must hold."""
    bounds = when.get(package)
    releases = spans.span(bounds if isinstance(bounds, Range) else Range(), kb.releases(package))
    rest = phrases.condition(kb, {name: value for name, value in when.items() if name != package})
    return f"{phrases.title(kb, package)} {releases} {rest}".rstrip()


def _with(kb: KnowledgeBase, answer: Possible) -> str:
    if answer.raised_by:
        return _titles(kb, answer.raised_by)
    if answer.outcome == "deterministic":
        return "nothing to set"
    return " or ".join(_titles(kb, labels) for labels in answer.solutions) or "-"


def _titles(kb: KnowledgeBase, labels: str) -> str:
    return " and ".join(phrases.call(kb, label) for label in labels.split(" + "))


def _releases(page: Page, releases: dict[str, Any]) -> None:
    rows = [
        (
            release,
            str(each.get("date", "-")),
            ", ".join(f"{name} {version}" for name, version in each.get("with", {}).items()) or "-",
        )
        for release, each in releases.items()
    ]
    page.gap()
    page.table(("release", "date", "with"), rows, shrink=(2,))
    page.gap()
