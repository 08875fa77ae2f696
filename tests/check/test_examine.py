"""From what the processes saw to a report. None of them runs."""

from __future__ import annotations

import sys
from collections.abc import Callable

import pytest

from d9m.check import examine
from d9m.check.examine import CheckRequest
from d9m.check.messages import Reading
from d9m.check.plan.effort import QUICK
from d9m.check.plan.selection import ProbeRequest
from d9m.check.result import Report, exit_code
from d9m.check.trust import VARIES
from d9m.check.workers import launch
from d9m.check.workers.look import Machine
from d9m.check.workers.run import Plan, Readings
from d9m.environment.environment import Setup
from d9m.errors import AbsentError, ExitCode
from golden import knowledge_base

UNSEEN = "RuntimeError: torch 2.13.0 sees no cuda device"


def quiet(plan: Plan) -> Readings:
    """Every probe gives the same in every process, and every proof holds."""
    seen = Reading(digests={"same": 160}, control=1, planted=True, moved=True)
    one = {selected.key: [seen] * 3 for selected in plan.selected}
    by_arm = {arm.name: one for arm in plan.arms if arm.same_as is None}
    return Readings(by_arm, seconds={"imports": 0.0, "probes": 0.0, "ops": 0.0})


def unseen(plan: Plan) -> Readings:
    """The framework does not see the GPU."""
    return quiet(plan) if plan.device == "cpu" else Readings({}, broken={"default": UNSEEN})


def examined(
    monkeypatch: pytest.MonkeyPatch,
    run: Callable[[Plan], Readings],
    *ops: str,
    here: str = "cpu",
    device: str | None = None,
) -> Report:
    monkeypatch.setattr(examine, "run", lambda plan, _watch: run(plan))
    asked = Setup((("torch", "2.13.0"),), device=here)
    machine = Machine(asked, {"PYTHONHASHSEED": "0"}, cores=2)
    launcher = launch.interpreter(sys.executable)
    question = CheckRequest(launcher, device, [], ProbeRequest([*ops], quick=True), QUICK)
    return examine.examine(knowledge_base(), question, machine, lambda _text: None)


def test_a_gpu_that_the_framework_does_not_see_is_replaced_by_the_cpu(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    found = examined(monkeypatch, unseen, "torch/cumsum", here="cuda")
    assert (found.device, found.host.device) == ("cpu", "cuda")
    assert found.notes[0] == (
        f"nothing can be probed here. torch: {UNSEEN}; the CPU was probed instead"
    )
    assert [probe.device for probe in found.probes] == ["cpu"]


def test_a_gpu_that_was_asked_for_is_not_replaced(monkeypatch: pytest.MonkeyPatch) -> None:
    with pytest.raises(AbsentError, match=UNSEEN):
        examined(monkeypatch, unseen, "torch/cumsum", here="cuda", device="cuda")


def test_a_run_that_misses_a_fact_gives_no_verdict(monkeypatch: pytest.MonkeyPatch) -> None:
    found = examined(monkeypatch, quiet, VARIES, "torch/cumsum")
    assert {probe.verdict for probe in found.probes} == {"inconclusive"}
    assert {probe.agrees_with_kb for probe in found.probes} == {None}
    assert found.notes[0].startswith("No verdict is given")
    assert exit_code(found) == ExitCode.ABSENT


def test_without_that_fact_a_quiet_run_has_verdicts(monkeypatch: pytest.MonkeyPatch) -> None:
    found = examined(monkeypatch, quiet, "torch/cumsum")
    assert [probe.verdict for probe in found.probes] == ["no-difference-seen"]
    assert found.notes == []
