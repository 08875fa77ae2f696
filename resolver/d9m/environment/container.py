"""Containers: which image a reference names, and which packages it holds."""

from __future__ import annotations

import re
from collections.abc import Sequence

import msgspec

from d9m.environment.releases import Installed, between, installed, stated
from d9m.errors import UsageError, nearest, quote
from d9m.kb.store import KnowledgeBase
from d9m.model.records import Package
from d9m.model.versions import in_order, key, neighbours, within


class Image(msgspec.Struct, frozen=True):
    """The container: a release of a vendor's image."""

    reference: str
    family: str
    package: str
    release: str
    parts: tuple[tuple[str, str], ...] = ()
    """Contents that the tag states: package and version."""
    device: str | None = None
    """Device that it is built for, where the tag says so."""


def contents(kb: KnowledgeBase, image: Image) -> dict[str, Installed]:
    """Return what an image holds, itself included."""
    if image.parts:
        return {name: _as_tagged(kb, name, version) for name, version in image.parts}
    found = {image.package: installed(kb, image.package, image.release, "container")}
    package = kb.packages[image.package]
    for name, version in package.releases[image.release].with_.items():
        found[name] = stated(kb, name, version, "container")
    if package.stock is not None and package.stock not in found:
        found[package.stock] = between(
            kb, package.stock, *_around(package, package.stock, image.release)
        )
    for part in sorted(kb.meta.platforms - found.keys()):
        before, after = _around(package, part, image.release)
        if before and after:
            found[part] = between(kb, part, before, after)
    return found


def _as_tagged(kb: KnowledgeBase, package: str, version: str) -> Installed:
    """A package as a tag writes it; only a platform part may lack in the map of its package."""
    if package in kb.meta.platforms:
        return stated(kb, package, version, "container")
    return installed(kb, package, version, "container")


def _around(package: Package, part: str, release: str) -> tuple[str | None, str | None]:
    """Versions of a part in the confirmed images next before and next after one."""
    before: str | None = None
    for other in in_order(package.releases):
        image = package.releases[other]
        if image.confidence != "confirmed" or part not in image.with_:
            continue
        if key(other) > key(release):
            return before, image.with_[part]
        if key(other) < key(release):
            before = image.with_[part]
    return before, None


def find_image(kb: KnowledgeBase, reference: str) -> Image:
    """The image that a reference names, with any registry and path before it.

    Raises UsageError for an unknown family or tag, and for a tag with several variants.
    """
    path, colon, wanted = reference.rpartition(":")
    if not colon or "/" in wanted:
        path, wanted = reference, ""
    family, packages = _family(kb, path)
    if not wanted:
        raise UsageError(
            f"{quote(reference)} has no tag", tip=f"write {family}:TAG; see: d9m list versions"
        )
    if kb.packages[packages[0]].holds:
        return _image_by_contents(kb, reference, family, packages[0], wanted)
    variants = kb.once(("tags", packages), lambda: _spelled(kb, packages)).get(wanted, [])
    if len(variants) == 1:
        return Image(reference, family, *variants[0])
    if variants:
        raise UsageError(
            f"{family}:{wanted} has {len(variants)} variants",
            allowed=[tag(kb.packages[package], release) for package, release in variants],
        )
    _refuse_older(kb, packages, f"{family}:{printable_tag(wanted)}", wanted)
    every: list[str] = []
    skipped: list[str] = []
    for name in packages:
        package = kb.packages[name]
        every += [tag(package, release) for release in kb.releases(name)]
        skipped += [text.split(" ")[0] for text in package.never_released]
    never = wanted.startswith(tuple(skipped))
    what = "was never released" if never else "is unknown"
    raise UsageError(
        f"{family}:{printable_tag(wanted)} {what}",
        nearest=_close_tags(wanted, every),
        tip="see: d9m list versions",
    )


def _refuse_older(kb: KnowledgeBase, packages: Sequence[str], image: str, wanted: str) -> None:
    """Raise UsageError for a tag from before the first image on record."""
    first, package = min(
        ((kb.releases(name)[0], name) for name in packages), key=lambda pair: key(pair[0])
    )
    month = re.match(r"\d\d\.\d\d(?!\d)", wanted)
    if month and key(month[0]) < key(first):
        note = kb.packages[package].releases[first].note
        what = f"the records begin with {first}" + (f", the {note}" if note else "")
        raise UsageError(f"{image} is too old: {what}", tip="see: d9m list versions")


def _image_by_contents(
    kb: KnowledgeBase, reference: str, family: str, package: str, tag: str
) -> Image:
    forms: list[str] = []
    for inside in kb.packages[package].holds:
        forms += inside.forms
        for form in inside.forms:
            pattern = re.sub(r"\\\{(\w+)\\\}", r"(?P<\1>(?:\\d[^-]*|latest))", re.escape(form))
            match = re.fullmatch(pattern, tag)
            if match is not None:
                return Image(
                    reference, family, package, tag, tuple(match.groupdict().items()), inside.device
                )
    raise UsageError(f"{family}:{printable_tag(tag)} is not a tag that d9m can read", allowed=forms)


def printable_tag(tag: str) -> str:
    """A tag as an error shows it."""
    return quote(tag)[1:-1]


def _family(kb: KnowledgeBase, path: str) -> tuple[str, tuple[str, ...]]:
    for family, packages in kb.meta.images.items():
        repository = kb.packages[packages[0]].repository
        if path.lower() in (family, *packages) or (
            repository and f"/{path.lower()}".endswith(f"/{repository}")
        ):
            return family, packages
    raise UsageError(
        f"unknown container {quote(path)}",
        nearest=nearest(path, kb.meta.images),
        allowed=kb.meta.images,
    )


def tags(package: Package, release: str) -> list[str]:
    """Every tag of a release of an image, the one to show first."""
    fitting = (each.forms for each in package.tags if within(release, each.when))
    return [each.format(release=release) for each in next(fitting, ["{release}"])]


def tag(package: Package, release: str) -> str:
    """The tag of a release that is shown."""
    return tags(package, release)[0]


def _spelled(kb: KnowledgeBase, packages: Sequence[str]) -> dict[str, list[tuple[str, str]]]:
    """Every spelling of a tag -> the packages and releases that it may mean, in order."""
    found: dict[str, set[tuple[str, str]]] = {}
    for package in packages:
        for release in kb.packages[package].releases:
            for form in tags(kb.packages[package], release):
                for spelling in _spellings(form, release):
                    found.setdefault(spelling, set()).add((package, release))
    return {spelling: sorted(variants) for spelling, variants in found.items()}


def _spellings(tag: str, release: str) -> set[str]:
    """A tag may be cut at any hyphen: 20.03-tf2-py3, 20.03-tf2, 20.03."""
    parts = tag.split("-")
    return {release, *("-".join(parts[:end]) for end in range(1, len(parts) + 1))}


def _close_tags(tag: str, every: list[str]) -> list[str]:
    """Tags of the releases before and after, of the same variant where there is one."""
    number, _hyphen, variant = tag.partition("-")
    try:
        near = neighbours(
            key(number), in_order(dict.fromkeys(each.partition("-")[0] for each in every))
        )
    except ValueError:
        return nearest(tag, every)
    close = [each for each in every if each.partition("-")[0] in near]
    return [each for each in close if variant and variant in each] or close
