"""The releases of a package that a question is about: one that was named, what an image or a wheel
holds, any.
"""

from __future__ import annotations

import re
from collections.abc import Iterable
from typing import Literal

import msgspec

from d9m.errors import UsageError
from d9m.kb.store import KnowledgeBase
from d9m.model.versions import Candidates, candidates, key

Origin = Literal["given", "file", "container", "wheel", "partner"]
"""Source of the claim that a package is there: the user, a file of the user, an image that holds
it, a wheel that ships it, or a package that it is released with.
"""


class Installed(msgspec.Struct, frozen=True):
    """One package of the environment."""

    version: str | None
    """As given or as found in the image; None: named without a version."""
    candidates: Candidates
    origin: Origin

    @property
    def is_chosen(self) -> bool:
        """Whether the user chose it, rather than an image or a wheel that has it."""
        return self.origin in ("given", "file", "partner")


def installed(
    kb: KnowledgeBase, package: str, version: str | None, origin: Origin = "given"
) -> Installed:
    """A package in a version; without one, in any release. Raises UsageError for one that was never
    released.
    """
    place = ("installed", package, version, origin)
    return kb.once(place, lambda: _installed(kb, package, version, origin))


def _installed(kb: KnowledgeBase, package: str, version: str | None, origin: Origin) -> Installed:
    is_complete = kb.packages[package].lists_every_release
    found = candidates(package, version or "any", kb.releases(package), is_complete)
    return Installed(found.releases[-1] if version == "latest" else version, found, origin)


def listed(kb: KnowledgeBase, package: str, version: str | None) -> Installed:
    """A package that a file lists; a version that no map has is taken unchanged, except a
    framework's.
    """
    if version is None or version == "latest" or package in kb.meta.prefixes:
        return installed(kb, package, version, "file")
    return stated(kb, package, version, "file")


def of_any(releases: Iterable[str]) -> Installed:
    """A package in any of these releases, oldest first."""
    return Installed(None, Candidates(tuple(releases), "any"), "given")


def stated(kb: KnowledgeBase, package: str, version: str, origin: Origin) -> Installed:
    """Return a package in the version that a map states, whether or not its own map has it."""
    return Installed(version, _stated(kb, package, version), origin)


def shipped(kb: KnowledgeBase, package: str, versions: Iterable[str]) -> Installed:
    """A package in every version that the wheels in question ship, the newest one's last."""
    every = list(versions)
    found: set[str] = set()
    for version in every:
        found.update(_stated(kb, package, version).releases)
    return Installed(every[-1], Candidates(tuple(sorted(found, key=key)), "exactly"), "wheel")


def matching(kb: KnowledgeBase, package: str, partner: str, known: Installed) -> Installed | None:
    """The releases of a package that are made for these ones of its partner; for newer ones those
    that came last and name no release of it. None where there are none.
    """
    made_for = {
        name: release.with_.get(partner) for name, release in kb.packages[package].releases.items()
    }
    found = [name for name, version in made_for.items() if version in known.candidates.releases]
    paired = [version for version in made_for.values() if version]
    if not found and paired and key(known.candidates.releases[0]) > max(map(key, paired)):
        last = max(place for place, version in enumerate(made_for.values()) if version)
        found = list(made_for)[last + 1 :]
    if not found:
        return None
    return Installed(found[-1], Candidates(tuple(found), "exactly"), "partner")


def between(kb: KnowledgeBase, package: str, before: str | None, after: str | None) -> Installed:
    """Return a package of an image that was not inspected: between what the images before and after
    it hold.
    """
    released = kb.releases(package)
    if package in kb.meta.platforms and before and after:
        around = (_number(before), _number(after))
    else:
        low = candidates(package, before, released).releases[0] if before else released[0]
        high = candidates(package, after, released).releases[-1] if after else released[-1]
        around = released[released.index(low) : released.index(high) + 1]
    return Installed(None, Candidates(around, "between"), "container")


def _stated(kb: KnowledgeBase, package: str, version: str) -> Candidates:
    try:
        return candidates(package, version, kb.releases(package))
    except UsageError:
        return Candidates((_number(version),), "exactly")


def _number(version: str) -> str:
    """A version without what follows its numbers."""
    number = re.match(r"\d+(\.\d+)*", version)
    return number[0] if number else "0"
