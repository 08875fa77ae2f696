"""The first page: what this is, what people come with, and the state of the data."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

from d9m.kb import kinds
from d9m.kb.store import KnowledgeBase
from d9m.model.records import Package
from pages import grid, layout, releases, runs, status, versions

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
"""Kinds of packages that are told first."""

_MODULES = Path(__file__).parent.parent / "assets" / "advisor"


def pages(kb: KnowledgeBase) -> Iterator[tuple[str, str]]:
    covered: list[tuple[str, Package, tuple[str, ...]]] = []
    for name, package in versions.in_order(kb, kb.packages):
        released = kb.releases(name)
        if released and package.kind != "platform":
            covered.append((name, package, released))
    measured = runs.newest(kb)
    yield layout.page(
        kb,
        "index.md",
        "start.md",
        "Determinism in deep learning",
        (
            "What to set, in your version, on your machine, for your ops, so that the same run "
            "gives "
            "the same bits."
        ),
        hide=("navigation", "toc"),
        counts=[(len(kb.of(kind)), name, page) for kind, name, page in _COUNTED],
        ops=sum(len(op.reaches) > 0 for op in kb.ops.values()),
        covered=[known for known in covered if known[1].kind in _MAIN],
        upgrades=list(_upgrades(kb)),
        others=[known for known in covered if known[1].kind not in _MAIN],
        date=kb.meta.date,
        measured=measured,
        hardware=runs.hardware(measured[1]) if measured else "",
        root="",
        modules=sorted(module.name for module in _MODULES.glob("*.js")),
    )


def _upgrades(kb: KnowledgeBase) -> Iterator[tuple[str, str, str, str]]:
    """Frameworks whose newest release has a page of what to change: title, its status page, the
    release, and that page.
    """
    for name, package in versions.in_order(kb, kb.meta.prefixes):
        if package.kind == "framework" and grid.grids(kb, name):
            newest = grid.lines(kb, name)[-1].name
            yield package.title, status.path(name), newest, releases.path(name, newest)
