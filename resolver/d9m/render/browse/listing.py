"""A list of what is known, a line for each thing; a long name has a separate line."""

from __future__ import annotations

import textwrap
from collections.abc import Sequence

import msgspec

from d9m.browse.listing import PLAIN_NAMES, ListRow, RecordList
from d9m.render.page import WIDTH, Page, Span

LONGEST_STATUS = 16


def overview(found: Sequence[RecordList], width: int = WIDTH) -> Page:
    """Which lists there are, and how long each is."""
    page = Page(width)
    rows: list[tuple[str, str, str]] = []
    for listing in found:
        name = PLAIN_NAMES.get(listing.kind, listing.kind)
        rows.append((name, str(len(listing.rows)), _HOLDS[listing.kind]))
    page.table(("list", "rows", "holds"), rows)
    page.line(Span("see one: d9m list differences --package torch --grep scatter", "dim"))
    return page


_HOLDS = {
    "sources": "known nondeterminism, by package",
    "solutions": "settings that fix it",
    "settings": "variables, calls and options",
    "packages": "frameworks, libraries, images",
    "ingredients": "needed by every program",
    "helpers": "calls that set several things",
    "errors": "messages and symptoms",
    "symptoms": "symptoms, without messages",
    "pull-requests": "changes upstream",
    "issues": "reports upstream",
    "claims": "statements, with their best evidence",
    "ops": "names that --ops takes",
    "versions": "releases, and what they contain",
    "facts": "what --fact takes",
    "rules": "what d9m scan looks for",
}
"""List -> what is in it."""


def render(found: RecordList, width: int = WIDTH) -> Page:
    page = Page(width)
    if not found.rows:
        page.line("Nothing matches.")
        return page
    title = PLAIN_NAMES.get(found.kind, found.kind)
    page.line(Span(title, "head"), f"  {_HOLDS[found.kind]}")
    rows, widest = found.rows, page.width // 3
    if found.kind == "solutions":
        rows = [_by_title(row) for row in rows]
        widest = max(widest, page.width - 2 - max(len(row.text) for row in rows))
    name = min(max(len(row.id) for row in rows), widest)
    status = min(max(len(row.status) for row in rows), LONGEST_STATUS)
    for row in rows:
        _write(page, row, name, status)
    return page


def _by_title(row: ListRow) -> ListRow:
    """A solution by its real name, with what `d9m show` takes."""
    return msgspec.structs.replace(row, id=row.text, text=row.status, status="")


def _write(page: Page, row: ListRow, name: int, status: int) -> None:
    """Write name, status and text in columns; a text too long for its column comes above."""
    start = row.id.ljust(name)
    if len(row.id) > name:
        page.paragraph(row.id, "", "  ")
        start = " " * name
    if len(row.status) > status:
        page.paragraph(row.status, "  ", "  ")
    shown = row.status if len(row.status) <= status else ""
    indent = f"{start}  {shown.ljust(status)}  " if status else f"{start}  "
    room = page.width - len(indent)
    lines = textwrap.wrap(row.text, room, break_on_hyphens=False) or [""]
    if len(row.id) <= name or shown or row.text:
        page.line(f"{indent}{lines[0]}")
    for line in lines[1:]:
        page.line(" " * len(indent) + line)
