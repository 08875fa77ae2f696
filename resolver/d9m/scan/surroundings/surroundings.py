"""From stated versions to the surrounding of each folder."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence

from d9m.environment.environment import Setup, describe
from d9m.kb.store import KnowledgeBase
from d9m.scan.surroundings.folders import by_folder
from d9m.scan.surroundings.images import known_image, newest
from d9m.scan.surroundings.statements import (
    Contradiction,
    FolderStatements,
    Stated,
    contradiction,
    followed,
    statements,
)
from d9m.scan.surroundings.surrounding import ScanEnvironment, StatedVersion
from d9m.scan.versions.stated import FileVersions


def surroundings(
    kb: KnowledgeBase,
    files: Sequence[tuple[str, FileVersions]],
    code: Iterable[str],
    given: Setup | None = None,
    given_in: str = "command line",
) -> tuple[dict[str, ScanEnvironment], list[Contradiction]]:
    """The surrounding of each folder that states anything, and of the root; and what contradicts
    what.

    `code` holds the paths of the Python files. `given` wins over what files say. Raises UsageError
    where `given` is faulty.
    """
    stating = by_folder(files, code)
    typed = _given(kb, given, given_in)
    found: dict[str, ScanEnvironment] = {}
    contradictions: list[Contradiction] = []
    for folder in sorted(stating):
        above = _above(folder, found)
        own = _surrounding(kb, folder, stating[folder], above, contradictions)
        found[folder] = own if typed is None else _overridden(own, typed)
    return found, contradictions


def _above(folder: str, known: Mapping[str, ScanEnvironment]) -> ScanEnvironment:
    while folder:
        folder = folder.rpartition("/")[0]
        if folder in known:
            return known[folder]
    return ScanEnvironment("")


def _surrounding(
    kb: KnowledgeBase,
    folder: str,
    files: Sequence[tuple[str, FileVersions]],
    above: ScanEnvironment,
    contradictions: list[Contradiction],
) -> ScanEnvironment:
    """Return the statements of a folder's files, which win over those of the folder above it."""
    said = statements(kb, files)
    packages = dict(above.packages)
    for name, stated in sorted(said.packages.items()):
        packages[name] = followed(stated)
        other = contradiction(name, stated)
        if other is not None:
            contradictions.append(other)
    container = _container(packages, said.packages, said.containers)
    if not said.containers and all(packages[name] == held for name, held in above.packages.items()):
        container = above.container
    device, said_in = _device(kb, said, container) or (above.device, above.device_said_in)
    return ScanEnvironment(folder, packages, container, device, said_in, above.facts)


def _container(
    packages: Mapping[str, StatedVersion],
    stated: Mapping[str, Sequence[Stated]],
    containers: Mapping[str, str],
) -> str | None:
    """The image whose packages are the ones that count."""
    for said_in, reference in containers.items():
        others: set[str] = set()
        for name, said in stated.items():
            is_held = any(one.version.said_in == said_in for one in said)
            if is_held and packages[name].said_in != said_in:
                others.add(name)
        if not others:
            return reference
    return None


def _device(
    kb: KnowledgeBase, said: FolderStatements, container: str | None
) -> tuple[str, str] | None:
    """The device, and the place that shows it."""
    image = known_image(kb, container) if container is not None else None
    if image is not None and image.device is not None:
        places = (place for place, reference in said.containers.items() if reference == container)
        return image.device, next(places, "")
    if len(set(said.devices.values())) != 1:
        return None
    path, device = next(iter(said.devices.items()))
    return device, path


def _given(kb: KnowledgeBase, setup: Setup | None, given_in: str) -> ScanEnvironment | None:
    """Return the environment that the user typed, or that the configuration says."""
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
            how = "assumed" if environment.is_moving(name) else "given"
            packages[name] = StatedVersion(newest(installed), how, given_in, oldest)
    named = setup.device or setup.gpu or setup.container
    device = environment.device if named else ""
    said_in = given_in if named else ""
    return ScanEnvironment("", packages, setup.container, device, said_in, environment.facts)


def _overridden(own: ScanEnvironment, given: ScanEnvironment) -> ScanEnvironment:
    """Return the environment with the given values, which win; an image that they contradict is
    dropped.
    """
    shared = own.packages.keys() & given.packages.keys()
    agrees = all(own.packages[name].version == given.packages[name].version for name in shared)
    return ScanEnvironment(
        own.folder,
        {**own.packages, **given.packages},
        given.container or (own.container if agrees else None),
        given.device or own.device,
        given.device_said_in or own.device_said_in,
        {**own.facts, **given.facts},
    )
