"""Releases as people say them: ``2.8 and later``, ``up to 1.13``, ``1.13``."""

from __future__ import annotations

import itertools
from collections.abc import Collection, Sequence

from d9m.model.versions import FIRST, covers, key, within
from d9m.model.when import Range


def span(bounds: Range, released: Sequence[str]) -> str:
    """Return the releases between bounds, as people say them: ``2.8 and later``, ``up to 1.13``.

    For a package without a list of releases only the bounds are known: ``before 12.0``.
    """
    if not released:
        return _bounded(bounds)
    inside = [release for release in released if within(release, bounds)]
    if not inside or len(inside) == len(released):
        return "all releases" if inside else "no release"
    first = _short(inside[0]) if inside[0] != released[0] else None
    last = _line(inside[-1], released) if inside[-1] != released[-1] else None
    if first is None:
        return f"up to {last}"
    if last is None:
        return f"{first} and later"
    return first if first == last else last if len(inside) == 1 else f"{first} – {last}"


def _bounded(bounds: Range) -> str:
    first = bounds.from_ if bounds.from_ is not None and key(bounds.from_) != FIRST else None
    if bounds.until is None:
        return "all releases" if first is None else f"{first} and later"
    return f"before {bounds.until}" if first is None else f"{first} to before {bounds.until}"


def runs(chosen: Collection[str], released: Sequence[str]) -> list[str]:
    """Spans of releases that follow each other, oldest first."""
    groups = itertools.groupby(released, key=chosen.__contains__)
    found = [list(group) for inside, group in groups if inside]
    return [run(group[0], group[-1], released) for group in found]


def run(first: str, last: str, released: Sequence[str]) -> str:
    """From one release to another, both included."""
    return span(bounds(first, last, released), released)


def bounds(first: str, last: str, released: Sequence[str]) -> Range:
    """The range from one release to another, both included."""
    after = released[released.index(last) + 1 :]
    return Range(from_=first, until=after[0] if after else None)


def _short(release: str) -> str:
    """2.10 for 2.10.0: where a span starts, the first of a line stands for the line."""
    return (
        release[: -len(".0")]
        if release.count(".") == _PATCHED and release.endswith(".0")
        else release
    )


def _line(release: str, released: Sequence[str]) -> str:
    """2.7 for 2.7.4, if no later patch release came: where a span ends, the last of a line stands
    for the line.
    """
    line = release.rpartition(".")[0]
    after = released[released.index(release) + 1]
    return line if release.count(".") == _PATCHED and not covers(line, after) else release


_PATCHED = 2
"""Dots in a release that has a patch number; image tags have one and are never shortened."""
