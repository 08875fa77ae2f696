"""Records and histories for a person at a terminal."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import Any

import msgspec

from d9m.browse import spans
from d9m.browse.show import Showing, Shown, SourceHistory
from d9m.kb.store import KnowledgeBase
from d9m.model.advice import Possible
from d9m.model.records import Existence, Scope, together
from d9m.model.when import Clause, Range
from d9m.render import phrases, words
from d9m.render.browse import fields
from d9m.render.page import WIDTH, Page, Span
from d9m.resolve import op_lookup

MOST_LINES = 20
"""Records that a page names of a package or a solution; `d9m list` has all."""

MOST_RELEASES = 12
"""Releases of a package that a page shows, the newest ones."""

COMPARED: dict[Scope, str] = {
    "run": "run to run",
    "batch": "across batches",
    "hardware": "across hardware",
}
"""Scope -> what a column compares."""


def render(kb: KnowledgeBase, showing: Showing, width: int = WIDTH) -> Page:
    page = Page(width)
    silent: list[str] = []
    alike: dict[str, list[str]] = {}
    described: set[str] = set()
    for shown in showing.found:
        op = _another_name_of(shown)
        if op is not None and op in described:
            alike.setdefault(op, []).append(shown.id)
        elif shown.kind == "op" and not shown.history:
            silent.append(_silent(shown))
        else:
            described.add(shown.id)
            _shown(page, kb, shown)
            page.gap()
    for op, names in alike.items():
        same = f"Same as {op}" if len(alike) > 1 else "Same"
        page.paragraph(f"{same}: {phrases.join(names)}.", "", "  ")
        page.gap()
    if silent:
        names = phrases.join(list(dict.fromkeys(silent)), "or")
        page.paragraph(f"No known nondeterminism in {names} (not a proof).", "", "  ")
        page.gap()
    page.line(f"knowledge base of {showing.d9m.kb_date}")
    return page


def _another_name_of(shown: Shown) -> str | None:
    """The one op that a name leads to, if it is only another name."""
    reaches: list[dict[str, Any]] = shown.record.get("reaches", []) if shown.kind == "op" else []
    if len(reaches) != 1 or reaches[0].get("arguments"):
        return None
    op = str(reaches[0]["op"])
    return op if op != shown.id else None


def _silent(shown: Shown) -> str:
    """An op without a record, and the releases that have it."""
    spans_ = op_lookup.spans_in_words(
        msgspec.convert(shown.record.get("spans", []), list[Existence])
    )
    name = _another_name_of(shown) or shown.id
    return f"{name} ({shown.record['package']} {spans_})" if spans_ else name


def _shown(page: Page, kb: KnowledgeBase, shown: Shown) -> None:
    label = str(shown.record.get("label") or shown.record.get("name") or shown.id)
    title = shown.record.get("title") if shown.kind == "solution" else None
    bracketed = f" ({label})" if shown.record.get("known_label") else ""
    kind = shown.record.get("kind", shown.kind) if shown.kind in _KINDS else shown.kind
    kind = _PLAIN_NOUNS.get(kind, kind)
    aside = kind if label == shown.id else f"{kind} {shown.id}"
    _heading(page, str(title or label), f"{aside}{bracketed}" if title else aside)
    for field in ("title", "summary") if title is None else ("summary",):
        if field in shown.record:
            page.paragraph(str(shown.record[field]))
    if shown.kind == "op":
        _reached(page, shown)
    if shown.kind == "package":
        _package(page, kb, shown)
    if shown.kind in ("op", "source"):
        for history in shown.history:
            history_table(page, kb, history, shown.kind != "source")
    if shown.kind == "op":
        _pointer(page, shown)
    if shown.kind != "op":
        hidden = "kind" if shown.kind in _KINDS else ""
        record = {name: value for name, value in shown.record.items() if name != hidden}
        fields.write(page, kb, record)
    if shown.kind == "solution":
        _covered(page, kb, shown)
    _evidence(page, shown)


_PLAIN_NOUNS = {"source": "known difference", "ingredient": "basics"}
"""Noun of a record -> what a reader calls it."""

_KINDS = ("error", "package", "document")
"""Records with a kind: a warning, a library, a talk."""


def _heading(page: Page, name: str, aside: str) -> None:
    """A name with what it is; below each other where the page is too narrow."""
    if len(name) + len(aside) + 2 <= page.width:
        page.line(Span(name, "head"), f"  {aside}")
    else:
        page.paragraph(name, style="head")
        page.paragraph(aside, "  ")


def _reached(page: Page, shown: Shown) -> None:
    reaches = shown.record.get("reaches", [])
    reached = [f"{one['op']}{_arguments(one)}" for one in reaches if one["op"] != shown.id]
    if reached:
        page.paragraph(f"Short for {phrases.join(reached)}.", "", "  ")


def _pointer(page: Page, shown: Shown) -> None:
    """Where the cause of the first differences is explained, with their evidence."""
    page.gap()
    names = [history.id for history in shown.history[:MOST_POINTERS]]
    page.paragraph(f"Cause, workarounds and evidence: d9m show {' '.join(names)}", "", "  ")


MOST_POINTERS = 3
"""Records that a page of an op names at its end."""


def _evidence(page: Page, shown: Shown) -> None:
    if shown.evidence:
        page.gap()
        page.line(Span("Evidence", "head"))
    for proof in shown.evidence:
        mark = "" if proof.follows else " (not followed)"
        says = proof.note or proof.where or ""
        page.paragraph(f"{proof.kind}{mark}: {says}".rstrip(" :"), "  ", "    ")
        if proof.url:
            page.line(Span(f"    {proof.url}", "dim"))


def _arguments(reached: dict[str, Any]) -> str:
    fixed = ",".join(f"{name}={value}" for name, value in reached.get("arguments", {}).items())
    return f"[{fixed}]" if fixed else ""


def _covered(page: Page, kb: KnowledgeBase, shown: Shown) -> None:
    """Write the causes that a solution fixes, a line each."""
    lines = [f"{history.title} (d9m show {history.id})" for history in shown.history]
    _lines(page, "Fixes", lines, "all: --format json")


def _package(page: Page, kb: KnowledgeBase, shown: Shown) -> None:
    """Write the records of a package, then its releases."""
    own = [id_ for id_ in kb.sources if kb.home(id_) == shown.id]
    known = [f"{kb.sources[id_].title} (d9m show {id_})" for id_ in own]
    _lines(page, "Known nondeterminism", known, f"all: d9m list differences --package {shown.id}")
    helpers = [id_ for id_ in kb.helpers if kb.home(id_) == shown.id]
    calls = [f"{kb.helpers[id_].call} (d9m show {id_})" for id_ in helpers]
    _lines(page, "Calls that make settings", calls, f"all: d9m list helpers --package {shown.id}")
    _releases(page, shown.id, shown.record.get("releases", {}))


def _lines(page: Page, title: str, lines: Sequence[str], all_of_them: str) -> None:
    if not lines:
        return
    page.gap()
    page.line(Span(title, "head"))
    for line in lines[:MOST_LINES]:
        page.paragraph(line, "  • ", "    ")
    if len(lines) > MOST_LINES:
        page.paragraph(f"{len(lines) - MOST_LINES} more, {all_of_them}", "    ", style="dim")
    page.gap()


def history_table(page: Page, kb: KnowledgeBase, history: SourceHistory, titled: bool) -> None:
    """Write the outcome of a source, a line for each range of releases."""
    page.gap()
    if titled:
        page.paragraph(f"{history.title} ({history.id})", "", "  ")
    device = f"on {phrases.DEVICES.get(history.device, history.device)}"
    scope = history.scope
    _ranges(page, kb, device, scope, history.home, history.ranges)
    for other in history.others:
        under = phrases.condition(kb, other.under) or phrases.title(kb, other.package)
        page.gap()
        _ranges(page, kb, under, scope, other.package, other.ranges)
    page.gap()


def _ranges(
    page: Page,
    kb: KnowledgeBase,
    under: str,
    scope: Scope,
    package: str,
    ranges: Sequence[Possible],
) -> None:
    """Write a table with the package in its head and releases in its rows."""
    title = phrases.title(kb, package)
    head = under if under == title else f"{title} {under}"
    rows: list[tuple[str, Span, str]] = []
    for answer in ranges:
        does = Span(words.short(answer.outcome, scope), words.STYLES[answer.outcome])
        rows.append((_where(kb, package, answer.when), does, _with(kb, answer)))
    page.table((head, COMPARED[scope], "with"), rows, shrink=(0, 2))


def _where(kb: KnowledgeBase, package: str, when: Clause) -> str:
    """``2.6 and later``, and what else must hold."""
    bounds = when.get(package)
    releases = spans.span(bounds if isinstance(bounds, Range) else Range(), kb.releases(package))
    rest = phrases.condition(kb, {name: value for name, value in when.items() if name != package})
    return f"{releases} {rest}".rstrip()


def _with(kb: KnowledgeBase, answer: Possible) -> str:
    if answer.raised_by:
        return _titles(kb, answer.raised_by)
    if answer.outcome == "deterministic":
        return "nothing to set"
    ways = [together(labels) for labels in answer.solutions]
    turned = [_turned(kb, way) for way in ways]
    least: list[str] = []
    for way, names in zip(ways, turned):
        if not any(other < names for other in turned):
            least.append(" and ".join(phrases.call(kb, label) for label in way))
    return " or ".join(least) or "-"


def _turned(kb: KnowledgeBase, way: Sequence[str]) -> set[str]:
    """The settings that a way makes."""
    found: set[str] = set()
    for _label, _id, solution in kb.labelled(way):
        found.update(turn.name for turn in solution.settings)
    return found


def _titles(kb: KnowledgeBase, labels: str) -> str:
    return " and ".join(phrases.call(kb, label) for label in together(labels))


def _releases(page: Page, package: str, releases: dict[str, Any]) -> None:
    """The newest releases, and how to see the others."""
    if not releases:
        return
    rows = list(_release_rows(releases))
    page.gap()
    page.table(("release", "date", "with"), rows[-MOST_RELEASES:], shrink=(2,))
    if len(rows) > MOST_RELEASES:
        older = phrases.plural(len(rows) - MOST_RELEASES, "older release")
        page.paragraph(f"{older}: d9m list versions --package {package}", style="dim")
    page.gap()


def _release_rows(releases: dict[str, Any]) -> Iterator[tuple[str, str, str]]:
    for release, known in releases.items():
        parts = [f"{name} {version}" for name, version in known.get("with", {}).items()]
        yield release, str(known.get("date", "-")), ", ".join(parts) or "-"
