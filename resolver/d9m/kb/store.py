"""The compiled form: tables of small values, each of which can be read alone.

`KnowledgeBase` is how everything else reads records. Its tables are filled
from YAML (`kb.index`) or read from a compiled file (`kb.compiled`); the answer
is the same.
"""

import re
from collections.abc import Callable, Hashable, Iterable
from typing import Any, Protocol, TypeVar

import msgspec

from d9m.errors import UsageError, nearest, quote
from d9m.model import records, runs
from d9m.model.op_syntax import BOTH, Direction, plain
from d9m.model.signatures import Signature, signature_in
from d9m.model.versions import in_order


class Reached(msgspec.Struct, frozen=True, omit_defaults=True):
    """An op that a name leads to, and how."""

    op: str
    arguments: dict[str, str] = {}
    """Fixed by the name: ``nn.Upsample`` reached through a bilinear alert fixes the mode."""
    when: records.Clause = {}
    directions: tuple[Direction, ...] = BOTH


class OpEntry(msgspec.Struct, frozen=True, omit_defaults=True):
    """A name that can be asked for, with every op that it reaches in the end."""

    package: str
    name: str
    reaches: tuple[Reached, ...]
    exists: records.Existence = records.Existence()
    catalogued: bool = True
    """Whether it is an op of the framework, not only a name that leads to some."""
    is_message: bool = False
    """Whether it is a name in messages, which says nothing of the arguments of a call."""
    defaults: dict[str, str] = {}
    """Facts of a call that leaves them out, beside what its signature says."""


class Pattern(msgspec.Struct, frozen=True, omit_defaults=True):
    """How a source is met by one op."""

    when: records.Clause = {}
    directions: tuple[Direction, ...] = BOTH


class Met(msgspec.Struct, frozen=True, omit_defaults=True):
    """A source that an op meets; `patterns` are alternatives."""

    id: str
    source: records.Source
    patterns: tuple[Pattern, ...] = ()


class PublicName(msgspec.Struct, frozen=True, omit_defaults=True):
    """A name that a framework offers, and the releases that have it."""

    name: str
    spans: tuple[records.Existence, ...]


class Meta(msgspec.Struct, frozen=True):
    """What is needed to answer anything at all."""

    date: str
    """Day of the newest change of a record, ISO 8601."""
    digest: str
    """SHA-256 of all records."""
    facts: dict[str, records.Fact]
    aliases: dict[str, str]
    """Lower-case name, alias or distribution of a package -> package."""
    distributions: dict[str, str]
    """Name on PyPI or in a conda environment -> package."""
    images: dict[str, tuple[str, ...]]
    """Public name of an image family -> its packages."""
    platforms: tuple[str, ...]
    """Packages that are undecided, not absent, when nobody names them."""
    folders: dict[str, str]
    """Folder of records -> home package."""
    add_ons: dict[str, dict[str, str]]
    """Package -> prefix of an add-on's names -> package it brings."""
    prefixes: dict[str, dict[str, str]]
    """Package -> short prefix -> full prefix."""
    methods: dict[str, tuple[str, ...]]
    """Package -> name spaces of what is called on an object."""
    counts: dict[str, int]
    """Records of each kind."""
    catalogued: dict[str, tuple[str, str]] = {}
    """Package -> first and last release whose public names are known."""


TABLES: dict[str, Any] = {
    "ops": OpEntry,
    "names": tuple[str, ...],
    "public": tuple[PublicName, ...],
    "signatures": tuple[Signature, ...],
    "met": tuple[Met, ...],
    "opless": tuple[Met, ...],
    "sources": records.Source,
    "solutions": records.Solution,
    "labels": str,
    "settings": records.Setting,
    "setting_ids": str,
    "packages": records.Package,
    "ingredients": records.Ingredient,
    "helpers": records.Helper,
    "errors": records.ErrorRecord,
    "pull_requests": records.PullRequest,
    "issues": records.Issue,
    "myths": records.Myth,
    "documents": records.Document,
    "words": records.Words,
    "gpus": records.GpuFile,
    "runs": runs.Run,
    "run_days": str,
}
"""Table -> type of its values. Keys: ``names``, ``ops``, ``met`` ``package:name``; ``public``
``package:`` and the last part of the names; ``signatures`` ``package:`` and the name as
`op_syntax.plain` spells it; ``opless`` the home package; ``settings`` and ``setting_ids`` (the id
of a setting) the knob's name; ``labels`` a lower-case label; ``words`` and ``gpus`` nothing, for
there is one of each; ``run_days`` (when it was made) the run's id; else the record's id."""


