"""Fetch a wheel with pip, for a platform that need not be this one."""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path

from d9m.errors import UsageError, quote

PLATFORMS: dict[str, tuple[str, ...]] = {
    "linux": (
        "manylinux_2_28_x86_64",
        "manylinux_2_27_x86_64",
        "manylinux_2_17_x86_64",
        "manylinux2014_x86_64",
    ),
    "macos": ("macosx_15_0_arm64", "macosx_14_0_arm64", "macosx_11_0_arm64", "macosx_10_15_x86_64"),
}
"""Name -> tags, preferred first. pip adds older forms of the last ones."""

_PYTHONS = ("3.12", "3.10", "3.8", "3.6", "3.5")
"""Between them they cover every release that has wheels."""


def download(distribution: str, version: str, platform: str, folder: Path) -> Path:
    """Put the wheel of a release into `folder`. Raises UsageError, with pip's words, where there is
    none.
    """
    said = ""
    for python in _PYTHONS:
        options = ("--quiet", "--no-deps", "--no-cache-dir", "--dest", str(folder))
        done = _pip("download", *options, *_target(platform, python), f"{distribution}=={version}")
        found = sorted(folder.glob("*.whl"))
        if done.returncode == 0 and found:
            return found[0]
        said = _error(done) or said
    raise UsageError(f"pip finds no {platform} wheel of {distribution} {quote(version)}: {said}")


def _target(platform: str, python: str) -> list[str]:
    options = ["--only-binary=:all:", "--python-version", python]
    for tag in PLATFORMS[platform]:
        options += ["--platform", tag]
    return options


def _pip(*arguments: str) -> subprocess.CompletedProcess[str]:
    command = [sys.executable, "-m", "pip", "--disable-pip-version-check", *arguments]
    return subprocess.run(command, capture_output=True, text=True, check=False)  # noqa: S603  pip of this Python


def _error(done: subprocess.CompletedProcess[str]) -> str:
    return next(
        (line for line in reversed(done.stderr.splitlines()) if line.startswith("ERROR")), ""
    )
