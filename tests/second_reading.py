"""Reading the records for a second opinion: names, releases and places, from the YAML itself.

All versions of a package that occur anywhere stand in one list; from there on a
release is an index into it. Nothing here is shared with d9m.
"""

from __future__ import annotations

import functools
import json
import re
from collections.abc import Iterator
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import Any

import yaml

BOTH = frozenset(["forward", "backward"])

OPLESS = "*"
"""Name under which the sources of no op stand."""

Record = dict[str, Any]


@dataclass(frozen=True)
class Item:
    """An op, with what its spelling says of the call."""

    op: str
    arguments: Record = field(default_factory=dict)
    ways: frozenset[str] = BOTH
    when: Record = field(default_factory=dict)


@dataclass(frozen=True, eq=False)
class Way:
    """One way in which a name meets a source: through `item`, as one of `patterns`."""

    source: str
    item: Item
    patterns: tuple[Item, ...]

    @functools.cached_property
    def alike(self) -> tuple[Any, ...]:
        """What decides the answer: all but which op it is."""
        called = tuple(_arguments(each) for each in self.patterns)
        return self.source, _arguments(self.item), repr(self.item.when), called


@dataclass(frozen=True, eq=False)
class AskedPlace:
    """Where a question is asked."""

    device: str
    image: str | None = None
    facts: dict[str, str] = field(default_factory=dict)
    releases: dict[str, tuple[int, ...]] = field(default_factory=dict)
    """Package -> indices of the releases in question."""
    standing: dict[str, str] = field(default_factory=dict)
    """Package of an image -> ``between`` two releases, ``newer`` than all, ``around``: from one to
    the other.
    """


