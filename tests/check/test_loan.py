"""The command for a lent GPU: its steps, what it keeps when cut short, and where it goes on."""

from __future__ import annotations

import json
import os
import subprocess
import sys
from pathlib import Path

import msgspec
import pytest
from forked_interpreter import forked_python
from machines import children, until

from d9m.check.plan import catalogue
from d9m.check.result import Report
from d9m.environment.environment import Setup, describe
from d9m.model.runs import DigestFile, Run
from golden import knowledge_base
from process import compiled_kb

GPU = Path(__file__).parents[1] / "gpu"
sys.path.append(str(GPU))

from loan_results import agreed, resumed, united, unstable  # noqa: E402
from loan_steps import CHUNK, MUST_VARY, steps  # noqa: E402
from single_settings import SINGLE, single  # noqa: E402

TWO = ("torch/put-accumulate", "torch/mean")
"""Probes on which no single setting is measured: their steps are soon done."""


@pytest.fixture(scope="module")
def left(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """What a loan leaves that was long enough, after one that was killed within its second step."""
    folder = tmp_path_factory.mktemp("loan")
    first = folder / "steps" / "torch-probes-1.json"
    with subprocess.Popen(
        command(folder, "-c", BRIEF), env=variables(), stderr=subprocess.DEVNULL
    ) as loan:
        until(lambda: first.exists() and children(loan.pid))
        loan.kill()
    done = first.stat().st_mtime_ns
    ended = lend(folder, "-c", BRIEF)
    assert ended.returncode == 0, ended.stderr
    assert first.stat().st_mtime_ns == done, "what was done is not done twice"
    return folder


LOAN = f"""
import importlib.util, sys
spec = importlib.util.spec_from_file_location("loan", {str(GPU / "__main__.py")!r})
sys.path.insert(0, {str(GPU)!r})
loan = importlib.util.module_from_spec(spec)
spec.loader.exec_module(loan)
import loan_steps
"""
"""The command, to be changed before it begins."""

BRIEF = f"""{LOAN}
loan_steps.SHORT = loan_steps.Effort(24, processes=1, budget=0.2, climb=False)
loan_steps.LADDERS = loan_steps.Effort(8, processes=1, budget=0.2)
sys.exit(loan.main())
"""
"""The command, but its steps try less."""

CUT_SHORT = f"""{LOAN}
loan_steps.SHORT = loan_steps.Effort(10**9, processes=2, again=1, budget=3600.0)
loan.Loan.left = float(sys.argv.pop(1))
loan.LEAST = 2.0
sys.exit(loan.main())
"""
"""The command, but a step would take an hour and gets the seconds that are given first."""


def command(folder: Path, *program: str) -> list[str]:
    found = [sys.executable, *program, "--minutes", "120", "--out", str(folder)]
    found += ["--device", "cpu", "--python", forked_python("torch-2.13.0")]
    return found + [word for id_ in TWO for word in ("--ops", id_)]


def variables() -> dict[str, str]:
    own = {"PYTHONPATH": os.pathsep.join(sys.path), "D9M_KB": str(compiled_kb())}
    return {**os.environ, **own}


def lend(folder: Path, *program: str) -> subprocess.CompletedProcess[str]:
    return subprocess.run(
        command(folder, *program), env=variables(), capture_output=True, text=True
    )


def test_a_loan_leaves_a_run_and_digests(left: Path) -> None:
    run = msgspec.json.decode((left / "runs" / "torch-2.13.0-cpu.json").read_bytes(), type=Run)
    assert {seen.probe for seen in run.observations} == set(TWO)
    assert all("advised" in seen.arms for seen in run.observations)
    file = left / "digests" / "torch-2.13.0-cpu.json"
    digests = msgspec.json.decode(file.read_bytes(), type=DigestFile)
    assert {result.probe for result in digests.results} == set(TWO)


@pytest.mark.nightly
def test_a_loan_that_ends_within_a_step_keeps_what_was_seen_of_it(tmp_path: Path) -> None:
    lend(tmp_path, "-c", CUT_SHORT, "10")
    assert [file.name for file in (tmp_path / "steps").iterdir()] == ["torch-probes-1.json"]
    kept = tmp_path / "runs" / "torch-2.13.0-cpu.json"
    run = msgspec.json.decode(kept.read_bytes(), type=Run)
    step = msgspec.json.decode(
        (tmp_path / "steps" / "torch-probes-1.json").read_bytes(), type=Report
    )
    assert run.interrupted
    assert step.interrupted
    assert {seen.probe for seen in run.observations} == {probe.id for probe in step.probes}
    written = kept.read_bytes()
    lend(tmp_path, "-c", CUT_SHORT, "0")
    assert kept.read_bytes() == written, "a loan without time loses nothing"


def test_a_second_loan_runs_no_finished_step_again(left: Path) -> None:
    done = {file: file.stat().st_mtime_ns for file in (left / "steps").iterdir()}
    assert {file.stem for file in done} == {
        "torch-probes-1",
        "torch-collectives",
        "torch-ladders-1",
    }
    again = lend(left, str(GPU))
    assert again.returncode == 0, again.stderr
    assert {file: file.stat().st_mtime_ns for file in (left / "steps").iterdir()} == done
    assert "torch-2.13.0-cpu.json" in again.stdout


def test_the_ranks_on_one_device_say_what_they_gave(left: Path) -> None:
    alone, together = json.loads((left / "steps" / "torch-collectives.json").read_bytes())
    assert [rank["rank"] for rank in (*alone, *together)] == [0, 0, 1]
    assert alone[0]["all_reduce"]["distinct"] == 1
    assert together[0]["all_reduce"]["digest"] == together[1]["all_reduce"]["digest"]


@pytest.mark.parametrize("device", ["cuda", "cpu"])
def test_every_probe_is_run_and_the_telling_ones_come_first(device: str) -> None:
    found = steps(["torch", "jax"], device)
    for framework in ("torch", "jax"):
        ids = {probe.id for probe in catalogue.probes(framework) if device in probe.devices}
        own = [step for step in found if step.framework == framework and step.probes]
        for kind in ("probes", "ladders"):
            run = [id_ for step in own if f"-{kind}-" in step.name for id_ in step.probes]
            assert sorted(run) == sorted(ids)
        assert max(len(step.probes) for step in own) <= CHUNK
    assert {f"torch/{name}" for name in MUST_VARY} <= set(found[0].probes)
    assert len({step.name for step in found}) == len(found)
    assert any(step.prices for step in found[:3])


@pytest.mark.parametrize(("framework", "release"), [("torch", "2.11.0"), ("jax", "0.11.2")])
def test_every_setting_is_an_arm_on_the_machine_that_is_lent(framework: str, release: str) -> None:
    kb = knowledge_base()
    environment = describe(kb, Setup(((framework, release),), device="cuda"))
    found = single(kb, environment, framework)
    assert len({arm.name for arm in found}) == len(found) == len(SINGLE[framework])
    for arm, made in zip(found, SINGLE[framework]):
        texts = [*arm.env.values(), *(statement for _imports, statement, _early in arm.statements)]
        assert len(texts) == len(made)
        assert all(value in text for (_name, value), text in zip(sorted(made), sorted(texts)))


def test_results_that_two_steps_disagree_on_are_no_reference(left: Path) -> None:
    content = (left / "steps" / "torch-probes-1.json").read_bytes()
    first = msgspec.json.decode(content, type=Report)
    other = msgspec.json.decode(content, type=Report)
    probe = other.probes[0]
    arm = msgspec.structs.replace(probe.arms["advised"], digest="0" * 24)
    planted = msgspec.structs.replace(probe, arms={**probe.arms, "advised": arm})
    other = msgspec.structs.replace(other, probes=[planted, *other.probes[1:]])
    assert unstable([first, first]) == []
    assert unstable([first, other]) == [f"{probe.id} {probe.dtype}"]
    assert probe.id not in {result.probe for result in agreed([first, other]).results}
    assert len(agreed([first, first]).results) == len(TWO)


def test_a_verdict_is_kept_when_a_later_step_was_interrupted(left: Path) -> None:
    content = (left / "steps" / "torch-probes-1.json").read_bytes()
    whole = msgspec.json.decode(content, type=Report)
    blind = [msgspec.structs.replace(probe, verdict="inconclusive") for probe in whole.probes]
    later = msgspec.structs.replace(whole, probes=blind, interrupted=True)
    union = united([whole, later])
    assert [probe.verdict for probe in union.probes] == [probe.verdict for probe in whole.probes]
    assert union.interrupted


def test_a_step_that_is_cut_short_twice_is_what_both_saw(left: Path) -> None:
    content = (left / "steps" / "torch-probes-1.json").read_bytes()
    whole = msgspec.json.decode(content, type=Report)
    first, second = (
        msgspec.structs.replace(whole, probes=[probe], interrupted=True) for probe in whole.probes
    )
    both = resumed(first, second)
    assert both.interrupted
    assert [probe.id for probe in both.probes] == [probe.id for probe in whole.probes]
    assert resumed(first, whole) == resumed(None, whole) == whole
