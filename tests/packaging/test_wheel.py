"""What the wheel and the sdist hold."""

from __future__ import annotations

import tarfile
import zipfile
from email.message import Message
from email.parser import Parser
from pathlib import Path

import archives
import pytest
from installations import ROOT

from d9m.about import __version__

LARGEST_WHEEL = 2_500_000
LARGEST_SDIST = 1_600_000


@pytest.fixture(scope="module")
def wheel() -> Path:
    return archives.wheel()


@pytest.fixture(scope="module")
def sdist() -> Path:
    return archives.sdist()


@pytest.fixture(scope="module")
def names(wheel: Path) -> set[str]:
    with zipfile.ZipFile(wheel) as archive:
        return set(archive.namelist())


def metadata(wheel: Path) -> Message:
    with zipfile.ZipFile(wheel) as archive:
        (name,) = (each for each in archive.namelist() if each.endswith(".dist-info/METADATA"))
        return Parser().parsestr(archive.read(name).decode())


def test_a_wheel_is_small(wheel: Path) -> None:
    assert wheel.stat().st_size <= LARGEST_WHEEL


def test_a_wheel_holds_the_compiled_knowledge_base_and_no_record(names: set[str]) -> None:
    assert {"d9m/_kb/knowledge.d9m", "d9m/_kb/variables.txt"} <= names
    yaml = [each for each in names if each.endswith((".yaml", ".yml"))]
    assert [each for each in yaml if not each.startswith("d9m/check/probes/")] == []


def test_a_wheel_holds_every_module_but_those_for_records_and_nothing_else(
    names: set[str],
) -> None:
    modules = {
        path.relative_to(ROOT / "resolver").as_posix()
        for path in (ROOT / "resolver" / "d9m").rglob("*.py")
        if "authoring" not in path.parts
    }
    assert {each for each in names if each.endswith(".py")} == modules
    assert not [each for each in names if each.endswith(".md")]
    assert {each.split("/")[0] for each in names} == {"d9m", f"d9m-{__version__}.dist-info"}
    assert "d9m/py.typed" in names


def test_a_wheel_says_who_it_is(wheel: Path) -> None:
    said = metadata(wheel)
    assert (said["Name"], said["Version"], said["Requires-Python"]) == (
        "d9m",
        __version__,
        ">=3.10",
    )
    assert said["License-Expression"] == "Apache-2.0"
    assert "d9m advise" in str(said.get_payload())


def test_pytest_finds_the_plugin_in_a_wheel(wheel: Path) -> None:
    with zipfile.ZipFile(wheel) as archive:
        entries = archive.read(f"d9m-{__version__}.dist-info/entry_points.txt").decode()
    assert "[pytest11]\nd9m = d9m.testing.plugin" in entries


def test_no_framework_is_a_dependency(wheel: Path) -> None:
    needed = " ".join(metadata(wheel).get_all("Requires-Dist") or [])
    assert "msgspec" in needed
    assert not [each for each in ("torch", "tensorflow", "jax", "numpy") if each in needed]


def test_the_sdist_gives_the_same_wheel_byte_for_byte(wheel: Path) -> None:
    assert archives.rebuilt_wheel().read_bytes() == wheel.read_bytes()


def test_an_sdist_holds_what_builds_the_wheel_and_no_more(sdist: Path) -> None:
    with tarfile.open(sdist) as archive:
        held = {each.name.partition("/")[2] for each in archive.getmembers()}
    documents = {"README.md", "CHANGELOG.md", "SECURITY.md", "LICENSE"}
    assert {each.partition("/")[0] for each in held} == {
        "kb", "resolver", "pyproject.toml", "PKG-INFO", *documents
    }  # fmt: skip
    assert {"kb/facts.yaml", "resolver/build_hook.py", "resolver/d9m/py.typed"} <= held
    assert not [each for each in held if "__pycache__" in each or "/_kb/" in each]


def test_an_sdist_is_small(sdist: Path) -> None:
    assert sdist.stat().st_size <= LARGEST_SDIST
