"""The status tables: ops down, releases across, what each does in each."""

from __future__ import annotations

import html
from collections.abc import Iterator

from d9m.kb.store import KnowledgeBase
from d9m.model.records import Package
from pages import grid, layout, phrases, releases, versions
from pages.grid import Grid, GridCell, GridRow
from pages.markdown import Markdown, anchor
from pages.places import PageContext

DEVICES = {
    "cuda": "NVIDIA GPU",
    "rocm": "AMD GPU",
    "mps": "Apple GPU",
    "xpu": "Intel GPU",
    "cpu": "CPU",
}


def path(package: str) -> str:
    return f"status/{package}.md"


def pages(kb: KnowledgeBase) -> Iterator[tuple[str, str]]:
    frameworks = sorted(kb.meta.prefixes)
    found = {package: grid.grids(kb, package) for package in frameworks}
    known = [package for package, _about in versions.in_order(kb, frameworks) if found[package]]
    told: list[tuple[str, Package, list[str], list[grid.MinorRelease]]] = []
    for package in known:
        devices = [DEVICES.get(of.device, of.device) for of in found[package]]
        told.append((package, kb.packages[package], devices, _latest(kb, package)))
    title = "Status"
    description = "Which ops are deterministic in which release, framework by framework."
    yield layout.page(kb, "status/index.md", "statuses.md", title, description, frameworks=told)
    for package in known:
        name = kb.packages[package].title
        here = PageContext(kb, path(package))
        tables: list[tuple[str, str, Markdown]] = []
        for of in found[package]:
            tables.append((DEVICES.get(of.device, of.device), of.device, table(here, of)))
        yield layout.page(
            kb,
            path(package),
            "status.md",
            f"{name} status",
            (
                f"What every op of {name} does in every release: deterministic, solved, raises, "
                "unsolved."
            ),
            hide=("navigation", "toc"),
            package=kb.packages[package],
            name=package,
            tables=tables,
            lines=found[package][0].lines,
            outcomes=[each for each in phrases.BOXES if each != "no-known-source"],
            words=phrases.WORDS,
        )


_LATEST = 8


def _latest(kb: KnowledgeBase, package: str) -> list[grid.MinorRelease]:
    """The newest lines of releases, newest first."""
    return list(reversed(grid.lines(kb, package)))[:_LATEST]


def table(here: PageContext, of: Grid) -> Markdown:
    """One device's table, as HTML: cells of several releases have no form in Markdown."""
    heads = "".join(f'<th scope="col">{_line(here, of, each)}</th>' for each in reversed(of.lines))
    device = html.escape(of.device)
    parts: list[str] = []
    for start in range(0, len(of.rows), _PART):
        chosen = of.rows[start : start + _PART]
        rows = "\n".join(_row(here, of, each) for each in chosen)
        parts.append(
            f'<div class="d9m-part" style="--d9m-rows:{len(chosen)}">\n'
            f'<table class="d9m-grid" data-device="{device}">\n'
            f'<thead><tr><th scope="col">Op</th>{heads}</tr></thead>\n'
            f"<tbody>\n{rows}\n</tbody>\n</table>\n</div>"
        )
    return Markdown(
        f'<div class="d9m-scroll" tabindex="0" role="region" style="--d9m-lines:{len(of.lines)}" '
        f'aria-label="Ops by release on {device}">\n' + "\n".join(parts) + "\n</div>"
    )


_PART = 40
"""Rows of a part of a table: a browser lays out those parts only that are in view."""


def _line(here: PageContext, of: Grid, line: grid.MinorRelease) -> str:
    address = _address(here, releases.path(of.package, line.name))
    return f'<a href="{address}">{html.escape(line.name)}</a>'


def _row(here: PageContext, of: Grid, row: GridRow) -> str:
    cells = "".join(_cell(here, each) for each in reversed(row.cells))
    name = f"{row.op}({row.arguments})" if row.arguments else row.op
    shown = html.escape(name).replace(".", ".<wbr>").replace("_", "_<wbr>")
    place = _address(here, f"ops/{of.package}.md", anchor(row.op))
    kind = ' class="d9m-call"' if row.arguments else ""
    return (
        f'<tr{kind} data-ways="{" ".join(row.directions)}"><th scope="row"><a '
        f'href="{place}">{shown}</a></th>{cells}</tr>'
    )


def _cell(here: PageContext, cell: GridCell | int) -> str:
    if isinstance(cell, int):
        return f'<td colspan="{cell}"><span class="d9m-none">nothing known</span></td>'
    where = cell.first.name if cell.width == 1 else f"{cell.first.name} to {cell.last.name}"
    by = " + ".join(here.title(label) for label in cell.by)
    text = f"{where}: {cell.branches or phrases.WORDS[cell.outcome]}" + (f" ({by})" if by else "")
    label = by if by and cell.outcome == "solved" else phrases.WORDS[cell.outcome]
    place = _address(here, f"sources/{cell.source}.md")
    return (
        f'<td colspan="{cell.width}" class="d9m-{cell.outcome}" data-outcome="{cell.outcome}">'
        f'<a href="{place}" title="{html.escape(text)}">{phrases.SYMBOLS[cell.outcome]}'
        f" <span>{html.escape(label)}</span></a></td>"
    )


def _address(here: PageContext, page: str, at: str = "") -> str:
    return html.escape(here.served(page, at))
