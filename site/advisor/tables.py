"""All tables as one file."""

from __future__ import annotations

from collections.abc import Hashable, Iterable, Iterator
from typing import Any

import msgspec

import d9m
from advisor.columns import Column, Sheet, columns, positions
from advisor.environments import Choice, Offered, Offers, choices
from advisor.statements import Conditions, Statements
from advisor.tensors import Pool, Tensors
from d9m.conditions import Cuts
from d9m.environment import DEVICES, Installed
from d9m.explain import pattern
from d9m.judge import NOT_MET
from d9m.kb.tables import KnowledgeBase, OpEntry
from d9m.query import BOTH
from d9m.records import Existence
from d9m.versions import covers, key


def tables(kb: KnowledgeBase) -> bytes:
    """The file that the page reads: JSON, the same for the same records."""
    return msgspec.json.encode(_Tables(kb).everything())


class _Tables:
    def __init__(self, kb: KnowledgeBase) -> None:
        self.kb = kb
        self.tensors = Tensors()
        self.sheet = Sheet(kb, self.tensors)
        self.sheet.verdicts.place((NOT_MET, NOT_MET))
        self.columns = list(columns(kb))
        self.conditions = Conditions(self.tensors)
        self.offers = Offers(kb)
        self.packages, self.absences, self.cells, self.rows, self.lines = Pool(), Pool(), Pool(), Pool(), Pool()
        self.sources = list(dict.fromkeys(column.met.id for column in self.columns))
        self._absent: dict[tuple[str, tuple[str, ...]], int] = {}
        self._answers: dict[Hashable, tuple[int, int]] = {}
        self._parts: dict[Hashable, int] = {}
        self._domains = Pool()
        self.cuts: dict[str, tuple[str, ...]] = {}
        """Every bound of every package: filled once all conditions are known."""

    def everything(self) -> dict[str, Any]:
        kb, said = self.kb, Statements(self.kb, self.conditions)
        told = {
            "sources": [said.source(id_) for id_ in self.sources],
            "solutions": [said.solution(id_) for id_ in kb.keys("solutions")],
            "settings": {name: said.setting(name) for name in kb.keys("settings")},
            "ingredients": [said.ingredient(id_) for id_ in self._ingredients()],
            "wordings": {id_: said.error(id_) for id_ in kb.keys("errors")},
        }
        self.cuts = _joined([*map(self.sheet.cuts, self.columns), *self.conditions.cuts()])
        offered = [self._offered(choice) for choice in choices(kb)]
        return {
            "d9m": {"version": d9m.__version__, "kb_date": kb.meta.date},
            "devices": DEVICES,
            "facts": {
                name: [fact.title, fact.values or None, fact.default, int(fact.argument)]
                for name, fact in sorted(kb.meta.facts.items())
            },
            "choices": offered,
            "about": {name: self._about(name) for name in kb.keys("packages")},
            "catalogues": {package: self._catalogue(package) for package in kb.meta.prefixes},
            "columns": [
                [
                    self.sources.index(each.met.id),
                    each.home,
                    each.op,
                    _way(each),
                    int(each.splits),
                    self.sheet.asks(each),
                ]
                for each in self.columns
            ],
            **told,
            "errors": [self._error(id_) for id_ in kb.keys("errors")],
            "ranks": self._ranks(),
            "domains": self.tensors.domains.values,
            "tensors": self.tensors.tensors.values,
            "verdicts": [[self._verdict(each) for each in dict.fromkeys(pair)] for pair in self.sheet.verdicts.values],
            "packages": self.packages.values,
            "absences": self.absences.values,
            "cells": self.cells.values,
            "lines": self.lines.values,
            "rows": self.rows.values,
        }

    def _ingredients(self) -> list[str]:
        known = [(id_, self.kb.get("ingredients", id_)) for id_ in self.kb.keys("ingredients")]
        return [id_ for id_, each in sorted(known, key=lambda each: (each[1].order, each[0]))]

    # --- environments -------------------------------------------------------------

    def _offered(self, choice: Choice) -> dict[str, Any]:
        rows: dict[str, list[int]] = {}
        for version, _device, offered in self.offers.of(choice):
            rows.setdefault(version, []).append(self.rows.place(self._row(offered)))
        return {
            "name": choice.name,
            "title": choice.title,
            "option": choice.option,
            "versions": list(choice.versions),
            "rows": [each if len(set(each)) > 1 else each[0] for each in rows.values()],
            "same": dict(self._same(choice)),
        }

    def _same(self, choice: Choice) -> Iterator[tuple[str, str]]:
        """Other spellings of a version: a line that has one release, a tag cut at a hyphen."""
        for version in choice.versions:
            shorter = version.rpartition("-" if choice.option == "--container" else ".")[0]
            several = [each for each in choice.versions if covers(shorter, each) or each.startswith(f"{shorter}-")]
            if shorter and shorter not in choice.versions and len(several) == 1:
                yield shorter, version

    def _row(self, offered: Offered) -> tuple[int, ...]:
        """What an environment holds, what it lacks, and what its sources and its conditions answer."""
        packages = offered.environment.packages
        held = tuple(self.packages.place(_held(name, each)) for name, each in packages.items())
        catalogues = [name for name in packages if name in self.kb.meta.prefixes]
        absent = tuple(self._absences(name, packages[name].candidates.releases) for name in catalogues)
        alike = self._alike(offered)
        if alike not in self._answers:
            self._answers[alike] = self._answered(offered)
        return (self.lines.place(held), self.lines.place(absent), *self._answers[alike])

    def _answered(self, offered: Offered) -> tuple[int, int]:
        cells = tuple(
            self.cells.place(self.sheet.cell(each, offered)) if each.home in offered.environment.packages else -1
            for each in self.columns
        )
        return (self.lines.place(cells), self.lines.place(self.conditions.row(offered)))

    def _alike(self, offered: Offered) -> Hashable:
        """Equal for environments that no condition at all can tell apart."""
        environment = offered.environment
        parts: list[Hashable] = [environment.device, environment.image.package if environment.image else None]
        for name, number in offered.held.items():
            place = (name, number)
            if place not in self._parts:
                installed = environment.packages.get(name)
                newest = installed.candidates.releases[-1] if installed and installed.candidates.how == "newer" else ""
                where = positions(environment, name, self.cuts.get(name, ()))
                self._parts[place] = self._domains.place((name, newest, installed and installed.origin, where))
            parts.append(self._parts[place])
        return tuple(parts)

    def _absences(self, package: str, releases: tuple[str, ...]) -> int:
        """Names of a catalogue that none of the releases has."""
        place = (package, releases)
        if place not in self._absent:
            entries = enumerate(self._entries(package))
            missing = tuple(number for number, entry in entries if not _exists(entry.exists, releases))
            self._absent[place] = self.absences.place(missing)
        return self._absent[place]

    def _entries(self, package: str) -> list[OpEntry]:
        return self.kb.once(("entries", package), lambda: _entries(self.kb, package))

    # --- what the page tells --------------------------------------------------------

    def _catalogue(self, package: str) -> dict[str, Any]:
        entries = self._entries(package)
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
            found = [numbers[each] for each in self.kb.get("names", place)] if home == package else []
            if found != sorted(found):
                yield text, found

    def _reach(self, package: str, entry: OpEntry, numbers: dict[str, int]) -> Iterator[Any]:
        """Whether it is an op itself, and all that it leads to where that is more than itself."""
        yield int(entry.catalogued)
        for each in entry.reaches:
            met = [
                number
                for number, column in enumerate(self.columns)
                if column.home == package and column.op == each.op and column.when == each.when
            ]
            yield [numbers[each.op], each.arguments, [BOTH.index(way) for way in each.directions], met]

    def _about(self, name: str) -> dict[str, Any]:
        covered = name in self.kb.meta.folders.values() and (
            name in self.kb.meta.prefixes or bool(self.kb.opless(name))
        )
        return {
            "title": self.kb.package(name).title,
            "imports": self.kb.package(name).imports,
            "covered": int(covered),
            "platform": int(name in self.kb.meta.platforms),
            "application": int(self.kb.package(name).kind == "application"),
        }

    def _error(self, id_: str) -> dict[str, Any]:
        error = self.kb.get("errors", id_)
        patterns = dict.fromkeys(pattern(each.text).pattern.replace("(?P<", "(?<") for each in error.texts)
        package = self.kb.meta.folders.get(id_.partition("/")[0])
        return {"id": id_, "title": error.title, "kind": error.kind, "advice": error.advice, "package": package,
                "ops": error.ops, "patterns": list(patterns)}  # fmt: skip

    def _verdict(self, verdict: Any) -> dict[str, Any]:
        return {name: value for name, value in msgspec.structs.asdict(verdict).items() if value not in (None, ())}

    def _ranks(self) -> dict[str, dict[str, int]]:
        """Order of all bounds and releases of a package that the page compares."""
        bounds: dict[str, set[str]] = {}
        for name, cells in self.tensors.domains.values:
            if name not in self.kb.meta.facts:
                bounds.setdefault(name, set()).update(edge for pair in cells for edge in pair if edge is not None)
        for variables, leaves in self.tensors.tensors.values:
            del variables
            for leaf in leaves:
                if isinstance(leaf, tuple):
                    bounds.setdefault(leaf[0], set()).add(leaf[1])
        return {name: _ranked(edges) for name, edges in sorted(bounds.items())}


