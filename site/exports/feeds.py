"""Atom feeds, newest first: what each line of releases changed for determinism, of all frameworks
and of each; and what d9m itself had wrong.
"""

from __future__ import annotations

import itertools
from collections.abc import Iterator
from xml.etree.ElementTree import Element, SubElement, tostring

import msgspec

from d9m.kb.store import KnowledgeBase
from exports.addresses import SITE, directory
from pages import corrections, grid, phrases, releases
from pages.differences import Change, ShownAnswer
from pages.places import places

MOST = 60
"""Entries of a feed: readers keep what they have seen."""


class _Entry(msgspec.Struct, frozen=True):
    date: str
    path: str
    title: str
    text: str


def files(kb: KnowledgeBase) -> Iterator[tuple[str, bytes]]:
    by_package = {package: list(_entries(kb, package)) for package in sorted(kb.meta.prefixes)}
    everything = [*itertools.chain.from_iterable(by_package.values())]
    yield (
        "feeds/all.xml",
        _feed(kb, "all", "Determinism in deep learning: changes by release", everything),
    )
    for package, entries in by_package.items():
        title = f"Determinism in {kb.packages[package].title}: changes by release"
        yield f"feeds/{package}.xml", _feed(kb, package, title, entries)
    yield "feeds/corrections.xml", _feed(kb, "corrections", "d9m: corrections", _corrected(kb))


def _entries(kb: KnowledgeBase, package: str) -> Iterator[_Entry]:
    every = grid.lines(kb, package) if grid.grids(kb, package) else ()
    for earlier, line in itertools.pairwise(every):
        date = kb.packages[package].releases[line.releases[0]].date
        found = releases.changes(kb, package, earlier, line)
        if date and found:
            title = f"{kb.packages[package].title} {line.name}"
            yield _Entry(
                _day(date), directory(releases.path(package, line.name)), title, _told(kb, found)
            )


def _corrected(kb: KnowledgeBase) -> list[_Entry]:
    found: list[_Entry] = []
    for id_, correction in corrections.newest_first(kb):
        place = places(kb)["corrections", id_]
        text = f"Was: {correction.was} Is: {correction.now}"
        path = f"{directory(place.page)}#{place.anchor}"
        found.append(_Entry(_day(correction.date), path, correction.title, text))
    return found


def _day(date: str) -> str:
    """The first day of a month that is all that is known."""
    return date if date.count("-") == 2 else f"{date}-01"


def _told(kb: KnowledgeBase, changes: list[Change]) -> str:
    return "; ".join([_change(kb, change) for change in changes])


def _change(kb: KnowledgeBase, change: Change) -> str:
    before, after = _outcome(kb, change.before), _outcome(kb, change.after)
    return f"{', '.join(change.ops)}: {before} -> {after}"


def _outcome(kb: KnowledgeBase, shown: ShownAnswer | None) -> str:
    if shown is None:
        return "does not apply"
    if shown.branches:
        return shown.branches
    if not shown.solutions:
        return phrases.WORDS[shown.outcome]
    titles = [kb.solution(label)[1].title for label in shown.solutions]
    return f"deterministic with {' and '.join(titles)}"


def _feed(kb: KnowledgeBase, name: str, title: str, entries: list[_Entry]) -> bytes:
    address = f"{SITE}feeds/{name}.xml"
    feed = Element("feed", {"xmlns": "http://www.w3.org/2005/Atom", "xml:lang": "en"})
    SubElement(feed, "title").text = title
    SubElement(feed, "id").text = address
    SubElement(feed, "link", rel="self", type="application/atom+xml", href=address)
    SubElement(feed, "link", rel="alternate", type="text/html", href=SITE)
    SubElement(feed, "updated").text = f"{kb.meta.date}T00:00:00Z"
    SubElement(SubElement(feed, "author"), "name").text = "d9m"
    newest_first = sorted(entries, key=lambda entry: (entry.date, entry.path), reverse=True)
    for entry in newest_first[:MOST]:
        _add(feed, entry)
    return tostring(feed, encoding="utf-8", xml_declaration=True)


def _add(feed: Element, entry: _Entry) -> None:
    address = SITE + entry.path
    element = SubElement(feed, "entry")
    SubElement(element, "title").text = entry.title
    SubElement(element, "id").text = address
    SubElement(element, "link", rel="alternate", type="text/html", href=address)
    SubElement(element, "updated").text = f"{entry.date}T00:00:00Z"
    SubElement(element, "summary").text = entry.text
