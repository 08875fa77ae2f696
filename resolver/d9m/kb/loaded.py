"""One record as it was read, and one thing wrong with a file."""

from __future__ import annotations

from typing import Any

import msgspec

Place = tuple[int, int]
"""Line and column, from 1."""


class Fault(msgspec.Struct, frozen=True, order=True):
    """One thing wrong with a file."""

    file: str
    line: int
    rule: str
    message: str
    field: str = ""
    value: str = ""
    allowed: str = ""
    tip: str = ""


class Loaded(msgspec.Struct, frozen=True):
    """One record with the places of its fields: ``("timeline", "tensorflow", 0)`` -> line,
    column.
    """

    kind: str
    id: str
    file: str
    record: Any
    places: dict[tuple[str | int, ...], Place]
    is_mended: bool = False
    """Whether the file has faults, and this is the rest of it: for `d9m kb lint` alone."""

    def line(self, *path: str | int) -> int:
        """Line of a field, or of the nearest field around it."""
        return nearest_line(self.places, path)


def nearest_line(places: dict[tuple[str | int, ...], Place], path: tuple[str | int, ...]) -> int:
    """Line of a field, or of the nearest field around it."""
    while path and path not in places:
        path = path[:-1]
    return places.get(path, (1, 1))[0]
