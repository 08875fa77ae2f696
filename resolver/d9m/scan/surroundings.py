"""From stated versions to the surrounding of each folder."""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator, Mapping, Sequence

import msgspec

from d9m.environment.container import Image, contents, find_image
from d9m.environment.environment import Setup, describe
from d9m.environment.releases import Installed
from d9m.errors import UsageError
from d9m.kb.store import KnowledgeBase
from d9m.model.versions import candidates, is_before_all
from d9m.scan.surrounding import How, StatedVersion, Surrounding
from d9m.scan.versions.stated import (
    STRENGTHS,
    FileVersions,
    StatedImage,
    StatedPackage,
    Strength,
)

_HOW: dict[Strength, How] = {
    "lock": "pinned",
    "image": "pinned",
    "pin": "pinned",
    "code": "range",
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


def surroundings(
    kb: KnowledgeBase,
    files: Sequence[tuple[str, FileVersions]],
    code: Iterable[str],
    given: Setup | None = None,
    given_in: str = "command line",
) -> tuple[dict[str, Surrounding], list[Contradiction]]:
    """The surrounding of each folder that states anything, and of the root; and what contradicts
    what.

    `code` holds the paths of the Python files: a folder without any (``docker/``) speaks for the
    one above it, and so does ``environment/`` without any of its own. `given` wins over what files
    say. Raises UsageError where `given` is faulty.
    """
    paths = list(code)
    with_code = _folders_with(paths)
    with_code -= _of_environments(with_code, paths)
    by_folder: dict[str, list[tuple[str, FileVersions]]] = {"": []}
    for path, versions in sorted(files, key=lambda file: (_rank(file[0]), file[0])):
        if versions.packages or versions.images:
            folder = path.rpartition("/")[0]
            if _is_shown_by_code(versions):
                folder = path.partition("/")[0] if folder else ""
            while folder and folder not in with_code:
                folder = folder.rpartition("/")[0]
            by_folder.setdefault(folder, []).append((path, versions))
    typed = _given(kb, given, given_in)
    found: dict[str, Surrounding] = {}
    contradictions: list[Contradiction] = []
    for folder in sorted(by_folder):
        above = _above(folder, found)
        own = _surrounding(kb, folder, by_folder[folder], above, contradictions)
        found[folder] = own if typed is None else _overridden(own, typed)
    return found, contradictions


def _is_shown_by_code(versions: FileVersions) -> bool:
    """Whether only the calls of a file say which releases it is for: then the folder of the
    project around it is, too.
    """
    return not versions.images and all(each.strength == "code" for each in versions.packages)


def _mixed(files: Sequence[tuple[str, FileVersions]]) -> frozenset[str]:
    """Packages of which some code calls what later releases lack, and some what earlier ones do:
    it is for both.
    """
    shown: dict[str, set[str | None]] = {}
    for _path, versions in files:
        for package in versions.packages:
            if package.strength == "code":
                shown.setdefault(package.name, set()).add(package.version)
    return frozenset(name for name, ranges in shown.items() if len(ranges) > 1)


def _rank(path: str) -> int:
    """Files of the same strength count in this order; requirements.txt speaks for the program."""
    name = path.rpartition("/")[2]
    if name in ("requirements.txt", "pyproject.toml", "Dockerfile"):
        return 0
    return 2 if any(word in path.lower() for word in ("dev", "test", "doc", "lint")) else 1


def _folders_with(code: Iterable[str]) -> frozenset[str]:
    found: set[str] = {""}
    for path in code:
        folder = path.rpartition("/")[0]
        while folder not in found:
            found.add(folder)
            folder = folder.rpartition("/")[0]
    return frozenset(found)


_INSTALLS = re.compile(r"(?i)(conda_?)?envs?|environments?|requirements|conda|install|setup|docker")
"""Names of folders that say what to install."""


def _of_environments(with_code: frozenset[str], code: Iterable[str]) -> frozenset[str]:
    """Those of the folders around Python files that say what to install, and hold none
    themselves.
    """
    direct = {path.rpartition("/")[0] for path in code}
    found: set[str] = set()
    for folder in with_code - direct:
        if _INSTALLS.fullmatch(folder.rpartition("/")[2]):
            found.add(folder)
    return frozenset(found)


def _above(folder: str, known: Mapping[str, Surrounding]) -> Surrounding:
    while folder:
        folder = folder.rpartition("/")[0]
        if folder in known:
            return known[folder]
    return Surrounding("")


def _surrounding(
    kb: KnowledgeBase,
    folder: str,
    files: Sequence[tuple[str, FileVersions]],
    above: Surrounding,
    contradictions: list[Contradiction],
) -> Surrounding:
    """What the files of one folder say, over what holds above it."""
    stated: dict[str, list[Stated]] = {}
    containers: dict[str, str] = {}
    devices: list[str] = []
    mixed = _mixed(files)
    for path, versions in files:
        for package in versions.packages:
            if package.strength == "code" and package.name in mixed:
                continue
            name = kb.distribution(package.name)
            version = _read(kb, name, package, path) if name is not None else None
            if name is not None and version is not None:
                stated.setdefault(name, []).append(Stated(version, package.strength))
        for image in versions.images:
            inside = _inside(kb, image, path)
            for name, version in inside.items():
                strength: Strength = "name" if version.how == "assumed" else "image"
                stated.setdefault(name, []).append(Stated(version, strength))
                containers[version.said_in] = image.reference
        if versions.device is not None:
            devices.append(versions.device)
    packages = dict(above.packages)
    for name, statements in sorted(stated.items()):
        first, *others = sorted(statements, key=lambda each: STRENGTHS.index(each.strength))
        held = above.packages.get(name)
        if first.strength == "code" and held is not None and held.is_stated:
            continue
        packages[name] = first.version
        shown = [other.version for other in others if other.strength == "code"]
        if first.strength == "range" and shown:
            packages[name] = _both(kb.releases(name), first.version, shown[0])
        for other in others:
            if other.version.version != first.version.version and other.strength in _EXACT:
                contradictions.append(Contradiction(name, first.text, other.text))
                break
    container = _container(packages, stated, containers)
    if not containers and all(packages[name] == held for name, held in above.packages.items()):
        container = above.container
    device = _device(kb, container, devices) or above.device
    return Surrounding(folder, packages, container, device, above.facts)


def _both(released: Sequence[str], stated: StatedVersion, shown: StatedVersion) -> StatedVersion:
    """A stated range without the releases that lack what the code calls; as it is stated, where
    none is left.
    """
    left = _allowed(released, stated)
    left = [release for release in left if release in _allowed(released, shown)]
    return msgspec.structs.replace(stated, version=left[-1], oldest=left[0]) if left else stated


def _allowed(released: Sequence[str], said: StatedVersion) -> Sequence[str]:
    if said.version not in released or said.oldest not in released:
        return ()
    return released[released.index(said.oldest) : released.index(said.version) + 1]


def _read(kb: KnowledgeBase, name: str, package: StatedPackage, path: str) -> StatedVersion | None:
    """A statement in terms of the listed releases; None where it is not a version. A release older
    than all of them stays as it is: nothing is known of it.
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
    if package.strength in ("code", "range", "name"):
        newest, oldest = found.releases[-1], found.releases[0]
        return StatedVersion(newest, "range", said_in, oldest, package.strength == "code")
    return StatedVersion(package.version, "pinned", said_in)


def _inside(kb: KnowledgeBase, image: StatedImage, path: str) -> dict[str, StatedVersion]:
    known = _known_image(kb, image.reference)
    if known is None:
        return {}
    held = kb.once(("contents", image.reference), lambda: contents(kb, known))
    found: dict[str, StatedVersion] = {}
    for name, installed in held.items():
        if name not in kb.meta.platforms:
            version = _newest(installed)
            how: How = "assumed" if _moves(image.reference) else "pinned"
            found[name] = StatedVersion(version, how, f"{path}:{image.line}")
    return found


def _moves(reference: str) -> bool:
    """Whether a tag means another image after every release: ``latest-gpu``."""
    return reference.rpartition(":")[2].startswith("latest")


def _newest(installed: Installed) -> str | None:
    releases = installed.candidates.releases
    return installed.version or (releases[-1] if releases else None)


def _known_image(kb: KnowledgeBase, reference: str) -> Image | None:
    families = kb.once("image words", lambda: set(_image_words(kb)))
    if reference.rpartition(":")[0].rpartition("/")[2].lower() not in families:
        return None
    try:
        return find_image(kb, reference)
    except UsageError:
        return None


def _image_words(kb: KnowledgeBase) -> Iterator[str]:
    """Last parts of the names by which somebody may call an image."""
    for family, packages in kb.meta.images.items():
        for word in (family, *packages, kb.packages[packages[0]].repository or family):
            yield word.rpartition("/")[2]


def _container(
    packages: Mapping[str, StatedVersion],
    stated: Mapping[str, Sequence[Stated]],
    containers: Mapping[str, str],
) -> str | None:
    """The image whose packages are the ones that count."""
    for said_in, reference in containers.items():
        others: set[str] = set()
        for name, statements in stated.items():
            is_held = any(statement.version.said_in == said_in for statement in statements)
            if is_held and packages[name].said_in != said_in:
                others.add(name)
        if not others:
            return reference
    return None


def _device(kb: KnowledgeBase, container: str | None, devices: Sequence[str]) -> str | None:
    image = _known_image(kb, container) if container is not None else None
    if image is not None and image.device is not None:
        return image.device
    return devices[0] if devices and len(set(devices)) == 1 else None


def _given(kb: KnowledgeBase, setup: Setup | None, given_in: str) -> Surrounding | None:
    """What somebody typed, or what the configuration says."""
    if setup is None:
        return None
    environment = describe(kb, setup)
    packages: dict[str, StatedVersion] = {}
    for name, installed in environment.packages.items():
        if installed.is_chosen or (
            installed.origin == "container" and name not in kb.meta.platforms
        ):
            releases = installed.candidates.releases
            oldest = releases[0] if installed.version is None and releases else None
            packages[name] = StatedVersion(_newest(installed), "given", given_in, oldest)
    named = setup.device or setup.gpu or setup.container
    device = environment.device if named else ""
    return Surrounding("", packages, setup.container, device, environment.facts)


def _overridden(own: Surrounding, given: Surrounding) -> Surrounding:
    """What is given wins; an image that it contradicts is forgotten."""
    shared = own.packages.keys() & given.packages.keys()
    agrees = all(own.packages[name].version == given.packages[name].version for name in shared)
    return Surrounding(
        own.folder,
        {**own.packages, **given.packages},
        given.container or (own.container if agrees else None),
        given.device or own.device,
        {**own.facts, **given.facts},
    )
