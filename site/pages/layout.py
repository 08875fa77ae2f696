"""Fill a template. Templates hold layout; every text that they print is escaped unless it is
Markdown.
"""

from __future__ import annotations

import functools
import posixpath
from collections.abc import Callable
from pathlib import Path
from typing import Any

import jinja2

import changed
from d9m.kb.kinds import KINDS
from d9m.kb.store import KnowledgeBase
from d9m.model.when import When
from pages import markdown, phrases
from pages.markdown import Markdown
from pages.places import FOLDERS, LISTS, PageContext, changes, edit, file, places, report

_TEMPLATES = Path(__file__).parent.parent / "templates"


@jinja2.pass_context
def _condition(context: jinja2.runtime.Context, when: When) -> Markdown:
    return phrases.condition(context["kb"], when)


_FILTERS: dict[str, Callable[..., str]] = {
    "anchor": markdown.anchor,
    "breakable": markdown.breakable,
    "chip": phrases.chip,
    "code": markdown.code,
    "codes": markdown.codes,
    "capital": phrases.capital,
    "filled": Markdown,
    "condition": _condition,
    "dated": markdown.dated,
    "day": markdown.day,
    "entities": markdown.entities,
    "fence": markdown.fence,
    "in_words": phrases.WORDS.__getitem__,
    "indented": markdown.indented,
    "listed": markdown.listed,
    "name": markdown.name,
    "outward": markdown.link,
    "quoted": markdown.quoted,
    "share_of": markdown.share,
    "slug": markdown.slug,
}


@functools.cache
def _environment() -> jinja2.Environment:
    environment = jinja2.Environment(
        loader=jinja2.FileSystemLoader(_TEMPLATES),
        undefined=jinja2.StrictUndefined,
        finalize=_literal,
        autoescape=False,  # noqa: S701 - `finalize` escapes, for Markdown and HTML both
        trim_blocks=True,
        lstrip_blocks=True,
        keep_trailing_newline=True,
    )
    environment.filters.update(_FILTERS)
    return environment


def _literal(value: object) -> str:
    """What a template prints of a value."""
    return (
        value if isinstance(value, Markdown) else markdown.told("" if value is None else str(value))
    )


def page(
    kb: KnowledgeBase,
    path: str,
    template: str,
    title: str,
    description: str,
    hide: tuple[str, ...] = (),
    weight: float | None = None,
    aliases: tuple[str, ...] = (),
    **values: Any,
) -> tuple[str, str]:
    """One page: its path and its Markdown. `hide` names side bars that it does without; `weight`
    counts in searches: a list says less than the pages that it lists. `aliases`: other names that
    it is searched by.
    """
    if weight is None:
        is_list = path in LISTS.values() or path.endswith("/index.md")
        weight = _OF_A_LIST if is_list else 1
    here = PageContext(kb, path)
    text = _environment().get_template(template).render(here=here, kb=kb, title=title, **values)
    lines = [line.rstrip() for line in text.splitlines()]
    newest = changed.newest(_LISTED[path]) if path in _LISTED else ""
    head = markdown.front_matter(title, description, hide, weight, newest, aliases)
    return path, head + _without_gaps(lines)


_LISTED = {
    LISTS.get(kind.table, f"{FOLDERS.get(kind.table)}/index.md"): kind.name for kind in KINDS
}
"""List of all records of a kind -> folder of the records."""


def record_page(
    kb: KnowledgeBase,
    table: str,
    id_: str,
    template: str,
    title: str,
    description: str,
    **values: Any,
) -> tuple[str, str]:
    """The page of one record."""
    path = f"{FOLDERS[table]}/{id_}.md"
    also: dict[str, Any] = {
        "id": id_,
        "edit": Markdown(edit(table, id_)),
        "changes": Markdown(changes(table, id_)),
        "report": Markdown(report(table, id_, path.removesuffix(".md"))),
        "changed": changed.days().get(file(table, id_).removeprefix("kb/"), ""),
        "around": _around(kb, table, path),
        **values,
    }
    weight = _WEIGHTS.get(table, 1) * (1 if _is_general(kb, id_) else _OF_A_LIBRARY)
    return page(kb, path, template, title, description, ("navigation",), weight, **also)


def _is_general(kb: KnowledgeBase, id_: str) -> bool:
    """Whether a record is about a framework, or about no package."""
    folder = id_.partition("/")[0]
    packages = [each for each in kb.packages.values() if each.folder == folder]
    return not packages or any(each.kind == "framework" for each in packages)


def _around(kb: KnowledgeBase, table: str, path: str) -> list[Markdown]:
    """Links to the records of the same folder that come before and after one."""
    here = PageContext(kb, path)
    near = kb.once(("around", table), lambda: _neighbours(kb, table))[path]
    return [here.link(table, key, title) for key, title in near]


def _neighbours(kb: KnowledgeBase, table: str) -> dict[str, list[tuple[str, str]]]:
    """Page of a record -> keys and titles of those before and after it."""
    folders: dict[str, list[tuple[str, str, str]]] = {}
    for key, record in getattr(kb, table).items():
        page = places(kb)[table, key].page
        title = getattr(record, "title", None) or key
        folders.setdefault(posixpath.dirname(page), []).append((page, key, title))
    found: dict[str, list[tuple[str, str]]] = {}
    for own in folders.values():
        for place, (page, _key, _title) in enumerate(own):
            near = [*own[max(place - 1, 0) : place], *own[place + 1 : place + 2]]
            found[page] = [(key, title) for _page, key, title in near]
    return found


_OF_A_LIST = 0.2
"""Weight of a page that only leads on."""

_OF_A_LIBRARY = 0.6
"""A question that names no library is about a framework."""

_WEIGHTS = {
    "errors": 4,
    "symptoms": 5,
    "sources": 5,
    "solutions": 4,
    "settings": 4,
    "ingredients": 4,
    "helpers": 4,
    "issues": 0.02,
    "pull_requests": 0.02,
}
"""Who searches wants an answer: a page that gives one comes before a page that lists or reports."""


def _without_gaps(lines: list[str]) -> str:
    """One empty line where a template left several, outside code."""
    kept: list[str] = []
    fenced = ""
    for line in lines:
        mark = line.strip()
        if mark.startswith("```"):
            fence = mark[: len(mark) - len(mark.lstrip("`"))]
            fenced = "" if fenced == fence else fenced or fence
        if fenced or line or (kept and kept[-1]):
            kept.append(line)
    return "\n".join(kept).strip("\n") + "\n"
