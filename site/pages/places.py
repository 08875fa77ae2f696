"""Where the page of each record is, and links from one page to another."""

from __future__ import annotations

import functools
import posixpath
from collections.abc import Iterable, Mapping
from typing import NamedTuple
from urllib.parse import quote, urlencode

from d9m.about import REPOSITORY
from d9m.kb.kinds import EVERY_KIND, KINDS
from d9m.kb.store import KnowledgeBase
from pages.markdown import Markdown, anchor, breakable, listed, slug

SITE = "https://d9m.github.io/d9m/"
"""The same as in mkdocs.yml."""

FOLDERS = {
    kind.table: kind.name.replace("_", "-") for kind in EVERY_KIND if kind.table and not kind.brief
}
"""Table -> folder of its pages: a page a record."""

LISTS = {kind.table: f"{kind.name}.md" for kind in EVERY_KIND if kind.brief}
"""Table -> the one page on which its records stand."""


class Place(NamedTuple):
    """A page, and an anchor on it or none."""

    page: str
    anchor: str = ""


def places(kb: KnowledgeBase) -> Mapping[tuple[str, str], Place]:
    """(table, key) -> where that record is."""
    return kb.once("places", lambda: _places(kb))


def _places(kb: KnowledgeBase) -> dict[tuple[str, str], Place]:
    found: dict[tuple[str, str], Place] = {}
    for kind in EVERY_KIND:
        table = kind.table
        for key in kb.of(kind) if table else ():
            if table in LISTS:
                found[table, key] = Place(LISTS[table], slug(key))
            else:
                found[table, key] = Place(f"{FOLDERS[table]}/{record_id(kb, table, key)}.md")
    for key in kb.ops:
        package, _colon, name = key.partition(":")
        found["ops", key] = Place(f"ops/{package}.md", anchor(name))
    return found


def record_id(kb: KnowledgeBase, table: str, key: str) -> str:
    """Id of a record: its path without the ending."""
    return kb.setting_ids[key] if table == "settings" else key


@functools.cache
def _relative(page: str, folder: str) -> str:
    """A page as seen from a folder; asked for again by every page of the folder."""
    return posixpath.relpath(page, folder or ".")


class PageContext:
    """One page: its links to others are relative, as MkDocs checks them."""

    def __init__(self, kb: KnowledgeBase, path: str) -> None:
        self.path = path
        self._places = places(kb)
        self._kb = kb

    def link(self, table: str, key: str, text: str | None = None) -> Markdown:
        """A link to the page of a record; only the text where there is no such record, or this is
        its page.
        """
        place = self._places.get((table, key))
        shown = breakable(key if text is None else text)
        return (
            shown
            if place in (None, Place(self.path))
            else Markdown(f"[{shown}]({self.to(*place)})")
        )

    def to(self, page: str, anchor: str = "") -> Markdown:
        """The address of another page."""
        path = "" if page == self.path else _relative(page, posixpath.dirname(self.path))
        return Markdown(f"{path}#{anchor}" if anchor else path)

    def served(self, page: str, anchor: str = "") -> str:
        """The address of another page as the browser needs it: only links of Markdown are turned by
        MkDocs.
        """
        path = posixpath.relpath(served(page) or ".", served(self.path) or ".")
        return f"{path}/#{anchor}" if anchor else f"{path}/"

    def label(self, label: str) -> Markdown:
        """A solution by its label, under its real name."""
        return self.link("solutions", self._kb.labels.get(label.lower()) or "", self.title(label))

    def title(self, label: str) -> str:
        """The real name of a solution."""
        id_ = self._kb.labels.get(label.lower())
        return self._kb.solutions[id_].title if id_ else label

    def both(self, labels: Iterable[str]) -> Markdown:
        """Solutions that are needed together."""
        return listed(map(self.label, labels), " + ")

    def either(self, alternatives: Iterable[Iterable[str]]) -> Markdown:
        """Sets of solutions of which one is enough."""
        return listed(map(self.both, alternatives), " or ")

    def records(self, paths: Iterable[str]) -> Markdown:
        """Records by their paths under kb/: ``sources/tensorflow/bias-add``."""
        links: list[Markdown] = []
        for path in paths:
            table, _slash, id_ = path.partition("/")
            record = getattr(self._kb, table).get(id_)
            links.append(self.link(table, id_, record.title if record else id_))
        return listed(links)


def served(page: str) -> str:
    """The folder in which a page is served: `a/b.md` as `a/b`, `a/index.md` as `a`."""
    stem = page.removesuffix(".md")
    return stem.removesuffix("index").rstrip("/")


def edit(table: str, id_: str) -> str:
    """Where a record's text is changed."""
    return f"{REPOSITORY}/edit/main/{file(table, id_)}"


def changes(table: str, id_: str) -> str:
    """What was changed in a record, and when."""
    return f"{REPOSITORY}/commits/main/{file(table, id_)}"


def report(table: str, id_: str, page: str) -> str:
    """A new issue about a record, with what we would ask for already in it."""
    title = f"Wrong data: {file(table, id_)}"
    body = (
        f"Page: {page}\n\nWhat it says:\n\nWhat is right:\n\nEvidence (link, or output of "
        "d9m check):\n"
    )
    return f"{REPOSITORY}/issues/new?{urlencode({'title': title, 'body': body}, quote_via=quote)}"


def file(table: str, id_: str) -> str:
    """The file of a record in the repository."""
    if table == "runs":
        return f"kb/evidence/runs/{id_}.json"
    return f"kb/{_SOURCE_FOLDERS[table]}/{id_}.yaml"


_SOURCE_FOLDERS = {kind.table: kind.name for kind in KINDS}
