"""The environment of a text: what was named, what it names, and what stands in for the rest."""

from __future__ import annotations

from collections.abc import Iterable, Mapping

import msgspec

from d9m.environment.environment import Setup, describe
from d9m.environment.packages import framework_of
from d9m.kb.store import KnowledgeBase


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


def with_newest(kb: KnowledgeBase, setup: Setup) -> tuple[list[str], Setup]:
    """The packages without a release, and the environment with the newest of each; where a release
    of another one is named, they stay open.
    """
    if setup.container or any(version for _name, version in setup.packages):
        return [], setup
    names = packages_of(kb, setup)
    newest = [
        name
        for name in names
        if kb.packages[name].releases and kb.packages[name].kind != "platform"
    ]
    filled = tuple((name, "latest" if name in newest else None) for name in names)
    return newest, msgspec.structs.replace(setup, packages=filled)
