"""The first page: what this is, what people come with, and the state of the data."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from pathlib import Path

from d9m.about import REPOSITORY
from d9m.kb import kinds
from d9m.kb.store import KnowledgeBase
from d9m.model.records import Package
from pages import grid, heatmap, layout, releases, runs, status, upgrades, versions
from pages.grid import Grid
from pages.places import PageContext
from pages.worked import worked

_COUNTED = (
    (kinds.SOURCES, "sources of nondeterminism", "sources/index.md"),
    (kinds.SOLUTIONS, "solutions", "solutions/index.md"),
    (kinds.SETTINGS, "settings", "settings/index.md"),
    (kinds.ERRORS, "error texts", "errors/index.md"),
    (kinds.PULL_REQUESTS, "pull requests", "pull-requests/index.md"),
    (kinds.ISSUES, "issues", "issues/index.md"),
    (kinds.DOCUMENTS, "references", "documents.md"),
)


_MAIN = ("framework", "image")
"""Kinds of packages that come first."""

_PICTURES = 3
"""Frameworks that have a picture."""

_MODULES = Path(__file__).parent.parent / "assets" / "advisor"


def pages(kb: KnowledgeBase) -> Iterator[tuple[str, str]]:
    covered: list[tuple[str, Package, tuple[str, ...]]] = []
    for name, package in versions.in_order(kb, kb.packages):
        released = kb.releases(name)
        if released and package.kind != "platform":
            covered.append((name, package, released))
    measured = runs.newest(kb)
    here = PageContext(kb, "index.md")
    frameworks = versions.frameworks(kb)
    tables = list(_tables(kb, frameworks[:_PICTURES]))
    yield layout.page(
        kb,
        "index.md",
        "start.md",
        "Determinism in deep learning",
        (
            "Deterministic, bitwise reproducible training: which settings your version and your "
            "ops need."
        ),
        hide=("navigation", "toc"),
        counts=[(len(kb.of(kind)), name, page) for kind, name, page in _COUNTED],
        ops=sum(len(op.reaches) > 0 for op in kb.ops.values()),
        covered=[each for each in covered if each[1].kind in _MAIN],
        upgrades=[
            (kb.packages[name].title, upgrades.path(name))
            for name in frameworks
            if grid.grids(kb, name)
        ],
        others=[each for each in covered if each[1].kind not in _MAIN],
        date=kb.meta.date,
        measured=measured,
        hardware=runs.hardware(measured[1]) if measured else "",
        root="",
        quick=[(name, kb.packages[name].title, kb.releases(name)[-1]) for name in frameworks],
        example=worked(kb, tables[0][1]) if tables else None,
        pictures=[
            (title, heatmap.picture(here, title, table), status.path(table.package))
            for title, table in tables
        ],
        repository=REPOSITORY,
        modules=sorted(each.name for each in _MODULES.glob("*.js")),
    )


def _tables(kb: KnowledgeBase, packages: Iterable[str]) -> Iterator[tuple[str, Grid]]:
    """Titles of packages, and what their ops do on the device that most people train on."""
    for name in packages:
        for table in grid.grids(kb, name):
            if table.device == releases.DEVICE:
                yield kb.packages[name].title, table
