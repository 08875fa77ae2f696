"""A page for each error, so that a search for its text lands there, and the table of all."""

from __future__ import annotations

import re
import textwrap
from collections.abc import Iterator

from d9m.browse import history
from d9m.kb.store import KnowledgeBase
from d9m.model.op_syntax import parse
from d9m.model.records import ErrorRecord
from pages import layout, phrases, proof
from pages.markdown import Markdown
from pages.places import PageContext


def pages(kb: KnowledgeBase) -> Iterator[tuple[str, str]]:
    groups: dict[str, list[tuple[str, ErrorRecord]]] = {}
    for id_ in kb.errors:
        groups.setdefault(_title(kb, id_), []).append((id_, kb.errors[id_]))
    title = "Errors and warnings"
    description = (
        "The exact texts of errors and warnings about determinism, what causes each and what to do."
    )
    most_first = sorted(groups.items(), key=lambda each: (-len(each[1]), each[0].lower()))
    yield layout.page(
        kb,
        "errors/index.md",
        "errors.md",
        title,
        description,
        groups=most_first,
        said=without_braces,
    )
    for id_ in kb.errors:
        yield _page(kb, id_, kb.errors[id_])


def _page(kb: KnowledgeBase, id_: str, error: ErrorRecord) -> tuple[str, str]:
    return layout.record_page(
        kb,
        "errors",
        id_,
        "error.md",
        headline(error),
        f"{error.title}. {error.advice}",
        error=error,
        texts=[(phrases.where(kb, each.when), each.text) for each in error.texts],
        filled=any(_VARIES.search(each.text) for each in error.texts),
        causes=[(each, kb.sources[each], history.of(kb, each)) for each in error.sources],
        ops=[_op(kb, id_, item) for item in error.ops],
        proofs=proof.of(kb, error.evidence),
    )


def headline(error: ErrorRecord) -> str:
    """The beginning of the message itself, as people search for it."""
    if not error.texts:
        return error.title
    text = without_braces(" ".join(error.texts[0].text.replace("`", "").split()))
    for found in re.finditer(r"(?<!i\.e)((?<!…),|[.:;]) ", text):
        end = found.start()
        if end >= _SHORTEST and text.count("[", 0, end) == text.count("]", 0, end):
            if end <= _LONGEST:
                return text[:end].rstrip(".,:;")
            break
    return textwrap.shorten(text, _LONGEST, placeholder=" …").rstrip(".,:;")


def without_braces(text: str) -> str:
    """A message with an ellipsis for each part that the program fills in."""
    return _VARIES.sub("…", text)


_VARIES = re.compile(r"\{[\w…]+\}")

_SHORTEST, _LONGEST = 30, 125
"""Characters of a message in a title; what comes later is rarely its own."""


def _title(kb: KnowledgeBase, id_: str) -> str:
    """Title of the home package; the folder where it is nobody's home."""
    folder = id_.partition("/")[0]
    home = kb.packages.get(kb.meta.folders.get(folder, ""))
    if home is None:
        return folder
    return home.title


def _op(kb: KnowledgeBase, id_: str, item: str) -> Markdown:
    home = kb.meta.folders.get(id_.partition("/")[0], "")
    return PageContext(kb, f"errors/{id_}.md").link("ops", f"{home}:{parse(item).name}", item)
