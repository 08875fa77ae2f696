"""Lookups over all records, made once and shared by every rule."""

from __future__ import annotations

import bisect
import re
from collections.abc import Iterator
from typing import Any, TypeVar, cast

import msgspec

from d9m.kb import yaml_files
from d9m.kb.kinds import EVERY_KIND, PACKAGES
from d9m.kb.validate import Path
from d9m.kb.yaml_files import Loaded, Records
from d9m.model import records
from d9m.model.versions import Key, covers, in_order, key
from d9m.model.when import When

_NUMBERS = re.compile(r"[0-9]{1,9}(\.[0-9]{1,9}){0,9}")

Inner = TypeVar("Inner", bound=records.Record)


class RecordPart(msgspec.Struct, frozen=True):
    """Something inside a record, with its place."""

    at: Loaded
    path: Path
    value: Any


class NamedOps(msgspec.Struct, frozen=True):
    """Ops and names in all op files of one package."""

    ops: dict[str, records.Existence] = {}
    reach: dict[str, list[str | records.Target]] = {}


class RecordIndex:
    """Records by id, label, name and type. Of two that claim a name, the first has it:
    `owned-twice` tells.

    A file that could not be read is missing here. So that it takes only itself
    out, `complete` tells whether a name that is not found can be called unknown.
    """

    def __init__(self, loaded: Records) -> None:
        self.vocabulary = _single(loaded, "facts.yaml")
        self.facts = loaded.facts
        self.wheels = loaded.wheels
        self.kinds: dict[str, dict[str, Loaded]] = {kind.name: {} for kind in EVERY_KIND}
        every = [*loaded.loaded, *loaded.mended]
        for at in every:
            self.kinds[at.kind][at.id] = at
        self._broken = {fault.file for fault in loaded.faults}
        self.packages = {id_: at.record for id_, at in self.kinds[PACKAGES.name].items()}
        self.releases = {name: _releases(package) for name, package in self.packages.items()}
        self.homes: dict[str, str] = {}
        self.labels: dict[str, Loaded] = {}
        self.settings: dict[str, Loaded] = {}
        for name, package in self.packages.items():
            if package.folder is not None:
                self.homes.setdefault(package.folder, name)
        for at in self.kinds["solutions"].values():
            self.labels.setdefault(at.record.label, at)
        for at in self.kinds["settings"].values():
            self.settings.setdefault(at.record.name, at)
        self.catalogues: dict[str, NamedOps] = {}
        for at in self.kinds["ops"].values():
            catalogue = self.catalogues.setdefault(at.record.package, NamedOps({}, {}))
            catalogue.ops.update(at.record.ops)
            catalogue.reach.update(at.record.reach)
        self._parts: dict[type[Any], list[RecordPart]] = {}
        for at in [*every, self.vocabulary]:
            for part in _inside(at, (), at.record):
                self._parts.setdefault(cast(type[Any], type(part.value)), []).append(part)

    def parts(self, type_: type[Inner]) -> Iterator[tuple[Loaded, Path, Inner]]:
        """Everything of one record type, at any depth."""
        for part in self._parts.get(type_, []):
            yield part.at, part.path, cast(Inner, part.value)

    def texts(self) -> list[RecordPart]:
        """Every text of every record."""
        return self._parts.get(str, [])

    def whens(self) -> Iterator[tuple[Loaded, Path, When]]:
        """Every condition of every record."""
        for parts in self._parts.values():
            for part in parts:
                for field in ("when", "concerns"):
                    when = getattr(part.value, field, None)
                    if isinstance(when, (dict, list)) and when != {}:
                        yield part.at, (*part.path, field), cast(When, when)

    def complete(self, kind: str) -> bool:
        """Whether every file of this kind could be read."""
        return not any(file.startswith((f"{kind}/", f"{kind}.")) for file in self._broken)

    def home(self, at: Loaded) -> str | None:
        """Home package of a record, from its folder."""
        return self.homes.get(at.id.partition("/")[0])

    def lists(self, package: str, version: str) -> bool:
        """Whether a version names a release of the package's map, or several (`2.1` for 2.1.0 and
        2.1.1).
        """
        wanted = key(version)
        releases = self.releases[package]
        return any(covers(version, release) or key(release) == wanted for release in releases)

    def place(self, package: str, version: str) -> int:
        """How many releases of the package come before `version`."""
        return bisect.bisect_left([key(each) for each in self.releases[package]], key(version))


def readable(version: str) -> Key | None:
    """Place of a version in the order; None for text that is not a final version."""
    return key(version) if _NUMBERS.fullmatch(version) else None


def _releases(package: records.Package) -> tuple[str, ...]:
    return in_order({each: None for each in package.releases if readable(each) is not None})


def _single(loaded: Records, file: str) -> Loaded:
    """A file at the top of ``kb/`` with the places of its fields; empty if it cannot be read."""
    path = loaded.root / file
    found = list(yaml_files.read(path, loaded.root)) if path.is_file() else []
    read = [each for each in found if isinstance(each, Loaded)]
    return read[0] if read else Loaded(path.stem, "", file, {}, {})


def _inside(at: Loaded, path: Path, value: Any) -> Iterator[RecordPart]:
    """All texts and record parts below a value, itself included."""
    if isinstance(value, (str, records.Record)):
        yield RecordPart(at, path, value)
    if isinstance(value, records.Record):
        names = zip(value.__struct_encode_fields__, value.__struct_fields__)
        items = list[tuple[str | int, Any]]((name, getattr(value, field)) for name, field in names)
    elif isinstance(value, dict):
        items = list(cast(dict[str | int, Any], value).items())
    elif isinstance(value, list):
        items = list(enumerate(cast(list[Any], value)))
    else:
        return
    for name, item in items:
        yield from _inside(at, (*path, name), item)
