"""Programs started under `d9m run`, and the packages that they find."""

from __future__ import annotations

import os
import subprocess
import sys
from functools import cache
from pathlib import Path

import pytest

from conftest import needs, shared
from d9m.kb import compiled
from d9m.kb.locate import from_yaml

ROOT = Path(__file__).parents[2]
sys.path.append(str(ROOT / "tests" / "emitted"))
from environments import FRAMEWORKS, LAUNCHERS, PROBED  # noqa: E402  its folder has to be on the path

MAIN = "import sys; sys.path.insert(0, sys.argv.pop(1)); from d9m.__main__ import main; main()"
COMMAND = [sys.executable, "-c", MAIN, str(ROOT / "resolver"), "run"]
"""`d9m run` of this tree, in a Python whose program need not find it."""


@cache
def records() -> Path:
    """The knowledge base, compiled once for all programs."""
    return shared("run-records", _compile) / "kb.d9m"


def _compile(place: Path) -> None:
    compiled.write(from_yaml(ROOT / "kb"), place / "kb.d9m")


def python(version: str) -> str:
    found = sorted(Path.home().glob(f".pyenv/versions/{version}.*/bin/python"))
    if not found:
        pytest.skip(f"Python {version} is not here")
    return str(found[0])


def python_with(name: str) -> str:
    """The Python of a framework; the test is skipped where it is not installed."""
    framework = next(each for each in (*FRAMEWORKS, *LAUNCHERS, *PROBED) if each.name == name)
    needs(framework.stands, name, framework.how)
    return str(framework.interpreter)


def run(
    *words: str,
    env: dict[str, str] | None = None,
    cwd: Path | None = None,
    before: str = "",
    stdin: str | None = None,
) -> subprocess.CompletedProcess[str]:
    """Run `d9m run` with these words; `before` is Python that it runs first."""
    command = [*COMMAND[:2], before + MAIN, *COMMAND[3:]]
    return subprocess.run(
        [*command, *words], env={**(env or os.environ), "D9M_KB": str(records())}, cwd=cwd,
        capture_output=True, text=True, check=False, timeout=300, input=stdin,
    )  # fmt: skip


def installed(place: Path, package: str, version: str, text: str) -> Path:
    """Make a folder with a package of this text, and return it."""
    (place / package).mkdir(parents=True)
    (place / package / "__init__.py").write_text(f"__version__ = {version!r}\n{text}")
    about = place / f"{package}-{version}.dist-info"
    about.mkdir()
    (about / "METADATA").write_text(f"Metadata-Version: 2.1\nName: {package}\nVersion: {version}\n")
    return place
