"""The environment that a question is about: packages, container, device, facts.

What is given wins over what a container holds only by agreeing with it; what a
wheel ships is a weak default. A package that nobody named is absent; a platform
part (CUDA, cuDNN, a driver) that nobody named is undecided.
"""

from __future__ import annotations

import functools
import re
from collections.abc import Mapping
from typing import Literal

import msgspec

from d9m import conditions
from d9m.conditions import Cell, Cells, intervals, releases
from d9m.failures import UsageError, nearest, quote
from d9m.kb.tables import KnowledgeBase
from d9m.records import Clause, Fact, Package, When
from d9m.versions import FIRST, Candidates, candidates, in_order, key, neighbours

DEVICES = ("cuda", "rocm", "mps", "xpu", "cpu")

Origin = Literal["given", "container", "wheel"]


class Installed(msgspec.Struct, frozen=True):
    """One package of the environment."""

    version: str | None
    """As given or as found in the image; None: named without a version."""
    candidates: Candidates
    origin: Origin


class Image(msgspec.Struct, frozen=True):
    """The container: a release of a vendor's image."""

    reference: str
    family: str
    package: str
    release: str


class Asked(msgspec.Struct, frozen=True):
    """An environment as somebody described it."""

    packages: tuple[tuple[str, str | None], ...] = ()
    """Name, and version if one was given."""
    container: str | None = None
    device: str | None = None
    facts: tuple[tuple[str, str], ...] = ()
    inference: bool = False


class Environment(msgspec.Struct, frozen=True):
    """An environment that holds together, ready to decide conditions."""

    packages: dict[str, Installed]
    image: Image | None
    device: str
    facts: dict[str, str]
    """Given ones only."""
    vocabulary: Mapping[str, Fact]
    undecided: frozenset[str]
    """Platform parts that nobody named."""

    def cells(self, name: str, cuts: tuple[str, ...], assume: bool = True) -> Cells:
        """The domain of one variable here, divided at `cuts`.

        With `assume` off, a fact that was not given is undecided in spite of its default.
        """
        if name == "device":
            return (Cell(self.device),)
        fact = self.vocabulary.get(name)
        if fact is not None:
            return self._fact_cells(name, fact, cuts, assume)
        installed = self.packages.get(name)
        if installed is not None and installed.candidates.releases:
            return releases(cuts, installed.candidates.releases)
        return intervals(cuts, key, FIRST) if installed or name in self.undecided else (Cell(None),)

    def _fact_cells(self, name: str, fact: Fact, cuts: tuple[str, ...], assume: bool) -> Cells:
        value = self.facts.get(name, fact.default if assume else None)
        if value is not None:
            return (Cell(int(value) if fact.type == "int" else value),)
        if fact.type == "int":
            return intervals(cuts, int, -1)
        return tuple(Cell(each, name=each) for each in fact.values)

    def domains(self, cuts: Mapping[str, tuple[str, ...]], assume: bool = True) -> dict[str, Cells]:
        """The domains of several variables."""
        return {name: self.cells(name, at, assume) for name, at in cuts.items()}

    def holding(self, when: When, assume: bool = True) -> list[Clause]:
        """What would still have to hold for a condition; none: it does not hold here."""
        if when == {}:
            return [{}]
        condition, cuts = conditions.read(when)
        domains = {name: self.cells(name, at, assume) for name, at in cuts.items()}
        for cells in domains.values():
            if len(cells) != 1:
                answers = conditions.by_answer(domains, functools.partial(conditions.holds, condition))
                return [clause for clause, holds in answers if holds]
        here = {name: cells[0].value for name, cells in domains.items()}
        return [{}] if conditions.holds(condition, here) else []

    def given(self, facts: Mapping[str, str]) -> Environment:
        """This environment with further facts, such as one call's arguments."""
        return msgspec.structs.replace(self, facts={**self.facts, **facts}) if facts else self


