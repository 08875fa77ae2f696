"""Filterable lists of what the knowledge base holds."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from typing import Any

import msgspec

from d9m.about import SCHEMA_VERSION, __version__
from d9m.browse.claims import claims
from d9m.errors import UsageError, nearest, quote
from d9m.kb import kinds
from d9m.kb.store import KnowledgeBase
from d9m.model.advice import Tool
from d9m.model.op_syntax import plain
from d9m.model.records import EVIDENCE_KINDS, Conditional


class ListRow(msgspec.Struct, frozen=True):
    id: str
    package: str
    """Home package; empty where a thing belongs to none."""
    text: str
    status: str


class RecordList(msgspec.Struct, frozen=True):
    schema_version: int
    d9m: Tool
    kind: str
    rows: list[ListRow]


class AllLists(msgspec.Struct, frozen=True):
    """The answer of `d9m list` where no list is named."""

    schema_version: int
    d9m: Tool
    lists: dict[str, list[ListRow]]
    """Kind -> its rows."""


_RECORDS = {
    kind.table.replace("_", "-"): kind for kind in kinds.KINDS if kind.table and not kind.brief
}

KINDS = (*_RECORDS, "claims", "ops", "versions", "facts")

PLAIN_NAMES = {"sources": "differences", "ingredients": "basics"}
"""Name of a list -> what it is called among people, which is accepted as well."""

RULES = "rules"
"""A list that is not of records: the rules of the scan, which list themselves."""


def listing(
    kb: KnowledgeBase, kind: str, package: str | None, text: str | None, evidence: str | None = None
) -> RecordList:
    """The rows of one kind: if so asked of one package, with a text in them, or claims with such
    evidence at best.

    Raises UsageError.
    """
    kind = next((name for name, plain_name in PLAIN_NAMES.items() if plain_name == kind), kind)
    if kind not in KINDS:
        known = (*(PLAIN_NAMES.get(name, name) for name in KINDS), RULES)
        raise UsageError(
            f"no list is called {quote(kind)}",
            nearest=nearest(kind, (*known, *PLAIN_NAMES)),
            allowed=known,
        )
    if evidence is not None and evidence not in EVIDENCE_KINDS:
        raise UsageError(
            f"no evidence is called {quote(evidence)}",
            nearest=nearest(evidence, EVIDENCE_KINDS),
            allowed=EVIDENCE_KINDS,
        )
    if evidence is not None and kind != "claims":
        raise UsageError(
            f"{kind} are not listed by their evidence", tip="d9m list claims --evidence documented"
        )
    rows = list(_rows(kb, kind))
    if package:
        home = kb.package_named(package)
        rows = [row for row in rows if home in (row.package, *_concerned(kb, kind, row.id))]
    if evidence is not None:
        rows = [row for row in rows if row.status == evidence]
    if text is not None:
        words = text.lower()
        rows = [row for row in rows if words in f"{row.id} {row.text} {row.status}".lower()]
    return RecordList(SCHEMA_VERSION, Tool(__version__, kb.meta.date), kind, rows)


def together(lists: Iterable[RecordList], kb: KnowledgeBase) -> AllLists:
    """Return all lists as one answer."""
    rows = {each.kind: each.rows for each in lists}
    return AllLists(SCHEMA_VERSION, Tool(__version__, kb.meta.date), rows)


def _rows(kb: KnowledgeBase, kind: str) -> Iterator[ListRow]:
    if kind == "claims":
        for claim in claims(kb):
            text = f"{claim.package} {claim.text}"
            yield ListRow(claim.source, claim.package, text, claim.best or "no evidence")
    elif kind == "facts":
        for name, fact in sorted(kb.meta.facts.items()):
            values = ", ".join(fact.values) or "a whole number"
            yield ListRow(
                name,
                "",
                f"{fact.title}: {values}",
                f"default {fact.default}" if fact.default else "no default",
            )
    elif kind == "versions":
        for name in kb.packages:
            for release in kb.releases(name):
                known = kb.packages[name].releases[release]
                inside = ", ".join(f"{part} {version}" for part, version in known.with_.items())
                yield ListRow(f"{name} {release}", name, inside, known.date or "")
    elif kind == "ops":
        for entry in kb.ops.values():
            ops = [reached.op for reached in entry.reaches]
            others = [op for op in ops if plain(op) != plain(entry.name)]
            sources = sum(len(kb.sources_of(entry.package, op)) for op in ops)
            yield ListRow(
                entry.name,
                entry.package,
                ", ".join(others),
                f"{sources} difference{'s' * (sources != 1)}",
            )
    else:
        for key, record in kb.of(_RECORDS[kind]).items():
            yield _row(kb, kind, key, record)


def _concerned(kb: KnowledgeBase, kind: str, key: str) -> Iterable[str]:
    """Packages besides its home that a record of a kind without a home names."""
    if kind == "symptoms":
        symptom = kb.symptoms[key]
        return (*symptom.packages, *filter(None, map(kb.find_package, symptom.advice)))
    if kind not in ("settings", "ingredients"):
        return ()
    record: Conditional = kb.settings[key] if kind == "settings" else kb.ingredients[key]
    return {name for clause in record.condition.clauses for name in clause}


def _row(kb: KnowledgeBase, kind: str, key: str, record: Any) -> ListRow:
    home = kb.meta.folders.get(key.partition("/")[0], "")
    if kind == "packages":
        count = len(record.releases)
        return ListRow(key, key, record.title, f"{count} release{'s' * (count != 1)}")
    if kind == "solutions":
        return ListRow(record.label, home, record.title, key)
    if kind == "helpers":
        return ListRow(key, home, record.call, "")
    if kind == "settings":
        home = kb.meta.folders.get(kb.setting_ids[key].partition("/")[0], "")
        return ListRow(record.name, home, record.summary, record.kind)
    if kind in ("pull-requests", "issues"):
        return ListRow(key.replace("/", "#"), home, record.title, record.status)
    status = getattr(record, "status", "") or getattr(record, "kind", "")
    return ListRow(
        key, home, record.title, "optional" if getattr(record, "optional", False) else status
    )
