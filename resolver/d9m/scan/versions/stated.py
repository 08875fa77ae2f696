"""The statements of one file about versions."""

from __future__ import annotations

from typing import Literal, TypeAlias

import msgspec

Strength: TypeAlias = Literal["lock", "image", "pin", "range", "name"]
"""How much a statement decides, strongest first; ``name`` names no version."""

STRENGTHS: tuple[Strength, ...] = ("lock", "image", "pin", "range", "name")


class StatedPackage(msgspec.Struct, frozen=True):
    """A package that a file names, as it spells it."""

    name: str
    version: str | None
    """A release, or a range as pip writes it."""
    line: int
    strength: Strength


class StatedImage(msgspec.Struct, frozen=True):
    reference: str
    line: int


class FileVersions(msgspec.Struct, frozen=True):
    packages: tuple[StatedPackage, ...] = ()
    images: tuple[StatedImage, ...] = ()
    device: str | None = None
    """The device that the packages are built for, where an index or a local version says so."""


def strength_of(version: str | None) -> Strength:
    """Return the strength of a requirement: ``2.4.1`` is a pin, ``>=2.4`` a range."""
    if version is None:
        return "name"
    return "range" if version[0] in "<>=!~^*" or "*" in version else "pin"
