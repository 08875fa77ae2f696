"""d9m installed in every way that a user has it, each in an environment of its own.

Nothing is downloaded: wheels are built with the backend that runs the tests, and an
environment gets exactly the dependencies that d9m declares, as links to those here.
"""

from __future__ import annotations

import importlib.metadata
import os
import subprocess
import sys
import tarfile
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path

from packaging.requirements import Requirement

ROOT = Path(__file__).parents[2]


@dataclass(frozen=True)
class Installation:
    """One way to have d9m."""

    command: tuple[str, ...]
    environment: Path
    """The virtual environment."""
    variables: tuple[tuple[str, str], ...] = ()

    def run(self, *arguments: str, cwd: Path, **variables: str) -> subprocess.CompletedProcess[str]:
        """Run d9m in `cwd` with a bare environment, the given variables added."""
        bare = {"PATH": os.defpath, "LANG": "C.UTF-8", **dict(self.variables), **variables}
        return subprocess.run(
            [*self.command, *arguments],
            cwd=cwd,
            env=bare,
            capture_output=True,
            text=True,
            check=False,
        )


def wheel_from_tree(folder: Path) -> Path:
    return _built(ROOT, "wheel", folder)


def sdist_from_tree(folder: Path) -> Path:
    return _built(ROOT, "sdist", folder)


def wheel_from_sdist(sdist: Path, folder: Path) -> Path:
    with tarfile.open(sdist) as archive:
        archive.extractall(folder, filter="data")
    return _built(only(folder), "wheel", folder / "dist")


def only(folder: Path) -> Path:
    """The one thing in a folder."""
    (found,) = folder.iterdir()
    return found


def _built(root: Path, target: str, folder: Path) -> Path:
    _call(
        [
            sys.executable,
            "-m",
            "hatchling",
            "build",
            "--target",
            target,
            "--directory",
            str(folder),
        ],
        root,
    )
    return only(folder)


def editable_wheel(folder: Path) -> Path:
    folder.mkdir()
    code = f"import hatchling.build; hatchling.build.build_editable({str(folder)!r})"
    _call([sys.executable, "-c", code], ROOT)
    return only(folder)


def is_installed(name: str) -> bool:
    """Whether the distribution is there, from which an environment's dependencies are known."""
    return any(importlib.metadata.distributions(name=name))


def installed(wheel: Path, folder: Path, extra: str = "") -> Installation:
    """`wheel`, installed by the pip of the tests in a new environment."""
    python = _environment(folder, extra)
    pip = [sys.executable, "-m", "pip", "--python", str(python)]
    _call([*pip, "install", "--quiet", "--no-index", "--no-deps", str(wheel)], folder)
    return Installation((str(python.with_name("d9m")),), folder)


def checkout(folder: Path) -> Installation:
    """The source tree as it is, in an environment without d9m."""
    python = _environment(folder)
    return Installation(
        (str(python), "-m", "d9m"), folder, (("PYTHONPATH", str(ROOT / "resolver")),)
    )


def _environment(folder: Path, extra: str = "") -> Path:
    """A new environment with the dependencies of d9m, and of one of its extras. Returns its
    Python.
    """
    _call([sys.executable, "-m", "venv", "--without-pip", str(folder)], folder.parent)
    (site_packages,) = folder.glob("lib/python3*/site-packages")
    for distribution in _dependencies("d9m", extra, set()):
        for top in {
            file.parts[0]
            for file in distribution.files or ()
            if file.parts[0] not in ("..", "__pycache__")
        }:
            (site_packages / top).symlink_to(Path(str(distribution.locate_file(top))))
    return folder / "bin" / "python"


def _dependencies(
    name: str, extra: str, seen: set[str]
) -> Iterator[importlib.metadata.Distribution]:
    """What `name` needs with this extra, and what that needs without any."""
    for text in importlib.metadata.requires(name) or ():
        requirement = Requirement(text)
        applies = requirement.marker is None or requirement.marker.evaluate({"extra": extra})
        if not applies or requirement.name.lower() in seen:
            continue
        seen.add(requirement.name.lower())
        yield importlib.metadata.distribution(requirement.name)
        yield from _dependencies(requirement.name, "", seen)


def _call(command: list[str], cwd: Path) -> None:
    done = subprocess.run(command, cwd=cwd, capture_output=True, text=True, check=False)
    assert done.returncode == 0, f"{command} failed:\n{done.stdout}{done.stderr}"
