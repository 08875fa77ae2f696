"""Records and histories for a person at a terminal."""

from __future__ import annotations

from typing import Any

import msgspec

from d9m.browse.show import History, Showing, Shown
from d9m.model.records import Existence
from d9m.render import words
from d9m.render.page import Page, Span
from d9m.resolve import op_lookup

_TOLD_APART = {"evidence", "timeline", "title", "summary", "releases"}
"""Fields with a place of their own."""


def render(showing: Showing) -> Page:
    page = Page()
    for each in showing.found:
        _shown(page, each)
        page.gap()
    page.line(f"kb {showing.d9m.kb_date}")
    return page


def _shown(page: Page, shown: Shown) -> None:
    label = shown.record.get("label") or shown.record.get("name") or shown.id
    page.line(Span(str(label), "head"), f"  {shown.kind}" + (f" {shown.id}" if label != shown.id else ""))
    for field in ("title", "summary"):
        if field in shown.record:
            page.paragraph(str(shown.record[field]))
    if shown.kind == "op":
        reaches = shown.record.get("reaches", [])
        reached = [f"{each['op']}{_arguments(each)}" for each in reaches if each["op"] != shown.id]
        spans = op_lookup.told(msgspec.convert(shown.record.get("spans", []), list[Existence]))
        if spans:
            page.paragraph(f"in {shown.record['package']} {spans}", "", "  ")
        if reached:
            page.paragraph(f"reaches {', '.join(reached)}", "", "  ")
        if not shown.history:
            page.paragraph("No record names a source of nondeterminism here. That is not a proof.")
    for each in shown.history:
        history_table(page, each, shown.kind != "source")
    if "releases" in shown.record:
        _releases(page, shown.record["releases"])
    if shown.kind != "op":
        _fields(page, {name: value for name, value in shown.record.items() if name not in _TOLD_APART}, "")
    for told in shown.evidence:
        mark = "" if told.follows else " (not followed)"
        page.paragraph(f"{told.kind}{mark}: {told.note or told.where or ''}".rstrip(" :"), "  ", "    ")
        if told.url:
            page.line(Span(f"    {told.url}", "dim"))


def _arguments(reached: dict[str, Any]) -> str:
    fixed = ",".join(f"{name}={value}" for name, value in reached.get("arguments", {}).items())
    return f"[{fixed}]" if fixed else ""


def history_table(page: Page, history: History, titled: bool) -> None:
    """What a source does, a line for each range of releases."""
    page.gap()
    if titled:
        page.paragraph(f"{history.id}: {history.title}", "", "  ")
    rows = [
        (
            words.clause(each.when) or f"every release of {history.home}",
            Span(each.outcome, words.STYLES[each.outcome]),
            f"{each.raised_by} raises" if each.raised_by else " or ".join(each.solutions) or "-",
            each.default,
        )
        for each in history.ranges
    ]
    page.table((f"on {history.device}", "outcome", "by", "default"), rows, shrink=(0,))
    page.gap()


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


def _fields(page: Page, value: Any, indent: str) -> None:
    """Nested plain values, a line each."""
    for name, each in value.items():
        if isinstance(each, dict) and each:
            page.line(f"{indent}{name}:")
            _fields(page, each, indent + "  ")
        elif isinstance(each, list) and any(isinstance(item, dict) for item in each):  # pyright: ignore[reportUnknownVariableType]
            page.line(f"{indent}{name}:")
            for item in each:  # pyright: ignore[reportUnknownVariableType]
                _item(page, item, indent + "  ")
        elif each not in ([], {}, "", None):
            text = ", ".join(map(str, each)) if isinstance(each, list) else str(each)  # pyright: ignore[reportUnknownArgumentType,reportUnknownVariableType]
            page.paragraph(f"{name}: {text}", indent, indent + "  ")


def _item(page: Page, item: Any, indent: str) -> None:
    if isinstance(item, dict):
        short = "; ".join(f"{name}: {_flat(each)}" for name, each in item.items())  # pyright: ignore[reportUnknownVariableType]
        page.paragraph(short, f"{indent}- ", f"{indent}  ")
    else:
        page.paragraph(str(item), f"{indent}- ", f"{indent}  ")


def _flat(value: Any) -> str:
    if isinstance(value, dict):
        return " ".join(f"{name} {_flat(each)}" for name, each in value.items())  # pyright: ignore[reportUnknownVariableType]
    return ", ".join(_flat(each) for each in value) if isinstance(value, list) else str(value)  # pyright: ignore[reportUnknownVariableType]
