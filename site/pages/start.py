"""The first page: what this is, what people come with, and the state of the data."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

from d9m.kb.store import KnowledgeBase
from pages import grid, layout, releases, runs, status, versions

_COUNTED = (
    ("sources", "sources of nondeterminism", "sources/index.md"),
    ("solutions", "solutions", "solutions/index.md"),
    ("settings", "settings", "settings/index.md"),
    ("errors", "error texts", "errors/index.md"),
    ("pull_requests", "pull requests", "pull-requests/index.md"),
    ("issues", "issues", "issues/index.md"),
    ("documents", "references", "documents.md"),
)


_MAIN = ("framework", "image")
"""Kinds of packages that are told first."""

_MODULES = Path(__file__).parent.parent / "assets" / "advisor"


def pages(kb: KnowledgeBase) -> Iterator[tuple[str, str]]:
    covered = [
        (name, package, kb.releases(name))
        for name, package in versions.in_order(kb, kb.keys("packages"))
        if kb.releases(name) and package.kind != "platform"
    ]
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
        counts=[(len(kb.keys(table)), name, page) for table, name, page in _COUNTED],
        ops=sum(len(kb.get("ops", place).reaches) > 0 for place in kb.keys("ops")),
        covered=[each for each in covered if each[1].kind in _MAIN],
        upgrades=[
            (package.title, status.path(name), newest, releases.path(name, newest))
            for name, package in versions.in_order(kb, kb.meta.prefixes)
            if package.kind == "framework" and grid.grids(kb, name)
            for newest in [grid.lines(kb, name)[-1].name]
        ],
        others=[each for each in covered if each[1].kind not in _MAIN],
        date=kb.meta.date,
        measured=measured,
        hardware=runs.hardware(measured[1]) if measured else "",
        root="",
        modules=sorted(each.name for each in _MODULES.glob("*.js")),
    )
