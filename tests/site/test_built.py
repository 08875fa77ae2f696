"""The built site: no warning, no dead link, no request to anybody else, the same bytes twice."""

from __future__ import annotations

import functools
import posixpath
import re
from pathlib import Path
from urllib.parse import unquote, urlsplit

from site_build import ROOT, Html, build, built, said

SMALL = ROOT / "tests" / "render" / "kb"
BASE = "/d9m/"
"""Path of the site at its host; MkDocs writes it into the page for addresses that do not exist."""

LOADS = {"script": "src", "img": "src", "iframe": "src", "source": "src", "video": "src", "audio": "src"}
"""Tags that make a browser ask for something, whatever their other attributes."""

FOLLOWED = {"canonical", "alternate", "edit", "next", "prev"}
"""Kinds of <link> that a browser does not load."""


@functools.cache
def html() -> dict[str, Html]:
    """Every page by its path in the site."""
    return {path.relative_to(built()).as_posix(): Html(path) for path in sorted(built().rglob("*.html"))}


def test_the_strict_build_says_nothing_to_worry_about() -> None:
    assert not re.findall("WARNING|ERROR", said())


def test_every_internal_link_and_anchor_leads_somewhere() -> None:
    dead: list[str] = []
    for page, parsed in html().items():
        for element in parsed.elements:
            address = element.attributes.get("href") or element.attributes.get("src")
            if address is not None and not _leads_somewhere(page, address):
                dead.append(f"{page}: {address}")
    assert not dead


def _leads_somewhere(page: str, address: str) -> bool:
    parts = urlsplit(address)
    if parts.scheme or parts.netloc:
        return True
    path = unquote(parts.path)
    if path.startswith(BASE):
        target = path.removeprefix(BASE)
    else:
        target = posixpath.normpath(posixpath.join(posixpath.dirname(page), path)) if path else page
    place = built() / target
    if place.is_dir():
        place = place / "index.html"
        target = place.relative_to(built()).as_posix()
    if not place.is_file():
        return False
    return not parts.fragment or target not in html() or unquote(parts.fragment) in html()[target].ids


def test_no_page_loads_anything_from_another_host() -> None:
    asked: list[str] = []
    for page, parsed in html().items():
        for element in parsed.elements:
            address = element.attributes.get(LOADS.get(element.tag, ""))
            if element.tag == "link" and element.attributes.get("rel", "").strip() not in FOLLOWED:
                address = element.attributes.get("href")
            if address and urlsplit(address).netloc:
                asked.append(f"{page}: {address}")
    assert not asked


def test_no_style_sheet_loads_anything_from_another_host() -> None:
    sheets = list(built().rglob("*.css"))
    assert sheets
    for sheet in sheets:
        assert not re.search(r"(url\(|@import)\s*['\"]?(https?:)?//", sheet.read_text(encoding="utf-8"))


def test_record_pages_stay_out_of_the_navigation() -> None:
    links = {
        element.attributes["href"] for element in html()["index.html"].elements if "md-nav__link" in _classes(element)
        and "href" in element.attributes
    }  # fmt: skip
    assert "sources/" in links
    assert not {link for link in links if link.startswith("sources/") and link != "sources/"}


def _classes(element: object) -> list[str]:
    attributes: dict[str, str] = getattr(element, "attributes", {})
    return attributes.get("class", "").split()


def test_two_builds_are_equal_to_the_byte(tmp_path: Path) -> None:
    for seed in ("1", "2"):
        build(SMALL, tmp_path / seed, PYTHONHASHSEED=seed)
    first, second = _files(tmp_path / "1"), _files(tmp_path / "2")
    assert first.keys() == second.keys()
    assert not [file for file in first if first[file] != second[file]]


def _files(folder: Path) -> dict[str, bytes]:
    return {path.relative_to(folder).as_posix(): path.read_bytes() for path in folder.rglob("*") if path.is_file()}
