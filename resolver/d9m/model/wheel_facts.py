"""Types of the fact files: the statements of a framework's wheels about determinism.

``evidence/wheels/*.json`` holds one file a wheel (`WheelFacts`),
``evidence/catalogue-*.json`` the public names of a framework over its releases
(`Catalogue`), ``evidence/signatures-*.json`` how they are called (`SignatureCatalogue`),
``evidence/releases/*.json`` the releases of a package (`Published`).
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from pathlib import Path
from typing import Any, TypeVar

import msgspec

from d9m import files
from d9m.errors import DataError
from d9m.model.versions import in_order

OR = " | "
"""Between the overloads of a signature."""

AS_FUNCTION = "="


class WheelFact(msgspec.Struct, frozen=True, forbid_unknown_fields=True, omit_defaults=True):
    """Base of all types of a fact file: immutable, unknown keys are errors."""

    def encoded(self) -> bytes:
        """Return the bytes of its file: the same facts give the same bytes."""
        return msgspec.json.format(msgspec.json.encode(self, order="sorted"), indent=1) + b"\n"


FactType = TypeVar("FactType", bound=WheelFact)
Named = TypeVar("Named", bound=Any)
Fact = TypeVar("Fact")


class ListedOp(WheelFact, frozen=True, order=True):
    """One line of a list in a docstring: the op, and when it is meant."""

    op: str
    condition: str = ""


class Route(WheelFact, frozen=True, order=True):
    """A branch that a function takes under the switch."""

    function: str
    condition: str
    to: str


class WheelFacts(WheelFact, frozen=True):
    """The facts of one wheel."""

    package: str
    version: str
    file: str
    sha256: str
    platform: str
    lists: dict[str, list[ListedOp]] = {}
    """Lists in the docstring of the framework's switch, by section."""
    alerts: list[str] = []
    """Names that the libraries hand to the function that refuses a nondeterministic operation."""
    messages: list[str] = []
    """Texts about determinism, in libraries and in Python."""
    variables: list[str] = []
    """Environment variables that bear on determinism."""
    flags: list[str] = []
    """Flags of a compiler inside that do."""
    routes: list[Route] = []


class Published(WheelFact, frozen=True):
    """Releases of a package, as the package index or the tags of its repository list them."""

    releases: dict[str, str]
    """Release -> day of publication, ISO 8601; empty where it is not known."""
    notes: dict[str, str] = {}
    """Release -> builds that count as it, or that it was withdrawn."""
    pins: dict[str, dict[str, str]] = {}
    """Release -> package -> the one version of it that the wheel requires."""

    def encoded(self) -> bytes:
        """The file, with its newest release last."""
        ordered = {release: self.releases[release] for release in in_order(self.releases)}
        plain = msgspec.json.encode(msgspec.structs.replace(self, releases=ordered))
        return msgspec.json.format(plain, indent=1) + b"\n"


class Catalogue(WheelFact, frozen=True):
    """Public names of a package, in the releases whose wheels were read.

    A span is ``first..until``, both of them releases that were read, the second
    exclusive and empty where the newest has the name; several are joined by ``,``.
    """

    package: str
    releases: list[str] = []
    names: dict[str, list[str]] = {}
    """Spans -> names."""

    def at(self, release: str) -> set[str]:
        """Names of one release that was read."""
        return set[str]().union(*held(self.releases, self.names, release))

    def present(self) -> Iterator[tuple[str, frozenset[int]]]:
        """Every name, and the places in `releases` of those that have it."""
        for text, names in self.names.items():
            present = places(self.releases, text)
            for name in names:
                yield name, present

    def with_release(self, release: str, names: Iterable[str]) -> Catalogue:
        """The catalogue with one release read, or read anew."""
        known: dict[str, set[str]] = {each: self.at(each) for each in self.releases}
        return catalogue(self.package, {**known, release: set(names)})


