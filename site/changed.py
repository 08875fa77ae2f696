"""When each record and each guide was last changed: what the history of the checkout says."""

from __future__ import annotations

import functools
import subprocess
from pathlib import Path

import records

GUIDES = Path(__file__).parent / "docs"
"""Pages that people write, not records."""


def days() -> dict[str, str]:
    """Path of a record under ``kb/`` -> the day of its last commit; empty without the whole
    history: in an export, in a shallow clone, on a machine without git.
    """
    return of_folder(records.folder())


def newest(kind: str) -> str:
    """The day on which some record of a kind was last changed; empty where nobody knows."""
    return max((day for path, day in days().items() if path.startswith(f"{kind}/")), default="")


@functools.cache
def of_folder(folder: Path) -> dict[str, str]:
    """Path of a file under a folder -> the day of its last commit; as `days`."""
    if _git(folder, "rev-parse", "--is-shallow-repository") != "false\n":
        return {}
    found: dict[str, str] = {}
    day = ""
    for line in _git(folder, "log", "--format=@%cs", "--name-only", "--relative", ".").splitlines():
        if line.startswith("@"):
            day = line[1:]
        elif line:
            found.setdefault(line, day)
    return found


def _git(folder: Path, *words: str) -> str:
    """What git prints; nothing where it fails."""
    command = ["git", "-C", str(folder), *words]
    try:
        ran = subprocess.run(command, capture_output=True, text=True, check=True)  # noqa: S603  fixed words
        return ran.stdout
    except (OSError, subprocess.CalledProcessError):
        return ""
