"""Demands on records before anything is answered from them; lint says all the rest."""

from __future__ import annotations

import re
from collections.abc import Collection, Iterator, Sequence
from typing import Any, cast

import msgspec

from d9m.errors import quote
from d9m.model import records

_RELEASE = re.compile(r"\d{1,9}(?:\.\d{1,9}){0,9}")

_NAMES = {
    "env": re.compile(r"[A-Za-z_][A-Za-z0-9_]*"),
    "flag": re.compile(r"(?:[\w.-]+ )*--?[\w.-]+|(?:[\w.-]+ )+-[\w.-]+"),
    "install": re.compile(r"[A-Za-z0-9][\w.-]*"),
    "config": re.compile(r"[\w-]+(?:[. ][\w-]+)*"),
    "python": re.compile(r"[\w.:]+(?:\([\w.]+=?\))?(?: [\w.]+)*"),
    "code": re.compile(r"[\w.:]+(?:\([\w.]+=?\))?(?: [\w.]+)*"),
}
"""Kind of setting -> the names it may have."""


def is_release(text: str) -> bool:
    """Whether a text is a final release, or the number that bounds a fact."""
    return _RELEASE.fullmatch(text) is not None


def is_setting_name(setting: records.Setting) -> bool:
    """Whether the name is one that a setting of its kind can have, and safe to print into a shell
    script.
    """
    return setting.name.isascii() and _NAMES[setting.kind].fullmatch(setting.name) is not None


def faults(record: Any, settings: Collection[str]) -> Iterator[str]:
    """Releases that no version map can place, and settings that cannot exist or do not."""
    for struct in _structs(record):
        for release in _releases(struct):
            if not is_release(release):
                yield f"{quote(release)} is not a release, such as 2.10.1"
        if isinstance(struct, records.Setting) and not is_setting_name(struct):
            yield f"{quote(struct.name)} is not the name of a setting of kind {struct.kind}"
        if isinstance(struct, records.SettingChange):
            name = struct.name
            if name not in settings:
                yield f"no record describes the setting {quote(name)}"


def _releases(struct: msgspec.Struct) -> Iterator[str]:
    """Ends of ranges, steps, releases of a package."""
    for field in ("from_", "until", "verified_through"):
        release = getattr(struct, field, None)
        if isinstance(release, str):
            yield release
    if isinstance(struct, records.Package):
        yield from struct.releases


def _structs(value: Any) -> Iterator[msgspec.Struct]:
    """A value and everything in it, at any depth."""
    if isinstance(value, msgspec.Struct):
        yield value
        for field in value.__struct_fields__:
            yield from _structs(getattr(value, field))
    elif isinstance(value, dict):
        for inner in cast("dict[str, Any]", value).values():
            yield from _structs(inner)
    elif isinstance(value, (list, tuple)):
        for inner in cast("Sequence[Any]", value):
            yield from _structs(inner)
