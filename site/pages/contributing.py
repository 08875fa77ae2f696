"""How to contribute: the file of the repository as a page."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

from d9m.kb.store import KnowledgeBase
from pages import layout
from pages.markdown import Markdown

TEXT = Path(__file__).parents[2] / "CONTRIBUTING.md"


def pages(kb: KnowledgeBase) -> Iterator[tuple[str, str]]:
    text = Markdown(TEXT.read_text(encoding="utf-8"))
    description = "How to fix or add a record, and which tests to run for which change."
    yield layout.page(
        kb, "contributing.md", "contributing.md", "Contributing", description, text=text
    )
