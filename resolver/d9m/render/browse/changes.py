"""`--diff` for a person at a terminal."""

from __future__ import annotations

from collections import Counter
from typing import Any

import msgspec

from d9m.browse.changes import OpChange, ReleaseChanges, State
from d9m.kb.store import KnowledgeBase
from d9m.model.records import together
from d9m.model.settings import Settings
from d9m.model.versions import candidates
from d9m.render import phrases, words
from d9m.render.page import WIDTH, Page, Span


def render(kb: KnowledgeBase, change: ReleaseChanges, width: int = WIDTH) -> Page:
    """One sentence, then the ops and the settings that changed, and nothing else."""
    page = Page(width)
    between = f"Between {phrases.title(kb, change.package)} {change.from_} and {change.to}"
    count = len(change.ops)
    changes = {0: "no op changes", 1: "1 op changes"}.get(count, f"{count} ops change")
    unchanged = f"; {change.unchanged} unchanged" if change.unchanged and count else ""
    if not count and not change.unchanged:
        changes = "nothing is known to compare"
    page.paragraph(f"{_beyond(kb, change)}{between}, {changes}{unchanged}.{_unknown(change)}")
    page.gap()
    _groups(kb, page, change)
    _settings(page, change)
    page.line(f"knowledge base of {change.d9m.kb_date}")
    return page


def _groups(kb: KnowledgeBase, page: Page, change: ReleaseChanges) -> None:
    """Ops that changed in the same way, together, with the records that say why."""
    groups: dict[tuple[str, str], list[OpChange]] = {}
    for op in change.ops:
        key = (_does(kb, op.before).text, _does(kb, op.after).text)
        groups.setdefault(key, []).append(op)
    for (before, after), ops in groups.items():
        count = "1 op" if len(ops) == 1 else f"{len(ops)} ops"
        page.paragraph(f"{count}: {', '.join(op.query for op in ops)}", style="head")
        page.line(f"  {change.from_}: ", Span(before, _does(kb, ops[0].before).style))
        page.line(f"  {change.to}: ", Span(after, _does(kb, ops[0].after).style))
        causes = _causes(ops)
        if causes:
            more = f" and {len(causes) - MOST} more" if len(causes) > MOST else ""
            titles = [kb.sources[id_].title for id_ in causes[:MOST]]
            page.line(Span(f"  why: {'; '.join(titles)}{more}", "dim"))
            page.line(Span(f"  see: d9m show {causes[0]}", "dim"))
        page.gap()


MOST = 2
"""Reasons that a group names."""


def _causes(ops: list[OpChange]) -> list[str]:
    """Records with another answer than before, those of the most ops first."""
    counts = Counter(id_ for op in ops for id_ in op.causes)
    return sorted(counts, key=lambda id_: (-counts[id_], id_))


def _unknown(change: ReleaseChanges) -> str:
    if not change.unknown:
        return ""
    ops = "1 op is" if change.unknown == 1 else f"{change.unknown} ops are"
    return f" {ops} not verified in one of them."


def _beyond(kb: KnowledgeBase, change: ReleaseChanges) -> str:
    """That a release is newer than every one on record, and so perhaps mistyped."""
    releases = kb.releases(change.package)
    for version in (change.from_, change.to):
        if candidates(change.package, version, releases).how == "newer":
            title = phrases.title(kb, change.package)
            return f"{title} {version} is newer than {releases[-1]}, the newest that d9m knows. "
    return ""


def _does(kb: KnowledgeBase, state: State | None) -> Span:
    if state is None:
        return Span("does not exist", "dim")
    if state.outcome == "deterministic":
        return Span("deterministic", "good")
    if state.outcome == "raises" and state.raised_by and state.default != "raises":
        switch = phrases.calls(kb, together(state.raised_by))
        does = "deterministic" if state.default == "deterministic" else "nondeterministic"
        return Span(f"{does}; raises an error with {switch}", words.STYLES[state.outcome])
    is_sure = state.outcome != "unknown"
    with_ = f" with {phrases.calls(kb, state.solutions)}" if state.solutions and is_sure else ""
    return Span(f"{words.line(state.outcome)}{with_}", words.STYLES[state.outcome])


def _settings(page: Page, change: ReleaseChanges) -> None:
    before, after = set(_lines(change.settings_before)), set(_lines(change.settings_after))
    if before != after:
        page.line(Span(f"Settings: {change.to} against {change.from_}", "head"))
    for line in sorted(before - after):
        page.line(Span(f"- {line}", "bad"))
    for line in sorted(after - before):
        page.line(Span(f"+ {line}", "good"))
    if before != after:
        page.gap()


def _lines(settings: Settings) -> list[str]:
    parts: dict[str, Any] = msgspec.to_builtins(settings)
    found: list[str] = []
    for kind, part in parts.items():
        found += _part(kind, part)
    return found


def _part(kind: str, part: dict[str, Any] | list[Any]) -> list[str]:
    before = _BEFORE.get(kind, "")
    if isinstance(part, dict):
        return [f"{before}{name}={value}" for name, value in part.items()]
    return [f"{before}{_item(item)}" for item in part]


_BEFORE = {
    "env": "export ",
    "append": "add to ",
    "unset": "unset ",
    "install": "pip install ",
    "avoid": "leave out ",
}
"""Kind of a setting -> what makes a line of it that reads as what to do."""


def _item(item: Any) -> str:
    return item if isinstance(item, str) else " ".join(str(value) for value in item.values())
