"""The wheel and the sdist of this tree, built once for all tests of a run."""

from __future__ import annotations

from pathlib import Path

from installations import only, sdist_from_tree, wheel_from_sdist, wheel_from_tree

from conftest import shared


def wheel() -> Path:
    return only(shared("wheel", wheel_from_tree))


def sdist() -> Path:
    return only(shared("sdist", sdist_from_tree))


def rebuilt_wheel() -> Path:
    """The wheel that the sdist gives."""
    return only(shared("rebuilt-wheel", lambda folder: wheel_from_sdist(sdist(), folder)) / "dist")