def describe(kb: KnowledgeBase, asked: Asked) -> Environment:
    """The environment that was asked about.

    Raises UsageError for an unknown name or version, and for things that
    contradict each other.
    """
    packages: dict[str, Installed] = {}
    image = None
    if asked.container is not None:
        image = find_image(kb, asked.container)
        packages = contents(kb, image)
    for text, version in asked.packages:
        _add(kb, packages, kb.package_named(text), version, image)
    device = asked.device or "cuda"
    if device not in DEVICES:
        makers = "a GPU of NVIDIA is cuda, of AMD rocm, of Apple mps, of Intel xpu"
        raise UsageError(f"unknown device {quote(device)}", allowed=DEVICES, tip=makers)
    facts = _facts(kb, asked)
    if image is None and device == "cuda":
        _add_shipped(kb, packages)
    undecided = frozenset(kb.meta.platforms) - packages.keys()
    return Environment(packages, image, device, facts, kb.meta.facts, undecided)


def installed(kb: KnowledgeBase, package: str, version: str | None, origin: Origin = "given") -> Installed:
    """A package in a version. Raises UsageError for one that was never released."""
    released = kb.releases(package)
    return Installed(version, candidates(package, version or "any", released), origin)


def _add(
    kb: KnowledgeBase, packages: dict[str, Installed], name: str, version: str | None, image: Image | None
) -> None:
    new = installed(kb, name, version)
    old = packages.get(name)
    if old is None or old.version is None:
        packages[name] = new
    elif version is not None and not set(new.candidates.releases) & set(old.candidates.releases):
        where = f"the container {image.reference} holds" if old.origin == "container" and image else "it was given as"
        raise UsageError(f"{name} {quote(version)} contradicts the rest: {where} {name} {old.version}")
    elif version is not None and old.origin == "given":
        packages[name] = new


def contents(kb: KnowledgeBase, image: Image) -> dict[str, Installed]:
    """What an image holds, itself included."""
    found = {image.package: installed(kb, image.package, image.release, "container")}
    package = kb.package(image.package)
    for name, version in package.releases[image.release].with_.items():
        found[name] = Installed(version, _loose(kb, name, version), "container")
    if package.stock is not None and package.stock not in found:
        found[package.stock] = Installed(None, _unseen(kb, package, package.stock, image.release), "container")
    return found


def _unseen(kb: KnowledgeBase, package: Package, stock: str, release: str) -> Candidates:
    """What an image may hold that nobody looked into: from what the confirmed one before it holds to the one after."""
    order, released = in_order(package.releases), kb.releases(stock)
    confirmed = [each for each in order if package.releases[each].confidence == "confirmed"]
    holding = {each: package.releases[each].with_[stock] for each in confirmed if stock in package.releases[each].with_}
    before = [version for each, version in holding.items() if key(each) < key(release)]
    after = [version for each, version in holding.items() if key(each) > key(release)]
    low = candidates(stock, before[-1], released).releases[0] if before else released[0]
    high = candidates(stock, after[0], released).releases[-1] if after else released[-1]
    return Candidates(released[released.index(low) : released.index(high) + 1], "between")


def _loose(kb: KnowledgeBase, package: str, version: str) -> Candidates:
    """Candidates of a version that a map states: it need not be in the map of its own package."""
    try:
        return candidates(package, version, kb.releases(package))
    except UsageError:
        number = re.match(r"\d+(\.\d+)*", version)
        return Candidates((number[0] if number else "0",), "exactly")


def _add_shipped(kb: KnowledgeBase, packages: dict[str, Installed]) -> None:
    """What every release in question ships, unless something says otherwise."""
    for name, each in list(packages.items()):
        known = kb.package(name).releases
        shipped = [known[release].with_ for release in each.candidates.releases if release in known]
        for part in shipped[0] if shipped and each.candidates.how == "exactly" else ():
            versions = [inside[part] for inside in shipped if part in inside]
            if part not in packages and len(versions) == len(shipped):
                found = {release for version in versions for release in _loose(kb, part, version).releases}
                packages[part] = Installed(versions[-1], Candidates(tuple(sorted(found, key=key)), "exactly"), "wheel")


def _facts(kb: KnowledgeBase, asked: Asked) -> dict[str, str]:
    facts: dict[str, str] = {}
    for name, value in asked.facts:
        known = fact(kb, name)
        if facts.get(name, value) != value:
            raise UsageError(f"fact {name} is given as {quote(facts[name])} and as {quote(value)}")
        facts[name] = fact_value(name, known, value)
    if asked.inference:
        if facts.get("training") == "true":
            raise UsageError("--inference contradicts --fact training=true")
        facts["training"] = "false"
    return facts


