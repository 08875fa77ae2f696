"""Releases that the package index has and the records do not."""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence

import msgspec

from d9m.about import SCHEMA_VERSION
from d9m.authoring.collect import releases
from d9m.authoring.collect.releases import Builds
from d9m.errors import ExitCode, UsageError
from d9m.exit_codes import CommandResult, exit_code
from d9m.kb.store import KnowledgeBase
from d9m.model.versions import in_order, key

_NOTES = re.compile(r"(?i)change|release|history|news")
_FORGE = re.compile(r"https://github\.com/[\w.-]+/[\w-]+(?:\.(?!git\b)[\w-]+)*")


class NewReleases(msgspec.Struct, frozen=True, kw_only=True):
    """The releases of a package since its records were last looked at."""

    package: str
    known: str
    """The newest release in the records."""
    releases: dict[str, str]
    """Release -> day, oldest first."""
    notes: str
    """Address of the release notes, or else of the package."""

    def text(self) -> str:
        new = ", ".join(f"{release} ({day})" for release, day in self.releases.items())
        return f"- {self.package}: {new}; records end at {self.known}; notes: {self.notes}"


class Freshness(msgspec.Struct, frozen=True, kw_only=True):
    """The answer of `d9m kb fresh`."""

    schema_version: int = SCHEMA_VERSION
    compared: list[str]
    """Packages whose releases were compared with the index."""
    new: list[NewReleases]
    unlisted: list[str]
    """Packages without a list that could be compared: none on the index, or none in the records."""
    error: str = ""
    """Why reading the index ended early."""
    unread: list[str]
    """Packages that were not compared because of it."""

    def text(self) -> str:
        current = len(self.compared) - len(self.new)
        lines = [each.text() for each in self.new]
        lines.append(f"- no newer release: {current} of {len(self.compared)} packages compared")
        if self.unlisted:
            lines.append(f"- no list to compare: {', '.join(self.unlisted)}")
        if self.unread:
            lines.append(f"- not compared: {', '.join(self.unread)}: {self.error}")
        return "\n".join(lines) + "\n"

    def exit_code(self) -> ExitCode:
        result = CommandResult(
            did_nothing=not self.compared,
            has_findings=bool(self.new),
            is_incomplete=bool(self.unread),
        )
        return exit_code(result)


def fresh(kb: KnowledgeBase, packages: Sequence[str]) -> Freshness:
    """Compare the releases of packages with the index; the first network error ends it."""
    compared: list[str] = []
    new: list[NewReleases] = []
    unlisted: list[str] = []
    error = ""
    for package in packages:
        try:
            found = _newer(kb, package)
        except UsageError as wrong:
            error = wrong.what
            break
        (unlisted if found is None else compared).append(package)
        if found is not None and found.releases:
            new.append(found)
    unread = packages[len(compared) + len(unlisted) :]
    return Freshness(
        compared=compared, new=new, unlisted=unlisted, error=error, unread=list(unread)
    )


def _newer(kb: KnowledgeBase, package: str) -> NewReleases | None:
    """Return what is newer of a package, or None where there is no list to compare."""
    known = kb.releases(package)
    for distribution in kb.packages[package].distributions if known else ():
        try:
            listed = releases.listed(distribution)
        except releases.NotOnIndexError:
            continue
        if key(known[-1]) in map(key, listed):
            return _compared(package, distribution, known, listed)
    return None


def _compared(
    package: str, distribution: str, known: Sequence[str], listed: Mapping[str, Builds]
) -> NewReleases:
    """Return the releases that came after those in the records, later patches of old ones too."""
    days = {
        release: releases.first_day(releases.first_build(release, listed[release]))
        for release in in_order(listed)
        if not releases.is_withdrawn(listed[release])
    }
    seen = set(map(key, known))
    last = max(days.get(release, "") for release in known)
    new = {
        release: day
        for release, day in days.items()
        if key(release) not in seen and (key(release) > key(known[-1]) or day > last)
    }
    return NewReleases(
        package=package,
        known=known[-1],
        releases=new,
        notes=_notes(releases.links(distribution), distribution) if new else "",
    )


def _notes(links: Mapping[str, str], distribution: str) -> str:
    """Return the address of release notes among the links of a distribution.

    >>> _notes({"Homepage": "https://github.com/a/b"}, "b")
    'https://github.com/a/b/releases'
    >>> _notes({"Homepage": "https://github.com/a/b", "Release notes": "https://b.org/n"}, "b")
    'https://b.org/n'
    >>> _notes({}, "b")
    'https://pypi.org/project/b/'
    """
    stated = [url for label, url in links.items() if _NOTES.search(label)]
    forges = [f"{found[0]}/releases" for url in links.values() if (found := _FORGE.match(url))]
    return next(iter(stated + forges), f"https://pypi.org/project/{distribution}/")
