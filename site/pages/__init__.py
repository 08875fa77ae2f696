"""The generated pages of the site: pure text out of records.

`pages(kb)` gives every page as Markdown by its path. A module a kind of page;
`markdown` escapes, `places` says where each record's page is, `layout` fills
the templates. The MkDocs hook and the file writer are its two callers.
"""

from __future__ import annotations

from d9m.kb.store import KnowledgeBase
from pages import (
    code,
    collector,
    commands,
    comparison,
    containers,
    contributing,
    corrections,
    documents,
    errors,
    evaluation,
    facts,
    helpers,
    ingredients,
    myths,
    ops,
    programs,
    releases,
    rules,
    runs,
    scan,
    settings,
    solutions,
    sources,
    start,
    status,
    structs,
    symptoms,
    timeline,
    upgrades,
    upstream,
    versions,
)

PAGES = (
    start,
    status,
    comparison,
    upgrades,
    releases,
    containers,
    sources,
    ops,
    solutions,
    settings,
    ingredients,
    helpers,
    errors,
    symptoms,
    versions,
    upstream,
    runs,
    documents,
    myths,
    corrections,
    facts,
    code,
    rules,
    scan,
    commands,
    structs,
    evaluation,
    programs,
    timeline,
    contributing,
)


@collector.paused()
def pages(kb: KnowledgeBase) -> dict[str, str]:
    """Path -> Markdown of every generated page, by path. The same records give the same text."""
    found: dict[str, str] = {}
    for room in PAGES:
        found.update(room.pages(kb))
    return dict(sorted(found.items()))
