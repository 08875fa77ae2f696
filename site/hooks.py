"""The MkDocs hook: hand generated pages, assets and data to MkDocs. What they hold is made in
`pages` and `exports`.
"""

from __future__ import annotations

import gc
import os
import re
import sys
from collections.abc import Callable
from datetime import datetime, timezone
from pathlib import Path
from typing import ClassVar

# The d9m of this checkout, whichever is installed: a wheel lacks what describes lint rules.
sys.path.insert(0, str(Path(__file__).parents[1] / "resolver"))

import jinja2
from mkdocs.config.defaults import MkDocsConfig
from mkdocs.livereload import LiveReloadServer
from mkdocs.plugins import CombinedEvent, event_priority
from mkdocs.structure.files import File, Files, InclusionLevel
from mkdocs.structure.nav import Section
from mkdocs.structure.pages import Page

import changed
import records
from conversion import GeneratedPage, converter
from d9m.kb import locate
from exports import files as exported
from exports.twins import index, twins
from pages import pages

_HERE = Path(__file__).parent


class _Generated(File):
    """A file that `mkdocs serve --dirty` makes anew only if it would hold something else than
    before.
    """

    before: ClassVar[dict[str, str]] = {}
    """What the last build of this process wrote, by place."""

    now: ClassVar[dict[str, str]] = {}

    def is_modified(self) -> bool:
        return self.before.get(self.dest_uri) != self.content_string


def on_pre_build(**_: object) -> None:
    """Nearly all that a build makes stays until its end, and what does not has no cycles: to search
    it for garbage again and again finds little.
    """
    gc.disable()


def on_env(env: jinja2.Environment, files: Files, **_: object) -> None:
    """Give templates a memory, new for each build."""
    _light(files)
    drawn: dict[str, str] = {}

    def once(key: str, draw: Callable[[], str]) -> str:
        if key not in drawn:
            drawn[key] = draw()
        return drawn[key]

    env.globals["once"] = once  # type: ignore[assignment]  any function may be one


def on_files(files: Files, config: MkDocsConfig) -> Files:
    """Add the generated pages. Those that the navigation names get into it, all others stay out."""
    kb = locate.from_yaml(records.folder())
    # MkDocs writes the day of the build into the site map; the day of the records makes two builds
    # equal.
    edition = datetime.fromisoformat(kb.meta.date).replace(tzinfo=timezone.utc)
    os.environ.setdefault("SOURCE_DATE_EPOCH", str(int(edition.timestamp())))
    generated = pages(kb)
    shared = converter(config)
    for path, text in generated.items():
        file = _Generated.generated(config, path, content=text)
        file.inclusion = InclusionLevel.NOT_IN_NAV
        GeneratedPage(file, config, shared)  # which gives itself to the file
        files.append(file)
    for asset in sorted(each for each in (_HERE / "assets").rglob("*") if each.is_file()):
        path = asset.relative_to(_HERE).as_posix()
        files.append(File.generated(config, path, abs_src_path=str(asset)))
    written = {page.src_uri: page.content_string for page in files.documentation_pages()}
    texts = {**written, **generated}
    served = {**exported(kb), **twins(texts), "llms.txt": index(kb, texts)}
    for path, content in served.items():
        files.append(_as_it_is(config, path, content))
    own = [file for file in files if isinstance(file, _Generated)]
    _Generated.now = {file.dest_uri: file.content_string for file in own}
    return files


def _light(files: Files) -> None:
    """Light the section that a page belongs to, where the menu names only the list of such
    pages.
    """
    every = [(file.src_uri.partition("/")[0], file.page) for file in files.documentation_pages()]
    sections: dict[str, Section] = {}
    for room, page in every:
        if page and page.parent:  # the menu names it
            sections.setdefault(room, page.parent)
    for room, page in every:
        if page and not page.parent:
            page.parent = sections.get(_LISTED_ELSEWHERE.get(room, room))


_LISTED_ELSEWHERE = {"releases": "status"}
"""Folders of pages that are listed in another one."""


def _as_it_is(config: MkDocsConfig, path: str, content: str | bytes) -> File:
    """A file that MkDocs only copies: Markdown, too, which it would make a page of under its own
    name.
    """
    file = _Generated.generated(config, f"{path}.copy", content=content)
    file.dest_uri = path
    return file


_NOT_SEARCHED = re.compile(r'<h2 id="(evidence|ops-without-a-fix|ops-not-verified)"')
"""Sections that no search is for. Their words stand on a thousand pages, and made a third of the
index.
"""


_SECTION = re.compile(r'<h2 id="[^"]*"')
_TABLES = ("releases/", "status/")
"""Of a release, or of all, nothing but the name is searched for: what it did to an op is found on
the pages of the op.
"""


def on_page_markdown(_markdown: str, page: Page, **_: object) -> None:
    """Let a guide say when it was last changed."""
    day = changed.of_folder(changed.GUIDES).get(page.file.src_uri)
    if day and not isinstance(page.file, _Generated):
        page.meta["changed"] = day


def on_page_content(html: str, page: Page, **_: object) -> str:
    """Keep the search out of what repeats from page to page."""
    pattern = _SECTION if page.file.src_uri.startswith(_TABLES) else _NOT_SEARCHED
    return pattern.sub(r"\g<0> data-search-exclude", html)


_LEFT_OUT = re.compile(
    r'\A.*?(?=<h1 )|<p><span class="md-tag">.*?</p>'
    r'|<div class="tabbed-set(?=.*<h2 id="how-people-say-it").*?(?=<h2 )'
    r"|<h2 [^>]*data-search-exclude.*?(?=<h[1-6] )|<h2 [^>]*data-search-exclude.*",
    re.DOTALL,
)
"""The way to a page and its tags, too: results show what a page says first. Symptoms are found by
what people say, not by every cause.
"""


@event_priority(100)
def _cut(context: object, page: Page, **_: object) -> None:
    """Hand the search only what it keeps: it takes as long as the rest of the page."""
    _whole[page.url] = page.content or ""
    page.content = _LEFT_OUT.sub("", _whole[page.url])


@event_priority(-100)
def _mend(context: object, page: Page, **_: object) -> None:
    page.content = _whole.pop(page.url)


_whole: dict[str, str] = {}
"""Pages whose content is with the search."""

on_page_context = CombinedEvent(_cut, _mend)


def on_post_page(output: str, **_: object) -> str:
    """Give the theme's search dialog the name that screen readers ask for."""
    return output.replace(
        'data-md-component="search" role="dialog"',
        'data-md-component="search" role="dialog" aria-label="Search"',
    )


def on_post_build(**_: object) -> None:
    """Only what was built to the end need not be made again."""
    _Generated.before = _Generated.now
    gc.enable()


def on_build_error(**_: object) -> None:
    """`mkdocs serve` builds again."""
    gc.enable()


def on_serve(server: LiveReloadServer, **_: object) -> None:
    """Build again when a record changes."""
    server.watch(str(records.folder()))
