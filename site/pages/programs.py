"""The data for programs: addresses, feeds, badges, and links that ask."""

from __future__ import annotations

from collections.abc import Iterator

from d9m.about import SCHEMA_VERSION
from d9m.kb.store import KnowledgeBase
from pages import grid, layout, versions
from pages.places import SITE


def pages(kb: KnowledgeBase) -> Iterator[tuple[str, str]]:
    packages = [
        (name, package.title)
        for name, package in versions.in_order(kb, kb.meta.prefixes)
        if grid.grids(kb, name)
    ]
    home = versions.frameworks(kb)[0]
    title = "API, feeds and badges"
    description = "The same data as JSON, as Atom feeds, as badges, and as links that ask."
    yield layout.page(
        kb,
        "reference/data.md",
        "programs.md",
        title,
        description,
        weight=6,
        packages=packages,
        site=SITE,
        schema=SCHEMA_VERSION,
        example=next(id_ for id_ in kb.sources if kb.home(id_) == home),
        home=home,
        newest=kb.releases(home)[-1],
    )
