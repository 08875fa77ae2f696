"""Collectors: what the wheel of a framework itself says about determinism.

Nothing is installed or imported: a wheel is an archive, and everything is read
from its texts and libraries. `download` fetches one, `collect` reads one.
"""

from __future__ import annotations

import re
import struct
from collections.abc import Callable
from pathlib import Path

import msgspec

from d9m.authoring.collect import calls, elf, listing, macho, modules
from d9m.authoring.collect.image import Binary, Content
from d9m.authoring.collect.wheel import Wheel
from d9m.authoring.collect.words import FoundWords, in_binary, in_python
from d9m.errors import DataError
from d9m.model.wheel_facts import Catalogue, WheelFacts, opened


class WheelLayout(msgspec.Struct, frozen=True):
    """Differences between the frameworks whose wheels can be read."""

    package: str
    roots: tuple[str, ...]
    """Folders of its Python files."""
    names: Callable[[Wheel], set[str]]
    refuses: str = ""
    """Function that refuses a nondeterministic operation (part of its symbol): its callers name the
    operation.
    """


_TORCH = WheelLayout("torch", ("torch/",), modules.torch_names, "21alertNotDeterministic")
_TENSORFLOW = WheelLayout(
    "tensorflow", ("tensorflow/", "tensorflow_core/"), modules.tensorflow_names
)

_KERAS = WheelLayout("tensorflow", ("keras/",), modules.keras_names)

FRAMEWORKS: dict[str, WheelLayout] = {
    "torch": _TORCH,
    "tensorflow": _TENSORFLOW,
    "tensorflow-gpu": _TENSORFLOW,
    "tensorflow-cpu": _TENSORFLOW,
}
"""Distribution -> how it is read."""

PARTS: dict[str, WheelLayout] = {"keras": _KERAS}
"""Distributions that hold a part of a framework's public names."""

_LIBRARY = re.compile(r".*\.(?:so|dylib|pyd|dll)(?:\.\d+)*")
_OF_TESTS = re.compile(r"/tests?/|/testing/|_test\.py$|/test_\w+\.py$")


class Collected(msgspec.Struct, frozen=True):
    facts: WheelFacts
    names: list[str]
    """Public names, for the catalogue."""
    part: bool = False
    """Whether these are only some of the names of a release, and the facts not those of the
    framework.
    """


def collect(path: Path) -> Collected:
    """Read a wheel. Raises DataError for a damaged file, and for a distribution that nothing is
    known about.
    """
    with Wheel(path) as wheel:
        framework = {**FRAMEWORKS, **PARTS}.get(wheel.distribution)
        if framework is None:
            raise DataError(
                f"{path.name}: not a wheel of a framework", allowed=[*FRAMEWORKS, *PARTS]
            )
        if not any(member.startswith(framework.roots) for member in wheel.members()):
            raise DataError(
                f"{path.name}: holds no file of {framework.package}", tip="fetch it again, whole"
            )
        words, alerts = _words(wheel, framework)
        facts = WheelFacts(
            package=framework.package,
            version=wheel.version,
            file=path.name,
            sha256=wheel.checksum(),
            platform=wheel.platform,
            lists=listing.lists(wheel.text("torch/__init__.py")),
            alerts=sorted(alerts),
            messages=sorted(words.messages),
            variables=sorted(words.variables),
            flags=sorted(words.flags),
            routes=listing.routes(wheel.text("torch/nn/functional.py")),
        )
        return Collected(facts, sorted(framework.names(wheel)), wheel.distribution in PARTS)


def catalogued(path: Path, found: Collected, release: str | None = None) -> Catalogue:
    """The catalogue in `path`, or a new one, with the names of one more release; or with more names
    of `release`, which it has.
    """
    known = opened(path, Catalogue, found.facts.package)
    if release is None:
        return (
            known.with_release(found.facts.version.partition("+")[0], found.names)
            if found.names
            else known
        )
    if release not in known.releases:
        raise DataError(f"{path.name}: does not list release {release}", allowed=known.releases)
    return known.with_release(release, {*known.at(release), *found.names})


def _words(wheel: Wheel, framework: WheelLayout) -> tuple[FoundWords, set[str]]:
    """Words of every file, and the names in calls of the function that refuses."""
    words = FoundWords(set(), set(), set())
    alerts: set[str] = set()
    for member in wheel.members():
        if _LIBRARY.fullmatch(member):
            with wheel.mapped(member) as content:
                image = _image(content, framework.refuses, f"{wheel.path.name}: {member}")
                words.add(in_binary(content, _areas(content, image)))
                alerts.update(calls.passed(content, image))
        elif (
            member.startswith(framework.roots)
            and member.endswith(".py")
            and not _OF_TESTS.search(member)
        ):
            words.add(in_python(wheel.text(member)))
    return words, alerts


def _image(content: Content, function: str, place: str) -> Binary:
    try:
        if content[:6] == elf.MAGIC:
            return elf.read(content, function)
        return macho.read(content, function) if content[:4] == macho.MAGIC else Binary("", [])
    except (struct.error, IndexError, ValueError) as error:
        raise DataError(f"{place}: a damaged library: {error}") from None


def _areas(content: Content, image: Binary) -> list[tuple[int, int]]:
    """Return the areas that hold texts: the data of a known format, else the whole file."""
    return [(each.offset, each.offset + each.size) for each in image.data()] or [(0, len(content))]