class Book:
    """All records under one ``kb/`` folder."""

    def __init__(self, root: Path) -> None:
        def folder(kind: str) -> dict[str, Record]:
            found = sorted((root / kind).rglob("*.yaml"))
            return {
                each.relative_to(root / kind).with_suffix("").as_posix(): _read(each)
                for each in found
            }

        self.facts = _read(root / "facts.yaml")
        self.packages = folder("versions")
        for name, package in self.packages.items():
            package["releases"] = _releases(
                root / "evidence" / "releases" / f"{name}.json", package
            )
        self.sources = {
            name: each
            for name, each in folder("sources").items()
            if each.get("scope", "run") == "run"
        }
        self.solutions = {each["label"]: each for each in folder("solutions").values()}
        self.catalogues = list(folder("ops").values())
        self.index = self._index()
        self.releases = {
            name: sorted(each["releases"], key=functools.partial(self.at, name))
            for name, each in self.packages.items()
        }
        self._homes = {
            each["folder"]: name for name, each in self.packages.items() if "folder" in each
        }

    def _index(self) -> dict[str, dict[str, int]]:
        """Package -> version -> index among all versions of it that occur anywhere."""
        found = {name: set(each["releases"]) for name, each in self.packages.items()}
        bounds = [
            each
            for record in (*self.sources.values(), *self.solutions.values())
            for each in _bounds(record, "")
        ]
        bounds += [
            (each["package"], bound)
            for each in self.catalogues
            for _op, bound in _bounds(each["ops"], "")
        ]
        bounds += [
            each for record in self.catalogues for each in _bounds(record.get("reach", {}), "")
        ]
        bounds += [
            (name, bound)
            for name, each in self.packages.items()
            for _, bound in _bounds(each.get("tags", []), "")
        ]
        bounds += [
            (name, _number(version))
            for package, each in self.packages.items()
            for release in each["releases"]
            for name, version in self._contents(package, release).items()
        ]
        for name, bound in bounds:
            if name in found:
                found[name].add(bound)
        lists = {
            name: sorted({_normal(each) for each in versions}, key=_numbers)
            for name, versions in found.items()
        }
        return {
            name: {version: place for place, version in enumerate(each)}
            for name, each in lists.items()
        }

    @functools.cache  # noqa: B019 - a book lives as long as the tests
    def at(self, package: str, version: str) -> int:
        return self.index[package][_normal(version)]

    def home(self, source: str) -> str:
        return self._homes[source.partition("/")[0]]

    def answerable(self, package: str) -> bool:
        """Whether anything can be asked of a package: it has ops, or sources that are no op's."""
        return bool(self.catalogue(package, "ops") or self.readings(package, OPLESS))

    def reference(self, package: str, release: str) -> str:
        """How a container of a release is named."""
        record, at = self.packages[package], self.at(package, release)
        tags = (
            each["forms"][0]
            for each in record["tags"]
            if self.allows(package, each.get("when", {}), at)
        )
        return f"{record['image']}:{next(tags).format(release=release)}"

    def _contents(self, package: str, release: str) -> dict[str, str]:
        return (self.packages[package]["releases"][release] or {}).get("with", {})

    # --- names -----------------------------------------------------------------

    @functools.cache  # noqa: B019
    def catalogue(self, package: str, part: str) -> Record:
        """``ops`` or ``reach`` of all files of a package."""
        mine = [each.get(part, {}) for each in self.catalogues if each["package"] == package]
        return {name: value for each in mine for name, value in each.items()}

    def names(self, package: str, place: AskedPlace, part: str) -> list[str]:
        """The ``ops``, or the names that ``reach`` some, that can be asked for there."""
        return [
            name
            for name in self.catalogue(package, part)
            if self.having(package, name, place) is not None
            and any(
                self.having(package, each.op, place) is not None
                for each in self._items(package, name)
            )
        ]

    def meets(self, package: str, name: str) -> bool:
        """Whether a name meets a source in any release."""
        return bool(self.readings(package, name))

    @functools.cache  # noqa: B019
    def _items(self, package: str, name: str) -> list[Item]:
        """The ops that a name means."""
        found = [Item(name)] if name in self.catalogue(package, "ops") else []
        for target in self.catalogue(package, "reach").get(name, []):
            way = (
                _item(target)
                if isinstance(target, str)
                else _item(target["op"], target.get("when"))
            )
            for inner in self._items(package, way.op):
                arguments, when = {**inner.arguments, **way.arguments}, {**inner.when, **way.when}
                found.append(Item(inner.op, arguments, inner.ways & way.ways, when))
        return found

    def having(self, package: str, name: str, place: AskedPlace) -> AskedPlace | None:
        """Where the question is asked, without known releases that lack a name; None: all do."""
        span = self.catalogue(package, "ops").get(name) or {}
        every = place.releases[package]
        kept = tuple(each for each in every if self.allows(package, span, each))
        if not kept:
            return None
        if place.standing.get(package) in ("newer", "between"):
            return place
        return replace(place, releases={**place.releases, package: kept})

    @functools.cache  # noqa: B019
    def readings(self, package: str, name: str) -> list[Way]:
        """All ways in which a name meets a source."""
        if name == OPLESS:
            mine = [
                id_
                for id_, each in self.sources.items()
                if self.home(id_) == package and not each.get("ops")
            ]
            return [Way(id_, Item(""), (Item(""),)) for id_ in mine]
        return [
            Way(id_, each, patterns)
            for each in self._items(package, name)
            for id_, patterns in self._patterns(package).get(each.op, {}).items()
        ]

    @functools.cache  # noqa: B019
    def _patterns(self, package: str) -> dict[str, dict[str, tuple[Item, ...]]]:
        """Op -> source -> how they meet."""
        found: dict[str, dict[str, tuple[Item, ...]]] = {}
        for id_, source in self.sources.items():
            for each in map(_item, source.get("ops", []) if self.home(id_) == package else []):
                ways = found.setdefault(each.op, {})
                ways[id_] = (*ways.get(id_, ()), each)
        return found

    # --- places ----------------------------------------------------------------

    def stock(self, package: str, release: str, device: str, facts: dict[str, str]) -> AskedPlace:
        """A released package, as a person types it: 0.1 is every 0.1.x. For a GPU its wheel brings
        what it ships.
        """
        place = AskedPlace(device, None, facts, {package: self._candidates(package, release)[0]})
        for name, version in self._contents(package, release).items() if device == "cuda" else ():
            place.releases[name] = self._candidates(name, version)[0]
        for name in self.packages[package].get("builds", {}).get(device, []):
            place.releases[name] = tuple(range(len(self.index[name])))
        return place

    def image(self, package: str, release: str, device: str, facts: dict[str, str]) -> AskedPlace:
        """A vendor's image: what it holds is fixed."""
        place = AskedPlace(device, package, facts, {package: (self.at(package, release),)})
        for name, version in self._contents(package, release).items():
            place.releases[name], place.standing[name] = self._candidates(name, version)
        stock = self.packages[package].get("stock")
        if stock and stock not in place.releases:
            place.releases[stock], place.standing[stock] = (
                self._unseen(package, release, stock),
                "between",
            )
        for part in [
            name for name, record in self.packages.items() if record["kind"] == "platform"
        ]:
            bounds = self._bounds(package, release, part)
            if part not in place.releases and len(bounds) == 2:
                place.releases[part], place.standing[part] = bounds, "around"
        return place

    def _bounds(self, package: str, release: str, part: str) -> tuple[int, ...]:
        """What the last confirmed image before and the first one after hold of a part that nobody
        wrote down.
        """
        images, here = self.packages[package]["releases"], self.at(package, release)
        told = [
            (self.at(package, each), self.at(part, _number(self._contents(package, each)[part])))
            for each in self.releases[package]
            if part in self._contents(package, each) and "confidence" not in images[each]
        ]
        return (
            *[inside for at, inside in told if at < here][-1:],
            *[inside for at, inside in told if at > here][:1],
        )

    def _unseen(self, package: str, release: str, stock: str) -> tuple[int, ...]:
        """What may be inside an image that nobody looked into: the confirmed images around it are
        the bounds.
        """
        known = [self.at(stock, each) for each in self.releases[stock]]
        images, low, high = self.packages[package]["releases"], known[0], known[-1]
        for each in self.releases[package]:
            if stock in self._contents(package, each) and "confidence" not in images[each]:
                inside = self._candidates(stock, self._contents(package, each)[stock])[0]
                if self.at(package, each) > self.at(package, release):
                    high = inside[-1]
                    break
                low = inside[0]
        return tuple(each for each in known if low <= each <= high)

    def _candidates(self, package: str, version: str) -> tuple[tuple[int, ...], str]:
        """Releases that a version may stand for, and how it stands to them."""
        number, known = _number(version), self.releases[package]
        final = version.removeprefix("v")[len(number) :][:1] in ("", "+")
        here, places = self.at(package, number), [self.at(package, each) for each in known]
        named = [
            self.at(package, each)
            for each in known
            if f"{each}.".startswith(f"{number}.") or self.at(package, each) == here
        ]
        below, above = (
            [each for each in places if each < here],
            [each for each in places if each >= here],
        )
        if known and not above:
            return (places[-1],), "newer"
        if known and not final:
            return (*below[-1:], above[0]), "between"
        return tuple(named) or (here,), "exactly"

    # --- bounds ----------------------------------------------------------------

    def allows(self, name: str, allowed: Any, value: Any) -> bool:
        """Whether a variable may have a value: a release by its index, None for an absent
        package.
        """
        if isinstance(allowed, str):
            return allowed == ("absent" if value is None else str(value))
        if isinstance(allowed, list):
            return ("absent" if value is None else str(value)) in allowed
        if value is None:
            return False
        low, high = allowed.get("from"), allowed.get("until")
        if name in self.facts:
            return (low is None or int(low) <= value) and (high is None or value < int(high))
        return (low is None or self.at(name, low) <= value) and (
            high is None or value < self.at(name, high)
        )


