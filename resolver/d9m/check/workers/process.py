"""A running process: the environment it was started with, and the Python it runs."""

from __future__ import annotations

import os
import shutil
from collections.abc import Mapping
from pathlib import Path

import msgspec

from d9m.errors import AbsentError


class RunningProcess(msgspec.Struct, frozen=True):
    variables: dict[str, str]
    """As it started: what a program sets later is not seen from outside."""
    python: str | None
    """Its interpreter; None: it runs something else."""


def find(pid: int, root: Path = Path("/proc")) -> RunningProcess:
    """Raises AbsentError for a process that is not there, is another user's, or is on a system that
    does not tell.
    """
    folder = root / str(pid)
    if not root.is_dir():
        raise AbsentError("--pid needs /proc, which this system does not have")
    try:
        environment = (folder / "environ").read_bytes()
        command = (folder / "cmdline").read_bytes()
    except FileNotFoundError:
        raise AbsentError(f"there is no process {pid}") from None
    except PermissionError:
        raise AbsentError(
            f"process {pid} does not let its environment be read: it is another user's"
        ) from None
    variables: dict[str, str] = {}
    for item in environment.decode("utf-8", "replace").split("\0"):
        if item:
            name, _equals, value = item.partition("=")
            variables[name] = value
    return RunningProcess(
        variables, _python(command.split(b"\0")[0].decode("utf-8", "replace"), variables, folder)
    )


def _python(first: str, variables: Mapping[str, str], folder: Path) -> str | None:
    """The interpreter by the name it was called, which leads to its packages; where the link ends
    does not.
    """
    if not os.path.basename(first).startswith("python"):
        return None
    if "/" not in first:
        return shutil.which(first, path=variables.get("PATH"))
    return os.path.join(os.readlink(folder / "cwd"), first)
