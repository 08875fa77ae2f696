"""The two sides of an audit: what is known, and what was shipped."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator
from pathlib import Path

import msgspec

from d9m.kb.kinds import RecordKind, RecordType
from d9m.kb.store import KnowledgeBase
from d9m.kb.yaml_files import Records
from d9m.model import records, wheel_facts
from d9m.model.compiled_facts import CompiledCatalogue
from d9m.model.dispatch_facts import CpuRuns, DispatchCatalogue, SeedRuns
from d9m.model.kernel_facts import KernelTable
from d9m.model.versions import in_order, within
from d9m.model.wheel_facts import Catalogue, ListedOp, WheelFacts
from d9m.model.when import Range, When, clauses


class AuditDifference(msgspec.Struct, frozen=True, order=True):
    """One thing on which records and wheels differ."""

    code: str
    subject: str
    releases: str
    """``first..until``: both read, the second exclusive, empty to the newest; several joined by
    ``,``.
    """
    detail: str

    @property
    def id(self) -> str:
        """Id that an explanation names. New releases change it only where they change the
        difference.
        """
        return " ".join(filter(None, (self.code, self.subject, self.releases)))


class Known(msgspec.Struct, frozen=True):
    """The records, as they are read and as they are asked."""

    loaded: Records
    kb: KnowledgeBase

    def of(self, kind: RecordKind[RecordType]) -> dict[str, RecordType]:
        return self.loaded.of(kind)

    def home(self, id_: str) -> str:
        """Home package of a record."""
        return self.kb.meta.folders.get(id_.partition("/")[0], "")


class ShippedRelease(msgspec.Struct, frozen=True):
    """Facts of all wheels of one release."""

    files: list[WheelFacts]

    def all(self, field: str) -> set[str]:
        return {text for facts in self.files for text in getattr(facts, field)}

    def lists(self) -> Iterator[tuple[str, ListedOp]]:
        """Section and line, as the first wheel has them: all of one release have the same."""
        for section, lines in self.files[0].lists.items():
            for line in lines:
                yield section, line


class Shipped(msgspec.Struct, frozen=True):
    """Every fact file, by package and release (oldest first)."""

    files: list[str]
    packages: dict[str, dict[str, ShippedRelease]]
    catalogues: dict[str, Catalogue]
    compiled: list[CompiledCatalogue] = []
    dispatched: list[DispatchCatalogue] = []
    kernels: list[KernelTable] = []
    cpu: list[CpuRuns] = []
    seeds: list[SeedRuns] = []

    def all(self, package: str, field: str) -> list[str]:
        """Return the values that wheels of any release have in a field, sorted."""
        found: set[str] = set()
        for release in self.packages[package].values():
            found |= release.all(field)
        return sorted(found)

    def spans(self, package: str, releases: Iterable[str]) -> str:
        """Some of the releases that were read, as an id names them."""
        some = set(releases)
        read = list(self.packages[package])
        return wheel_facts.spans(read, [release in some for release in read])

    def carrying(self, package: str, carries: Callable[[ShippedRelease], bool]) -> set[str]:
        return {version for version, release in self.packages[package].items() if carries(release)}


def shipped(folder: Path) -> Shipped:
    """All facts under ``evidence/``. Raises DataError for a file that is none."""
    facts = wheel_facts.facts(folder)
    packages: dict[str, dict[str, list[WheelFacts]]] = {}
    for wheel in facts.values():
        version = wheel.version.partition("+")[0]
        packages.setdefault(wheel.package, {}).setdefault(version, []).append(wheel)
    ordered: dict[str, dict[str, ShippedRelease]] = {}
    for package, found in packages.items():
        ordered[package] = {version: ShippedRelease(found[version]) for version in in_order(found)}
    return Shipped(
        sorted(facts),
        ordered,
        wheel_facts.catalogues(folder),
        wheel_facts.read_all(folder, "evidence/compiled-*.json", CompiledCatalogue),
        wheel_facts.read_all(folder, "evidence/dispatch-*.json", DispatchCatalogue),
        wheel_facts.read_all(folder, "evidence/atomics/*.json", KernelTable),
        wheel_facts.read_all(folder, "evidence/cpu/*.json", CpuRuns),
        wheel_facts.read_all(folder, "evidence/seeds/*.json", SeedRuns),
    )


def meant(when: When, home: str, package: str, versions: Iterable[str]) -> set[str] | None:
    """Releases of a package in which a record's condition can hold; None if it says nothing about
    the package.

    A clause that names another build instead (``ngc-tensorflow-tf2``) is none of this package's.
    """
    stated = clauses(when)
    named = [clause[package] for clause in stated if package in clause]
    if not named:
        return set(versions) if home == package and not any(stated) else None
    ranges = [each for each in named if isinstance(each, Range)]
    return {version for version in versions if any(within(version, each) for each in ranges)}


def existing(exists: records.Existence, versions: Iterable[str]) -> set[str]:
    """Releases in which a name is said to exist."""
    return {version for version in versions if within(version, exists)}
