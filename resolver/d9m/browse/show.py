"""One record or op across all versions."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import Any

import msgspec

from d9m.about import __version__
from d9m.environment.environment import Setup, describe
from d9m.errors import UsageError, nearest, quote
from d9m.kb.store import KnowledgeBase, Met, OpEntry
from d9m.model.advice import SCHEMA_VERSION, Possible, Told, Tool
from d9m.model.op_syntax import BOTH, parse, plain
from d9m.model.records import Record
from d9m.resolve import op_lookup
from d9m.resolve.answers import told_of
from d9m.resolve.evaluate import judge

KINDS: tuple[tuple[str, str], ...] = (
    ("solutions", "solution"),
    ("settings", "setting"),
    ("sources", "source"),
    ("packages", "package"),
    ("ingredients", "ingredient"),
    ("helpers", "helper"),
    ("errors", "error"),
    ("pull_requests", "pull request"),
    ("issues", "issue"),
    ("myths", "myth"),
    ("documents", "document"),
)
"""Table -> what one of its records is called, in the order in which a name is looked up."""


class History(msgspec.Struct, frozen=True):
    """What a source does in every release of its home package."""

    id: str
    title: str
    home: str
    device: str
    ranges: list[Possible]


class Shown(msgspec.Struct, frozen=True):
    """One thing that a name stands for."""

    kind: str
    id: str
    record: dict[str, Any]
    history: list[History]
    evidence: list[Told]
    """With the address of each document."""


class Showing(msgspec.Struct, frozen=True):
    schema_version: int
    d9m: Tool
    found: list[Shown]


def show(kb: KnowledgeBase, names: Sequence[str]) -> Showing:
    """Everything that the names stand for. Raises UsageError for one that stands for nothing."""
    found = [shown for name in names for shown in _find(kb, name)]
    return Showing(SCHEMA_VERSION, Tool(__version__, kb.meta.date), found)


def history(kb: KnowledgeBase, met: Met) -> History:
    """The answer of one source by release, on a CUDA device, or else on the first device that it concerns."""
    home = kb.home(met.id)
    first = met.source.when[0] if isinstance(met.source.when, list) and met.source.when else met.source.when
    named = first.get("device") if isinstance(first, dict) else None
    devices = [named] if isinstance(named, str) else named if isinstance(named, list) else []
    device = "cuda" if "cuda" in devices or not devices else devices[0]
    environment = describe(kb, Setup(((home, None),), device=device))
    facts = {name: value for name, value in _required(met).items() if name in kb.meta.facts}
    finding, _directions = judge(kb, environment.given(facts), met, {}, BOTH)
    ranges = [
        Possible(
            clause,
            each.outcome,
            [" + ".join(labels) for labels in each.alternatives],
            each.default,
            each.note,
            each.raised_by,
        )
        for clause, each in finding.possible
        if each.outcome != "no-known-source"
    ]
    return History(met.id, met.source.title, home, device, ranges)


def _required(met: Met) -> dict[str, str]:
    """Facts without which the source is not met at all, so that its history is told with them."""
    clauses = met.source.when if isinstance(met.source.when, list) else [met.source.when]
    return {name: value for clause in clauses[:1] for name, value in clause.items() if isinstance(value, str)}


def source_history(kb: KnowledgeBase, id_: str) -> History:
    """The history of a source, whatever ops meet it."""
    from d9m.kb.store import Pattern

    return history(kb, Met(id_, kb.get("sources", id_), (Pattern(),)))


def _find(kb: KnowledgeBase, name: str) -> list[Shown]:
    found = list(_records(kb, name)) or list(_ops(kb, name)) or list(_unrecorded(kb, name))
    if not found:
        known = [each.partition(":")[2] for each in kb.keys("names")]
        known += [*kb.keys("labels"), *kb.keys("settings"), *kb.keys("sources"), *kb.keys("packages")]
        known += [kb.get("solutions", id_).label for id_ in kb.keys("solutions")]
        raise UsageError(f"nothing is called {quote(name)}", nearest=nearest(name, known), tip="see: d9m list")
    return found


def _records(kb: KnowledgeBase, name: str) -> Iterator[Shown]:
    lower = name.lower()
    key = kb.get("labels", lower) or kb.meta.aliases.get(lower) or name.replace("#", "/")
    for table, kind in KINDS:
        record: Record | None = kb.get(table, key)
        if record is None:
            continue
        ours = [source_history(kb, key)] if table == "sources" else []
        if table == "solutions":
            ours = [source_history(kb, id_) for id_ in _covered(kb, kb.get("solutions", key).label)]
        evidence = [told_of(kb, each) for each in getattr(record, "evidence", [])]
        yield Shown(kind, key, msgspec.to_builtins(record), ours, evidence)
        return


def _covered(kb: KnowledgeBase, label: str) -> list[str]:
    """Sources that name a solution in some release."""
    return [
        id_
        for id_ in kb.keys("sources")
        if any(
            label in combined.split(" + ")
            for steps in kb.get("sources", id_).timeline.values()
            for step in steps
            for part in (step, *step.unless)
            for combined in part.by
        )
    ]


def _ops(kb: KnowledgeBase, name: str) -> Iterator[Shown]:
    query = parse(name)
    for package, prefixes in kb.meta.prefixes.items():
        written = [full + query.name[len(short) :] for short, full in prefixes.items() if query.name.startswith(short)]
        spellings = (f"{package}:{plain(each)}" for each in (query.name, *written))
        names: tuple[str, ...] = next((found for each in spellings if (found := kb.get("names", each))), ())
        for each in names:
            entry: OpEntry = kb.get("ops", f"{package}:{each}")
            met = {one.id: one for reached in entry.reaches for one in kb.met_by(package, reached.op)}
            yield Shown("op", each, msgspec.to_builtins(entry), [source_history(kb, id_) for id_ in met], [])


def _unrecorded(kb: KnowledgeBase, name: str) -> Iterator[Shown]:
    """Public names of the frameworks that no record names."""
    for package in kb.meta.prefixes:
        for each in op_lookup.offered(kb, package, parse(name).name):
            yield Shown("op", each.name, {**msgspec.to_builtins(each), "package": package}, [], [])
