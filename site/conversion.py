"""Make HTML of the generated pages, two thousand of them, with one converter of Markdown."""

# MkDocs keeps the parts of its own conversion to itself.
# pyright: reportPrivateUsage=false

from __future__ import annotations

import re
from typing import Any, cast
from xml.etree.ElementTree import Element

from markdown import Markdown
from markdown.extensions import Extension
from markdown.treeprocessors import Treeprocessor
from markdown.util import AtomicString
from mkdocs.config.defaults import MkDocsConfig
from mkdocs.structure import pages
from mkdocs.structure.files import File, Files
from mkdocs.structure.toc import get_toc


class GeneratedPage(pages.Page):
    """A page with the HTML that MkDocs would give it. MkDocs makes a converter for each page, which
    takes almost as long as converting the page.
    """

    def __init__(self, file: File, config: MkDocsConfig, shared: Markdown) -> None:
        super().__init__(None, file, config)
        self._shared = shared

    def render(self, config: MkDocsConfig, files: Files) -> None:
        if self.markdown is None:
            raise RuntimeError(f"{self.file.src_uri}: call read_source of the page before render")
        md = self._shared.reset()
        named = _NamedInHtml()
        anchors = pages._ExtractAnchorsTreeprocessor(self.file, files, config)
        links = pages._RelativePathTreeprocessor(self.file, files, config)
        title = pages._ExtractTitleTreeprocessor()
        for part in (named, anchors, links, title):  # each replaces that of the page before
            part._register(md)
        self.content = md.convert(self.markdown)
        self.toc = get_toc(getattr(md, "toc_tokens", []))
        self._title_from_render = title.title
        self.present_anchor_ids = anchors.present_anchor_ids | named.present_anchor_ids
        self.links_to_anchors = links.links_to_anchors


class _NamedInHtml(pages._RawHTMLPreprocessor):
    """Reads a page's HTML for anchors only where it can have one."""

    def run(self, lines: list[str]) -> list[str]:
        return super().run(lines) if any(map(_NAME.search, lines)) else lines


_NAME = re.compile(r"\b(id|name)\s*=", re.IGNORECASE)


def converter(config: MkDocsConfig) -> Markdown:
    """A converter that makes what MkDocs makes, of pages without images, references and breaks."""
    return Markdown(
        extensions=[*config.markdown_extensions, _Spared()],
        extension_configs=cast("dict[str, dict[str, Any]]", config["mdx_configs"]),
    )


class _Spared(Extension):
    """Spares a text the search for what is not in it: half of all texts are words and numbers."""

    def extendMarkdown(self, md: Markdown) -> None:  # noqa: N802  Markdown's name
        before_inline_patterns = 21
        md.treeprocessors.register(_MarkPlain(md), "plain", before_inline_patterns)
        for name in UNUSED:
            md.inlinePatterns.deregister(name)


UNUSED = (
    "reference",
    "image_link",
    "image_reference",
    "short_reference",
    "short_image_ref",
    "automail",
    "linebreak",
)
"""Inline patterns that no generated page has."""


class _MarkPlain(Treeprocessor):
    """Tells Markdown which texts hold none of its signs."""

    def run(self, root: Element) -> None:
        for element in root.iter():
            if element.text and not _SIGNS.search(element.text):
                element.text = AtomicString(element.text)
            if element.tail and not _SIGNS.search(element.tail):
                element.tail = AtomicString(element.tail)


_SIGNS = re.compile(r"[`\\\[<&*_]")
"""Whatever an inline pattern finds has one of these."""
