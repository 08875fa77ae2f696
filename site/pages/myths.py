"""What is often said about determinism, and what is true."""

from __future__ import annotations

from collections.abc import Iterator

from d9m.kb.store import KnowledgeBase
from pages import layout, proof
from pages.places import LISTS


def pages(kb: KnowledgeBase) -> Iterator[tuple[str, str]]:
    found = list(kb.myths.items())
    found.sort(key=lambda each: (each[1].order, each[0]))
    title = "Myths"
    description = (
        "Common beliefs about determinism in deep learning that are not true, and what is."
    )
    myths = [(id_, myth, proof.of(kb, myth.evidence)) for id_, myth in found]
    yield layout.page(kb, LISTS["myths"], "myths.md", title, description, weight=2, myths=myths)
