"""Which processes a plan starts, and what each of them is asked for. None of them runs."""

from __future__ import annotations

import sys
import threading
from collections.abc import Callable, Iterator

import msgspec
import pytest
from machines import pick

from d9m.check import result as report
from d9m.check.messages import (
    ProbeJob,
    ProbeReading,
    Reading,
    WorkerEnd,
    WorkerEvent,
    WorkerFault,
)
from d9m.check.plan import catalogue
from d9m.check.plan.arms import Arm
from d9m.check.plan.effort import FULL, NORMAL, QUICK, Effort
from d9m.check.workers import launch, run

ARMS = [Arm("default"), Arm("advised"), Arm("default-again")]

Answer = Callable[[ProbeJob], Iterator[WorkerEvent]]


def plan(effort: Effort, device: str = "cpu", full: bool = False) -> run.Plan:
    chosen = pick(catalogue.probes("torch"), device, ["torch/index-put-accumulate"], full=full)
    return run.Plan(
        launch.interpreter(sys.executable),
        "torch",
        device,
        chosen,
        ARMS,
        effort,
        cores=2,
        limit=60.0,
        memory=64 << 30,
    )


def jobs(monkeypatch: pytest.MonkeyPatch, asked: run.Plan, answer: Answer) -> list[ProbeJob]:
    """What the processes of a plan are asked for, in order."""
    found: list[ProbeJob] = []

    def events(
        _launcher: launch.Launcher, job: ProbeJob, _stopped: threading.Event
    ) -> Iterator[WorkerEvent]:
        found.append(job)
        yield from answer(job)

    monkeypatch.setattr(run, "events", events)
    run.run(asked, lambda _text: None)
    return found


def announced(monkeypatch: pytest.MonkeyPatch, asked: run.Plan) -> str:
    """The first line that a person sees."""
    monkeypatch.setattr(run, "events", lambda _launcher, job, _stopped: quiet(job))
    said: list[str] = []
    run.run(asked, said.append)
    return said[0]


def quiet(job: ProbeJob) -> Iterator[WorkerEvent]:
    """Every call of every probe gives the same."""
    for exercise in job.probes:
        reading = Reading(digests={"same": job.repeats}, rung=exercise.rungs[-1])
        yield ProbeReading(key=exercise.key, reading=reading)
    yield WorkerEnd()


@pytest.mark.parametrize(("device", "most"), [("cuda", 1), ("cpu", 2)])
def test_processes_share_a_cpu_and_never_a_gpu(
    device: str, most: int, monkeypatch: pytest.MonkeyPatch
) -> None:
    beside: list[int] = []
    running = threading.Semaphore(9)

    def wait(_job: ProbeJob) -> Iterator[WorkerEvent]:
        with running:
            threading.Event().wait(0.05)
            beside.append(9 - running._value)
            yield WorkerEnd()

    found = jobs(monkeypatch, plan(QUICK, device), wait)
    assert len(found) == 3 + 3 + 1
    assert max(beside) == most
    assert {(job.threads is None, job.memory is None) for job in found} == {(device == "cuda",) * 2}


def test_a_full_check_climbs_once_and_starts_eight_processes_of_an_arm(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    asked = plan(FULL, full=True)
    ladder = asked.selected[0].probe.ladder
    assert len(ladder) == 2
    first, *others = jobs(monkeypatch, asked, quiet)
    assert len([first, *others]) == 8 + 8 + 3
    assert [exercise.dtype for exercise in first.probes] == [
        "float32",
        "float64",
        "float16",
        "bfloat16",
    ]
    assert all(exercise.rungs == ladder for exercise in first.probes)
    assert all(exercise.rungs == [ladder[-1]] for job in others for exercise in job.probes)
    assert {(job.repeats, job.budget) for job in [first, *others]} == {(100, 10.0)}


def test_nothing_more_is_started_once_the_default_arm_cannot_run(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    def broken(_job: ProbeJob) -> Iterator[WorkerEvent]:
        yield WorkerFault(why="torch sees no cuda device")

    found = jobs(monkeypatch, plan(QUICK, "cuda"), broken)
    assert len(found) == 1


def test_a_process_of_the_default_arm_that_fails_later_ends_nothing(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    count = 0

    def second_broken(job: ProbeJob) -> Iterator[WorkerEvent]:
        nonlocal count
        count += 1
        if count == 4:  # the second one of the default arm
            yield WorkerFault(why="it was killed")
        else:
            yield from quiet(job)

    assert len(jobs(monkeypatch, plan(QUICK, "cuda"), second_broken)) == 3 + 3 + 1


def dying(number: int, after: int = 0) -> Answer:
    """Every process answers but one, which ends after so many probes."""
    count = 0

    def answer(job: ProbeJob) -> Iterator[WorkerEvent]:
        nonlocal count
        count += 1
        events = list(quiet(job))
        yield from events[:after] if count == number else events
        if count == number:
            yield WorkerFault(why="it was killed")

    return answer


@pytest.mark.parametrize("number", range(1, 8))
def test_a_process_that_dies_is_not_counted_as_equal(
    monkeypatch: pytest.MonkeyPatch, number: int
) -> None:
    """Whichever of the processes it is: what it should have run is not known."""
    asked = plan(QUICK, "cuda")
    assert verdict(monkeypatch, asked, quiet) == ("no-difference-seen", "")
    name, reason = verdict(monkeypatch, asked, dying(number))
    assert name == "inconclusive"
    assert "it was killed" in reason


def test_a_process_that_dies_once_it_has_told_everything_spoils_nothing(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    told = verdict(monkeypatch, plan(QUICK, "cuda"), dying(3, after=1))
    assert told == ("no-difference-seen", "")


def verdict(monkeypatch: pytest.MonkeyPatch, asked: run.Plan, answer: Answer) -> tuple[str, str]:
    """What is said of the one probe of a plan, and why."""
    monkeypatch.setattr(run, "events", lambda _launcher, job, _stopped: answer(job))
    readings = run.run(asked, lambda _text: None)
    (found,) = report.results(asked.selected, asked.arms, readings, asked.device, {})
    return found.verdict, found.reason


def test_a_quick_check_shares_a_minute_among_its_processes(monkeypatch: pytest.MonkeyPatch) -> None:
    found = jobs(monkeypatch, plan(QUICK), quiet)
    assert QUICK.total is not None
    assert QUICK.total < 60
    assert {job.seconds for job in found} == {QUICK.total * 2 / len(found)}
    assert {job.seconds for job in jobs(monkeypatch, plan(NORMAL), quiet)} == {None}


def test_the_first_line_says_how_long_it_takes(monkeypatch: pytest.MonkeyPatch) -> None:
    every = pick(catalogue.probes("torch"), "cpu", None, quick=True)
    whole = msgspec.structs.replace(plan(QUICK), selected=every)
    assert announced(monkeypatch, whole).endswith(f"7 processes, about {QUICK.total:g} s")
    assert announced(monkeypatch, plan(QUICK)).endswith("1 probe in 7 processes, at most 40 s")
    usual = msgspec.structs.replace(plan(NORMAL), selected=every)
    assert announced(monkeypatch, usual).endswith("7 processes, at most 9 min")
