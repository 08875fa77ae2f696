"""A Markdown extension: the inline marks in a cell of a table are read once for all cells that say
the same.

Tables are most of what the site shows, and their cells repeat from row to row and from page to
page. What a cell becomes depends on its text alone: links are made relative later.
"""

from __future__ import annotations

import copy
import re
from xml.etree.ElementTree import Element, SubElement

from markdown import Markdown
from markdown.extensions import Extension
from markdown.treeprocessors import Treeprocessor
from markdown.util import HTML_PLACEHOLDER, STX, AtomicString

_MARKS = re.compile(r"[^\w\s.,;:?/()'\"=%+@$^–…—-]|_|\b(https?|ftp)|  \n")
"""Text without any of these is no mark of Markdown or its extensions."""

_STASHED = re.compile(HTML_PLACEHOLDER % "([0-9]+)")

_BEFORE_INLINE = 21
"""Just before Markdown's own treeprocessor reads the inline marks, whose priority is 20."""


class TableCells(Extension):
    """Reads each cell once for all pages of a build."""

    def __init__(self) -> None:
        super().__init__()
        self.known: dict[str, _ReadCell] = {}

    def extendMarkdown(self, md: Markdown) -> None:  # noqa: N802 - the library's name
        md.treeprocessors.register(_CellReader(md, self.known), "cells", _BEFORE_INLINE)


class _ReadCell:
    """A cell that was read: its content, and the raw HTML that placeholders in it stand for."""

    def __init__(self, content: Element, raw: list[str]) -> None:
        self.content = content
        self.raw = raw


class _CellReader(Treeprocessor):
    def __init__(self, md: Markdown, known: dict[str, _ReadCell]) -> None:
        super().__init__(md)
        self.known = known

    def run(self, root: Element) -> None:
        for row in root.iter("tr"):
            for cell in row:
                text = cell.text
                if not text or isinstance(text, AtomicString) or STX in text:
                    continue
                if _MARKS.search(text):
                    self._fill(cell, text)
                else:
                    cell.text = AtomicString(text)

    def _fill(self, cell: Element, text: str) -> None:
        if text not in self.known:
            self.known[text] = self._read(text)
        known = self.known[text]
        content = copy.deepcopy(known.content)
        if known.raw:
            for element in content.iter():
                element.text = self._stashed(element.text, known.raw)
                element.tail = self._stashed(element.tail, known.raw)
        cell.text = content.text
        cell[:] = list(content)

    def _read(self, text: str) -> _ReadCell:
        """What inline marks make of a text, as nothing that is left to be read."""
        within = Element("tr")
        cell = SubElement(within, "td")
        cell.text = text
        stash = self.md.htmlStash
        before = stash.html_counter
        self.md.treeprocessors["inline"].run(within)
        raw = [str(block) for block in stash.rawHtmlBlocks[before:]]
        for element in cell.iter():
            element.text = _numbered(element.text, -before)
            element.tail = _numbered(element.tail, -before)
        return _ReadCell(cell, raw)

    def _stashed(self, text: str | None, raw: list[str]) -> str | None:
        """A text whose placeholders stand for raw HTML of this page."""
        if not text:
            return text

        def store(found: re.Match[str]) -> str:
            return self.md.htmlStash.store(raw[int(found[1])])

        return AtomicString(_STASHED.sub(store, text))


def _numbered(text: str | None, by: int) -> str | None:
    """A text that is read, with the numbers of its placeholders moved."""
    if not text:
        return text

    def moved(found: re.Match[str]) -> str:
        return found[0].replace(found[1], str(int(found[1]) + by))

    return AtomicString(_STASHED.sub(moved, text))
