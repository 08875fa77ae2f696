"""The environments that the page offers: every release, line of releases and image, on every
device.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator, Sequence

import msgspec

from d9m.environment.container import tag
from d9m.environment.environment import DEVICES, Environment, Setup, describe
from d9m.environment.releases import Installed
from d9m.environment.version_options import VERSION_OPTIONS
from d9m.kb.store import KnowledgeBase
from d9m.model.versions import covers, key

PRIMARY = ("framework", "library", "application", "platform")
"""Kinds of packages that a question may be about; images are asked by their tags."""


class Choice(msgspec.Struct, frozen=True):
    """One entry of the page's first list, and what its second list holds."""

    name: str
    """Of a package, or the public name of an image family."""
    title: str
    option: str
    """How the command line asks for it: ``--tf``, ``--with``, ``--container``."""
    versions: tuple[str, ...]
    """Newest first; releases, lines of releases, ``any``; or image tags."""


def choices(kb: KnowledgeBase) -> list[Choice]:
    """What can be asked about: packages of which something is known, frameworks first, then images.

    Of a kind, those with ops come first, and the one with most sources first of all: the page
    begins with it."""
    sources = Counter(map(kb.home, kb.sources))
    known: list[tuple[int, bool, int, str]] = []
    for name in kb.packages:
        kind = kb.packages[name].kind
        if kind in PRIMARY and (name in kb.meta.prefixes or name in kb.package_level):
            rank = PRIMARY.index(kind)
            known.append((rank, name not in kb.meta.prefixes, -sources[name], name))
    found: list[Choice] = []
    for *_rank, name in sorted(known):
        title = kb.packages[name].title
        found.append(Choice(name, title, _option(name), _versions(kb.releases(name))))
    for family, packages in sorted(kb.meta.images.items()):
        packages = [package for package in packages if kb.releases(package)]
        if not packages:
            continue  # tags of a form, not a list: the page has no box for them
        tags: list[tuple[str, str]] = []
        for name in packages:
            tags += [(release, tag(kb.packages[name], release)) for release in kb.releases(name)]
        if not tags:  # images that say by their tag what they hold are asked about by that
            continue
        newest_first = sorted(tags, key=lambda each: (key(each[0]), each[1]), reverse=True)
        title = f"{family} container"
        found.append(
            Choice(family, title, "--container", tuple(shown for _release, shown in newest_first))
        )
    return found


def _option(package: str) -> str:
    own = VERSION_OPTIONS.get(package)
    return own.options[0] if own else "--with"


def _versions(released: Sequence[str]) -> tuple[str, ...]:
    """Releases, newest first, each line of several before its own; then all at once."""
    found: list[str] = []
    for release in reversed(released):
        line = release.rpartition(".")[0]
        if line.count(".") == 1 and sum(covers(line, each) for each in released) > 1:
            found.append(line)
        found.append(release)
    return tuple(dict.fromkeys([*found, "any"]))


class Offered(msgspec.Struct, frozen=True):
    """One environment of the page."""

    environment: Environment
    held: dict[str, int]
    """Package -> a number for what of it is there: equal numbers, equal releases of equal origin.
    """


class Offers:
    """The environments of a choice, with what they hold numbered: comparing numbers is quick."""

    def __init__(self, kb: KnowledgeBase) -> None:
        self.kb = kb
        self._numbers: dict[Installed, int] = {}

    def of(self, choice: Choice) -> Iterator[tuple[str, str, Offered]]:
        """Version, device and environment of everything that a choice offers."""
        for version in choice.versions:
            elsewhere = describe(self.kb, asked(choice, version, DEVICES[-1]))
            for device in DEVICES:
                environment = msgspec.structs.replace(elsewhere, device=device)
                if environment.image is None and (
                    device == "cuda" or self.kb.packages[choice.name].builds
                ):
                    environment = describe(
                        self.kb, asked(choice, version, device)
                    )  # with what the wheel ships
                held = {name: self._number(each) for name, each in environment.packages.items()}
                open_ = dict.fromkeys(environment.undecided, 0)
                yield version, device, Offered(environment, {**open_, **held})

    def _number(self, installed: Installed) -> int:
        return self._numbers.setdefault(installed, len(self._numbers) + 1)


def asked(
    choice: Choice, version: str, device: str, added: Sequence[tuple[str, str]] = ()
) -> Setup:
    """The environment of a choice, with further packages, in the order of the command line: each
    option of its own, then ``--with``.
    """
    if choice.option == "--container":
        return Setup(container=f"{choice.name}:{version}", device=device)
    named = dict([(choice.name, version), *added])
    own = [(name, named.pop(name)) for name in VERSION_OPTIONS if name in named]
    return Setup((*own, *named.items()), device=device)
