"""The environment that the files of a folder state."""

from __future__ import annotations

from typing import Literal, TypeAlias

import msgspec

How: TypeAlias = Literal["given", "pinned", "range", "assumed"]
"""Strongest first. ``assumed``: the newest release of the records."""


class StatedVersion(msgspec.Struct, frozen=True):
    """Which release of a package is meant, and who says so."""

    version: str | None
    """The newest release that is allowed; None: not said."""
    how: How
    said_in: str = ""
    """``requirements.txt:3``."""
    oldest: str | None = None
    """Of a range: the oldest release that is allowed."""
    others: tuple[str, ...] = ()
    """Other releases that files of the same folder state, each exactly, such as those of images."""

    @property
    def is_stated(self) -> bool:
        """Whether a file states it, or the person who asks."""
        return self.how != "assumed"


class ScanEnvironment(msgspec.Struct, frozen=True):
    """The environment of a folder's files, and of the folders below it that state nothing."""

    folder: str
    """Relative to the root, with ``/``; empty for the root."""
    packages: dict[str, StatedVersion] = {}
    """By the knowledge base's name of the package."""
    container: str | None = None
    device: str = "cuda"
    device_said_in: str = ""
    """``Dockerfile:1``; empty where nothing says it."""
    facts: dict[str, str] = {}
