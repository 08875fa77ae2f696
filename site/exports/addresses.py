"""Addresses of pages and files."""

from __future__ import annotations

from d9m.kb.store import KnowledgeBase
from pages.places import SITE, places

__all__ = ["API", "SITE", "directory", "page"]

API = "api/v1/"


def page(kb: KnowledgeBase, table: str, key: str) -> str:
    """The address of the page of a record."""
    place = places(kb)[table, key]
    return SITE + directory(place.page) + (f"#{place.anchor}" if place.anchor else "")


def directory(path: str) -> str:
    """The address, in the site, of a page's Markdown."""
    return (
        path.removesuffix(".md").removesuffix("index").rstrip("/") + "/"
        if path != "index.md"
        else ""
    )
