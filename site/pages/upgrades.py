"""What an upgrade changes, between any two lines of releases: one page a framework, whose script
picks the rows that differ.
"""

from __future__ import annotations

import html
import json
from collections.abc import Iterator
from typing import Any

from d9m.kb.store import KnowledgeBase
from d9m.model.records import Package
from pages import grid, layout, phrases, releases, versions
from pages.grid import Grid, GridCell
from pages.markdown import Markdown, anchor
from pages.places import PageContext


def path(package: str) -> str:
    return f"upgrade/{package}.md"


def pages(kb: KnowledgeBase) -> Iterator[tuple[str, str]]:
    known = list(_known(kb))
    first = next(iter(versions.frameworks(kb)), "")
    title = "Upgrades"
    description = "What an upgrade from one release to another changes for determinism."
    yield layout.page(
        kb,
        "upgrade/index.md",
        "upgrades.md",
        title,
        description,
        packages=[(path(name), package.title, table.lines) for name, package, table in known],
    )
    for name, package, table in known:
        yield layout.page(
            kb,
            path(name),
            "upgrade.md",
            f"Upgrade {package.title}",
            f"Which ops changed between any two releases of {package.title}.",
            hide=("navigation", "toc"),
            weight=4 if name == first else 2 if package.kind == "framework" else 1,
            aliases=("upgrade from to", "what changed between releases"),
            name=name,
            package=package,
            lines=table.lines,
            steps=[(line.name, releases.path(name, line.name)) for line in reversed(table.lines)],
            data=_data(PageContext(kb, path(name)), table),
        )


def _known(kb: KnowledgeBase) -> Iterator[tuple[str, Package, Grid]]:
    """Packages with several lines of releases, and what their ops do in each."""
    for name, package in versions.in_order(kb, kb.meta.prefixes):
        for table in grid.grids(kb, name):
            if table.device == releases.DEVICE and len(table.lines) > 1:
                yield name, package, table


def _data(here: PageContext, table: Grid) -> Markdown:
    """The rows of the status table, for the script of the page, as between single quotes."""
    page = here.served(f"ops/{table.package}.md")
    shown: dict[str, Any] = {
        "lines": [line.name for line in table.lines],
        "ops": page,
        "words": {outcome: phrases.WORDS[outcome] for outcome in phrases.BOXES},
        "symbols": phrases.SYMBOLS,
        "rows": [
            [
                f"{row.op}({row.arguments})" if row.arguments else row.op,
                str(anchor(row.op)),
                [_cell(here, each) for each in row.cells],
            ]
            for row in table.rows
        ],
    }
    text = json.dumps(shown, separators=(",", ":"))
    return Markdown(html.escape(text, quote=False).replace("'", "&#39;"))


def _cell(here: PageContext, cell: GridCell | int) -> list[Any]:
    """Number of lines; then the outcome, what it takes and what decides."""
    if isinstance(cell, int):
        return [cell]
    by = " + ".join(here.title(label) for label in cell.by) if cell.outcome == "solved" else ""
    return [cell.width, cell.outcome, by, cell.branches]
