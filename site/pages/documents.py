"""Everything that evidence cites more than once, on one page."""

from __future__ import annotations

from collections.abc import Iterator

from d9m.kb.store import KnowledgeBase
from pages import layout
from pages.places import LISTS

_KINDS = {
    "page": "Pages",
    "repository": "Repositories",
    "package": "Packages",
    "scan": "Scans and runs",
    "talk": "Talks",
    "slides": "Slides",
    "poster": "Posters",
    "plan": "Plans",
    "paper": "Papers",
}


def pages(kb: KnowledgeBase) -> Iterator[tuple[str, str]]:
    found = list(kb.documents.items())
    groups = [
        (title, [each for each in found if each[1].kind == kind]) for kind, title in _KINDS.items()
    ]
    title = "References"
    description = "The pages, talks, repositories and scans that the records rest on."
    yield layout.page(
        kb,
        LISTS["documents"],
        "documents.md",
        title,
        description,
        groups=[each for each in groups if each[1]],
    )
