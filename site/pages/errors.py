"""A page for each error, so that a search for its text lands there, and the table of all."""

from __future__ import annotations

from collections.abc import Iterator

from d9m.kb.tables import KnowledgeBase
from d9m.query import parse
from d9m.records import ErrorRecord
from pages import layout, proof
from pages.markdown import Markdown
from pages.places import Here


def pages(kb: KnowledgeBase) -> Iterator[tuple[str, str]]:
    groups: dict[str, list[tuple[str, ErrorRecord]]] = {}
    for id_ in kb.keys("errors"):
        groups.setdefault(_title(kb, id_), []).append((id_, kb.get("errors", id_)))
    title = "Errors and warnings"
    description = "The exact texts of errors and warnings about determinism, what causes each and what to do."
    yield layout.page(kb, "errors/index.md", "errors.md", title, description, groups=sorted(groups.items()))
    for id_ in kb.keys("errors"):
        error: ErrorRecord = kb.get("errors", id_)
        yield layout.record_page(
            kb,
            "errors",
            id_,
            "error.md",
            error.title,
            f"{error.texts[0].text if error.texts else error.title} {error.advice}",
            error=error,
            ops=[_op(kb, id_, item) for item in error.ops],
            proofs=proof.of(kb, error.evidence),
        )


def _title(kb: KnowledgeBase, id_: str) -> str:
    """Title of the home package; the folder where it is nobody's home."""
    folder = id_.partition("/")[0]
    return kb.package(kb.meta.folders[folder]).title if folder in kb.meta.folders else folder


def _op(kb: KnowledgeBase, id_: str, item: str) -> Markdown:
    home = kb.meta.folders.get(id_.partition("/")[0], "")
    return Here(kb, f"errors/{id_}.md").link("ops", f"{home}:{parse(item).name}", item)
