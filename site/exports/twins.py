"""The pages as plain Markdown, next to the HTML, and ``llms.txt``, which lists them."""

from __future__ import annotations

import html
import json
import re
from collections.abc import Iterable, Mapping

from d9m.kb.store import KnowledgeBase
from exports.addresses import API, SITE

_FRONT = re.compile(r"---\n(.*?)\n---\n+", re.DOTALL)
_BROWSER = re.compile(r"<(form|script)\b.*?</\1>\n?", re.DOTALL)
_BLOCK = re.compile(r"\s*</?(div|link|p|input|ul|details|noscript)\b")
_SECTIONS = {
    "": "Start",
    "sources": "Sources of nondeterminism",
    "solutions": "Solutions",
    "errors": "Error and warning texts",
    "symptoms": "Symptoms",
    "ingredients": "What every program needs",
    "ops": "Ops",
    "status": "Status by release",
    "versions": "Releases",
}
"""Folder -> heading in llms.txt, which lists the pages right in it; their index leads to others."""


def twins(pages: Mapping[str, str]) -> dict[str, str]:
    """Path -> text of each page without front matter and without what only a browser can use."""
    return {path: _plain(text) for path, text in pages.items()}


def _plain(text: str) -> str:
    body = _BROWSER.sub("", _FRONT.sub("", text, count=1))
    lines = [line for line in body.splitlines() if not _BLOCK.match(line)]
    return re.sub(r"\n{3,}", "\n\n", "\n".join(lines)).strip() + "\n"


def index(kb: KnowledgeBase, pages: Mapping[str, str]) -> str:
    """``llms.txt``: what this is, and where each page's Markdown and the data are."""
    lines = [
        "# d9m",
        "",
        "> Determinism in deep learning: which ops of which release are deterministic, what to "
        "set for that, and the "
        f"evidence. Knowledge base of {kb.meta.date}.",
        "",
        "Every page has a twin in Markdown: the address of the page with `.md` for the last slash "
        f"(`sources/tensorflow/bias-add.md`). The same data as JSON: {SITE}{API}index.json",
        "",
        "## Data",
        "",
        f"- [Everything in one file]({SITE}{API}all.json)",
        f"- [JSON Schema]({SITE}{API}schema.json)",
        f"- [OpenAPI]({SITE}{API}openapi.json)",
        "",
    ]
    for folder, heading in _SECTIONS.items():
        here = [path for path in pages if path.rpartition("/")[0] == folder]
        lines += [f"## {heading}", "", *_links(pages, here), ""] if here else []
    return "\n".join(lines)


def _links(pages: Mapping[str, str], paths: Iterable[str]) -> list[str]:
    found: list[str] = []
    for path in sorted(paths):
        title = _field(pages[path], "title") or _heading(pages[path]) or path
        found.append(f"- [{title}]({SITE}{path}){_about(pages[path])}")
    return found


def _heading(text: str) -> str | None:
    found = re.search(r"^# (.+)$", text, re.MULTILINE)
    return found[1] if found else None


def _about(text: str) -> str:
    told = _field(text, "description")
    return f": {told}" if told else ""


def _field(text: str, name: str) -> str:
    found = re.search(rf'^{name}: (".*")$', text, re.MULTILINE) if _FRONT.match(text) else None
    value = html.unescape(json.loads(found[1])) if found else ""
    return re.sub(r"[\[\]\n]", " ", value)
