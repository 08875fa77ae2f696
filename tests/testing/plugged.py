"""pytest in a process of its own, with the plugin, beside PyTorch."""

from __future__ import annotations

import os
import re
import subprocess
import sys
import xml.etree.ElementTree as ElementTree
from pathlib import Path

import pytest

from conftest import needs, shared
from d9m.kb import compiled
from d9m.kb.locate import from_yaml

ROOT = Path(__file__).parents[2]
TORCH = ROOT / "build" / "frameworks" / "torch-2.13.0"
ENTRY = "[pytest11]\nd9m = d9m.testing.plugin\n"


def _make(place: Path) -> None:
    """The packages of this Python, and of all plugins the entry point of d9m alone."""
    for each in Path(pytest.__file__).parents[1].iterdir():
        entries = each / "entry_points.txt"
        is_plugin = entries.exists() and "[pytest11]" in entries.read_text()
        if not (each.suffix == ".pth" or each.name.startswith("d9m-") or is_plugin):
            (place / each.name).symlink_to(each)
    about = place / "d9m-0.1.0.dist-info"
    about.mkdir()
    (about / "METADATA").write_text("Metadata-Version: 2.1\nName: d9m\nVersion: 0.1.0\n")
    (about / "entry_points.txt").write_text(ENTRY)
    compiled.write(from_yaml(ROOT / "kb"), place / "kb.d9m")


def environment(**variables: str) -> dict[str, str]:
    packages = shared("plugged", _make)
    dropped = ("PYTHONHASHSEED", "GITHUB_ACTIONS", "PYTEST_XDIST_WORKER", "PYTEST_ADDOPTS")
    own = {name: value for name, value in os.environ.items() if name not in dropped}
    path = os.pathsep.join([str(ROOT / "resolver"), str(packages)])
    return {**own, "PYTHONPATH": path, "D9M_KB": str(packages / "kb.d9m"), **variables}


def torch_python() -> str:
    """The Python that has PyTorch; the test is skipped where it is another one than this."""
    needs(TORCH.exists(), "PyTorch", "python tests/emitted/environments.py torch-2.13.0")
    version = f"lib/python{sys.version_info.major}.{sys.version_info.minor}"
    needs((TORCH / version).exists(), "PyTorch for this Python", "remove build/frameworks")
    return str(TORCH / "bin" / "python")


class Tested:
    """What pytest said: its output, and each test in the JUnit report."""

    def __init__(self, done: subprocess.CompletedProcess[str], report: Path) -> None:
        self.code, self.output = done.returncode, done.stdout + done.stderr
        self._cases = {
            str(case.get("name")): case for case in ElementTree.parse(report).iter("testcase")
        }

    def properties(self, test: str) -> dict[str, str]:
        return {
            str(each.get("name")): str(each.get("value"))
            for each in self._cases[test].iter("property")
        }

    def said(self, test: str) -> str:
        """The text of a failure, or why a test was skipped, on one line."""
        found = [
            f"{each.get('message')} {each.text}"
            for kind in ("failure", "error", "skipped")
            for each in self._cases[test].iter(kind)
        ]
        return re.sub(r"\s+", " ", " ".join(found))

    def outcome(self, test: str) -> str:
        kinds = [each.tag for each in self._cases[test] if each.tag != "properties"]
        kinds = [each for each in kinds if each in ("failure", "error", "skipped")]
        return kinds[0] if kinds else "passed"


def run_pytest(python: str, *words: str, **variables: str) -> Tested:
    """Run pytest in this folder."""
    report = Path("report.xml")
    report.unlink(missing_ok=True)
    done = subprocess.run(
        [python, "-m", "pytest", "-p", "no:cacheprovider", f"--junitxml={report}", *words],
        env=environment(**variables), capture_output=True, text=True, check=False,
    )  # fmt: skip
    assert report.exists(), done.stdout + done.stderr
    return Tested(done, report)
