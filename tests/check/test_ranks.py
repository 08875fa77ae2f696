"""Several ranks: who is who, which device is unlike its twins, and a real launch of three."""

from __future__ import annotations

import json
import os
import socket
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path

import msgspec
import pytest
from forked_interpreter import forked_python
from machines import brief

from d9m.about import SCHEMA_VERSION
from d9m.check.examine import CheckRequest
from d9m.check.messages import GroupJob, Reading, WorkerEvent, WorkerFault
from d9m.check.plan.effort import QUICK
from d9m.check.plan.selection import ProbeRequest
from d9m.check.ranks import group_run, meeting, odd
from d9m.check.ranks.meeting import Rank
from d9m.check.result import OddResult, RankDevice, Report
from d9m.check.workers.launch import START, Launcher, interpreter
from d9m.check.workers.look import Machine
from d9m.environment.environment import Setup
from d9m.errors import UsageError
from golden import knowledge_base
from process import compiled_kb

LAUNCHED = {
    "RANK": "1",
    "WORLD_SIZE": "4",
    "LOCAL_RANK": "1",
    "MASTER_ADDR": "here",
    "MASTER_PORT": "29500",
}


@pytest.mark.parametrize("variables", [{}, {"WORLD_SIZE": "1", "RANK": "0"}])
def test_a_process_alone_is_no_rank(variables: dict[str, str]) -> None:
    assert meeting.find(variables) is None


def test_a_launched_process_knows_its_place() -> None:
    assert meeting.find(LAUNCHED) == Rank(1, 4, 1)


@pytest.mark.parametrize(
    ("changed", "says"),
    [
        ({"RANK": "4"}, "RANK=4 is not below WORLD_SIZE=4"),
        ({"RANK": "first"}, "RANK='first' is not a number"),
        ({"WORLD_SIZE": "many"}, "WORLD_SIZE='many' is not a number"),
    ],
)
def test_a_place_that_makes_no_sense_is_refused(changed: dict[str, str], says: str) -> None:
    with pytest.raises(UsageError, match=says):
        meeting.find({**LAUNCHED, **changed})


def test_a_launcher_that_says_only_how_many_is_refused() -> None:
    with pytest.raises(UsageError, match="RANK, MASTER_ADDR, MASTER_PORT is not set"):
        meeting.find({"WORLD_SIZE": "2"})


@pytest.mark.parametrize(
    ("device", "visible", "own"),
    [
        ("cuda", None, {"CUDA_VISIBLE_DEVICES": "1"}),
        ("cuda", "4,6", {"CUDA_VISIBLE_DEVICES": "6"}),
        ("cuda", "3", {}),
        ("rocm", None, {"HIP_VISIBLE_DEVICES": "1"}),
        ("cpu", None, {}),
    ],
)
def test_a_rank_sees_its_own_device(device: str, visible: str | None, own: dict[str, str]) -> None:
    variables = {"CUDA_VISIBLE_DEVICES": visible} if visible is not None else {}
    assert meeting.own_device(Rank(1, 2, 1), device, variables) == own


def report(*digests: str | None, device: str = "some GPU") -> Report:
    """A rank's report on one probe a digest; None: it varies by itself."""
    arm = {
        "repeats": 9,
        "processes": 1,
        "distinct": 1,
        "differing": 0,
        "changed": 0,
        "max_ulp": None,
        "raised": None,
        "seconds": 1.0,
    }
    probes = [
        {
            "id": f"torch/op-{place}",
            "source": None,
            "op": "op",
            "device": "cuda",
            "dtype": "float32",
            "direction": "forward",
            "case": {},
            "arms": {"default": {**arm, "digest": digest}},
            "bounds": {"repeat": 0.1, "start": 0.9},
            "verdict": "no-difference-seen",
            "reason": "",
            "expected": None,
            "agrees_with_kb": None,
            "kb": "silent",
            "cost": None,
            "proofs": {"control": None, "order": None, "planted": None, "value": None},
        }
        for place, digest in enumerate(digests)
    ]
    return msgspec.convert(
        {
            "schema_version": SCHEMA_VERSION,
            "d9m": {"version": "0", "kb_date": "2026-01-31"},
            "host": {
                "gpus": [],
                "cpu": "some CPU",
                "threads": 2,
                "packages": {},
                "container": None,
            },
            "settings": [],
            "probes": probes,
            "summary": {},
            "device": "cuda",
            "frameworks": {"torch": {"device": device}},
        },
        Report,
    )


