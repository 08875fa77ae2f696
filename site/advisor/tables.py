"""All tables as one file."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from typing import Any, cast

import msgspec

from advisor.catalogue import Catalogues
from advisor.columns import Column, Columns, Sheet
from advisor.environments import Choice, Offered, Offers, choices
from advisor.rows import Rows
from advisor.several import Several
from advisor.statements import Conditions, Statements
from advisor.tensors import Pool, Tensors
from d9m.about import SCHEMA_VERSION, __version__
from d9m.environment.environment import DEVICES
from d9m.environment.releases import Installed
from d9m.environment.version_options import VERSION_OPTIONS
from d9m.kb.store import KnowledgeBase
from d9m.model.op_syntax import BOTH
from d9m.model.records import Fact, GpuModel
from d9m.model.versions import covers, key
from d9m.render.advice.program import is_own, module
from d9m.render.phrases import last_before
from d9m.resolve.op_names import modules
from d9m.resolve.package_verdict import is_seeded
from d9m.resolve.rules import NOT_MET


def tables(kb: KnowledgeBase) -> bytes:
    """The file that the page reads: JSON, the same for the same records."""
    return msgspec.json.encode(_Tables(kb).everything())


class _Tables:
    def __init__(self, kb: KnowledgeBase) -> None:
        self.kb = kb
        self.tensors = Tensors()
        self.sheet = Sheet(self.tensors)
        self.sheet.verdicts.place((NOT_MET, NOT_MET))
        self.columns = Columns(kb)
        self.conditions = Conditions(self.tensors)
        self.catalogues = Catalogues(kb, self.columns)
        self.packages, self.rows, self.lines = Pool(), Pool(), Pool()

    def everything(self) -> dict[str, Any]:
        kb = self.kb
        catalogues = {package: self.catalogues.of(package) for package in kb.meta.prefixes}
        sources = list(dict.fromkeys(each.op_source.id for each in self.columns.every))
        statements = Statements(kb, self.conditions).everything(sources)
        about = {name: self._about(name) for name in kb.packages}
        facts = {name: self._fact(fact) for name, fact in sorted(kb.meta.facts.items())}
        rows = Rows(kb, self.sheet, self.columns.every, self.conditions)
        offers = Offers(kb)
        offered = [self._offered(rows, offers, choice) for choice in choices(kb)]
        several = Several(kb, self.sheet, self.tensors)
        together = several.everything(self.columns.every, self.conditions)
        ranks = self._ranks()
        return {
            "schema_version": SCHEMA_VERSION,
            "d9m": {"version": __version__, "kb_date": kb.meta.date},
            "devices": DEVICES,
            "facts": facts,
            "choices": offered,
            "options": [option.options[0] for option in VERSION_OPTIONS.values()],
            "gpus": {name: _gpu(model) for name, model in kb.gpus[""].gpus.items()},
            "about": about,
            "modules": sorted(modules(kb)),
            "own_modules": sorted(filter(is_own, _imported(kb))),
            "catalogues": catalogues,
            "columns": [_column(each, sources) for each in self.columns.every],
            "together": together,
            "stands_for": kb.meta.stands_for,
            "opless": {name: own for name, own in self.columns.of_package.items() if own},
            **statements,
            "ranks": ranks,
            "lasts": {name: _lasts(kb, name, edges) for name, edges in ranks.items()},
            "domains": self.tensors.domains.values,
            "tensors": self.tensors.tensors.values,
            "verdicts": [
                list(map(_verdict, dict.fromkeys(pair))) for pair in self.sheet.verdicts.values
            ],
            "packages": self.packages.values,
            "absences": self.catalogues.absences.values,
            "cells": rows.cells.values,
            # As texts: half a million numbers would be parsed for the few that a question needs.
            "lines": [",".join(map(str, line)) for line in self.lines.values],
            "rows": self.rows.values,
        }

    def _offered(self, rows: Rows, offers: Offers, choice: Choice) -> dict[str, Any]:
        found: dict[str, list[int]] = {}
        for version, _device, offered in offers.of(choice):
            found.setdefault(version, []).append(
                self.rows.place(self._row(rows, choice, version, offered))
            )
        return {
            "name": choice.name,
            "title": choice.title,
            "option": choice.option,
            "versions": list(choice.versions),
            "rows": [each if len(set(each)) > 1 else each[0] for each in found.values()],
            "same": dict(_same(choice)),
        }

    def _row(self, rows: Rows, choice: Choice, version: str, offered: Offered) -> tuple[int, ...]:
        """What an environment holds (nothing told: the one release asked for), what it lacks, and
        what its sources and its conditions answer."""
        packages = offered.environment.packages
        told = [_held(name, each) for name, each in packages.items()]
        plain = [(choice.name, version, (version,), "exactly", "given")]
        held = () if told == plain else tuple(map(self.packages.place, told))
        absent = self.catalogues.absent(packages)
        return tuple(map(self.lines.place, (held, absent, *rows.answers(offered))))

    def _about(self, name: str) -> dict[str, Any]:
        package = self.kb.packages[name]
        recorded = name in self.kb.meta.prefixes or name in self.kb.package_level
        return {
            "title": package.title,
            "imports": package.imports,
            "covered": int(recorded and name in self.kb.meta.folders.values()),
            "platform": int(name in self.kb.meta.platforms),
            "framework": int(package.kind == "framework"),
            "concerns": self.conditions.number(package.concerns) if package.concerns else None,
            "application": int(package.kind == "application"),
            "image": int(package.kind == "image"),
            "is_server": int(package.is_server),
            "is_seeded": int(is_seeded(self.kb, name)),
            "reviewed": package.reviewed.releases if package.reviewed else [],
            "device": package.device,
            "devices": {device: self._older(name, to) for device, to in package.devices.items()},
        }

    def _fact(self, fact: Fact) -> list[Any]:
        return [
            fact.title,
            fact.values or None,
            fact.default,
            int(fact.argument),
            fact.says,
            fact.usual,
            fact.parameters or None,
            int(fact.names_device),
            [[each.value, self.conditions.number(each.when)] for each in fact.often],
            {name: self._older(name, first) for name, first in fact.since.items()},
            fact.takes,
        ]

    def _older(self, name: str, first: str) -> list[Any]:
        """The release that brought something, and those before it."""
        return [first, [old for old in self.kb.releases(name) if key(old) < key(first)]]

    def _ranks(self) -> dict[str, dict[str, int]]:
        """Order of all bounds and releases of a package that the page compares."""
        bounds: dict[str, set[str]] = {}
        for name, cells in self.tensors.domains.values:
            if name in self.kb.packages:
                edges = {edge for pair in cells for edge in pair}
                bounds.setdefault(name, set()).update(edges - {None})
        for _variables, leaves in self.tensors.tensors.values:
            for leaf in leaves:
                if isinstance(leaf, tuple):
                    name, release = cast(tuple[str, str], leaf)
                    bounds.setdefault(name, set()).add(release)
        for package in self.kb.meta.prefixes:
            bounds.setdefault(package, set()).update(self.catalogues.bounds(package))
        for name, _version, releases, *_how in self.packages.values:
            bounds.setdefault(name, set()).update(releases)
        for name, edges in bounds.items():
            edges.update(self.kb.releases(name))
        return {name: _ranked(edges) for name, edges in sorted(bounds.items())}


def _lasts(kb: KnowledgeBase, package: str, edges: Iterable[str]) -> dict[str, str]:
    """End of a span -> the last release before it."""
    known = kb.releases(package) if package in kb.packages else ()
    found = {edge: last_before(known, edge) for edge in edges}
    return {edge: last for edge, last in found.items() if last is not None}


def _imported(kb: KnowledgeBase) -> set[str]:
    """Modules that statements of the advice need."""
    found: set[str] = set()
    for setting in kb.settings.values():
        found.update(map(module, setting.imports))
    return found


def _gpu(model: GpuModel) -> dict[str, str]:
    found = {"device": model.device, "sm": model.sm, "gfx": model.gfx}
    return {name: value for name, value in found.items() if value is not None}


def _column(column: Column, sources: Sequence[str]) -> list[Any]:
    """Source, home, direction (0: both), whether directions differ, facts that its conditions ask
    about.
    """
    way = BOTH.index(column.ways[0]) + 1 if len(column.ways) == 1 else 0
    return [
        sources.index(column.op_source.id),
        column.rules.home,
        way,
        int(column.splits),
        column.asks,
    ]


def _same(choice: Choice) -> Iterator[tuple[str, str]]:
    """Other spellings of a version: a line that has one release, a tag cut at a hyphen."""
    sign = "-" if choice.option == "--container" else "."
    for version in choice.versions:
        shorter = version.rpartition(sign)[0]
        if not shorter or shorter in choice.versions:
            continue
        start = f"{shorter}{sign}"
        fits = [covers(shorter, other) or other.startswith(start) for other in choice.versions]
        if sum(fits) == 1:
            yield shorter, version


def _ranked(texts: Iterable[str]) -> dict[str, int]:
    places = sorted(set(map(key, texts)))
    ordered = sorted(texts, key=lambda text: (key(text), text))
    return {text: places.index(key(text)) for text in ordered}


def _held(name: str, installed: Installed) -> tuple[Any, ...]:
    around = installed.candidates
    return (name, installed.version, around.releases, around.how, installed.origin)


def _verdict(verdict: Any) -> dict[str, Any]:
    fields = msgspec.structs.asdict(verdict).items()
    return {name: value for name, value in fields if value not in (None, ())}
