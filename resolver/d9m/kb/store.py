"""Typed tables of small values, each of which can be read alone.

`KnowledgeBase` is how everything else reads records. Its tables are filled
from YAML (`kb.build`) or read from a compiled file (`kb.compiled`); the answer
is the same.
"""

import functools
import re
from collections.abc import Callable, Hashable, Iterable, Iterator, Sequence
from typing import Any, Generic, Protocol, TypeVar

import msgspec

from d9m.errors import DataError, UsageError, nearest, quote
from d9m.kb import kinds
from d9m.kb.kinds import RecordKind
from d9m.kb.symptom_index import SymptomIndex
from d9m.model import records
from d9m.model.op_syntax import BOTH, Direction, plain
from d9m.model.signatures import Signature, exact, signature_in
from d9m.model.versions import in_order
from d9m.model.when import Clause
from d9m.model.words import Words

WHOLE = "*"
"""Stands for the sources of a package that belong to none of its ops."""


class Reached(msgspec.Struct, frozen=True, omit_defaults=True):
    """An op that a name leads to, and how."""

    op: str
    arguments: dict[str, str] = {}
    """Fixed by the name: ``nn.Upsample`` reached through a bilinear alert fixes the mode."""
    when: Clause = {}
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
    """Facts of a call that leaves them out, in addition to what its signature says."""
    facts: dict[str, str] = {}
    """Facts of the program that using it decides."""
    parts: tuple[str, ...] = ()
    """Packages that work when it does."""


class Pattern(msgspec.Struct, frozen=True, omit_defaults=True):
    """How one op reaches a source."""

    when: Clause = {}
    directions: tuple[Direction, ...] = BOTH


class OpSource(msgspec.Struct, frozen=True, omit_defaults=True, dict=True):
    """A source of an op; `patterns` are alternatives."""

    id: str
    source: records.Source
    patterns: tuple[Pattern, ...] = ()

    @functools.cached_property
    def ways(self) -> str:
        """Mark that tells its patterns from others'."""
        return str(self.patterns)


class PublicName(msgspec.Struct, frozen=True, omit_defaults=True):
    """A name that a framework offers, and the releases that have it."""

    name: str
    spans: tuple[records.Existence, ...]


class Meta(msgspec.Struct, frozen=True):
    """Data needed to answer anything at all."""

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
    """Packages that are undecided, not absent, when no question names them."""
    folders: dict[str, str]
    """Folder of records -> home package."""
    add_ons: dict[str, dict[str, str]]
    """Package -> prefix of an add-on's names -> package it brings."""
    prefixes: dict[str, dict[str, str]]
    """Package -> short prefix -> full prefix."""
    methods: dict[str, tuple[str, ...]]
    """Package -> name spaces of what is called on an object."""
    plain: dict[str, tuple[str, ...]]
    """Package -> name spaces of a bare name, the plainest first."""
    operators: dict[str, dict[str, list[str]]]
    """Package -> name space of operators -> name spaces of functions that call the operator of
    their name.
    """
    unread: dict[str, tuple[str, ...]]
    """Package -> name spaces whose names no catalogue holds."""
    stands_for: dict[str, list[str]]
    """Package -> query items of a question that only names it."""
    judged: dict[str, str]
    """Op that wraps a user's model -> the part of it that is judged."""
    see: dict[str, str]
    """Op without records -> ingredient that says what to do about it."""
    counts: dict[str, int]
    """Records of each kind."""
    catalogued: dict[str, tuple[str, str]] = {}
    """Package -> first and last release whose public names are known."""


Value = TypeVar("Value")
Derived = TypeVar("Derived")


class Storage(Protocol):
    """Where the values of all tables come from."""

    def get(self, table: str, key: str, type_: type[Value]) -> Value | None: ...
    def keys(self, table: str) -> Iterable[str]: ...


class Table(Generic[Value]):
    """Values of one type by key. Each is decoded once, when first asked for."""

    def __init__(self, storage: Storage, name: str, type_: type[Value]) -> None:
        self.name = name
        self._type = type_
        self._storage = storage
        self._decoded: dict[str, Value | None] = {}

    def get(self, key: str) -> Value | None:
        """The value, or None."""
        if key not in self._decoded:
            self._decoded[key] = self._storage.get(self.name, key, self._type)
        return self._decoded[key]

    def __getitem__(self, key: str) -> Value:
        """Raises DataError for a key that other records name and that is not there."""
        value = self.get(key)
        if value is None:
            raise DataError(f"the knowledge base is damaged: {self.name} without {quote(key)}")
        return value

    def __contains__(self, key: str) -> bool:
        return self.get(key) is not None

    def __iter__(self) -> Iterator[str]:
        """All keys, in order."""
        return iter(sorted(self._storage.keys(self.name)))

    def __len__(self) -> int:
        return len(list(self._storage.keys(self.name)))

    def items(self) -> Iterator[tuple[str, Value]]:
        """All keys and values, in the order of the keys."""
        return ((key, self[key]) for key in self)

    def values(self) -> Iterator[Value]:
        """All values, in the order of their keys."""
        return (self[key] for key in self)


