"""Filterable lists of what the knowledge base holds."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import msgspec

from d9m.about import __version__
from d9m.browse.claims import EVIDENCE, claims
from d9m.errors import UsageError, nearest, quote
from d9m.kb.store import KnowledgeBase
from d9m.model.advice import SCHEMA_VERSION, Tool
from d9m.model.op_syntax import plain


class Row(msgspec.Struct, frozen=True):
    id: str
    package: str
    """Home package; empty where a thing belongs to none."""
    text: str
    status: str


class Listing(msgspec.Struct, frozen=True):
    schema_version: int
    d9m: Tool
    kind: str
    rows: list[Row]


KINDS = (
    "sources",
    "claims",
    "solutions",
    "settings",
    "ops",
    "versions",
    "ingredients",
    "helpers",
    "errors",
    "facts",
    "packages",
    "pull-requests",
    "issues",
)


def listing(
    kb: KnowledgeBase, kind: str, package: str | None, text: str | None, evidence: str | None = None
) -> Listing:
    """The rows of one kind: if so asked of one package, with a text in them, or claims with such
    evidence at best.

    Raises UsageError.
    """
    if kind not in KINDS:
        raise UsageError(
            f"no list is called {quote(kind)}", nearest=nearest(kind, KINDS), allowed=KINDS
        )
    if evidence is not None and evidence not in EVIDENCE:
        raise UsageError(
            f"no evidence is called {quote(evidence)}",
            nearest=nearest(evidence, EVIDENCE),
            allowed=EVIDENCE,
        )
    if evidence is not None and kind != "claims":
        raise UsageError(
            f"{kind} are not listed by their evidence", tip="d9m list claims --evidence documented"
        )
    home = kb.package_named(package) if package else None
    rows = [
        row
        for row in _rows(kb, kind)
        if (home is None or row.package == home)
        and (evidence is None or row.status == evidence)
        and (text is None or text.lower() in f"{row.id} {row.text} {row.status}".lower())
    ]
    return Listing(SCHEMA_VERSION, Tool(__version__, kb.meta.date), kind, rows)


def _rows(kb: KnowledgeBase, kind: str) -> Iterator[Row]:
    if kind == "claims":
        for each in claims(kb):
            yield Row(
                each.source, each.package, f"{each.package} {each.text}", each.best or "no evidence"
            )
    elif kind == "facts":
        for name, fact in sorted(kb.meta.facts.items()):
            values = ", ".join(fact.values) or "a whole number"
            yield Row(
                name,
                "",
                f"{fact.title}: {values}",
                f"default {fact.default}" if fact.default else "no default",
            )
    elif kind == "versions":
        for name in kb.keys("packages"):
            for release in kb.releases(name):
                known = kb.package(name).releases[release]
                inside = ", ".join(f"{part} {version}" for part, version in known.with_.items())
                yield Row(f"{name} {release}", name, inside, known.date or "")
    elif kind == "ops":
        for place in kb.keys("ops"):
            entry = kb.get("ops", place)
            reached = [each.op for each in entry.reaches if plain(each.op) != plain(entry.name)]
            sources = sum(len(kb.met_by(entry.package, each.op)) for each in entry.reaches)
            yield Row(
                entry.name,
                entry.package,
                ", ".join(reached),
                f"{sources} source{'s' * (sources != 1)}",
            )
    else:
        table = kind.replace("-", "_")
        for key in kb.keys(table):
            yield _row(kb, kind, key, kb.get(table, key))


def _row(kb: KnowledgeBase, kind: str, key: str, record: Any) -> Row:
    home = kb.meta.folders.get(key.partition("/")[0], "")
    if kind == "packages":
        count = len(record.releases)
        return Row(key, key, record.title, f"{count} release{'s' * (count != 1)}")
    if kind == "solutions":
        return Row(record.label, home, record.title, key)
    if kind == "helpers":
        return Row(key, home, record.call, "")
    if kind == "settings":
        return Row(record.name, "", record.summary, record.kind)
    if kind in ("pull-requests", "issues"):
        return Row(key.replace("/", "#"), home, record.title, record.status)
    status = getattr(record, "status", "") or getattr(record, "kind", "")
    return Row(
        key, home, record.title, "optional" if getattr(record, "optional", False) else status
    )
