"""Calls that set things on the user's behalf: a page each, and the table of all."""

from __future__ import annotations

from collections.abc import Iterator

from d9m.kb.tables import KnowledgeBase
from d9m.records import Helper
from pages import layout, proof


def pages(kb: KnowledgeBase) -> Iterator[tuple[str, str]]:
    rows: list[tuple[str, Helper]] = [(id_, kb.get("helpers", id_)) for id_ in kb.keys("helpers")]
    title = "Helper calls"
    description = "Calls that turn several settings at once, and what each of them leaves out."
    yield layout.page(kb, "helpers/index.md", "helpers.md", title, description, ("toc",), rows=rows)
    for id_, helper in rows:
        yield layout.record_page(
            kb,
            "helpers",
            id_,
            "helper.md",
            helper.title,
            helper.summary,
            helper=helper,
            proofs=proof.of(kb, helper.evidence),
        )