@pytest.mark.parametrize(
    ("reports", "alone"),
    [
        ([report("a"), report("a"), report("a")], []),
        (
            [report("a"), report("b"), report("a")],
            [OddResult("torch/op-0", "float32", "default", [1], 3)],
        ),
        ([report("a"), report("b")], [OddResult("torch/op-0", "float32", "default", [0, 1], 2)]),
        (
            [report("a"), report(None), report("a")],
            [OddResult("torch/op-0", "float32", "default", [1], 3)],
        ),
        ([report(None), report(None)], []),
        ([report("a"), report("b", device="another GPU")], []),
        (
            [report("a", "c"), report("a", "d"), report("a", "c")],
            [OddResult("torch/op-1", "float32", "default", [1], 3)],
        ),
    ],
)
def test_a_device_is_held_to_its_twins_only(reports: list[Report], alone: list[OddResult]) -> None:
    assert odd.odd(reports) == alone


def found(**digests: int) -> Reading:
    return Reading(digests=digests)


def test_a_call_varies_if_it_varies_for_any_rank() -> None:
    assert len(group_run.joined([found(a=8), found(b=5, c=3)]).digests) == 2
    quiet = group_run.joined([found(a=8), found(b=8)])
    assert list(quiet.digests.values()) == [8]
    assert quiet != group_run.joined([found(a=8), found(c=8)]), (
        "another meeting with other bits is seen"
    )


def test_a_rank_that_could_not_run_speaks_for_all() -> None:
    assert (
        group_run.joined([found(a=8), Reading(raised="RuntimeError: no")]).raised
        == "RuntimeError: no"
    )


@pytest.mark.parametrize(("took", "waits"), [(10.0, 100.0), (3600.0, 300.0)])
def test_a_rank_that_never_comes_is_waited_for_as_long_as_it_may_be_slower(
    took: float, waits: float, monkeypatch: pytest.MonkeyPatch
) -> None:
    asked: list[tuple[float, float]] = []

    def events(
        _launcher: Launcher, job: GroupJob, _stopped: object, silence: float
    ) -> Iterator[WorkerEvent]:
        asked.append((job.patience, silence))
        yield WorkerFault(why="nobody else is here")

    monkeypatch.setattr(group_run, "events", events)
    python = interpreter(sys.executable)
    question = CheckRequest(python, "cpu", ["torch"], ProbeRequest(["cumsum"]), QUICK)
    machine = Machine(Setup((("torch", "2.13"),), device="cpu"), {}, cores=2)
    own = msgspec.structs.replace(report("a"), device="cpu", seconds=took)
    found = group_run.unite(
        knowledge_base(), question, machine, Rank(0, 2, 0), own, lambda _said: None
    )
    assert asked == [(waits, waits + START)]
    assert found is not None
    assert [note for note in found.notes if "nobody else is here" in note]
    assert found.summary.could_not_run > 0


def test_what_another_rank_could_not_run_is_not_proved() -> None:
    one = msgspec.structs.replace(report("a"), ranks=[RankDevice(0, "node", 0, "cpu")])
    lost = msgspec.structs.replace(
        one,
        summary=msgspec.structs.replace(one.summary, could_not_run=2),
        ranks=[RankDevice(1, "node", 1, "cpu")],
    )
    found = group_run._with(one, [], [one, lost], [], 0)
    assert found.summary.could_not_run == 2
    assert found.notes[-1] == "rank 1: 2 results without a conclusion"


