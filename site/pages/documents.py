"""Everything that evidence cites more than once, on one page."""

from __future__ import annotations

from collections.abc import Iterator

from d9m.kb.store import KnowledgeBase
from d9m.model.records import Document
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
    groups: dict[str, list[tuple[str, Document]]] = {title: [] for title in _KINDS.values()}
    for id_, document in kb.documents.items():
        groups[_KINDS[document.kind]].append((id_, document))
    title = "References"
    description = "The pages, talks, repositories and scans that the records rest on."
    yield layout.page(
        kb,
        LISTS["documents"],
        "documents.md",
        title,
        description,
        groups=[group for group in groups.items() if group[1]],
    )
