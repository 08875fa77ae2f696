"""The names that can be asked for, what each leads to, and which of them a release lacks."""

from __future__ import annotations

import itertools
from collections.abc import Iterable, Iterator, Mapping
from typing import Any

from advisor.columns import Columns
from advisor.tensors import Pool
from d9m.environment.releases import Installed
from d9m.kb.store import KnowledgeBase, OpEntry, Reached
from d9m.model.op_syntax import BOTH, plain
from d9m.model.records import Existence
from d9m.model.signatures import Signature, exact, parameter_names
from d9m.model.versions import within


class Catalogues:
    def __init__(self, kb: KnowledgeBase, columns: Columns) -> None:
        self.kb = kb
        self.columns = columns
        self.absences = Pool()
        """Numbers of names that some releases lack."""
        self._entries: dict[str, list[OpEntry]] = {package: [] for package in kb.meta.prefixes}
        for place in kb.ops:
            entry = kb.ops[place]
            self._entries[entry.package].append(entry)
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
            "methods": self.kb.meta.methods[package],
            "plain": self.kb.meta.plain[package],
            "operators": self.kb.meta.operators.get(package, {}),
            "facts": {entry.name: entry.facts for entry in entries if entry.facts},
            "parts": {entry.name: self._parts(entry) for entry in entries if entry.parts},
            "spans": dict(_spans(entries)),
            "defaults": {entry.name: entry.defaults for entry in entries if entry.defaults},
            "signatures": {
                name: list(map(_written, stated))
                for name, stated in self._signatures(package).items()
            },
            "parameters": self._parameters(package),
        }

    def _parts(self, entry: OpEntry) -> dict[str, list[int]]:
        """Packages that work when an op does, and the columns of what they do."""
        return {part: self.columns.of_package[part] for part in entry.parts}

    def bounds(self, package: str) -> set[str]:
        """Releases between which the names of a package and their signatures change."""
        found: set[str | None] = set()
        for entry in self._entries[package]:
            found |= {entry.exists.from_, entry.exists.until}
        for stated in self._signatures(package).values():
            for signature in stated:
                found.update(*_limits(signature.spans))
        return {bound for bound in found if bound is not None}

    def _signatures(self, package: str) -> dict[str, tuple[Signature, ...]]:
        """The signatures of names by which a call can decide a fact that matters to an op."""
        found: dict[str, tuple[Signature, ...]] = {}
        for entry in self._entries[package]:
            asked: set[str] = set()
            for target in entry.reaches:
                asked |= self._asks(package, target)
            deciding: set[str] = set()
            for name in asked & self.kb.meta.facts.keys():
                deciding.update(self.kb.meta.facts[name].parameters)
            for name in self._called_as(package, entry) if deciding else ():
                stated = exact(self.kb.signatures.get(f"{package}:{plain(name)}") or (), name)
                if any(deciding & set(_parameters(signature)) for signature in stated):
                    found[name] = stated
        return found

    def _parameters(self, package: str) -> dict[str, list[str]]:
        """Name -> parameters of its calls, in any release, that are not facts."""
        found: dict[str, list[str]] = {}
        for entry in self._entries[package]:
            names = [] if entry.is_message else self._called_as(package, entry)
            if names and not entry.catalogued and len(entry.reaches) == 1:
                names.append(entry.reaches[0].op)
            known: set[str] = set()
            for name in names:
                for signature in self.kb.signatures.get(f"{package}:{plain(name)}") or ():
                    known.update(_parameters(signature))
            foreign = sorted(known - self.kb.meta.facts.keys())
            if foreign:
                found[entry.name] = foreign
        return found

    def _called_as(self, package: str, entry: OpEntry) -> list[str]:
        last = entry.name.rpartition(".")[2]
        return [entry.name, *(f"{space}{last}" for space in self.kb.meta.methods[package])]

    def _asks(self, package: str, target: Reached) -> set[str]:
        """Facts that matter to an op that a name reaches."""
        asked = {*target.arguments, *target.when}
        for number in self.columns.of_op(package, target):
            asked.update(self.columns.every[number].asks)
        return asked

    def _several(self, package: str, numbers: dict[str, int]) -> Iterator[tuple[str, list[int]]]:
        """Parts of names that mean several, where their order is not that of the names."""
        for place in self.kb.names:
            home, _colon, text = place.partition(":")
            found = [numbers[name] for name in self.kb.names[place]] if home == package else []
            if found != sorted(found):
                yield text, found

    def _reach(self, package: str, entry: OpEntry, numbers: dict[str, int]) -> Iterator[Any]:
        """Its sort; then all that it leads to, with the columns that this meets."""
        yield MESSAGE if entry.is_message else int(entry.catalogued)
        for target in entry.reaches:
            ways = list(map(BOTH.index, target.directions))
            columns = self.columns.of_op(package, target)
            yield [numbers[target.op], target.arguments, ways, columns]


MESSAGE = 2
"""Sort of a name that stands in messages; 1 is an op itself, 0 any other name."""


def _limits(spans: Iterable[Existence]) -> list[tuple[str | None, str | None]]:
    return [(span.from_, span.until) for span in spans]


def _spans(entries: Iterable[OpEntry]) -> Iterator[tuple[int, tuple[str | None, str | None]]]:
    """Number of each name that some releases lack, with its first release and the one after its
    last.
    """
    for number, entry in enumerate(entries):
        if entry.exists != Existence():
            yield number, (entry.exists.from_, entry.exists.until)


def _written(signature: Signature) -> list[Any]:
    return [_limits(signature.spans), signature.overloads]


def _parameters(signature: Signature) -> list[str]:
    return list(itertools.chain.from_iterable(map(parameter_names, signature.overloads)))


def _exists(exists: Existence, releases: Iterable[str]) -> bool:
    return any(within(each, exists) for each in releases)