def _spelled(package: str) -> str:
    return re.sub(r"[-_.]+", "-", package.lower())


class KnowledgeBase:
    """Typed, read-only access to all records."""

    def __init__(self, meta: Meta, storage: Storage) -> None:
        self.meta = meta
        self._storage = storage
        self._derived: dict[Hashable, Any] = {}

        self.ops = Table(storage, "ops", OpEntry)
        """By ``package:name``."""
        self.names = Table(storage, "names", tuple[str, ...])
        """Names of ops by ``package:`` and a spelling that finds them."""
        self.public = Table(storage, "public", tuple[PublicName, ...])
        """By ``package:`` and the last part of the name."""
        self.signatures = Table(storage, "signatures", tuple[Signature, ...])
        """By ``package:`` and the name as `op_syntax.plain` spells it."""
        self.op_sources = Table(storage, "op_sources", tuple[OpSource, ...])
        """By ``package:name`` of the op."""
        self.package_level = Table(storage, "opless", tuple[OpSource, ...])
        """Sources that belong to a package itself, by package."""
        self.labels = Table(storage, "labels", str)
        """Id of a solution by its label in lower case."""
        self.setting_ids = Table(storage, "setting_ids", str)
        """By the name of the setting."""
        self.run_days = Table(storage, "run_days", str)
        """When a run was made, by its id: an answer need not read the whole run."""
        self.words = Table(storage, "words", Words)
        """There is one, and its key is empty."""
        self.symptom_index = Table(storage, "symptom_index", SymptomIndex)
        """There is one, and its key is empty."""
        self.gpus = Table(storage, "gpus", records.GpuFile)
        """There is one, and its key is empty."""

        self.sources = self._records(kinds.SOURCES)
        self.solutions = self._records(kinds.SOLUTIONS)
        self.settings = self._records(kinds.SETTINGS)
        """By name; other records by id."""
        self.packages = self._records(kinds.PACKAGES)
        self.ingredients = self._records(kinds.INGREDIENTS)
        self.helpers = self._records(kinds.HELPERS)
        self.errors = self._records(kinds.ERRORS)
        self.symptoms = self._records(kinds.SYMPTOMS)
        self.pull_requests = self._records(kinds.PULL_REQUESTS)
        self.issues = self._records(kinds.ISSUES)
        self.myths = self._records(kinds.MYTHS)
        self.corrections = self._records(kinds.CORRECTIONS)
        self.documents = self._records(kinds.DOCUMENTS)
        self.code = self._records(kinds.CODE)
        self.runs = self._records(kinds.RUNS)

    def _records(self, kind: RecordKind[Value]) -> Table[Value]:
        return Table(self._storage, kind.table, kind.type)

    def of(self, kind: RecordKind[Value]) -> Table[Value]:
        """All records of a kind that has a table."""
        return getattr(self, kind.table)

    def tables(self) -> list[Table[Any]]:
        return [value for value in vars(self).values() if isinstance(value, Table)]

    def once(self, key: Hashable, make: Callable[[], Derived]) -> Derived:
        """A value derived from records alone, made when first asked for."""
        if key not in self._derived:
            self._derived[key] = make()
        return self._derived[key]

    def solution(self, label: str) -> tuple[str, records.Solution]:
        """Id and record of a label. Lint sees to it that every label in a record exists."""
        id_ = self.labels[label.lower()]
        return id_, self.solutions[id_]

    def labelled(self, labels: Iterable[str]) -> list[tuple[str, str, records.Solution]]:
        """Solutions by their labels: label, id, record."""
        return [(label, *self.solution(label)) for label in sorted(set(labels))]

    @property
    def word_lists(self) -> Words:
        """How the knowledge base reads a user's words."""
        return self.words.get("") or Words()

    def variables(self) -> list[str]:
        """Names of the environment variables that are known."""
        return [name for name, setting in self.settings.items() if setting.kind == "env"]

    def releases(self, package: str) -> tuple[str, ...]:
        """Releases of a package, oldest first."""
        return self.once(("releases", package), lambda: in_order(self.packages[package].releases))

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
                f"unknown package {quote(text)}",
                nearest=nearest(text, self.meta.aliases),
                tip="see: d9m list packages",
            )
        return found

    def sources_of(self, package: str, op: str) -> tuple[OpSource, ...]:
        """The sources of an op; for `WHOLE` those of the package itself."""
        if op == WHOLE:
            return self.package_level.get(package) or ()
        return self.op_sources.get(f"{package}:{op}") or ()

    def signatures_in(self, package: str, name: str, releases: Sequence[str]) -> list[Signature]:
        """How a callable of this full name (``torch.Tensor.cumsum``) is called in some releases,
        each way once; if wheels say so of none of them, how it is called in any.
        """
        stated = self.signatures.get(f"{package}:{plain(name)}") or ()
        there = dict.fromkeys(signature_in(stated, name, release) for release in releases)
        return list(filter(None, there)) or list(exact(stated, name))
