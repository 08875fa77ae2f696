"""The JSON API: every record, op, package and release, lists of them, and everything in one
file.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from typing import Any

import msgspec

from d9m.about import __version__
from d9m.browse.show import source_history
from d9m.kb.kinds import SOURCES
from d9m.kb.store import KnowledgeBase
from d9m.model.advice import Tool
from d9m.model.records import Package
from d9m.resolve.answers import cite
from exports import shapes
from exports.addresses import API, SITE, page
from exports.shapes import Entry, OpOutcome, ReleaseEntry
from pages import grid
from pages.markdown import anchor
from pages.places import record_id

DEVICE = "cuda"
"""What the files of releases are about."""


def files(kb: KnowledgeBase) -> Iterator[tuple[str, bytes]]:
    found = {**dict(_records(kb)), **dict(_ops(kb)), **dict(_packages(kb))}
    listings = dict(_lists(kb, found))
    for path, content in {**found, **dict(_releases(kb)), **listings}.items():
        yield path, encoded(content)
    yield f"{API}all.json", encoded(_everything(kb, found))
    yield f"{API}index.json", encoded(_index(kb, listings.values()))


def encoded(content: Any) -> bytes:
    return msgspec.json.encode(content) + b"\n"


def head(kb: KnowledgeBase, path: str) -> dict[str, Any]:
    """What every file says of itself."""
    return {
        "api_version": shapes.VERSION,
        "d9m": Tool(__version__, kb.meta.date),
        "url": SITE + path,
    }


def _records(kb: KnowledgeBase) -> Iterator[tuple[str, Any]]:
    for kind, type_ in shapes.RECORD_FILES.items():
        for key, record in kb.of(kind).items():
            id_ = record_id(kb, kind.table, key)
            path = f"{API}{kind.name}/{id_}.json"
            yield (
                path,
                type_(
                    **head(kb, path),
                    kind=kind.name,
                    id=id_,
                    page=page(kb, kind.table, key),
                    record=record,
                    history=[source_history(kb, id_)] if kind is SOURCES else [],
                    evidence=[cite(kb, each) for each in getattr(record, "evidence", [])],
                ),
            )


def _ops(kb: KnowledgeBase) -> Iterator[tuple[str, shapes.OpFile]]:
    for key, entry in kb.ops.items():
        path = f"{API}ops/{entry.package}/{anchor(entry.name)}.json"
        sources = (
            one.id for each in entry.reaches for one in kb.sources_of(entry.package, each.op)
        )
        yield (
            path,
            shapes.OpFile(
                **head(kb, path),
                package=entry.package,
                name=entry.name,
                page=page(kb, "ops", key),
                is_op=entry.catalogued,
                exists=entry.exists,
                reaches=list(entry.reaches),
                sources=list(dict.fromkeys(sources)),
            ),
        )


def _packages(kb: KnowledgeBase) -> Iterator[tuple[str, shapes.PackageFile]]:
    for name in kb.packages:
        package, path = kb.packages[name], f"{API}packages/{name}.json"
        yield (
            path,
            shapes.PackageFile(
                **head(kb, path),
                id=name,
                page=page(kb, "packages", name),
                title=package.title,
                kind=package.kind,
                aliases=package.aliases,
                releases=[_release(kb, name, package, each) for each in kb.releases(name)],
            ),
        )


def _release(kb: KnowledgeBase, name: str, package: Package, version: str) -> ReleaseEntry:
    known = package.releases[version]
    url = SITE + _release_path(name, version) if name in kb.meta.prefixes else None
    return ReleaseEntry(version, known.date, known.with_, url)


def _release_path(package: str, version: str) -> str:
    return f"{API}packages/{package}/{version}.json"


def _releases(kb: KnowledgeBase) -> Iterator[tuple[str, shapes.ReleaseFile]]:
    """Every release, and its file again under the names that follow it: `2.9` and `latest`."""
    for package in kb.meta.prefixes:
        lines = grid.lines(kb, package)
        names = {line.newest: [line.name] for line in lines}
        names[lines[-1].newest].append("latest")
        for version in kb.releases(package):
            advice = grid.answer(kb, package, version, DEVICE)
            ops: dict[str, OpOutcome] = {}
            for op in advice.ops:
                if op.sources:
                    sources = [source.id for source in op.sources]
                    ops[op.query] = OpOutcome(op.outcome, op.default, op.solutions, sources)
            settings = msgspec.to_builtins(advice.settings)
            for name in dict.fromkeys([version, *names.get(version, ())]):
                path = _release_path(package, name)
                yield (
                    path,
                    shapes.ReleaseFile(
                        **head(kb, path),
                        package=package,
                        version=version,
                        device=DEVICE,
                        settings=settings,
                        ops=ops,
                    ),
                )


def _lists(kb: KnowledgeBase, found: dict[str, Any]) -> Iterator[tuple[str, shapes.Listing]]:
    listed: dict[str, list[Entry]] = {}
    for file in found.values():
        if isinstance(file, shapes.OpFile):
            kind, entry = f"ops/{file.package}", Entry(file.name, file.name, file.url, file.page)
        elif isinstance(file, shapes.PackageFile):
            kind, entry = "packages", Entry(file.id, file.title, file.url, file.page)
        else:
            title = (
                getattr(file.record, "title", None)
                or getattr(file.record, "name", None)
                or file.record.myth
            )
            kind, entry = file.kind, Entry(file.id, title, file.url, file.page)
        listed.setdefault(kind, []).append(entry)
    for kind, entries in listed.items():
        path = f"{API}{kind}/index.json"
        yield path, shapes.Listing(**head(kb, path), kind=kind, entries=entries)


def _everything(kb: KnowledgeBase, found: dict[str, Any]) -> shapes.Everything:
    records: dict[str, dict[str, Any]] = {}
    ops: dict[str, dict[str, shapes.OpFile]] = {}
    packages: dict[str, shapes.PackageFile] = {}
    for file in found.values():
        if isinstance(file, shapes.OpFile):
            ops.setdefault(file.package, {})[file.name] = file
        elif isinstance(file, shapes.PackageFile):
            packages[file.id] = file
        else:
            records.setdefault(file.kind, {})[file.id] = file
    return shapes.Everything(
        **head(kb, f"{API}all.json"), records=records, ops=ops, packages=packages
    )


def _index(kb: KnowledgeBase, listings: Iterable[shapes.Listing]) -> shapes.Index:
    return shapes.Index(
        **head(kb, f"{API}index.json"),
        counts=kb.meta.counts,
        listings={each.kind: each.url for each in listings},
        everything=f"{SITE}{API}all.json",
        schema=f"{SITE}{API}schema.json",
        openapi=f"{SITE}{API}openapi.json",
        feeds={
            name: f"{SITE}feeds/{name}.xml"
            for name in ("all", "corrections", *sorted(kb.meta.prefixes))
        },
        badges=f"{SITE}{API}badges/sources/",
    )
