"""Turn loaded records into the tables that the resolver reads.

Names are made findable here, once: every name of the catalogue also answers to
each of its dotted suffixes, in lower case and without a trailing underscore.
"""

from __future__ import annotations

import hashlib
from collections.abc import Iterable, Iterator, Sequence
from typing import Any

import msgspec

from d9m.errors import D9mError, DataError, UsageError
from d9m.kb import (
    derive,
    kinds,
    measured_costs,
    public_names,
    signature_table,
    soundness,
    symptom_index,
)
from d9m.kb.store import KnowledgeBase, Meta, OpEntry, OpSource, Pattern, Reached, Value
from d9m.kb.yaml_files import Records
from d9m.model import op_syntax, records


class Memory:
    """Tables held in memory."""

    def __init__(self, tables: dict[str, dict[str, Any]]) -> None:
        self.tables = tables

    def get(self, table: str, key: str, type_: type[Value]) -> Value | None:
        return self.tables[table].get(key)

    def keys(self, table: str) -> Iterable[str]:
        return self.tables[table].keys()


def build(loaded: Records) -> KnowledgeBase:
    """The knowledge base of these records.

    Raises DataError if a record is faulty: `d9m kb lint` lists every fault.
    """
    if loaded.faults:
        first = loaded.faults[0]
        more = f" (and {len(loaded.faults) - 1} more)" if len(loaded.faults) > 1 else ""
        raise DataError(
            f"{first.file}:{first.line}: {first.message} {first.value}{more}",
            tip="see: d9m kb lint",
        )
    settings = {setting.name for setting in loaded.of(kinds.SETTINGS).values()}
    for one in loaded.loaded:
        for fault in soundness.faults(one.record, settings):
            raise DataError(f"{one.file}: {fault}", tip="see: d9m kb lint")
    try:
        return KnowledgeBase(_meta(loaded), Memory(tables(loaded)))
    except D9mError as error:
        raise DataError(
            f"records do not fit together: {error.what}", tip="see: d9m kb lint"
        ) from error


def tables(loaded: Records) -> dict[str, dict[str, Any]]:
    """Table -> key -> value, as `KnowledgeBase` types them."""
    settings = loaded.of(kinds.SETTINGS)
    by_name = {setting.name: setting for setting in settings.values()}
    homes = home_packages(loaded)
    every = measured_costs.timed(loaded.of(kinds.RUNS), loaded.of(kinds.PACKAGES))
    sources = measured_costs.of_sources(every, loaded.of(kinds.SOURCES))
    solutions = measured_costs.of_solutions(
        every, loaded.of(kinds.SOLUTIONS), sources, by_name, homes
    )
    entries = list(op_entries(loaded.of(kinds.OPS).values()))
    names = _names(entries)
    return {
        **{kind.table: loaded.of(kind) for kind in kinds.EVERY_KIND if kind.table},
        "sources": sources,
        "solutions": solutions,
        "ops": {f"{entry.package}:{entry.name}": entry for entry in entries},
        "names": names,
        "op_sources": _op_sources(sources, homes),
        "public": public_names.table(loaded.catalogues, _prefixes(loaded), names),
        "signatures": signature_table.table(loaded.signatures),
        "opless": _opless(sources, homes),
        "labels": {solution.label.lower(): id_ for id_, solution in solutions.items()},
        "settings": by_name,
        "setting_ids": {setting.name: id_ for id_, setting in settings.items()},
        "words": {"": loaded.words},
        "symptom_index": {"": symptom_index.build(loaded.of(kinds.SYMPTOMS), loaded.words)},
        "gpus": {"": loaded.gpus},
        "run_days": {id_: run.date for id_, run in loaded.of(kinds.RUNS).items()},
    }


def home_packages(loaded: Records) -> dict[str, str]:
    """Folder of records -> home package."""
    packages = loaded.of(kinds.PACKAGES)
    return {package.folder: name for name, package in packages.items() if package.folder}


def _encoded(loaded: Records) -> bytes:
    """All records, independent of file order."""
    content = [
        loaded.facts,
        loaded.words,
        loaded.gpus,
        [[each.kind, each.id, each.record] for each in loaded.loaded],
    ]
    return msgspec.json.encode(content)


def _meta(loaded: Records) -> Meta:
    encoded = _encoded(loaded)
    packages = loaded.of(kinds.PACKAGES)
    op_files = loaded.of(kinds.OPS)
    images: dict[str, tuple[str, ...]] = {}
    aliases: dict[str, str] = {}
    distributions: dict[str, str] = {}
    for name, package in packages.items():
        if package.image:
            images[package.image] = (*images.get(package.image, ()), name)
        for alias in (name, *package.aliases, *package.distributions):
            aliases[alias.lower()] = name
        distributions.update(dict.fromkeys((*package.distributions, *package.conda), name))
    return Meta(
        date=derive.newest_day(encoded),
        digest=hashlib.sha256(encoded).hexdigest(),
        facts=loaded.facts,
        aliases=aliases,
        distributions=distributions,
        images=images,
        platforms=tuple(name for name, package in packages.items() if package.kind == "platform"),
        folders=home_packages(loaded),
        add_ons=_by_package(op_files.values(), "add_ons"),
        prefixes=_prefixes(loaded),
        methods=_spaces(op_files.values(), "methods"),
        plain=_spaces(op_files.values(), "plain"),
        operators={file.package: file.operators for file in op_files.values() if file.operators},
        unread=_spaces(op_files.values(), "unread"),
        stands_for={file.package: file.stands_for for file in op_files.values() if file.stands_for},
        judged={name: part for file in op_files.values() for name, part in file.judged.items()},
        see={name: id_ for file in op_files.values() for name, id_ in file.see.items()},
        catalogued={read.package: _ends(read.releases) for read in loaded.catalogues},
        counts={kind.name: len(loaded.of(kind)) for kind in kinds.EVERY_KIND},
    )