def _read(path: Path) -> Record:
    return yaml.load(path.read_text(encoding="utf-8"), yaml.CBaseLoader)


def _releases(listed: Path, package: Record) -> Record:
    """Releases that a package's evidence lists and those that its record names, with what is in
    each.
    """
    read = json.loads(listed.read_text("utf-8")) if listed.exists() else {}
    found: Record = {name: {} for name in read.get("releases", {})}
    for name, pins in read.get("pins", {}).items():
        found[name]["with"] = pins
    for name, stated in package.get("releases", {}).items():
        found[name] = {**found.get(name, {}), **stated}
    contents: Record = package.get("contains", {})
    starts = sorted(contents, key=_numbers)
    for start, end in zip(starts, [*starts[1:], *starts[-1:]]):
        for name in found:
            if name == start or _numbers(start) <= _numbers(name) < _numbers(end):
                found[name].setdefault("with", contents[start])
    return found


def _numbers(release: str) -> list[int]:
    return [int(number) for number in release.split(".")]


def _item(text: str, when: Record | None = None) -> Item:
    """``name[argument=value,…]:direction``."""
    found = re.fullmatch(r"((?:[^\[:]|::)+)(?:\[(.*)\])?((?::[^:]+)*)", text)
    assert found, text
    words = [each.strip() for each in [*(found[2] or "").split(","), *found[3].split(":")]]
    ways = frozenset(words) & BOTH
    return Item(
        found[1], dict(each.split("=") for each in words if "=" in each), ways or BOTH, when or {}
    )


def _arguments(item: Item) -> tuple[Any, ...]:
    return (*item.arguments.items(), item.ways)


def _bounds(value: Any, name: str) -> Iterator[tuple[str, str]]:
    """Every version written under the name of a package."""
    if isinstance(value, dict):
        yield from (
            (name, value[each])
            for each in ("from", "until", "verified_through")
            if isinstance(value.get(each), str)
        )
        for key, inner in value.items():
            yield from _bounds(inner, key)
    elif isinstance(value, list):
        for inner in value:
            yield from _bounds(inner, name)


def _number(version: str) -> str:
    found = re.match(r"v?(\d+(?:\.\d+)*)", version)
    return found[1] if found else "0"


def _normal(version: str) -> str:
    """2.1 and 2.1.0 are one release."""
    return re.sub(r"(\.0)+$", "", version)


def _numbers(version: str) -> list[int]:
    return [int(part) for part in version.split(".")]
