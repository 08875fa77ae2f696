"""Merge the statements of a folder's files about each package, and choose the one to follow."""

from __future__ import annotations

from collections.abc import Iterator, Sequence

import msgspec

from d9m.errors import UsageError
from d9m.kb.store import KnowledgeBase
from d9m.model.versions import candidates, is_before_all
from d9m.scan.surroundings.images import packages_in
from d9m.scan.surroundings.surrounding import How, StatedVersion
from d9m.scan.versions.stated import STRENGTHS, FileVersions, StatedPackage, Strength

_HOW: dict[Strength, How] = {
    "lock": "pinned",
    "image": "pinned",
    "pin": "pinned",
    "range": "range",
    "name": "assumed",
}

_EXACT: frozenset[Strength] = frozenset(("lock", "image", "pin"))


class Contradiction(msgspec.Struct, frozen=True):
    """Two statements on one package, of which the first is followed."""

    package: str
    followed: str
    """``2.4.1 (uv.lock:12)``."""
    other: str


class Stated(msgspec.Struct, frozen=True):
    """One version of one package as one file states it."""

    version: StatedVersion
    strength: Strength

    @property
    def text(self) -> str:
        return f"{self.version.version} ({self.version.said_in})"


class FolderStatements(msgspec.Struct, frozen=True):
    """The statements of the files of one folder."""

    packages: dict[str, list[Stated]]
    """By the knowledge base's name of the package, the strongest first."""
    containers: dict[str, str]
    """The reference of an image, by the place that names it."""
    devices: dict[str, str]
    """The file that shows it -> device."""


def statements(kb: KnowledgeBase, files: Sequence[tuple[str, FileVersions]]) -> FolderStatements:
    """All that the files of one folder state, in their order."""
    found = FolderStatements({}, {}, {})
    for path, versions in files:
        for package in versions.packages:
            name = kb.distribution(package.name)
            version = _read(kb, name, package, path) if name is not None else None
            if name is not None and version is not None:
                found.packages.setdefault(name, []).append(Stated(version, package.strength))
        for image in versions.images:
            for name, version in packages_in(kb, image, path).items():
                strength: Strength = "name" if version.how == "assumed" else "image"
                found.packages.setdefault(name, []).append(Stated(version, strength))
                found.containers[version.said_in] = image.reference
        if versions.device is not None:
            found.devices[path] = versions.device
    for stated in found.packages.values():
        stated.sort(key=lambda each: STRENGTHS.index(each.strength))
    return found


def followed(stated: Sequence[Stated]) -> StatedVersion:
    """Return which of the statements on one package counts."""
    different = {other.version.version for other in _differing(stated)} - {None}
    return msgspec.structs.replace(stated[0].version, others=tuple(sorted(map(str, different))))


def contradiction(name: str, stated: Sequence[Stated]) -> Contradiction | None:
    """The first of the exact statements on a package that says another version than the one that
    is followed.
    """
    for other in _differing(stated):
        return Contradiction(name, stated[0].text, other.text)
    return None


def _differing(stated: Sequence[Stated]) -> Iterator[Stated]:
    """The exact statements that say another version than the first."""
    first, *others = stated
    for other in others:
        if other.version.version != first.version.version and other.strength in _EXACT:
            yield other


def _read(kb: KnowledgeBase, name: str, package: StatedPackage, path: str) -> StatedVersion | None:
    """Return a statement in terms of the listed releases; None where it is not a version. A release
    older than all of them is kept: nothing is known of it.
    """
    released = kb.releases(name)
    said_in = f"{path}:{package.line}"
    if package.version is None:
        newest = released[-1] if released else None
        return StatedVersion(newest, _HOW[package.strength], said_in)
    try:
        found = candidates(name, package.version, released)
    except UsageError:
        if is_before_all(package.version, released):
            return StatedVersion(package.version, "pinned", said_in)
        return None
    if not released:
        return StatedVersion(package.version, _HOW[package.strength], said_in)
    if package.strength in ("range", "name"):
        newest, oldest = found.releases[-1], found.releases[0]
        return StatedVersion(newest, "range", said_in, oldest)
    return StatedVersion(package.version, "pinned", said_in)
