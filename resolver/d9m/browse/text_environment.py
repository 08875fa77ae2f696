"""The environment of a text: what was named, what it names, and what stands in for the rest."""

from __future__ import annotations

from collections.abc import Collection, Iterable, Mapping

import msgspec

from d9m.environment.environment import Setup, describe
from d9m.environment.packages import framework_of, partners
from d9m.environment.releases import installed
from d9m.kb.store import KnowledgeBase
from d9m.model.records import Setting
from d9m.model.versions import key
from d9m.model.when import Range, clauses


def context(
    kb: KnowledgeBase, setup: Setup | None, named: Mapping[str, str | None], here: Setup | None
) -> Setup:
    """The environment of a text: what was named wins over the text, and the text over what is
    installed here.
    """
    setup = setup or Setup()
    known = describe(kb, setup).packages
    there = dict(here.packages) if here else {}
    added: list[tuple[str, str | None]] = []
    for package, version in named.items():
        if package not in known:
            added.append((package, version or there.get(package)))
    return adding(setup, added)


def with_partners(kb: KnowledgeBase, setup: Setup) -> Setup:
    """A setup with what its packages need: torchvision and Lightning run PyTorch's ops."""
    known = describe(kb, setup).packages
    wanted = dict.fromkeys(part for package in known for part in partners(kb, package))
    wanted.update(dict.fromkeys(bases(kb, known)))
    return adding(setup, ((part, None) for part in wanted if part not in known))


def bases(kb: KnowledgeBase, packages: Iterable[str]) -> list[str]:
    """The frameworks whose ops some packages run."""
    found = dict.fromkeys(framework_of(kb, package) for package in packages)
    return [framework for framework in found if framework is not None]


def adding(setup: Setup, packages: Iterable[tuple[str, str | None]]) -> Setup:
    """A setup with more packages."""
    return msgspec.structs.replace(setup, packages=(*setup.packages, *packages))


def packages_of(kb: KnowledgeBase, setup: Setup) -> list[str]:
    """The packages of a setup by their own names."""
    return [kb.package_named(name) for name, _version in setup.packages]


def with_newest(
    kb: KnowledgeBase, setup: Setup, made: Collection[str] = ()
) -> tuple[list[str], Setup]:
    """The packages without a release, and the environment with the newest of each; next to named
    releases, with the newest one of their time, and with the newest one that reads some settings
    that are made.
    """
    time = _time(kb, setup)
    newest: list[str] = []
    packages: list[tuple[str, str | None]] = []
    for name, version in setup.packages:
        package = kb.package_named(name)
        if version is None and kb.packages[package].releases:
            version = _newest_until(kb, package, time)
            if version == "latest":
                version = _newest_reading(kb, package, made) or version
            if version is not None:
                newest.append(package)
        packages.append((name, version))
    filled = msgspec.structs.replace(setup, packages=tuple(packages))
    shipped = _of_wheels(kb, filled, newest)
    packages = [(name, shipped.get(kb.package_named(name), version)) for name, version in packages]
    left = [package for package in newest if package not in shipped]
    return left, msgspec.structs.replace(setup, packages=tuple(packages))


def _of_wheels(kb: KnowledgeBase, setup: Setup, newest: Iterable[str]) -> dict[str, str]:
    """The version of a platform, such as NCCL, that a wheel of the setup ships: PyTorch runs that
    one, and not the newest.
    """
    found: dict[str, str] = {}
    for package in newest:
        if kb.packages[package].kind != "platform":
            continue
        others = tuple(
            (name, version) for name, version in setup.packages if kb.package_named(name) != package
        )
        rest = describe(kb, msgspec.structs.replace(setup, packages=others))
        shipped = rest.packages.get(package)
        if shipped is not None and shipped.origin == "wheel" and shipped.version is not None:
            found[package] = shipped.version
    return found


def _time(kb: KnowledgeBase, setup: Setup) -> str | None:
    """The day of the last release that is named, if each has one; of an image, the month."""
    image = describe(kb, setup).image
    built = kb.packages[image.package].releases.get(image.release) if image is not None else None
    days = [built.date] if built is not None and built.date is not None else []
    for name, version in setup.packages:
        package = kb.package_named(name)
        if version is not None and kb.packages[package].kind != "platform":
            meant = installed(kb, package, version).candidates.releases
            known = kb.packages[package].releases.get(meant[-1]) if meant else None
            days.append((known.date if known else None) or "")
    return max(days) if days and all(days) else None


def _newest_until(kb: KnowledgeBase, package: str, day: str | None) -> str | None:
    """The newest release of a package on a day; None where there was none yet."""
    if day is None:
        return "latest"
    releases = kb.packages[package].releases
    before = [
        release
        for release, known in releases.items()
        if known.date and known.date[: len(day)] <= day
    ]
    return max(before, key=key, default=None)


def _newest_reading(kb: KnowledgeBase, package: str, settings: Iterable[str]) -> str | None:
    """The newest release of a package that reads some settings, where the newest of all does not
    read each of them.
    """
    releases = list(kb.packages[package].releases)
    for setting in settings:
        ends = _ends(kb.settings[setting], package)
        if ends and all(end is not None for end in ends):
            last = max((end for end in ends if end is not None), key=key)
            releases = [release for release in releases if key(release) < key(last)]
    is_older = len(releases) < len(kb.packages[package].releases)
    return max(releases, key=key, default=None) if is_older else None


def _ends(setting: Setting, package: str) -> list[str | None]:
    """Where the releases of a package end that read a setting, one for each of its clauses."""
    ranges = [clause[package] for clause in clauses(setting.when) if package in clause]
    return [bounds.until for bounds in ranges if isinstance(bounds, Range)]
