"""The pre-commit hook and the GitHub action do what README says, each run as its users run it."""

from __future__ import annotations

import json
import os
import re
import subprocess
import sys
import sysconfig
from pathlib import Path
from typing import Any

import archives
import pytest
import yaml
from installations import ROOT, is_installed

from conftest import needs
from d9m.scan.file_kinds import kind_of

BY_CLOCK = """
import random, time
names = ["a"]
random.seed(int(time.time()))
"""
FIXED = BY_CLOCK.replace("int(time.time())", "0")
OFFLINE = {
    "PYTHONPATH": sysconfig.get_paths()["purelib"],
    "PIP_NO_DEPS": "1",
    "PIP_NO_INDEX": "1",
    "PIP_NO_BUILD_ISOLATION": "0",  # pip reads the value as that of --build-isolation
}
"""What is installed here stands in for what pip would download."""


def _project(folder: Path, text: str) -> Path:
    folder.mkdir()
    (folder / "train.py").write_text(text)
    for command in (["init", "-q"], ["add", "."]):
        subprocess.run(["git", *command], cwd=folder, check=True)
    return folder


def _hook(folder: Path, text: str) -> subprocess.CompletedProcess[str]:
    needs(is_installed("pre-commit"), "pre-commit", "python -m pip install -e '.[dev]'")
    needs((ROOT / ".git").exists(), "a checkout of d9m", "git clone")
    command = ("try-repo", str(ROOT), "d9m-scan", "--files", "train.py", "--color", "never")
    return subprocess.run(
        [sys.executable, "-m", "pre_commit", *command],
        cwd=_project(folder / "project", text),
        env={**os.environ, **OFFLINE, "PRE_COMMIT_HOME": str(folder / "home")},
        capture_output=True,
        text=True,
        check=False,
    )


def test_the_hook_stops_a_commit_with_a_finding(tmp_path: Path) -> None:
    done = _hook(tmp_path, BY_CLOCK)
    assert done.returncode == 1, done.stdout + done.stderr
    assert "- exit code: 1" in done.stdout
    assert "train.py:4" in done.stdout


def test_the_hook_lets_a_commit_without_a_finding_pass(tmp_path: Path) -> None:
    done = _hook(tmp_path, FIXED)
    assert done.returncode == 0, done.stdout + done.stderr
    assert "Passed" in done.stdout


STEPS: list[dict[str, Any]] = yaml.safe_load((ROOT / "action.yml").read_text())["runs"]["steps"]


class ActionRun:
    """A job of GitHub, as far as the action's own commands see it."""

    def __init__(self, folder: Path, runner: Path, text: str, **inputs: str) -> None:
        self.folder = _project(folder / "project", text)
        self.said: dict[str, str] = {}
        """What steps have put out, by name."""
        self._inputs = inputs
        self._output = folder / "output"
        self._output.touch()
        self._runner = runner

    def run(self, step: dict[str, Any]) -> subprocess.CompletedProcess[str]:
        given = {name: self._filled(value) for name, value in step.get("env", {}).items()}
        done = subprocess.run(
            ["bash", "--noprofile", "--norc", "-eo", "pipefail", "-c", self._filled(step["run"])],
            cwd=self.folder,
            env={
                **os.environ, **OFFLINE, **given,
                "RUNNER_TEMP": str(self._runner), "GITHUB_OUTPUT": str(self._output),
                "GITHUB_ACTION_PATH": str(ROOT),
            },
            capture_output=True,
            text=True,
            check=False,
        )  # fmt: skip
        self.said = dict(line.split("=", 1) for line in self._output.read_text().splitlines())
        return done

    def _filled(self, text: str) -> str:
        def value(match: re.Match[str]) -> str:
            *_rest, name = match[1].split(".")
            return {**self._inputs, **self.said}[name]

        return re.sub(r"\$\{\{ *([\w.]+) *\}\}", value, text)


INSTALL, SCAN, UPLOAD, VERDICT = STEPS


@pytest.fixture(scope="module")
def runner(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The folder of GitHub's runner, into which the action has installed d9m."""
    folder = tmp_path_factory.mktemp("installed")
    job = ActionRun(folder, folder / "runner", FIXED, version=str(archives.wheel()))
    installed = job.run(INSTALL)
    assert installed.returncode == 0, installed.stderr
    return folder / "runner"


@pytest.mark.parametrize(
    ("text", "arguments", "code", "uploads"),
    [
        (BY_CLOCK, "", 1, True),
        (FIXED, "", 0, True),
        (FIXED, "--fail-on mising", 2, False),
        ("print 'x'\n", "", 3, True),
        (FIXED, "empty", 4, False),
    ],
    ids=["a finding", "nothing found", "a wrong option", "an unreadable file", "nothing to scan"],
)
def test_the_action_ends_as_the_scan_does(
    tmp_path: Path, runner: Path, text: str, arguments: str, code: int, uploads: bool
) -> None:
    job = ActionRun(tmp_path, runner, text, args=arguments, sarif="true")
    (job.folder / "empty").mkdir()
    (job.folder / "d9m.sarif").write_text("brought along")
    left = runner / "d9m" / "scan.sarif"
    left.write_text("left by another scan")
    assert "run" not in UPLOAD
    done = job.run(SCAN)
    assert done.returncode == 0, done.stderr
    assert job.said == {"code": str(code), **({"sarif": str(left)} if uploads else {})}
    assert left.exists() is uploads
    if uploads:
        assert json.loads(left.read_text())["version"] == "2.1.0"
    assert (job.folder / "d9m.sarif").read_text() == "brought along"
    assert ("::error file=train.py,title=seed-from-chance,line=4," in done.stdout) is (code == 1)
    assert job.run(VERDICT).returncode == code


def test_the_action_uploads_what_its_own_scan_wrote_and_nothing_else(
    tmp_path: Path, runner: Path
) -> None:
    assert UPLOAD["if"] == "steps.scan.outputs.sarif != ''"
    assert UPLOAD["with"]["sarif_file"] == "${{ steps.scan.outputs.sarif }}"
    job = ActionRun(tmp_path, runner, BY_CLOCK, args="", sarif="false")
    assert job.run(SCAN).returncode == 0
    assert job.said == {"code": "1"}


def test_the_hook_gets_only_files_that_a_scan_reads() -> None:
    hook = yaml.safe_load((ROOT / ".pre-commit-hooks.yaml").read_text())[0]
    wanted = re.compile(hook["files"])
    read = [
        "a.py", "a.pyw", "b/c.ipynb", "run.sh", "x.slurm", "conf/a.yaml", "a.yml", ".env", "x.env",
        ".env.local", ".envrc", "Dockerfile", "Dockerfile.gpu", "a/Containerfile-x",
        "my.dockerfile", "Makefile", "GNUmakefile", "a.mk", ".vscode/launch.json",
    ]  # fmt: skip
    for name in read:
        assert wanted.search(name), name
    others = [
        "README.md", "Makefile.am", "docs/Makefile.md", "Dockerfiles.txt", "x.pyc", "a.c", "a.json",
        "makefile_notes.txt", "environment", "b/spy", "LICENSE", "setup.cfg", "a.sh.in",
        "Makefile/a", "dockerfile",
    ]  # fmt: skip
    for name in others:
        assert not wanted.search(name), name
    for name in (*read, *others):
        kind = kind_of(name, "")
        assert bool(wanted.search(name)) <= (kind is not None), name
