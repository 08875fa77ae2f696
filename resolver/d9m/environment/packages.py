"""The packages of an environment: named ones, those of its image, of files, and what wheels
ship.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence

from d9m.environment.container import Image, contents
from d9m.environment.releases import Installed, installed, listed, matching, shipped
from d9m.environment.version_options import VERSION_OPTIONS
from d9m.errors import UsageError, quote
from d9m.kb.store import KnowledgeBase
from d9m.model.versions import covers


def named(
    kb: KnowledgeBase, packages: Sequence[tuple[str, str | None]], image: Image | None
) -> dict[str, Installed]:
    """Return what an image holds, with the packages that the user names. Raises UsageError where
    they contradict it.
    """
    found = contents(kb, image) if image else {}
    for text, version in packages:
        name = kb.package_named(text)
        new = installed(kb, name, version)
        old = found.get(name)
        if old is None or old.version is None:
            found[name] = new
        elif version is not None and not set(new.candidates.releases) & set(
            old.candidates.releases
        ):
            where = (
                f"the container {image.reference} holds"
                if old.origin == "container" and image
                else "it is also"
            )
            raise UsageError(
                f"{name} {quote(version)} contradicts the rest: {where} {name} {old.version}"
            )
        elif version is not None and old.origin == "given":
            found[name] = new
    return found


def in_files(
    kb: KnowledgeBase, lists: Sequence[tuple[str, str | None]], known: Mapping[str, Installed]
) -> tuple[dict[str, Installed], int]:
    """Return what files list beyond the packages that are known already, and how many of theirs
    d9m does not know.

    Raises UsageError where they list one package in two versions.
    """
    versions: dict[str, dict[str | None, None]] = {}
    ignored: set[str] = set()
    for name, version in lists:
        package = kb.distribution(name)
        if package is None:
            ignored.add(name)
        elif package not in known:
            versions.setdefault(package, {})[version] = None
    found: dict[str, Installed] = {}
    for package, said in versions.items():
        every = [listed(kb, package, version) for version in said]
        if len({installed.candidates for installed in every}) > 1:
            both = " and ".join(version or "any" for version in said)
            raise UsageError(
                f"the file lists {package} as {both}", tip=f"say which: --with {package}=VERSION"
            )
        found[package] = every[0]
    return found, len(ignored)


def partners(kb: KnowledgeBase, package: str) -> list[str]:
    """The packages of which each release of a library wants one release: torchvision wants a
    PyTorch.
    """
    if kb.packages[package].kind != "library":
        return []
    releases = kb.packages[package].releases.values()
    return list(dict.fromkeys(part for release in releases for part in release.with_))


def framework_of(kb: KnowledgeBase, package: str) -> str | None:
    """The framework whose ops a library runs."""
    known = kb.packages[package]
    if known.framework is not None or known.kind != "library":
        return known.framework
    return next((part for part in partners(kb, package) if part in VERSION_OPTIONS), None)


def with_partners(
    kb: KnowledgeBase, packages: Mapping[str, Installed], brought: Sequence[str]
) -> dict[str, Installed]:
    """Packages that an op brought along, in the releases that are made for what is there already:
    torchvision 0.19 with PyTorch 2.4.
    """
    found = dict(packages)
    for name in brought:
        for partner in partners(kb, name):
            known = packages.get(partner)
            if known is not None and known.version is not None and partner not in brought:
                found[name] = matching(kb, name, partner, known) or found[name]
    return found


def from_wheels(kb: KnowledgeBase, packages: Mapping[str, Installed]) -> dict[str, Installed]:
    """Return what every release in question ships, unless something says otherwise; the newest
    stands in for a newer one.
    """
    found: dict[str, Installed] = {}
    for name, package in packages.items():
        known = kb.packages[name].releases
        candidates = package.candidates
        wheels = [known[release].with_ for release in candidates.releases if release in known]
        for part in wheels[0] if wheels and candidates.how in ("exactly", "newer") else ():
            versions = [wheel[part] for wheel in wheels if part in wheel]
            settled = part in found or (
                part in packages and not _is_rough(packages[part], versions)
            )
            if not settled and len(versions) == len(wheels):
                found[part] = shipped(kb, part, versions)
    return found


def from_builds(
    kb: KnowledgeBase, packages: Mapping[str, Installed], device: str
) -> dict[str, Installed]:
    """Return what the builds for a device ship in a version that no list has."""
    found: dict[str, Installed] = {}
    for name in packages:
        for part in kb.packages[name].builds.get(device, []):
            if part not in packages:
                found[part] = installed(kb, part, None, "wheel")
    return found


def _is_rough(known: Installed, versions: Sequence[str]) -> bool:
    """Whether an image's tag says less of a part than the wheel does: ``9`` where the wheel ships
    ``9.1.0.70``.
    """
    version = known.version
    return (
        known.origin == "container"
        and version is not None
        and all(covers(version, each) for each in versions)
    )