def _prefixes(loaded: Records) -> dict[str, dict[str, str]]:
    return _by_package(loaded.of(kinds.OPS).values(), "prefixes")


def _ends(releases: Sequence[str]) -> tuple[str, str]:
    return releases[0], releases[-1]


def _by_package(files: Iterable[records.OpRecords], field: str) -> dict[str, dict[str, str]]:
    found: dict[str, dict[str, str]] = {}
    for each in files:
        found.setdefault(each.package, {}).update(getattr(each, field))
    return found


def _spaces(files: Iterable[records.OpRecords], field: str) -> dict[str, tuple[str, ...]]:
    found: dict[str, tuple[str, ...]] = {}
    for file in files:
        found[file.package] = (*found.get(file.package, ()), *getattr(file, field))
    return found


def op_entries(files: Iterable[records.OpRecords]) -> Iterator[OpEntry]:
    """Every name that can be asked for, with all that it reaches.

    Raises UsageError for a target that no catalogue has, or that reaches itself.
    """
    ops: dict[str, dict[str, records.Existence]] = {}
    reach: dict[str, dict[str, list[str | records.Target]]] = {}
    messages: dict[str, set[str]] = {}
    defaults: dict[str, dict[str, dict[str, str]]] = {}
    facts: dict[str, dict[str, dict[str, str]]] = {}
    parts: dict[str, dict[str, list[str]]] = {}
    for file in files:
        ops.setdefault(file.package, {}).update(file.ops)
        reach.setdefault(file.package, {}).update(file.reach)
        messages.setdefault(file.package, set()).update(file.reach if file.messages else ())
        defaults.setdefault(file.package, {}).update(file.defaults)
        facts.setdefault(file.package, {}).update(file.facts)
        parts.setdefault(file.package, {}).update(file.parts)
    for package, names in ops.items():
        paths = reach[package]
        for name in dict.fromkeys([*names, *paths]):
            reached = tuple(_closure(name, names, paths, ()))
            ends = dict.fromkeys([name, *(target.op for target in reached)])
            own_facts: dict[str, str] = {}
            own_parts: dict[str, None] = {}
            for end in ends:
                own_facts.update(facts[package].get(end, {}))
                own_parts.update(dict.fromkeys(parts[package].get(end, ())))
            yield OpEntry(
                package,
                name,
                reached,
                names.get(name, records.Existence()),
                name in names,
                name in messages[package],
                defaults[package].get(name, {}),
                own_facts,
                tuple(own_parts),
            )


def _closure(
    name: str,
    names: dict[str, records.Existence],
    paths: dict[str, list[str | records.Target]],
    above: tuple[str, ...],
) -> Iterator[Reached]:
    if name in above:
        raise UsageError(f"{name} reaches itself: {' -> '.join([*above, name])}")
    if name in names:
        yield Reached(name)
    elif name not in paths:
        raise UsageError(f"{above[-1]} reaches {name}, which no catalogue has")
    for target in paths.get(name, []):
        item = op_syntax.parse(target if isinstance(target, str) else target.op)
        when = {} if isinstance(target, str) else target.when
        for inner in _closure(item.name, names, paths, (*above, name)):
            directions = op_syntax.common(inner.directions, item.directions)
            yield Reached(
                inner.op, {**inner.arguments, **item.arguments}, {**inner.when, **when}, directions
            )


def patterns(source: records.Source) -> dict[str, tuple[Pattern, ...]]:
    """Op -> the ways in which it reaches a source."""
    found: dict[str, tuple[Pattern, ...]] = {}
    for text in source.ops:
        item = op_syntax.parse(text)
        pattern = Pattern(dict(item.arguments), item.directions)
        found[item.name] = (*found.get(item.name, ()), pattern)
    return found


def _op_sources(
    sources: dict[str, records.Source], homes: dict[str, str]
) -> dict[str, tuple[OpSource, ...]]:
    found: dict[str, list[OpSource]] = {}
    for id_, source in sources.items():
        home = homes.get(id_.partition("/")[0], "")
        for op, ways in patterns(source).items():
            found.setdefault(f"{home}:{op}", []).append(OpSource(id_, source, ways))
    return {place: tuple(group) for place, group in found.items()}


def _opless(
    sources: dict[str, records.Source], homes: dict[str, str]
) -> dict[str, tuple[OpSource, ...]]:
    found: dict[str, list[OpSource]] = {}
    for id_, source in sources.items():
        if not source.ops:
            home = homes.get(id_.partition("/")[0], "")
            found.setdefault(home, []).append(OpSource(id_, source, (Pattern(),)))
    return {home: tuple(group) for home, group in found.items()}


def _names(entries: Iterable[OpEntry]) -> dict[str, tuple[str, ...]]:
    """Findable name -> names it may mean. A name written in full beats a suffix."""
    full: dict[str, list[str]] = {}
    suffixes: dict[str, list[str]] = {}
    for entry in entries:
        name = op_syntax.plain(entry.name)
        full.setdefault(f"{entry.package}:{name}", []).append(entry.name)
        parts = name.split(".")
        for start in range(1, len(parts)):
            suffixes.setdefault(f"{entry.package}:{'.'.join(parts[start:])}", []).append(entry.name)
    return {place: tuple(dict.fromkeys(found)) for place, found in {**suffixes, **full}.items()}
