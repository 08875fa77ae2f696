"""Answers of earlier editions that were wrong, and what is true."""

from __future__ import annotations

from collections.abc import Iterator

from d9m.kb.store import KnowledgeBase
from d9m.model.records import Correction
from pages import layout
from pages.places import LISTS


def pages(kb: KnowledgeBase) -> Iterator[tuple[str, str]]:
    title = "Corrections"
    description = "Answers of d9m that were wrong: what it said, what is true, and since when."
    yield layout.page(
        kb, LISTS["corrections"], "corrections.md", title, description, found=newest_first(kb)
    )


def newest_first(kb: KnowledgeBase) -> list[tuple[str, Correction]]:
    """Id and record of every correction."""
    return sorted(kb.corrections.items(), key=lambda item: (item[1].date, item[0]), reverse=True)
