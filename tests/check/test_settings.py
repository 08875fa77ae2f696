"""The settings of a process against the advice, without running anything."""

from __future__ import annotations

import json
import os
import subprocess
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import pytest
from machines import d9m, python_with

from d9m.api import advise
from d9m.check import settings
from d9m.check.workers import process
from d9m.environment.environment import Environment, Setup, describe
from d9m.errors import AbsentError
from d9m.kb.store import KnowledgeBase
from d9m.model.advice import Advice
from golden import knowledge_base


@pytest.fixture(scope="module")
def torch() -> str:
    return python_with("torch-2.13.0")


def told(run: subprocess.CompletedProcess[str]) -> dict[str, dict[str, Any]]:
    return {each["name"]: each for each in json.loads(run.stdout)["settings"]}


@contextmanager
def running(torch: str, **variables: str) -> Iterator[int]:
    """A training that takes its time."""
    program = (
        "import os, time; os.environ['CUBLAS_WORKSPACE_CONFIG'] = ':4096:8'; print(1, "
        "flush=True); time.sleep(99)"
    )
    environment = {"PATH": os.environ["PATH"], **variables}
    with subprocess.Popen([torch, "-c", program], env=environment, stdout=subprocess.PIPE) as child:
        assert child.stdout is not None
        child.stdout.readline()
        try:
            yield child.pid
        finally:
            child.kill()


def test_settings_that_hold_are_no_finding_and_nothing_is_run(torch: str) -> None:
    run = d9m("--settings", "--python", torch, "--format", "json", env={"PYTHONHASHSEED": "0"})
    assert run.returncode == 0, run.stdout + run.stderr
    assert told(run)["PYTHONHASHSEED"]["status"] == "ok"
    assert json.loads(run.stdout)["probes"] == []


def test_a_setting_that_is_missing_is_a_finding(torch: str) -> None:
    run = d9m("--settings", "--python", torch, "--format", "json")
    assert run.returncode == 1
    assert told(run)["PYTHONHASHSEED"]["status"] == "missing"


def test_what_a_running_process_can_only_have_got_at_its_start_is_too_late(torch: str) -> None:
    with running(torch, PYTHONHASHSEED="random") as pid:
        run = d9m(
            "--pid", str(pid), "--device", "cuda", "--format", "json", env={"PYTHONHASHSEED": "0"}
        )
    assert run.returncode == 1, run.stderr
    late = told(run)["PYTHONHASHSEED"]
    assert (late["status"], late["found"]) == ("too-late", "random"), (
        "the process counts, not the shell of d9m"
    )
    assert late["next"] == "restart it with: export PYTHONHASHSEED=0"


def test_what_a_running_process_may_have_set_itself_is_unseen(torch: str) -> None:
    with running(torch, PYTHONHASHSEED="0") as pid:
        run = d9m("--pid", str(pid), "--device", "cuda", "--ops", "nn.LSTM", "--format", "json")
    assert run.returncode == 0, run.stdout
    assert (
        told(run)["CUBLAS_WORKSPACE_CONFIG"]["status"] == "unseen"
        if "CUBLAS_WORKSPACE_CONFIG" in told(run)
        else True
    )
    assert told(run)["PYTHONHASHSEED"]["status"] == "ok"


def test_the_packages_are_those_of_the_process(torch: str) -> None:
    with running(torch) as pid:
        run = d9m("--pid", str(pid), "--format", "json")
    assert json.loads(run.stdout)["host"]["packages"]["torch"].startswith("2.13.0")


def test_no_such_process_is_told() -> None:
    run = d9m("--pid", "4194303")
    assert (run.returncode, run.stdout) == (4, "")
    assert "there is no process 4194303" in run.stderr


def test_a_process_that_is_no_python_is_told() -> None:
    with subprocess.Popen(["sleep", "60"]) as child:
        run = d9m("--pid", str(child.pid))
        child.kill()
    assert (run.returncode, run.stdout) == (4, "")
    assert "does not look like a Python" in run.stderr


def test_a_process_elsewhere_cannot_be_asked_for_too() -> None:
    run = d9m("--pid", "1", "--runner", "docker run --rm -i image python")
    assert (run.returncode, run.stdout) == (2, "")
    assert "--runner and --pid exclude each other" in run.stderr


def entry(root: Path, command: str) -> None:
    folder = root / "7"
    folder.mkdir(exist_ok=True)
    (folder / "environ").write_bytes(b"A=1\0PATH=" + bytes(root / "bin") + b"\0B=x=y\0")
    (folder / "cmdline").write_bytes(command.encode() + b"\0-c\0pass\0")
    if not (folder / "cwd").is_symlink():
        (folder / "cwd").symlink_to(root)


def test_the_interpreter_is_found_by_the_name_it_was_called(tmp_path: Path) -> None:
    (tmp_path / "bin").mkdir()
    python = tmp_path / "bin" / "python3"
    python.write_text("")
    python.chmod(0o755)
    for command, expected in [
        ("python3", str(python)),
        ("bin/python3", str(python)),
        ("bash", None),
    ]:
        entry(tmp_path, command)
        found = process.find(7, tmp_path)
        assert (found.python, found.variables["B"]) == (expected, "x=y")


def test_a_system_that_does_not_tell_is_named(tmp_path: Path) -> None:
    with pytest.raises(AbsentError, match="does not have"):
        process.find(7, tmp_path / "proc")


def advice_of(*, jax: str) -> tuple[KnowledgeBase, Environment, Advice, dict[str, str]]:
    variables = {"XLA_FLAGS": "--xla_gpu_deterministic_ops=true"}
    kb, asked = knowledge_base(), Setup((("jax", jax),), device="cuda")
    return kb, describe(kb, asked), advise(kb, asked, ["scatter_add"]), variables


def test_a_setting_that_is_forbidden_here_is_a_finding() -> None:
    """jaxlib 0.5.3 gives wrong scatters with this flag (jax#27796)."""
    lines = {each.name: each for each in settings.compare(*advice_of(jax="0.5.3"))}
    assert lines["XLA_FLAGS"].status in ("forbidden", "wrong"), lines


@pytest.mark.parametrize(
    ("seed", "status"), [("-1", "wrong"), ("4294967296", "wrong"), ("+5", "ok")]
)
def test_a_hash_seed_that_python_refuses_is_wrong(seed: str, status: str) -> None:
    kb, setup, variables = knowledge_base(), Setup((("torch", "2.4"),)), {"PYTHONHASHSEED": seed}
    advice = advise(kb, setup, ["mm"])
    lines = settings.compare(kb, describe(kb, setup), advice, variables)
    assert {line.name: line.status for line in lines}["PYTHONHASHSEED"] == status
