"""Releases of a package and their days, from the package index or from the tags of a clone.

What a file has already stays: only newer releases are added, and what was withdrawn since is noted.
"""

from __future__ import annotations

import os
import re
import subprocess
from collections.abc import Iterable, Sequence
from http import HTTPStatus
from http.client import HTTPException
from pathlib import Path
from typing import TypeAlias
from urllib import request
from urllib.error import HTTPError, URLError

import msgspec

from d9m.errors import UsageError, quote
from d9m.files import LARGEST
from d9m.model.versions import key
from d9m.model.wheel_facts import Published, read

TIMEOUT = 60
"""Seconds without an answer until the index counts as out of reach."""

_INDEX = "https://pypi.org/simple"
_JSON = "application/vnd.pypi.simple.v1+json"
_FILE = re.compile(r"[^-]+-(\d+(?:\.\d+)*)(\.post\d+)?(?:-.*\.whl|\.tar\.gz|\.zip)")
"""Of a final release or of a later build of it; the name of a distribution has no hyphen here."""
_TAG = re.compile(r"v?(\d+(?:\.\d+)+)(?:-\d+)? (\S+)")
_PIN = re.compile(r"(?m)^Requires-Dist: ([\w.-]+) ?\(?==([\w.]+)\)?$")


class NotOnIndexError(UsageError):
    """The package index has no such distribution."""


class IndexFile(msgspec.Struct, frozen=True, rename="kebab"):
    """A file of the package index."""

    filename: str
    url: str
    upload_time: str = ""
    yanked: bool | str = False
    core_metadata: bool | dict[str, str] = False
    """Whether its metadata has its own address."""


Builds: TypeAlias = dict[str, list[IndexFile]]
"""The builds of one release and their files."""


class IndexPage(msgspec.Struct, frozen=True):
    """All files of a distribution."""

    name: str
    files: list[IndexFile]


class ProjectInfo(msgspec.Struct, frozen=True):
    project_urls: dict[str, str] | None = None


class ProjectPage(msgspec.Struct, frozen=True):
    """The page of the package index on the newest release of a distribution."""

    info: ProjectInfo


def from_index(path: Path, distributions: Sequence[str]) -> Published:
    """The list in `path`, or a new one, with the newer releases of a distribution."""
    if not distributions:
        raise UsageError(f"{path.stem} is not on the package index", tip="read tags: --tags CLONE")
    builds = listed(distributions[0])
    known = _known(path)
    pinned = {package for pins in known.pins.values() for package in pins}
    days: dict[str, str] = {}
    notes: dict[str, str] = {}
    pins: dict[str, dict[str, str]] = {}
    for release, files in builds.items():
        first = first_build(release, files)
        days[release] = first_day(first)
        notes[release] = _note(release, files)
        if pinned and _is_newer(known, release):
            pins[release] = _pins(first, pinned)
    return _added(known, days, notes, pins)


def listed(distribution: str) -> dict[str, Builds]:
    """Return the final releases that the index has: release -> its builds -> their files."""
    page = _page(distribution)
    builds: dict[str, Builds] = {}
    for file in page.files:
        name = file.filename.replace(page.name, page.name.replace("-", "_"), 1)
        if found := _FILE.fullmatch(name):
            builds.setdefault(found[1], {}).setdefault(found[1] + (found[2] or ""), []).append(file)
    return builds


def first_build(release: str, builds: Builds) -> list[IndexFile]:
    """Return the files of a release, or of its first later build where there are no others."""
    return builds.get(release) or next(iter(builds.values()))


def first_day(files: Iterable[IndexFile]) -> str:
    """Return the day on which the first of some files was published."""
    return min(file.upload_time for file in files)[:10]


def is_withdrawn(builds: Builds) -> bool:
    """Return whether all files of a release were withdrawn from the index."""
    return all(file.yanked is not False for files in builds.values() for file in files)


def links(distribution: str) -> dict[str, str]:
    """Return the addresses that the newest release states, by their labels."""
    root = _index().removesuffix("/simple")
    try:
        about = msgspec.json.decode(_get(f"{root}/pypi/{distribution}/json"), type=ProjectPage)
    except (NotOnIndexError, msgspec.DecodeError):  # an index without this page
        return {}
    return about.info.project_urls or {}


def from_tags(path: Path, clone: Path) -> Published:
    """The list in `path`, or a new one, with the newer releases that a clone has tags of."""
    form = "%(refname:short) %(*committerdate:short)%(committerdate:short)"
    command = ["git", "-C", str(clone), "for-each-ref", "refs/tags", f"--format={form}"]
    done = subprocess.run(command, capture_output=True, text=True, check=False)  # noqa: S603  git of this machine
    tags = filter(None, map(_TAG.fullmatch, done.stdout.splitlines()))
    days = {tag[1]: tag[2] for tag in tags}
    if not days:
        raise UsageError(f"{quote(str(clone))}: no tags of releases {done.stderr.strip()}")
    return _added(_known(path), days, {}, {})


def _known(path: Path) -> Published:
    return read(path, Published) if path.exists() else Published({})


def _is_newer(known: Published, release: str) -> bool:
    return all(key(release) > key(each) for each in known.releases)


def _added(
    known: Published, days: dict[str, str], notes: dict[str, str], pins: dict[str, dict[str, str]]
) -> Published:
    new = [release for release in days if _is_newer(known, release)]
    noted = {release: notes.get(release, "") for release in new}
    noted.update({name: notes[name] for name in known.releases if notes.get(name) == _WITHDRAWN})
    return Published(
        {**known.releases, **{release: days[release] for release in new}},
        {**known.notes, **{release: note for release, note in noted.items() if note}},
        {**known.pins, **{release: pins[release] for release in new if pins.get(release)}},
    )


_WITHDRAWN = "withdrawn from PyPI"


def _note(release: str, builds: Builds) -> str:
    """Return the note on a release: its builds, or that it was withdrawn."""
    if is_withdrawn(builds):
        return _WITHDRAWN
    others = sorted(set(builds) - {release})
    if not others:
        return ""
    if release not in builds:
        return f"on PyPI as {', '.join(others)}"
    return f"{', '.join(others)} {'counts' if len(others) == 1 else 'count'} as {release}"


def _pins(files: list[IndexFile], packages: set[str]) -> dict[str, str]:
    for file in files:
        if file.core_metadata:
            stated = dict(_PIN.findall(_get(f"{file.url}.metadata").decode()))
            return {package: stated[package] for package in packages & set(stated)}
    return {}


def _index() -> str:
    return os.environ.get("PIP_INDEX_URL", _INDEX).rstrip("/")


def _page(distribution: str) -> IndexPage:
    try:
        return msgspec.json.decode(_get(f"{_index()}/{distribution}/"), type=IndexPage)
    except msgspec.DecodeError as error:
        raise UsageError(f"the package index gives no list of {distribution}: {error}") from None


def _get(url: str) -> bytes:
    asked = request.Request(url, headers={"Accept": _JSON})  # noqa: S310  the index of pip
    try:
        with request.urlopen(asked, timeout=TIMEOUT) as reply:  # noqa: S310
            return reply.read(LARGEST)
    except (URLError, OSError, ValueError, HTTPException) as error:
        missing = isinstance(error, HTTPError) and error.code == HTTPStatus.NOT_FOUND
        wrong = NotOnIndexError if missing else UsageError
        shown = url.rpartition("@")[2]  # no password
        raise wrong(f"{shown} cannot be read: {error}") from None