def fact(kb: KnowledgeBase, name: str) -> Fact:
    """A word of the vocabulary. Raises UsageError."""
    known = kb.meta.facts.get(name)
    if known is None:
        raise UsageError(f"unknown fact {quote(name)}", nearest=nearest(name, kb.meta.facts), allowed=kb.meta.facts)
    return known


def fact_value(name: str, known: Fact, value: str) -> str:
    """`value` as the vocabulary spells it. Raises UsageError."""
    if known.type == "int":
        if not re.fullmatch(r"\d{1,9}", value):
            raise UsageError(f"{name} must be a whole number, not {quote(value)}")
        return value
    spelled = {each.lower(): each for each in known.values}.get(value.lower())
    if spelled is None:
        raise UsageError(f"{name} cannot be {quote(value)}", nearest=nearest(value, known.values), allowed=known.values)
    return spelled


def find_image(kb: KnowledgeBase, reference: str) -> Image:
    """The image that a reference names, with any registry and path before it.

    Raises UsageError for an unknown family or tag, and for a tag with several variants.
    """
    path, colon, tag = reference.rpartition(":")
    if not colon or "/" in tag:
        path, tag = reference, ""
    family, packages = _family(kb, path)
    if not tag:
        raise UsageError(f"{quote(reference)} has no tag", tip=f"write {family}:TAG; see: d9m list versions")
    found = [
        (package, release, form.format(release=release))
        for package in packages
        for release in kb.package(package).releases
        for form in _forms(kb.package(package), release)
        if tag in _spellings(form.format(release=release), release)
    ]
    variants = sorted({(package, release) for package, release, _tag in found})
    if len(variants) == 1:
        return Image(reference, family, *variants[0])
    if variants:
        raise UsageError(
            f"{family}:{tag} has {len(variants)} variants",
            allowed=[_first_tag(kb, package, release) for package, release in variants],
        )
    tags = [_first_tag(kb, package, release) for package in packages for release in kb.releases(package)]
    never = any(
        tag.startswith(each.split(" ")[0]) for package in packages for each in kb.package(package).never_released
    )
    what = "was never released" if never else "is unknown"
    raise UsageError(
        f"{family}:{printable_tag(tag)} {what}", nearest=_close_tags(tag, tags), tip="see: d9m list versions"
    )


def printable_tag(tag: str) -> str:
    """A tag as an error shows it."""
    return quote(tag)[1:-1]


def _family(kb: KnowledgeBase, path: str) -> tuple[str, tuple[str, ...]]:
    for family, packages in kb.meta.images.items():
        repository = kb.package(packages[0]).repository
        if path.lower() in (family, *packages) or (repository and f"/{path.lower()}".endswith(f"/{repository}")):
            return family, packages
    raise UsageError(f"unknown container {quote(path)}", nearest=nearest(path, kb.meta.images), allowed=kb.meta.images)


def _forms(package: Package, release: str) -> list[str]:
    """Tags of a release, with ``{release}`` in them."""
    for each in package.tags:
        low = each.when.from_ is None or key(each.when.from_) <= key(release)
        if low and (each.when.until is None or key(release) < key(each.when.until)):
            return each.forms
    return ["{release}"]


def _spellings(tag: str, release: str) -> set[str]:
    """A tag may be cut at any hyphen: 20.03-tf2-py3, 20.03-tf2, 20.03."""
    parts = tag.split("-")
    return {release, *("-".join(parts[:end]) for end in range(1, len(parts) + 1))}


def _first_tag(kb: KnowledgeBase, package: str, release: str) -> str:
    return _forms(kb.package(package), release)[0].format(release=release)


def _close_tags(tag: str, tags: list[str]) -> list[str]:
    """Tags of the releases before and after, of the same variant where there is one."""
    number, _hyphen, variant = tag.partition("-")
    try:
        near = neighbours(key(number), in_order(dict.fromkeys(each.partition("-")[0] for each in tags)))
    except ValueError:
        return nearest(tag, tags)
    close = [each for each in tags if each.partition("-")[0] in near]
    return [each for each in close if variant and variant in each] or close
