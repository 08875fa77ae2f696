"""The releases that records name: a version map and its conditions know final ones only."""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from typing import Any, cast

import msgspec

from d9m.model import records

_RELEASE = re.compile(r"\d{1,9}(?:\.\d{1,9}){0,9}")


def is_release(text: str) -> bool:
    """Whether a text is a final release, or the number that bounds a fact."""
    return _RELEASE.fullmatch(text) is not None


def releases(value: Any) -> Iterator[str]:
    """Every release that a record names: ends of ranges, steps, releases of a package."""
    if isinstance(value, msgspec.Struct):
        for field in ("from_", "until", "verified_through"):
            release = getattr(value, field, None)
            if isinstance(release, str):
                yield release
        if isinstance(value, records.Package):
            yield from value.releases
        for field in value.__struct_fields__:
            yield from releases(getattr(value, field))
    elif isinstance(value, dict):
        for inner in cast("dict[str, Any]", value).values():
            yield from releases(inner)
    elif isinstance(value, (list, tuple)):
        for inner in cast("Sequence[Any]", value):
            yield from releases(inner)