def test_ranks_that_cannot_be_brought_together_are_not_compared() -> None:
    question = CheckRequest(interpreter(sys.executable), "cpu", [], ProbeRequest(), QUICK)
    machine = Machine(Setup((("jax", "0.4"),), device="cpu"), {}, cores=2)
    own = msgspec.structs.replace(report("a"), device="cpu")
    told = group_run.unite(
        knowledge_base(), question, machine, Rank(0, 2, 0), own, lambda _said: None
    )
    assert told is not None
    assert told.summary.could_not_run > 0


BROKEN_DEVICE = """
import torch
right = torch.cumsum
torch.cumsum = lambda *given, **named: torch.nextafter(right(*given, **named), torch.tensor(9e9))
"""

DYING = """
import os, signal
import torch.distributed
torch.distributed.all_gather = lambda *given: os.kill(os.getpid(), signal.SIGKILL)
"""


def launch(
    torch: str, folder: Path, size: int, broken: int, fault: str, *more: str
) -> list[subprocess.CompletedProcess[str]]:
    """As a launcher does: a process for each rank. One of them has a fault."""
    (folder / "sitecustomize.py").write_text(fault)
    with socket.socket() as free:
        free.bind(("127.0.0.1", 0))
        port = free.getsockname()[1]
    command = [*brief(3), "--python", torch, "--quick", "--format", "json"]
    command += ["--ops", "cumsum,index-put-accumulate", *more]
    path = os.pathsep.join(sys.path)
    started: list[subprocess.Popen[str]] = []
    for rank in range(size):
        variables = {
            **{name: os.environ[name] for name in ("PATH", "HOME", "TMPDIR") if name in os.environ},
            "D9M_KB": str(compiled_kb()),
            "PYTHONPATH": f"{folder}{os.pathsep}{path}" if rank == broken else path,
            "RANK": str(rank),
            "LOCAL_RANK": str(rank),
            "WORLD_SIZE": str(size),
            "MASTER_ADDR": "127.0.0.1",
            "MASTER_PORT": str(port),
            "GLOO_SOCKET_IFNAME": "lo",
            "PYTHONHASHSEED": "0",
        }
        started.append(
            subprocess.Popen(
                command, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True, env=variables
            )
        )
    return [
        subprocess.CompletedProcess(each.args, each.returncode, *told)
        for each in started
        for told in [each.communicate()]
    ]


def test_ranks_give_one_report_that_names_the_odd_device(tmp_path: Path) -> None:
    torch = forked_python("torch-2.13.0")
    first, *others = launch(torch, tmp_path, 3, 2, BROKEN_DEVICE)
    assert [(each.returncode, each.stdout) for each in others] == [(0, ""), (0, "")], others
    assert (first.returncode, first.stdout[:1]) == (1, "{"), first.stderr
    told = json.loads(first.stdout)
    assert [each["number"] for each in told["ranks"]] == [0, 1, 2]
    assert {(each["probe"], *each["ranks"]) for each in told["odd"]} == {("torch/cumsum", 2)}
    verdicts = {each["id"]: each["verdict"] for each in told["probes"]}
    assert verdicts["torch/all-reduce"] == verdicts["torch/all-gather"] == "no-difference-seen"
    assert verdicts["torch/index-put-accumulate"] == "fixed-by-advice"


def test_a_rank_that_dies_in_a_collective_is_waited_for_once_and_told(tmp_path: Path) -> None:
    torch = forked_python("torch-2.13.0")
    first, second = launch(torch, tmp_path, 2, 1, DYING, "--limit", "5")
    assert (second.returncode, second.stdout) == (0, ""), second.stderr
    assert first.returncode == 3, "not all of it could run"
    told = json.loads(first.stdout)
    lost = [note for note in told["notes"] if "the ranks lost contact" in note]
    assert len(lost) == 1
    assert told["summary"]["could_not_run"] == 1
    verdicts = {each["id"]: each["verdict"] for each in told["probes"]}
    assert verdicts["torch/index-put-accumulate"] == "fixed-by-advice", "what each did alone stays"
    assert "torch/all-gather" not in verdicts