class SignatureCatalogue(WheelFact, frozen=True):
    """The signatures of a package's public callables, in the releases whose wheels were read.

    Overloads are parameter lists as Python writes them, joined by `OR`. A word after a colon
    (Tensor, int, number, bool) means that only such an argument fits. Left out: functions of one
    argument, methods and constructors of none, and parameters that only say where a result goes.
    """

    package: str
    releases: list[str] = []
    wheels: dict[str, dict[str, str]] = {}
    """Release -> file name of a wheel that was read -> its SHA-256."""
    signatures: dict[str, dict[str, str]] = {}
    """Spans (as of `Catalogue`) -> name -> overloads; or `AS_FUNCTION` for a method that is called
    like the function of the same name in the namespace of its class, without the first argument."""

    def at(self, release: str) -> dict[str, str]:
        """Name -> overloads, in one release that was read."""
        return merged(held(self.releases, self.signatures, release))

    def with_release(
        self, release: str, wheel: tuple[str, str], stated: Mapping[str, str]
    ) -> SignatureCatalogue:
        """The catalogue with one release read, or read anew; `wheel`: file name and SHA-256."""
        known = {each: self.at(each) for each in self.releases}
        wheels = {**self.wheels, release: dict([wheel])}
        return self._with(wheels, {**known, release: dict(stated)})

    def with_part(
        self, release: str, wheel: tuple[str, str], stated: Mapping[str, str]
    ) -> SignatureCatalogue:
        """The catalogue with names of another wheel added to a release."""
        known = {each: self.at(each) for each in self.releases}
        wheels = {**self.wheels, release: {**self.wheels[release], **dict([wheel])}}
        return self._with(wheels, {**known, release: {**known[release], **stated}})

    def _with(
        self, wheels: dict[str, dict[str, str]], known: Mapping[str, Mapping[str, str]]
    ) -> SignatureCatalogue:
        releases = list(in_order(known))
        found = spanned(releases, [known[release] for release in releases])
        return SignatureCatalogue(self.package, releases, wheels, found)


def catalogue(package: str, known: Mapping[str, set[str]]) -> Catalogue:
    """A catalogue from the names of each release."""
    releases = in_order(known)
    names = spanned(releases, [dict.fromkeys(known[release], True) for release in releases])
    return Catalogue(package, list(releases), {span: list(held) for span, held in names.items()})


def spanned(
    releases: Sequence[str], known: Sequence[Mapping[Named, Fact]]
) -> dict[str, dict[Named, Fact]]:
    """Spans -> name -> what is known of it in them. `known`: for each release."""
    found: dict[str, dict[Named, Fact]] = {}
    for name in sorted({name for held in known for name in held}):
        values = [held.get(name) for held in known]
        distinct: list[Fact] = []
        for value in values:
            if value is not None and value not in distinct:
                distinct.append(value)
        for value in distinct:
            span = spans(releases, [each == value for each in values])
            found.setdefault(span, {})[name] = value
    return found


def held(releases: Sequence[str], table: Mapping[str, Fact], release: str) -> list[Fact]:
    """Return the values of a table by spans that hold a release that was read."""
    place = releases.index(release)
    return [value for span, value in table.items() if place in places(releases, span)]


def merged(tables: Iterable[Mapping[Named, Fact]]) -> dict[Named, Fact]:
    """Return what several tables hold; no name is in two."""
    return {name: value for table in tables for name, value in table.items()}


def places(releases: Sequence[str], text: str) -> frozenset[int]:
    """Places in `releases` of those that the spans in `text` hold."""
    found: set[int] = set()
    for span in text.split(","):
        first, _dots, until = span.partition("..")
        end = releases.index(until) if until else len(releases)
        found.update(range(releases.index(first), end))
    return frozenset(found)


def spans(releases: Sequence[str], present: Sequence[bool]) -> str:
    """Runs of releases (oldest first) that have something."""
    found: list[str] = []
    for place, (release, here) in enumerate(zip(releases, present)):
        before = place > 0 and present[place - 1]
        if here and not before:
            found.append(f"{release}..")
        elif before and not here:
            found[-1] += release
    return ",".join(found)


def read(path: Path, type_: Any) -> Any:
    """One fact file. Raises DataError naming the file and what is wrong in it."""
    try:
        return msgspec.json.decode(files.content(path), type=type_)
    except (OSError, *files.UNREADABLE) as error:
        raise DataError(f"{path.name}: not a fact file: {error}") from None


def opened(path: Path, type_: type[FactType], package: str) -> FactType:
    """Return the catalogue in a file, or a new one.

    Raises DataError for a damaged file, and for a catalogue of another package.
    """
    known: Any = read(path, type_) if path.exists() else type_(package)
    if known.package != package:
        raise DataError(f"{path.name}: a catalogue of {known.package}, not of {package}")
    return known


def read_all(root: Path, places: str, type_: type[FactType]) -> list[FactType]:
    """The fact files at places under ``kb/``, by file name."""
    return [read(path, type_) for path in sorted(root.glob(places))]


def facts(root: Path) -> dict[str, WheelFacts]:
    """Fact files by file name."""
    paths = sorted(root.glob("evidence/wheels/*.json"))
    return {path.name: read(path, WheelFacts) for path in paths}


def catalogues(root: Path) -> dict[str, Catalogue]:
    """Catalogues by package."""
    found = read_all(root, "evidence/catalogue-*.json", Catalogue)
    return {catalogue.package: catalogue for catalogue in found}
