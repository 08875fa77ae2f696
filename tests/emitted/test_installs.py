"""Every package that d9m tells people to install is at the registry, and holds what the programs
import from it.
"""

from __future__ import annotations

import ast
import functools
import os
import re
import subprocess
import sys
import tarfile
import warnings
import zipfile
from collections.abc import Iterator
from pathlib import Path

import pytest
from api_names import lifetimes, package_of, used
from programs import blocks

from conftest import EVERYTHING

PINNED = re.compile(r"[\w.-]+(\[[\w,.-]+\])?==[\w.+!-]+")

EMPTY = "tensorflow-determinism==0.4.0"
"""Newer than the release that is told, and without code: the reason for its pin."""


def download(pin: str, folder: Path) -> Path:
    """The file that pip chooses for a requirement, its dependencies left out."""
    options = ["--quiet", "--no-deps", "--retries", "1", "--dest", str(folder)]
    asked = subprocess.run(
        [sys.executable, "-m", "pip", "download", *options, pin], capture_output=True, text=True
    )
    if asked.returncode != 0 and not os.environ.get(EVERYTHING) and not _is_answered(asked.stderr):
        pytest.skip(f"no package registry is reached from here; to test {pin}: run this online")
    assert asked.returncode == 0, asked.stderr[-2000:]
    (found,) = folder.iterdir()
    return found


def _is_answered(complaint: str) -> bool:
    """Whether a registry knows the package: pip then lists its versions."""
    return bool(re.search(r"from versions: (?!none)", complaint))


def sources(archive: Path) -> Iterator[tuple[str, str]]:
    """Import path -> text of each Python file of a wheel or a source archive."""
    if archive.suffix == ".whl":
        with zipfile.ZipFile(archive) as wheel:
            for name in wheel.namelist():
                if name.endswith(".py"):
                    yield name, wheel.read(name).decode()
    else:
        with tarfile.open(archive) as source:
            for member in source.getmembers():
                if member.name.endswith(".py") and (file := source.extractfile(member)):
                    yield member.name.partition("/")[2], file.read().decode()


def defined(files: dict[str, str]) -> set[str]:
    """Dotted names that the modules of an archive define or import at their top."""
    found: set[str] = set()
    for path, text in files.items():
        module = path.removesuffix(".py").removesuffix("/__init__").replace("/", ".")
        found.add(module)
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")  # of what Python thinks of strings written in 2019
            body = ast.parse(text).body
        for node in body:
            if isinstance(node, (ast.FunctionDef, ast.ClassDef)):
                found.add(f"{module}.{node.name}")
            elif isinstance(node, (ast.Import, ast.ImportFrom)):
                found |= {f"{module}.{each.asname or each.name}" for each in node.names}
    return found


@functools.cache
def imports() -> dict[tuple[str, ...], set[str]]:
    """Requirements told together -> names that their programs take from them."""
    frameworks = {package_of(name) for name in lifetimes()}
    found: dict[tuple[str, ...], set[str]] = {}
    for each in blocks():
        if each.installs:
            names = {name for name in used(each.tree) if package_of(name) not in frameworks}
            found[each.installs] = found.get(each.installs, set()) | names
    return found


def test_every_install_is_pinned() -> None:
    assert imports()
    assert not [pin for pins in imports() for pin in pins if not PINNED.fullmatch(pin)]


def test_every_install_is_at_the_registry_and_holds_what_is_imported(tmp_path: Path) -> None:
    for number, (pins, names) in enumerate(imports().items()):
        held: set[str] = set()
        for place, pin in enumerate(pins):
            folder = tmp_path / f"{number}-{place}"
            folder.mkdir()
            held |= defined(dict(sources(download(pin, folder))))
        assert names, f"{pins}: nothing is imported from it"
        assert names <= held, f"{pins} lacks {names - held}"


def test_the_newest_release_of_the_patch_holds_no_code(tmp_path: Path) -> None:
    files = dict(sources(download(EMPTY, tmp_path)))
    assert "tfdeterminism/__init__.py" in files
    assert "tfdeterminism.patch" not in defined(files)
    assert "contains no code" in files["tfdeterminism/__init__.py"]