def _joined(all_cuts: Iterable[Cuts]) -> dict[str, tuple[str, ...]]:
    found: dict[str, set[str]] = {}
    for each in all_cuts:
        for name, bounds in each.items():
            found.setdefault(name, set()).update(bounds)
    return {name: tuple(sorted(bounds)) for name, bounds in found.items()}


def _entries(kb: KnowledgeBase, package: str) -> list[OpEntry]:
    return [kb.get("ops", place) for place in kb.keys("ops") if place.startswith(f"{package}:")]


def _way(column: Column) -> int:
    """0: both directions, 1: forward only, 2: backward only."""
    return BOTH.index(column.ways[0]) + 1 if len(column.ways) == 1 else 0


def _ranked(texts: Iterable[str]) -> dict[str, int]:
    places = sorted({key(each) for each in texts})
    return {each: places.index(key(each)) for each in sorted(texts, key=lambda each: (key(each), each))}


def _exists(exists: Existence, releases: Iterable[str]) -> bool:
    low = () if exists.from_ is None else key(exists.from_)
    return any(low <= key(each) and (exists.until is None or key(each) < key(exists.until)) for each in releases)


def _held(name: str, installed: Installed) -> tuple[Any, ...]:
    around = installed.candidates
    return (name, installed.version, around.releases, around.how, installed.origin)
