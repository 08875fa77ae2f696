"""The picture of the first page: the ops whose answer changed most, by release."""

from __future__ import annotations

from collections.abc import Sequence

import msgspec

from d9m.model.advice import WORST_LAST
from d9m.model.records import Outcome
from pages import phrases, releases
from pages.grid import Grid, GridCell, GridRow
from pages.markdown import Markdown, anchor, entities
from pages.places import PageContext

MOST = 12
"""Rows of a picture."""

_NAME, _CELL, _ROW, _HEAD = 250, 30, 26, 26
"""Widths and heights, in units of the drawing."""

_LETTERS = 34
"""Letters of a name that fit."""


_HALF = (
    '<defs><linearGradient id="d9m-half-{}"><stop offset=".5" class="d9m-half-good"/>'
    '<stop offset=".5" class="d9m-half-stop"/></linearGradient></defs>'
)
"""Half good, half not, for what depends: one a picture, as hidden ones paint nothing."""


class HeatRow(msgspec.Struct, frozen=True):
    """Ops that answer alike in every release."""

    ops: tuple[str, ...]
    cells: tuple[GridCell | int, ...]


def heat_rows(table: Grid) -> list[HeatRow]:
    """The ops that changed most often, those that most share first; what is worse today on top."""
    alike: dict[tuple[tuple[Outcome | None, int], ...], list[GridRow]] = {}
    for row in table.rows:
        if not row.arguments:
            alike.setdefault(_states(row), []).append(row)
    by_changes = sorted(alike.items(), key=lambda each: (-len(each[0]), -len(each[1])))
    chosen = [rows for _states, rows in by_changes[:MOST]]
    chosen.sort(key=lambda rows: (-_badness(rows[0].cells[-1]), rows[0].op.lower()))
    return [HeatRow(tuple(row.op for row in rows), rows[0].cells) for rows in chosen]


def _states(row: GridRow) -> tuple[tuple[Outcome | None, int], ...]:
    """Outcomes and how long each lasted; what solves it does not count."""
    found: list[tuple[Outcome | None, int]] = []
    for cell in row.cells:
        outcome = None if isinstance(cell, int) else cell.outcome
        width = cell if isinstance(cell, int) else cell.width
        if found and found[-1][0] == outcome:
            width += found.pop()[1]
        found.append((outcome, width))
    return tuple(found)


def _badness(cell: GridCell | int) -> int:
    return -1 if isinstance(cell, int) else WORST_LAST.index(cell.outcome)


def picture(here: PageContext, title: str, table: Grid) -> Markdown:
    """An SVG of links: every op, release and cell leads to its page."""
    rows = heat_rows(table)
    width = _NAME + _CELL * len(table.lines)
    height = _HEAD + _ROW * len(rows)
    heads = "".join(
        _link(
            here.served(releases.path(table.package, line.name)),
            f"{title} {line.name}",
            f'<text x="{_NAME + _CELL * place + _CELL / 2:g}" y="17" '
            f'text-anchor="middle">{entities(line.name)}</text>',
        )
        for place, line in enumerate(reversed(table.lines))
    )
    drawn = "".join(
        _row(here, title, table, row, _HEAD + _ROW * place) for place, row in enumerate(rows)
    )
    return Markdown(
        f'<span class="d9m-picture" tabindex="0" role="region" '
        f'aria-label="Ops of {entities(title)} by release">'
        f'<svg class="d9m-heat" role="group" viewBox="0 0 {width} {height}" '
        f'style="min-width:{width * 0.75:.0f}px;max-width:{width * 1.1:.0f}px" '
        f'aria-label="What ops of {entities(title)} do in each release, the newest first">'
        f"{_HALF.format(table.package)}{heads}{drawn}</svg></span>"
    )


def _row(here: PageContext, title: str, table: Grid, row: HeatRow, top: int) -> str:
    name = row.ops[0]
    short = name if len(name) <= _LETTERS else f"…{name[-_LETTERS:]}"
    more = f" +{len(row.ops) - 1}" if len(row.ops) > 1 else ""
    names = ", ".join(row.ops)
    label = _link(
        here.served(f"ops/{table.package}.md", anchor(name)),
        f"{short}{more}: {names}" if more else names,
        f'<text class="d9m-op" x="0" y="{top + 17}">{entities(short + more)}</text>',
    )
    place, cells = _NAME, ""
    for cell in reversed(row.cells):
        lines = cell if isinstance(cell, int) else cell.width
        if not isinstance(cell, int):
            cells += _cell(here, table.package, title, name, cell, place, top)
        place += _CELL * lines
    return label + cells


def _cell(
    here: PageContext, package: str, title: str, op: str, cell: GridCell, left: int, top: int
) -> str:
    span = cell.first.name if cell.width == 1 else f"{cell.first.name} to {cell.last.name}"
    said = cell.branches or phrases.WORDS[cell.outcome]
    width = _CELL * cell.width
    half = f' fill="url(#d9m-half-{package})"' if cell.outcome == "depends" else ""
    shape = (
        f'<rect{half} x="{left + 1}" y="{top + 1}" width="{width - 2}" height="{_ROW - 2}" rx="3"/>'
        f'<text x="{left + width / 2:g}" y="{top + 18}" text-anchor="middle">'
        f"{phrases.SYMBOLS[cell.outcome]}</text>"
    )
    address = here.served(f"sources/{cell.source}.md")
    return _link(address, f"{op}, {title} {span}: {said}", shape, f"d9m-{cell.outcome}")


def _link(address: str, label: str, shape: str, kind: str = "") -> str:
    said = entities(label)
    named = f' class="{kind}"' if kind else ""
    return (
        f'<a href="{entities(address)}" aria-label="{said}"{named}><title>{said}</title>{shape}</a>'
    )


def examples(rows: Sequence[HeatRow]) -> list[str]:
    """One op for each thing that ops do today, for a worked question."""
    found: dict[Outcome, str] = {}
    for row in rows:
        newest = row.cells[-1]
        if not isinstance(newest, int):
            found.setdefault(newest.outcome, min(row.ops, key=len))
    return [found[each] for each in ("solved", "depends", "raises") if each in found]
