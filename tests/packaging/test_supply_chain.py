"""Where releases come from: builds that repeat byte for byte, and actions that cannot change."""

from __future__ import annotations

import os
import re
import shutil
import subprocess
import sys
from pathlib import Path

import archives
import pytest
import yaml
from installations import ROOT, only

WORKFLOWS = sorted((ROOT / ".github" / "workflows").glob("*.yml"))
BUILT_FROM = ("kb", "resolver", "pyproject.toml", "README.md", "LICENSE")


def test_a_wheel_is_the_same_bytes_wherever_and_whenever_it_is_built(tmp_path: Path) -> None:
    place = tmp_path / "another plàce"
    place.mkdir()
    skip = shutil.ignore_patterns("__pycache__", "_kb")
    for name in BUILT_FROM:
        if (ROOT / name).is_dir():
            shutil.copytree(ROOT / name, place / name, ignore=skip)
        else:
            shutil.copy(ROOT / name, place / name)
    for path in [place, *place.rglob("*")]:
        path.chmod(0o700 if path.is_dir() else 0o600)
        os.utime(path, (981_173_106, 981_173_106))
    subprocess.run(
        [sys.executable, "-m", "hatchling", "build", "--target", "wheel", "--directory", "out"],
        cwd=place,
        env={
            "PATH": os.environ["PATH"], "PYTHONPATH": os.pathsep.join(filter(None, sys.path)),
            "TZ": "Asia/Kolkata", "LC_ALL": "C", "PYTHONHASHSEED": "77",
        },
        umask=0o077, check=True, capture_output=True,
    )  # fmt: skip
    assert only(place / "out").read_bytes() == archives.wheel().read_bytes()


@pytest.mark.parametrize("file", [*WORKFLOWS, ROOT / "action.yml"], ids=lambda file: file.name)
def test_every_action_is_pinned_by_its_commit(file: Path) -> None:
    used = re.findall(r"uses: (.*)", file.read_text())
    assert used
    for action in used:
        assert re.fullmatch(r"[\w.-]+/[\w./-]+@[0-9a-f]{40} # v\d+\.\d+\.\d+", action), action


@pytest.mark.parametrize("file", WORKFLOWS, ids=lambda file: file.name)
def test_a_workflow_may_only_read_until_a_job_asks_for_more(file: Path) -> None:
    assert yaml.safe_load(file.read_text())["permissions"] == {"contents": "read"}


def test_what_builds_a_release_has_no_rights_and_what_publishes_it_builds_nothing() -> None:
    jobs = yaml.safe_load((ROOT / ".github" / "workflows" / "release.yml").read_text())["jobs"]
    assert "permissions" not in jobs["build"]
    assert jobs["publish"]["permissions"]["attestations"] == "write"
    assert jobs["publish"]["needs"] == "build"
    run = " ".join(step.get("run", "") for step in jobs["publish"]["steps"])
    assert "pip" not in run
    assert "python" not in run


@pytest.mark.parametrize("file", WORKFLOWS, ids=lambda file: file.name)
def test_no_expression_of_a_workflow_is_in_a_shell_line(file: Path) -> None:
    for job in yaml.safe_load(file.read_text())["jobs"].values():
        for step in job["steps"]:
            assert "${{" not in step.get("run", "")