Derived = TypeVar("Derived")


class Tables(Protocol):
    """Where values come from."""

    def get(self, table: str, key: str) -> Any: ...
    def keys(self, table: str) -> Iterable[str]: ...


def _spelled(package: str) -> str:
    return re.sub(r"[-_.]+", "-", package.lower())


class KnowledgeBase:
    """Typed, read-only access to all records. Values are decoded once, when first asked for."""

    def __init__(self, meta: Meta, tables: Tables) -> None:
        self.meta = meta
        self._tables = tables
        self._seen: dict[tuple[str, str], Any] = {}
        self._derived: dict[Hashable, Any] = {}

    def once(self, key: Hashable, make: Callable[[], Derived]) -> Derived:
        """A value derived from records alone, made when first asked for."""
        if key not in self._derived:
            self._derived[key] = make()
        return self._derived[key]

    def get(self, table: str, key: str) -> Any:
        """The value, or None."""
        place = (table, key)
        if place not in self._seen:
            self._seen[place] = self._tables.get(table, key)
        return self._seen[place]

    def keys(self, table: str) -> list[str]:
        return sorted(self._tables.keys(table))

    def solution(self, label: str) -> tuple[str, records.Solution]:
        """Id and record of a label. Lint sees to it that every label in a record exists."""
        id_: str = self.get("labels", label.lower())
        return id_, self.get("solutions", id_)

    def with_required(self, labels: Iterable[str]) -> list[tuple[str, str, records.Solution]]:
        """Solutions with all that they require: label, id, record."""
        found: dict[str, tuple[str, str, records.Solution]] = {}
        todo = sorted(labels, reverse=True)
        while todo:
            label = todo.pop()
            if label not in found:
                id_, solution = self.solution(label)
                found[label] = (label, id_, solution)
                todo.extend(solution.requires)
        return list(found.values())

    def setting(self, name: str) -> records.Setting:
        return self.get("settings", name)

    def package(self, name: str) -> records.Package:
        return self.get("packages", name)

    def releases(self, package: str) -> tuple[str, ...]:
        """Releases of a package, oldest first."""
        return self.once(("releases", package), lambda: in_order(self.package(package).releases))

    def home(self, id_: str) -> str:
        """The package that a record's folder is about."""
        return self.meta.folders[id_.partition("/")[0]]

    def find_package(self, text: str) -> str | None:
        """The package of a name, in which ``-``, ``_`` and ``.`` are the same, as on PyPI; None for
        an unknown one.
        """
        known = self.once(
            "package names",
            lambda: {_spelled(name): home for name, home in self.meta.aliases.items()},
        )
        return known.get(_spelled(text))

    def distribution(self, text: str) -> str | None:
        """The package that an installed distribution is, by its name on PyPI or in conda; None for
        an unknown one.
        """
        known = self.once(
            "distributions",
            lambda: {_spelled(k): home for k, home in self.meta.distributions.items()},
        )
        return known.get(_spelled(text))

    def package_named(self, text: str) -> str:
        """The package that a name, alias or distribution stands for. Raises UsageError."""
        found = self.find_package(text)
        if found is None:
            raise UsageError(
                f"unknown package {quote(text)}", nearest=nearest(text, self.meta.aliases)
            )
        return found

    def met_by(self, package: str, op: str) -> tuple[Met, ...]:
        """The sources that an op meets."""
        return self.get("met", f"{package}:{op}") or ()

    def signature(self, package: str, name: str, release: str) -> Signature | None:
        """How a callable of this full name (``torch.Tensor.cumsum``) is called in a release, if its
        wheels say so.
        """
        stated: tuple[Signature, ...] = self.get("signatures", f"{package}:{plain(name)}") or ()
        return signature_in(stated, name, release)

    def opless(self, package: str) -> tuple[Met, ...]:
        """The sources of a package that are no op's."""
        return self.get("opless", package) or ()
