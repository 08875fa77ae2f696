"""The names that can be asked for, what each leads to, and which of them a release lacks."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping
from typing import Any

from advisor.columns import Columns
from advisor.tensors import Pool
from d9m.environment.releases import Installed
from d9m.kb.store import KnowledgeBase, OpEntry
from d9m.model.op_syntax import BOTH
from d9m.model.records import Existence
from d9m.model.versions import within


class Catalogues:
    def __init__(self, kb: KnowledgeBase, columns: Columns) -> None:
        self.kb = kb
        self.columns = columns
        self.absences = Pool()
        """Numbers of names that some releases lack."""
        self._entries = {
            package: [
                kb.get("ops", place) for place in kb.keys("ops") if place.startswith(f"{package}:")
            ]
            for package in kb.meta.prefixes
        }
        self._absent: dict[tuple[str, tuple[str, ...]], int] = {}

    def absent(self, packages: Mapping[str, Installed]) -> tuple[int, ...]:
        """For each package with a catalogue: the place of the names that none of its releases
        has.
        """
        here = [name for name in packages if name in self._entries]
        return tuple(self._lacks(name, packages[name].candidates.releases) for name in here)

    def _lacks(self, package: str, releases: tuple[str, ...]) -> int:
        place = (package, releases)
        if place not in self._absent:
            entries = enumerate(self._entries[package])
            missing = tuple(
                number for number, entry in entries if not _exists(entry.exists, releases)
            )
            self._absent[place] = self.absences.place(missing)
        return self._absent[place]

    def of(self, package: str) -> dict[str, Any]:
        """One catalogue; a name's number is its place."""
        entries = self._entries[package]
        numbers = {entry.name: number for number, entry in enumerate(entries)}
        return {
            "prefixes": self.kb.meta.prefixes[package],
            "add_ons": self.kb.meta.add_ons.get(package, {}),
            "names": [[entry.name, *self._reach(package, entry, numbers)] for entry in entries],
            "several": dict(self._several(package, numbers)),
        }

    def _several(self, package: str, numbers: dict[str, int]) -> Iterator[tuple[str, list[int]]]:
        """Parts of names that mean several, where their order is not that of the names."""
        for place in self.kb.keys("names"):
            home, _colon, text = place.partition(":")
            found = (
                [numbers[each] for each in self.kb.get("names", place)] if home == package else []
            )
            if found != sorted(found):
                yield text, found

    def _reach(self, package: str, entry: OpEntry, numbers: dict[str, int]) -> Iterator[Any]:
        """Whether it is an op itself; then all that it leads to, with the columns that this
        meets.
        """
        yield int(entry.catalogued)
        for each in entry.reaches:
            ways = [BOTH.index(way) for way in each.directions]
            yield [numbers[each.op], each.arguments, ways, self.columns.of_op(package, each)]


def _exists(exists: Existence, releases: Iterable[str]) -> bool:
    return any(within(each, exists) for each in releases)
