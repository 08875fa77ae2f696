"""The types of the API's files. Their JSON Schema is what the site publishes."""

from __future__ import annotations

from typing import Any

import msgspec

from d9m.browse.show import SourceHistory
from d9m.kb.kinds import KINDS, OPS, PACKAGES, RecordKind
from d9m.kb.store import Reached
from d9m.model.advice import Citation, Tool
from d9m.model.records import Default, Existence, Outcome

VERSION = 1
"""Of the API, and part of every address; a key that is renamed or dropped needs the next."""


class File(msgspec.Struct, frozen=True, kw_only=True):
    """What every file says of itself."""

    api_version: int
    d9m: Tool
    url: str
    """Its own address."""


class Entry(msgspec.Struct, frozen=True):
    """One record, op or package in a list."""

    id: str
    title: str
    url: str
    page: str
    """Where a person reads it."""


class Listing(File, frozen=True, kw_only=True):
    kind: str
    entries: list[Entry]


class Index(File, frozen=True, kw_only=True):
    counts: dict[str, int]
    listings: dict[str, str]
    """Kind -> address of its list."""
    everything: str
    schema: str
    openapi: str
    feeds: dict[str, str]
    badges: str
    """Where badges begin; the id of a source and ``.json`` follow."""


class RecordFile(File, frozen=True, kw_only=True):
    """One record, as written; its own type is that of its kind."""

    kind: str
    id: str
    page: str
    history: list[SourceHistory]
    """Of a source: what it does in every release."""
    evidence: list[Citation]
    """With the address of each document."""


def _record_file(kind: RecordKind[Any]) -> type[msgspec.Struct]:
    name = f"{kind.type.__name__}File"
    fields = [("record", kind.type)]
    return msgspec.defstruct(name, fields, bases=(RecordFile,), frozen=True, kw_only=True)


RECORD_FILES: dict[RecordKind[Any], type[msgspec.Struct]] = {
    kind: _record_file(kind) for kind in KINDS if kind not in (OPS, PACKAGES)
}
"""Kind -> type of a record's file; ops and packages have their own."""


class OpFile(File, frozen=True, kw_only=True):
    """One name that can be asked for."""

    package: str
    name: str
    page: str
    is_op: bool
    """False: an alias, family, layer or wrapper that leads to ops."""
    exists: Existence
    reaches: list[Reached]
    sources: list[str]
    """Ids of the sources that it can meet."""


class ReleaseEntry(msgspec.Struct, frozen=True):
    version: str
    date: str | None
    contains: dict[str, str]
    url: str | None
    """Where its answers are; null where no op of the package is known."""


class PackageFile(File, frozen=True, kw_only=True):
    id: str
    page: str
    title: str
    kind: str
    aliases: list[str]
    releases: list[ReleaseEntry]
    """Oldest first."""


class OpOutcome(msgspec.Struct, frozen=True):
    outcome: Outcome
    default: Default
    solutions: list[str]
    sources: list[str]


class ReleaseFile(File, frozen=True, kw_only=True):
    """What every op that meets a source does in one release, and what to set there."""

    package: str
    version: str
    device: str
    settings: dict[str, Any]
    """As in the answer of ``d9m advise``, for all these ops at once."""
    ops: dict[str, OpOutcome]


class Everything(File, frozen=True, kw_only=True):
    """All records, ops and packages in one file: kind -> id -> the content of its own file."""

    records: dict[str, dict[str, Any]]
    ops: dict[str, dict[str, OpFile]]
    packages: dict[str, PackageFile]


class Badge(msgspec.Struct, frozen=True, rename="camel"):
    """What shields.io/endpoint reads."""

    schema_version: int
    label: str
    message: str
    color: str
