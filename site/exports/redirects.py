"""Pages that lead on from other names of a thing."""

from __future__ import annotations

import html
import posixpath
from collections.abc import Iterator
from urllib.parse import quote

from d9m.kb.store import KnowledgeBase
from exports.addresses import SITE, directory
from pages.markdown import anchor
from pages.places import Place, places

_PAGE = """<!doctype html>
<html lang="en">
<head>
<meta charset="utf-8">
<title>Moved</title>
<link rel="canonical" href="{canonical}">
<meta name="robots" content="noindex">
<meta http-equiv="refresh" content="0; url={address}">
</head>
<body><p>This is now at <a href="{address}">{canonical}</a>.</p></body>
</html>
"""


def files(kb: KnowledgeBase) -> Iterator[tuple[str, bytes]]:
    taken = {directory(place.page) for place in places(kb).values()}
    for old, place in _moves(kb):
        if old not in taken and not old.startswith("/"):
            taken.add(old)
            yield f"{old}index.html", _page(old, place)


def _moves(kb: KnowledgeBase) -> Iterator[tuple[str, Place]]:
    """Other address -> where the thing is."""
    known = places(kb)
    for name in kb.symptoms:
        yield f"errors/symptoms/{name}/", known["symptoms", name]
    for label in kb.labels:
        yield f"solutions/{label}/", known["solutions", kb.labels[label]]
    for name in kb.settings:
        yield f"settings/{anchor(name)}/", known["settings", name]
    for alias, package in sorted(kb.meta.aliases.items()):
        yield f"versions/{anchor(alias)}/", known["packages", package]
    for key in kb.ops:
        package, _colon, name = key.partition(":")
        yield f"ops/{package}/{anchor(name)}/", known["ops", key]


def _page(old: str, place: Place) -> bytes:
    to = directory(place.page)
    fragment = f"#{quote(place.anchor)}" if place.anchor else ""
    address = posixpath.relpath(to or ".", old).rstrip("/") + "/" + fragment
    return _PAGE.format(
        address=html.escape(address), canonical=html.escape(SITE + to + fragment)
    ).encode()
