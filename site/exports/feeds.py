"""Atom feeds: what each line of releases changed for determinism, newest first; all, and one a
framework.
"""

from __future__ import annotations

import itertools
from collections.abc import Iterator
from xml.sax.saxutils import escape, quoteattr

import msgspec

from d9m.kb.store import KnowledgeBase
from d9m.model.advice import OpAnswer
from exports.addresses import SITE, directory
from pages import grid, releases
from pages.releases import Change

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


def _entries(kb: KnowledgeBase, package: str) -> Iterator[_Entry]:
    every = grid.lines(kb, package) if grid.grids(kb, package) else ()
    for earlier, line in itertools.pairwise(every):
        date = kb.packages[package].releases[line.releases[0]].date
        found = releases.changes(kb, package, earlier, line)
        if date and found:
            title = f"{kb.packages[package].title} {line.name}"
            yield _Entry(
                _day(date), directory(releases.path(package, line.name)), title, _told(found)
            )


def _day(date: str) -> str:
    """The first day of a month that is all that is known."""
    return date if date.count("-") == 2 else f"{date}-01"


def _told(changes: list[Change]) -> str:
    return "; ".join(map(_change, changes))


def _change(change: Change) -> str:
    before, after = _outcome(change.before), _outcome(change.after)
    return f"{', '.join(change.ops)}: {before} -> {after}"


def _outcome(op: OpAnswer | None) -> str:
    if op is None:
        return "not met"
    return f"{op.outcome} with {' + '.join(op.solutions)}" if op.solutions else op.outcome


def _feed(kb: KnowledgeBase, name: str, title: str, entries: list[_Entry]) -> bytes:
    newest = sorted(entries, key=lambda each: (each.date, each.path), reverse=True)[:MOST]
    lines = [
        '<?xml version="1.0" encoding="utf-8"?>',
        '<feed xmlns="http://www.w3.org/2005/Atom" xml:lang="en">',
        f"<title>{escape(title)}</title>",
        f"<id>{SITE}feeds/{name}.xml</id>",
        f'<link rel="self" type="application/atom+xml" href="{SITE}feeds/{name}.xml"/>',
        f'<link rel="alternate" type="text/html" href="{SITE}"/>',
        f"<updated>{kb.meta.date}T00:00:00Z</updated>",
        "<author><name>d9m</name></author>",
        *(line for each in newest for line in _entry(each)),
        "</feed>",
    ]
    return ("\n".join(lines) + "\n").encode()


def _entry(entry: _Entry) -> list[str]:
    address = SITE + entry.path
    return [
        "<entry>",
        f"<title>{escape(entry.title)}</title>",
        f"<id>{escape(address)}</id>",
        f'<link rel="alternate" type="text/html" href={quoteattr(address)}/>',
        f"<updated>{entry.date}T00:00:00Z</updated>",
        f"<summary>{escape(entry.text)}</summary>",
        "</entry>",
    ]
