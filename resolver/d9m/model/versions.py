"""Order releases, and find the releases that a typed version stands for.

Every release of a version map is a final release, and the order of final
releases is the order of their numbers. `packaging` is asked only about other
spellings (pre-releases, local parts), so that the common question starts fast.
"""

from __future__ import annotations

import bisect
import functools
import re
from collections.abc import Mapping, Sequence
from typing import Literal, Protocol, TypeAlias

import msgspec

from d9m.errors import UsageError, nearest, quote

Key: TypeAlias = tuple[int, ...]
"""Place of a final release in the order: its numbers without trailing zeros."""

FIRST: Key = ()
"""Before every release."""

_FINAL = re.compile(r"v?(\d+(?:\.\d+)*)", re.IGNORECASE)
# Text, not compiled: few questions need it, and compiling is felt at the start.
_RANGE = r"[<>=!~]|\d[\d.]*\.\*"
_BEYOND = "9999"
"""A release that no package has yet."""

_LONGEST = 64
"""Characters; the longest version seen in the wild (a nightly with a git hash) has 40."""


@functools.cache
def key(release: str) -> Key:
    """Place of a final release in the order.

    Raises ValueError where `release` is not a final release.
    """
    numbers = [int(number) for number in release.split(".")]
    while numbers and numbers[-1] == 0:
        numbers.pop()
    return tuple(numbers)


def minor(release: str) -> str:
    """The minor release that a patch release belongs to: `2.4` for `2.4.1`."""
    return ".".join(release.split(".")[:2])


def next_minor(release: str) -> str | None:
    """The minor release after a minor release, `1.20` after `1.19`; None for other releases."""
    match release.split("."):
        case [major, number] if number.isdigit():
            return f"{major}.{int(number) + 1}"
        case _:
            return None


def covers(prefix: str, release: str) -> bool:
    """Whether `2.4` names `2.4.1`: equal, or equal up to a dot."""
    return release == prefix or release.startswith(prefix + ".")


class ReleaseSpan(Protocol):
    """Releases from one on, up to another that is left out; None: no bound."""

    @property
    def from_(self) -> str | None: ...
    @property
    def until(self) -> str | None: ...


def within(release: str, span: ReleaseSpan) -> bool:
    """Whether a span holds a release."""
    place = key(release)
    return (span.from_ is None or key(span.from_) <= place) and (
        span.until is None or place < key(span.until)
    )


class Candidates(msgspec.Struct, frozen=True):
    """The releases that a version may stand for, oldest first.

    ``exactly``: all of them are meant. ``between``: a pre-release, whose answer
    is known only if its neighbours agree. ``newer``: beyond the map; the last
    known release stands in for it. ``any``: no version was given.
    """

    releases: tuple[str, ...]
    how: Literal["exactly", "between", "newer", "any"]


def candidates(
    package: str, text: str, released: Sequence[str], is_complete: bool = False
) -> Candidates:
    """Return the releases that `text` stands for among `released` (oldest first).

    Raises UsageError for text that is not a version, and for a version below the
    newest that was never released, or is not on record where the list is not complete.
    """
    if text == "any":
        return Candidates(tuple(released), "any")
    if len(text) > _LONGEST:
        raise UsageError(f"version of {package} is {len(text)} characters long: {quote(text)}")
    final = _FINAL.fullmatch(text)
    if final is not None:
        return _final(package, final[1], released, is_complete)
    if text == "latest":
        return _latest(package, released)
    return (
        _in_range(package, text, released, is_complete)
        if re.match(_RANGE, text)
        else _unusual(package, text, released, is_complete)
    )


def is_before_all(text: str, released: Sequence[str]) -> bool:
    """Whether a plain release (``0.2.0``) is older than the first of `released`."""
    final = _FINAL.fullmatch(text)
    if final is None or not released:
        return False
    try:
        return key(final[1]) < key(released[0])
    except ValueError:
        return False


def _latest(package: str, released: Sequence[str]) -> Candidates:
    if not released:
        raise UsageError(f"no release of {package} is listed: name one, or any")
    return Candidates((released[-1],), "exactly")


def _in_range(package: str, text: str, released: Sequence[str], is_complete: bool) -> Candidates:
    """The releases that a specifier of pip allows: ``>=2.4,<2.7``, ``2.4.*``."""
    from packaging.specifiers import InvalidSpecifier, SpecifierSet

    try:
        wanted = SpecifierSet(text if text[0] in "<>=!~" else f"=={text}", prereleases=True)
    except InvalidSpecifier:
        raise _no_version(package, text) from None
    inside = [release for release in released if wanted.contains(release)]
    if inside:
        return Candidates(tuple(inside), "exactly")
    if not released:
        return Candidates((), "any")
    if wanted.contains(_BEYOND):
        return Candidates((released[-1],), "newer")
    known = f"{released[0]} to {released[-1]}"
    which = package if is_complete else f"{package} on record"
    raise UsageError(f"no release of {which} is {quote(text)}", tip=f"known are {known}")


def _final(package: str, text: str, released: Sequence[str], is_complete: bool) -> Candidates:
    if not released:
        return Candidates((text,), "exactly")
    try:
        wanted = key(text)
    except ValueError:
        raise UsageError(
            f"version of {package} has a number too long to be one: {quote(text)}"
        ) from None
    same = [release for release in released if covers(text, release) or key(release) == wanted]
    if same:
        return Candidates(tuple(same), "exactly")
    if wanted > key(released[-1]):
        return Candidates((released[-1],), "newer")
    if wanted < key(released[0]):
        why = f"is older than {released[0]}, the first release that d9m knows"
    elif is_complete:
        why = "was never released"
    else:
        why = f"is not on record; the releases on record are {_some(released)}"
    raise UsageError(
        f"{package} {quote(text)} {why}",
        nearest=neighbours(wanted, released) or nearest(text, released),
    )


MOST_RELEASES = 8
"""Releases that an error lists."""


def _some(released: Sequence[str]) -> str:
    if len(released) <= MOST_RELEASES:
        return ", ".join(released)
    return f"{len(released)} from {released[0]} to {released[-1]}"


def _unusual(package: str, text: str, released: Sequence[str], is_complete: bool) -> Candidates:
    from packaging.version import InvalidVersion, Version

    try:
        version = Version(text.replace("-dev", ".dev"))
    except (InvalidVersion, ValueError):
        raise _no_version(package, text) from None
    base = version.base_version.split("!")[-1]
    if not version.is_prerelease:
        return _final(package, base, released, is_complete)
    if not released:
        return Candidates((base,), "exactly")
    below = [release for release in released if key(release) < key(base)]
    above = released[len(below) :]
    if not above:
        return Candidates((released[-1],), "newer")
    return Candidates((*below[-1:], above[0]), "between")


def _no_version(package: str, text: str) -> UsageError:
    return UsageError(
        f"{quote(text)} is not a version of {package}",
        allowed=[
            "numbers such as 2.4 or 2.4.1",
            "2.4.1+cu121",
            "2.5.0a0+abc123",
            ">=2.4,<2.7",
            "latest",
            "any",
        ],
    )


def neighbours(wanted: Key, released: Sequence[str]) -> list[str]:
    """The releases (oldest first) between which a place lies."""
    place = bisect.bisect([key(release) for release in released], wanted)
    return list(dict.fromkeys(released[max(0, place - 1) : place + 1]))


def in_order(releases: Mapping[str, object]) -> tuple[str, ...]:
    """Release names, oldest first."""
    return tuple(sorted(releases, key=key))
