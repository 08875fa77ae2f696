"""The built site: no warning, no dead link, no request to anybody else, the same bytes twice."""

from __future__ import annotations

import functools
import os
import posixpath
import re
from pathlib import Path
from urllib.parse import unquote, urlsplit

from site_build import ROOT, Html, build, built, said

SMALL = ROOT / "tests" / "render" / "kb"
ADDRESS = "https://d9m.github.io/d9m/"
BASE = "/d9m/"
"""Path of the site at its host; MkDocs writes it into the page for addresses that do not exist."""

LOADS = {
    "script": "src",
    "img": "src",
    "iframe": "src",
    "source": "src",
    "video": "src",
    "audio": "src",
}
"""Tags that make a browser ask for something, whatever their other attributes."""

FOLLOWED = {"canonical", "alternate", "edit", "next", "prev"}
"""Kinds of <link> that a browser does not load."""


@functools.cache
def html() -> dict[str, Html]:
    """Every page by its path in the site."""
    return {
        path.relative_to(built()).as_posix(): Html(path) for path in sorted(built().rglob("*.html"))
    }


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
    file = _file(target)
    if file is None:
        return False
    return not parts.fragment or file not in html() or unquote(parts.fragment) in html()[file].ids


@functools.cache
def _file(target: str) -> str | None:
    """The file that a path in the site leads to; None: nothing is there."""
    place = built() / target
    if place.is_dir():
        place = place / "index.html"
    return place.relative_to(built()).as_posix() if place.is_file() else None


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
        assert not re.search(
            r"(url\(|@import)\s*['\"]?(https?:)?//", sheet.read_text(encoding="utf-8")
        )


def _named(page: Html, tag: str, key: str) -> dict[str, list[str]]:
    """Elements of a kind by one attribute -> what they say."""
    found: dict[str, list[str]] = {}
    for element in page.elements:
        if element.tag == tag and key in element.attributes:
            told = element.attributes.get("content", element.attributes.get("href", ""))
            found.setdefault(element.attributes[key], []).append(told)
    return found


def _is_page(path: str, page: Html) -> bool:
    """Whether an address has a page of its own: it leads nowhere else, and is not the one for dead
    addresses.
    """
    return path != "404.html" and "refresh" not in _named(page, "meta", "http-equiv")


CARD = ("og:type", "og:url", "og:title", "og:description", "og:image", "og:image:alt")


def test_a_link_to_any_page_shows_what_it_is_about() -> None:
    pages = {path: page for path, page in html().items() if _is_page(path, page)}
    assert len(pages) > 1_000
    for path, page in pages.items():
        told = {**_named(page, "meta", "property"), **_named(page, "meta", "name")}
        (title, *_) = [part.strip() for part in page.parts if part.strip()]
        assert all(len(told[each]) == 1 and told[each][0].strip() for each in CARD), path
        assert told["twitter:card"] == ["summary_large_image"], path
        assert (
            told["og:url"]
            == _named(page, "link", "rel")["canonical"]
            == [ADDRESS + path.removesuffix("index.html")]
        )
        assert title in (told["og:title"][0] + " - d9m", "d9m"), path
        assert told["og:description"] == told["description"], path
        assert told["og:image"] == [ADDRESS + "assets/card.png"], path


def test_the_picture_of_a_link_has_the_size_that_it_promises() -> None:
    picture = (built() / "assets" / "card.png").read_bytes()
    size = [int.from_bytes(picture[at : at + 4], "big") for at in (16, 20)]
    told = _named(html()["index.html"], "meta", "property")
    assert picture.startswith(b"\x89PNG")
    assert (
        [told["og:image:width"], told["og:image:height"]]
        == [[str(each)] for each in size]
        == [["1200"], ["630"]]
    )


def test_descriptions_tell_pages_apart() -> None:
    """All but a few: what search engines print below the title is no use if it is everywhere the
    same.
    """
    told = [
        _named(page, "meta", "name")["description"][0]
        for path, page in html().items()
        if _is_page(path, page)
    ]
    assert len(set(told)) > 0.97 * len(told)
    assert [each for each in told if len(each) > 160] == []


def test_no_id_is_twice_on_a_page() -> None:
    for path, page in html().items():
        ids = [each.attributes["id"] for each in page.elements if "id" in each.attributes]
        assert len(ids) == len(set(ids)), (path, [each for each in set(ids) if ids.count(each) > 1])


def test_record_pages_stay_out_of_the_navigation() -> None:
    links = {
        element.attributes["href"]
        for element in html()["index.html"].elements
        if "md-nav__link" in _classes(element) and "href" in element.attributes
    }
    assert "sources/" in links
    assert not {link for link in links if link.startswith("sources/") and link != "sources/"}


def _classes(element: object) -> list[str]:
    attributes: dict[str, str] = getattr(element, "attributes", {})
    return attributes.get("class", "").split()


def test_two_builds_are_equal_to_the_byte(tmp_path: Path) -> None:
    elsewhere = tmp_path / "another plàce"
    build(SMALL, tmp_path / "1", PYTHONHASHSEED="1")
    before = os.umask(0o077)
    try:
        build(SMALL, elsewhere, PYTHONHASHSEED="2", TZ="Asia/Kolkata", LC_ALL="C")
    finally:
        os.umask(before)
    first, second = _files(tmp_path / "1"), _files(elsewhere)
    assert first.keys() == second.keys()
    assert not [file for file in first if first[file] != second[file]]


def _files(folder: Path) -> dict[str, bytes]:
    return {
        path.relative_to(folder).as_posix(): path.read_bytes()
        for path in folder.rglob("*")
        if path.is_file()
    }
