"""The words that conditions may use."""

from __future__ import annotations

from collections.abc import Iterator

from d9m.kb.store import KnowledgeBase
from pages import layout


def pages(kb: KnowledgeBase) -> Iterator[tuple[str, str]]:
    known = sorted(kb.meta.facts.items())
    groups = [
        ("Of the program and the machine", [each for each in known if not each[1].argument]),
        ("Of one call", [each for each in known if each[1].argument]),
    ]
    title = "Facts"
    description = (
        "The vocabulary of conditions: what can be said of a program, a machine or a call."
    )
    yield layout.page(kb, "facts.md", "facts.md", title, description, groups=groups)
