"""What the site serves besides its pages: the JSON API, feeds, badges, redirects, and the pages as
Markdown.

`files(kb)` is pure, as `pages(kb)` is: path -> content, the same for the same records.
"""

from __future__ import annotations

from advisor import tables
from d9m.kb.store import KnowledgeBase
from exports import api, badges, feeds, redirects, schema
from pages import collector

PAGES = (api, schema, badges, feeds, redirects)


@collector.paused()
def files(kb: KnowledgeBase) -> dict[str, bytes]:
    """Path in the site -> content of every file that is not a page."""
    found = {"assets/advisor/tables.json": tables(kb)}
    for room in PAGES:
        found.update(room.files(kb))
    return dict(sorted(found.items()))
