"""History with a picture: how many ops with a known source are deterministic, by release date."""

from __future__ import annotations

import itertools
from collections.abc import Callable, Iterator, Sequence
from datetime import date

import msgspec

from d9m.kb.store import KnowledgeBase
from d9m.model.advice import REPEATS
from pages import grid, layout, releases, versions
from pages.grid import Grid
from pages.markdown import Markdown, entities
from pages.places import PageContext

_WIDTH, _HEIGHT, _LEFT, _TOP, _RIGHT, _BOTTOM = 900, 320, 44, 16, 130, 30
_LETTER = 16
"""Height of a line of text."""

_DASHES = ("", "7 4", "2 4", "10 3 2 3")
"""Patterns of lines: colours alone do not distinguish them."""


class TimelinePoint(msgspec.Struct, frozen=True):
    """A line of releases on its first day."""

    line: str
    day: date
    deterministic: int
    known: int

    @property
    def share(self) -> float:
        return self.deterministic / self.known


def pages(kb: KnowledgeBase) -> Iterator[tuple[str, str]]:
    here = PageContext(kb, "history.md")
    yield layout.page(
        kb,
        "history.md",
        "history.md",
        "History",
        (
            "How determinism came to TensorFlow and PyTorch: the package of 2019, its patches and "
            "names, the plan, the talk, and credits."
        ),
        picture=_picture(kb, here),
    )


def points(kb: KnowledgeBase, table: Grid) -> list[TimelinePoint]:
    """Oldest first; releases whose day nobody wrote down are left out."""
    found: list[TimelinePoint] = []
    for place, line in enumerate(table.lines):
        written = kb.packages[table.package].releases[line.releases[0]].date or ""
        outcomes = [cell for cell in _column(table, place) if cell is not None]
        if written.count("-") == 2 and outcomes:
            deterministic = sum(outcome in REPEATS for outcome in outcomes)
            found.append(
                TimelinePoint(line.name, date.fromisoformat(written), deterministic, len(outcomes))
            )
    return found


def _column(table: Grid, place: int) -> Iterator[str | None]:
    """What each op does in one line of releases; None: nothing known there."""
    for row in table.rows:
        start = 0
        for cell in row.cells if not row.arguments else ():
            width = cell if isinstance(cell, int) else cell.width
            if start <= place < start + width:
                yield None if isinstance(cell, int) else cell.outcome
            start += width


def _picture(kb: KnowledgeBase, here: PageContext) -> Markdown:
    known: list[tuple[str, str, list[TimelinePoint]]] = []
    for name in versions.frameworks(kb):
        for table in grid.grids(kb, name):
            marks = points(kb, table) if table.device == releases.DEVICE else []
            if len(marks) > 1:
                known.append((name, kb.packages[name].title, marks))
    if not known:
        return Markdown("")
    names = "".join(_names([(title, marks) for _name, title, marks in known]))
    days = [mark.day for mark in itertools.chain.from_iterable(each[2] for each in known)]
    first, last = date(min(days).year, 1, 1), max(days)

    def across(day: date) -> float:
        room = _WIDTH - _LEFT - _RIGHT
        return _LEFT + room * (day - first).days / (last - first).days

    axes = "".join(_axes(first.year, last.year, across))
    lines = "".join(
        _line(here, name, title, marks, [across(mark.day) for mark in marks], place)
        for place, (name, title, marks) in enumerate(known)
    )
    return Markdown(
        '<span class="d9m-picture" tabindex="0" role="region" aria-label="Timeline">'
        f'<svg class="d9m-timeline" role="group" viewBox="0 0 {_WIDTH} {_HEIGHT}" '
        'aria-label="Share of the ops with a known source that are deterministic, by release">'
        f"{axes}{lines}{names}</svg></span>"
    )


def _down(share: float) -> float:
    return _TOP + (_HEIGHT - _TOP - _BOTTOM) * (1 - share)


def _axes(first: int, last: int, across: Callable[[date], float]) -> Iterator[str]:
    for share in (0.0, 0.25, 0.5, 0.75, 1.0):
        height = _down(share)
        yield f'<path class="d9m-axis" d="M{_LEFT} {height:g}H{_WIDTH - _RIGHT}"/>'
        yield f'<text x="{_LEFT - 6}" y="{height + 4:g}" text-anchor="end">{share:.0%}</text>'
    for year in range(first, last + 1):
        yield f'<text x="{across(date(year, 1, 1)):.0f}" y="{_HEIGHT - 8}">{year}</text>'


def _line(
    here: PageContext,
    package: str,
    title: str,
    marks: Sequence[TimelinePoint],
    at: Sequence[float],
    place: int,
) -> str:
    """Steps: between two releases nothing changes."""
    path = f"M{at[0]:.1f} {_down(marks[0].share):.1f}"
    for mark, left in zip(marks[1:], at[1:]):
        path += f"H{left:.1f}V{_down(mark.share):.1f}"
    dash = _DASHES[place % len(_DASHES)]
    kind = f"d9m-line-{place % len(_DASHES)}"
    drawn = f'<path class="{kind}" d="{path}" fill="none" stroke-dasharray="{dash}"/>'
    for mark, left in zip(marks, at):
        said = entities(
            f"{title} {mark.line}, {mark.day}: "
            f"{mark.deterministic} of {mark.known} ops are deterministic"
        )
        address = entities(here.served(releases.path(package, mark.line)))
        drawn += (
            f'<a href="{address}" aria-label="{said}"><title>{said}</title><circle class="{kind}" '
            f'cx="{left:.1f}" cy="{_down(mark.share):.1f}" r="4"/></a>'
        )
    return drawn


def _names(known: Sequence[tuple[str, list[TimelinePoint]]]) -> Iterator[str]:
    """The names of the lines at their ends, none over another."""
    ends = [(_down(marks[-1].share) + 4, place) for place, (_title, marks) in enumerate(known)]
    free = 0.0
    for height, place in sorted(ends):
        free = max(height, free)
        yield (
            f'<text class="d9m-line-{place % len(_DASHES)}" x="{_WIDTH - _RIGHT + 10}" '
            f'y="{free:.1f}">{entities(known[place][0])}</text>'
        )
        free += _LETTER
