"""Fields that follow from other records or evidence: filled in when all are read."""

from __future__ import annotations

import re
from collections import defaultdict
from collections.abc import Iterable, Iterator, Mapping

import msgspec

from d9m.kb.kinds import INGREDIENTS, ISSUES, PACKAGES, PULL_REQUESTS, SOLUTIONS, SOURCES
from d9m.kb.loaded import Fault, Loaded
from d9m.model import records
from d9m.model.versions import in_order
from d9m.model.wheel_facts import Published

_CITING = (SOURCES.name, SOLUTIONS.name, INGREDIENTS.name)
_ADDRESSES = {PULL_REQUESTS.name: "pull", ISSUES.name: "issues"}
_DAY = re.compile(rb'"(?:date|merged|opened|read|updated)":"(\d{4}-\d\d-\d\d)"')


def newest_day(encoded: bytes) -> str:
    """Return the newest day that any record names: the date of the edition. Empty without any."""
    return max(_DAY.findall(encoded), default=b"").decode()


def derived(loaded: Iterable[Loaded], published: Mapping[str, Published]) -> Iterator[Loaded]:
    """Return the records, complete."""
    every = list(loaded)
    citing: dict[str, list[str]] = defaultdict(list)
    for one in every:
        if one.kind in _CITING:
            for reference in one.record.references:
                citing[reference].append(f"{one.kind}/{one.id}")
    for one in every:
        if one.kind == PACKAGES.name:
            record = _with_releases(one.record, published.get(one.id) or Published({}))
        elif one.kind in _ADDRESSES:
            record = _with_links(one, sorted(citing[one.id.replace("/", "#")]))
        else:
            yield one
            continue
        yield msgspec.structs.replace(one, record=record)


def _with_links(one: Loaded, citing: list[str]) -> records.PullRequest | records.Issue:
    """A pull request or issue with its address, and with the records that cite it."""
    stated: records.PullRequest | records.Issue = one.record
    kind = _ADDRESSES[one.kind]
    url = stated.url or f"https://github.com/{stated.repository}/{kind}/{stated.number}"
    return msgspec.structs.replace(stated, url=url, records=citing)


def _with_releases(package: records.Package, listed: Published) -> records.Package:
    """A package with what its evidence lists, and what its wheels contain, in each release."""
    releases: dict[str, records.Release] = {}
    inside: dict[str, str] = {}
    last_read = next(reversed(package.contains), "")
    for name in _in_order({**listed.releases, **package.releases}):
        inside = package.contains.get(name, inside)
        stated = package.releases.get(name, records.Release())
        releases[name] = msgspec.structs.replace(
            stated,
            date=stated.date or listed.releases.get(name) or None,
            with_={**inside, **listed.pins.get(name, {}), **stated.with_},
            note=stated.note or listed.notes.get(name),
        )
        if name == last_read:
            inside = {}
    return msgspec.structs.replace(package, releases=releases, contains={})


def _in_order(names: Mapping[str, object]) -> Iterable[str]:
    """Releases, oldest first; as they are written where one is no release, which lint reports."""
    try:
        return in_order(names)
    except ValueError:
        return names


def faults(loaded: Iterable[Loaded], published: Mapping[str, Published]) -> Iterator[Fault]:
    """Derived fields that a record has, and fields that nothing can be derived from."""
    packages = {one.id: one for one in loaded if one.kind == PACKAGES.name}
    for id_, one in packages.items():
        listed = {*one.record.releases, *(published[id_].releases if id_ in published else ())}
        for name in one.record.contains:
            if name not in listed:
                line = one.line("contains", name)
                yield Fault(one.file, line, "unknown-version", "not a release", "contains", name)
    for id_ in published:
        if id_ not in packages:
            place = f"evidence/releases/{id_}.json"
            yield Fault(place, 1, "file-place", f"there is no versions/{id_}.yaml")
    for one in loaded:
        if one.kind in _ADDRESSES and one.record.records:
            line = one.line("records")
            tip = "a record cites this under its `references`; drop the line here"
            yield Fault(one.file, line, "unknown-key", "is derived", value="records", tip=tip)
