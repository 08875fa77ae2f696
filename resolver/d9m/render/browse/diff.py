"""`--diff` for a person at a terminal."""

from __future__ import annotations

from typing import Any

import msgspec

from d9m.browse.diff import Change, State
from d9m.model.settings import Settings
from d9m.render import words
from d9m.render.page import Page, Span


def render(change: Change) -> Page:
    page = Page()
    count = len(change.ops)
    page.line(
        Span(f"{change.package} {change.from_} -> {change.to}", "head"),
        f"  {count} op{'s' * (count != 1)} differ{'s' * (count == 1)}, {change.unchanged} unchanged",
    )
    page.gap()
    if change.ops:
        rows = [(each.query, _told(each.before), _told(each.after)) for each in change.ops]
        page.table(("op", change.from_, change.to), rows, shrink=(2,))
        page.gap()
    _settings(page, change)
    page.line(f"kb {change.d9m.kb_date}")
    return page


def _told(state: State | None) -> Span:
    if state is None:
        return Span("not there", "dim")
    by = f" by {words.listed(state.solutions)}" if state.solutions else ""
    return Span(f"{state.outcome}{by}", words.STYLES[state.outcome])


def _settings(page: Page, change: Change) -> None:
    before, after = set(_lines(change.settings_before)), set(_lines(change.settings_after))
    for line in sorted(before - after):
        page.line(Span(f"- {line}", "bad"))
    for line in sorted(after - before):
        page.line(Span(f"+ {line}", "good"))
    if before != after:
        page.gap()


def _lines(settings: Settings) -> list[str]:
    parts: dict[str, Any] = msgspec.to_builtins(settings)
    return [line for kind, part in parts.items() for line in _part(kind, part)]


def _part(kind: str, part: dict[str, Any] | list[Any]) -> list[str]:
    if isinstance(part, dict):
        return [f"{kind} {name}={value}" for name, value in part.items()]
    return [f"{kind} {each if isinstance(each, str) else ' '.join(map(str, each.values()))}" for each in part]
