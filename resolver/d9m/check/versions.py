"""The schema version of files that `d9m check` wrote before."""

from __future__ import annotations

import msgspec

from d9m.about import SCHEMA_VERSION
from d9m.errors import DataError, quote


class _Versioned(msgspec.Struct, frozen=True):
    schema_version: int = SCHEMA_VERSION


def require_version(file: str, content: bytes, tip: str) -> None:
    """Raise DataError for a file of another version, whatever its other keys are.

    Raises one of `files.UNREADABLE` for what is no JSON object.
    """
    found = msgspec.json.decode(content, type=_Versioned).schema_version
    if found != SCHEMA_VERSION:
        raise DataError(
            f"{quote(file)} has schema_version {found}; this d9m reads {SCHEMA_VERSION}", tip=tip
        )
