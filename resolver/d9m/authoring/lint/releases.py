"""Versions: what a map lists, and what other records say of it."""

from __future__ import annotations

from collections.abc import Iterator

from d9m.authoring.lint.conditions import existences, restrictions
from d9m.authoring.lint.index import RecordIndex, readable
from d9m.authoring.lint.rule import Finding, rule
from d9m.kb.validate import Path
from d9m.kb.yaml_files import Loaded
from d9m.model import records
from d9m.model.versions import covers
from d9m.model.when import Range


@rule(
    "release-name",
    "Release that is not a final release",
    """A map lists final releases, named by their numbers: release order is the order of these
    numbers, and pre-releases and builds are placed between them. The same numbers cannot be two
    releases (2.0 and 2.0.0), and what was never released cannot be listed as a release.""",
)
def release_name(index: RecordIndex) -> Iterator[Finding]:
    for at, _path, package in index.parts(records.Package):
        seen: dict[object, str] = {}
        for name in package.releases:
            place = readable(name)
            path = ("releases", name)
            if place is None:
                tip = 'numbers joined by dots, such as "2.4.1"'
                yield Finding(at, path, "not a final release", name, tip=tip)
            elif place in seen:
                yield Finding(
                    at, path, f"the same release as {seen[place]}", name, tip="keep one of the two"
                )
            else:
                seen[place] = name
        for place, name in enumerate(package.never_released):
            if name in package.releases:
                yield Finding(
                    at,
                    ("never_released", place),
                    "is listed under releases",
                    name,
                    tip="drop one of the two",
                )


def versions(index: RecordIndex) -> Iterator[tuple[Loaded, Path, str, str]]:
    """Every place that names a version of a package: place, package, version."""
    for at, path, name, allowed in restrictions(index):
        if isinstance(allowed, Range) and name not in index.facts:
            yield from _ends(at, path, name, allowed)
    for at, path, _name, exists in existences(index):
        yield from _ends(at, path, at.record.package, exists)
    for at, path, form in index.parts(records.TagForm):
        yield from _ends(at, (*path, "when"), at.id, form.when)
    for at, path, step in index.parts(records.TimelineStep):
        package = str(path[-2])
        yield at, (*path, "from"), package, step.from_
        if step.verified_through is not None:
            yield at, (*path, "verified_through"), package, step.verified_through
    for at, path, request in index.parts(records.PullRequest):
        package = package_of(index, request)
        if request.version is not None and package is not None:
            yield at, (*path, "version"), package, request.version


def _ends(
    at: Loaded, path: Path, package: str, range_: Range | records.Existence
) -> Iterator[tuple[Loaded, Path, str, str]]:
    for end, bound in (("from", range_.from_), ("until", range_.until)):
        if bound is not None:
            yield at, (*path, end), package, bound


def package_of(index: RecordIndex, request: records.PullRequest) -> str | None:
    """The package whose releases contain a pull request of this repository."""
    name = request.repository.rpartition("/")[2].lower()
    by_name: dict[str, str] = {}
    for id_, package in index.packages.items():
        by_name.update(dict.fromkeys((*package.distributions, *package.aliases, id_), id_))
    return index.homes.get(name) or by_name.get(name)


def _unlisted(index: RecordIndex) -> Iterator[tuple[Loaded, Path, str, str]]:
    for at, path, package, version in versions(index):
        if index.releases.get(package) and not (
            readable(version) is not None and index.lists(package, version)
        ):
            yield at, path, package, version


@rule(
    "unknown-version",
    "Version that no map lists",
    """A boundary must be a release that exists (2.1.0, or 2.1 for the first 2.1.x): a boundary at
    an invented number works by accident until somebody releases it. Write `until` only when
    the release that ends it is out, and add a new release to the package's record under versions/
    first.""",
)
def unknown_version(index: RecordIndex) -> Iterator[Finding]:
    for at, path, package, version in _unlisted(index):
        if _with_lost_zero(index, package, version) is not None:
            continue
        if readable(version) is None:
            yield Finding(
                at, path, "not a version", version, tip="numbers joined by dots, in quotes"
            )
            continue
        released = index.releases[package]
        place = index.place(package, version)
        around = ", ".join(released[max(0, place - 1) : place + 1])
        tip = ""
        if place == len(released):
            tip = (
                "newer than all of the map: leave until out while it is not released, or add "
                f"it to {package}"
            )
        yield Finding(at, path, f"no release of {package}", version, around, tip)


@rule(
    "lost-zero",
    "Release that lost its zero",
    """YAML and spreadsheets read 2.10 as the number 2.1 and 20.10 as 20.1. The map lists no such
    release, but does list the one with the zero. Quote versions, always.""",
)
def lost_zero(index: RecordIndex) -> Iterator[Finding]:
    for at, path, package, version in _unlisted(index):
        meant = _with_lost_zero(index, package, version)
        if meant is not None:
            yield Finding(
                at, path, f"no release of {package}", version, meant, f'write "{meant}", in quotes'
            )


def _with_lost_zero(index: RecordIndex, package: str, version: str) -> str | None:
    """The version with the zero that it may have lost; None if that is not a release either."""
    meant = f"{version}0"
    return (
        meant if version and any(covers(meant, each) for each in index.releases[package]) else None
    )


@rule(
    "package-review",
    "Review or seed of a package that proves nothing",
    """An answer calls a package deterministic only where its record says `reviewed`: releases that
    exist, and public entry points, each with the place where its source was read or measured.
    `seed` names a setting on record that some advice makes, or is none: otherwise the package would
    be called solved while its random numbers differ.""",
)
def package_review(index: RecordIndex) -> Iterator[Finding]:
    advised = {change.set for _at, _path, change in index.parts(records.SettingChange)}
    for at, _path, package in index.parts(records.Package):
        if package.seed not in (None, "none") and package.seed not in advised:
            yield Finding(at, ("seed",), "no advice makes this setting", package.seed)
        review = package.reviewed
        if review is None:
            continue
        for place, release in enumerate(review.releases):
            if not index.lists(at.id, release):
                path = ("reviewed", "releases", place)
                yield Finding(at, path, "is not a release", release)
        if not (review.releases and review.entry_points):
            tip = "name the releases and the entry points that were read"
            yield Finding(at, ("reviewed",), "reviews nothing", tip=tip)
        for name, evidence in review.entry_points.items():
            if not any(each.kind in _READ and each.follows for each in evidence):
                path = ("reviewed", "entry_points", name)
                yield Finding(at, path, "nothing shows that it was read", name, ", ".join(_READ))


_READ = ("source-read", "binary-read", "measured", "tested-upstream")
"""Evidence of what an entry point does, rather than of what is said of it."""


RULES = (release_name, unknown_version, lost_zero, package_review)
