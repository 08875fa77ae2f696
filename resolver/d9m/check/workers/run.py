"""Run the arms of one framework on one device: a process per arm and replica, a few at a time."""

from __future__ import annotations

import os
import threading
import time
from collections.abc import Callable, Iterable, Iterator, Sequence
from concurrent.futures import FIRST_COMPLETED, Future, ThreadPoolExecutor, wait
from typing import Any, TypeAlias

import msgspec

from d9m.check.judge.chance import CHANCE, can_prove, silence
from d9m.check.judge.observe import united
from d9m.check.messages import (
    Exercise,
    ProbeDeath,
    ProbeJob,
    ProbeReading,
    Reading,
    Rung,
    WorkerEvent,
    WorkerFault,
    WorkerStart,
)
from d9m.check.plan import catalogue
from d9m.check.plan.arms import Arm
from d9m.check.plan.catalogue import Selected
from d9m.check.plan.effort import Effort
from d9m.check.progress import duration
from d9m.check.workers.launch import Launcher, events

Watch: TypeAlias = Callable[[str], None]
"""Gets what is going on, for a person who waits."""

Rungs: TypeAlias = dict[str, list[Rung]]
"""Key of a probe -> the part of its ladder to climb."""

THREADS = 8
"""At least, on a CPU: with two, an op that always varies with eight can look stable for minutes."""

SIDE_BY_SIDE = 2
"""Processes at once on a CPU. On a GPU they would take each other's memory, and disturb each
other's clocks.
"""

LEAST_MEMORY = 1 << 30
"""Bytes with which a probe can do something."""

MORE = 8
"""How many times as much an undecided probe is tried again."""

IMPORT = 10.0
"""Seconds that a framework's import takes, until one was measured."""


class Plan(msgspec.Struct, frozen=True):
    launcher: Launcher
    framework: str
    device: str
    selected: Sequence[Selected]
    arms: Sequence[Arm]
    effort: Effort
    cores: int
    limit: float
    """Seconds after which a probe is given up."""
    memory: int | None
    """Bytes that are free; half of them are for all workers together. None: unknown."""

    @property
    def workers(self) -> int:
        """Processes at once."""
        crowded = self.memory is not None and self.memory < 2 * SIDE_BY_SIDE * LEAST_MEMORY
        return SIDE_BY_SIDE if self.device == "cpu" and self.cores > 1 and not crowded else 1

    @property
    def share(self) -> int | None:
        """Bytes for one worker; GPUs have separate memory."""
        if self.device != "cpu" or self.memory is None:
            return None
        return max(self.memory // 2 // self.workers, LEAST_MEMORY)


class Readings(msgspec.Struct, frozen=True):
    """Everything that was seen."""

    by_arm: dict[str, dict[str, list[Reading]]]
    """Arm -> key of a probe -> what each process saw."""
    facts: dict[str, Any] = {}
    broken: dict[str, str] = {}
    """Arm -> why no process of it came up."""
    interrupted: bool = False
    seconds: dict[str, float] = {}
    """Spent by all processes together in ``imports`` and in ``probes``, and of that inside ``ops``.
    """

    def of(self, arm: str, key: str) -> list[Reading]:
        return self.by_arm.get(arm, {}).get(key, [])


class _Task(msgspec.Struct, frozen=True):
    """One process, or several where probes take it down."""

    arm: Arm
    replica: int
    effort: Effort
    rungs: Rungs
    seconds: float | None = None
    """That it may take; None: any number."""


class _Run:
    def __init__(self, plan: Plan, watch: Watch) -> None:
        self.plan, self.watch = plan, watch
        self.stopped = threading.Event()
        self.found: dict[tuple[str, int], dict[str, Reading]] = {}
        self.facts: dict[str, Any] = {}
        self.broken: dict[str, str] = {}
        self.came_up: set[str] = set()
        """Arms of which some process was ready."""
        self.lost: set[tuple[str, str]] = set()
        """Arm and probe that took a process down: not tried again in that arm, nor anywhere if in
        the default one.
        """
        self.began = time.monotonic()
        self.done = self.expected = 0
        self.seconds = {"imports": 0.0, "probes": 0.0, "ops": 0.0}

    def perform(self, task: _Task) -> None:
        found = self.found.setdefault((task.arm.name, task.replica), {})
        exercises: list[Exercise] = []
        for selected in self.plan.selected:
            if selected.key in task.rungs and not self._is_lost(task.arm.name, selected.key):
                exercises.append(selected.exercise(task.rungs[selected.key]))
        if not exercises or self.is_hopeless():
            return
        for event in events(self.plan.launcher, self._job(task, exercises), self.stopped):
            self._note(task.arm.name, found, event)
        for exercise in exercises:
            if exercise.key not in found:
                found[exercise.key] = Reading(failed=self.broken.get(task.arm.name, "not run"))

    def is_hopeless(self) -> bool:
        """Whether no process of the default arm came up: nothing else can be compared with it."""
        default = self.plan.arms[0].name
        return default in self.broken and default not in self.came_up

    def _is_lost(self, arm: str, key: str) -> bool:
        return (arm, key) in self.lost or ("default", key) in self.lost

    def _note(self, arm: str, found: dict[str, Reading], event: WorkerEvent) -> None:
        if not isinstance(event, WorkerFault):
            self.came_up.add(arm)
        if isinstance(event, WorkerStart):
            self.facts = event.facts if arm == "default" or not self.facts else self.facts
            self.seconds["imports"] += event.seconds
        elif isinstance(event, ProbeReading):
            found[event.key] = event.reading
            self.seconds["probes"] += event.reading.took
            self.seconds["ops"] += event.reading.in_ops
            self.done += 1
            self.watch(f"{self.done} of {self.expected}{self._left()} · {arm}: {event.key}")
        elif isinstance(event, ProbeDeath):
            found[event.key] = Reading(failed=event.why)
            self.lost.add((arm, event.key))
            self.watch(f"{arm}: {event.key}: {event.why}")
        elif isinstance(event, WorkerFault):
            self.broken[arm] = event.why

    def _left(self) -> str:
        """Return how long the rest takes, once there is something to go by."""
        if self.done * 10 < self.expected:
            return ""
        spent = time.monotonic() - self.began
        return f", {duration(spent / self.done * max(0, self.expected - self.done))} left"

    def _job(self, task: _Task, exercises: list[Exercise]) -> ProbeJob:
        plan, arm, env = self.plan, task.arm, dict(task.arm.env)
        if plan.device == "cpu" and arm.threads == "many" and "OMP_WAIT_POLICY" not in os.environ:
            env["OMP_WAIT_POLICY"] = "passive"  # more threads than cores: who waits must not spin
        return ProbeJob(
            env=env,
            unset=arm.unset,
            limit=plan.limit,
            adapter=catalogue.adapter(plan.framework),
            device=plan.device,
            threads=self._threads(arm),
            memory=plan.share,
            statements=arm.statements,
            repeats=task.effort.repeats,
            budget=min(task.effort.budget, plan.limit / 3),
            seconds=task.seconds,
            proofs=task.replica == 0 and arm.name in ("default", "advised"),
            probes=exercises,
        )

    def _threads(self, arm: Arm) -> int | None:
        """None: as many as the framework chooses."""
        if self.plan.device != "cpu" or arm.threads == "own":
            return None
        return 1 if arm.threads == "one" else max(THREADS, 2 * self.plan.cores)

    def perform_all(self, tasks: Iterable[_Task]) -> None:
        """Every task, side by side where that disturbs nothing. Raises KeyboardInterrupt when asked
        to stop.
        """
        pool = ThreadPoolExecutor(max_workers=self.plan.workers)
        running: set[Future[None]] = {pool.submit(self.perform, task) for task in tasks}
        try:
            while running:
                done, running = wait(running, timeout=0.5, return_when=FIRST_COMPLETED)
                for future in done:
                    future.result()
        finally:
            if running:
                self.stopped.set()
            pool.shutdown(cancel_futures=True)

    def announce(self, tasks: Sequence[_Task]) -> None:
        """Announce how long it takes, before anything has run."""
        probes, effort = len(self.plan.selected), self.plan.effort
        self.expected = len(tasks) * probes
        most = len(tasks) * (IMPORT + probes * (effort.budget + 1.0)) / self.plan.workers
        how_long = f"at most {duration(most)}"
        if effort.total is not None and effort.total < most:
            how_long = f"about {duration(effort.total)}"
        what = f"{probes} probe{'s' * (probes != 1)} in {len(tasks)} processes"
        self.watch(f"{self.plan.framework}: {what}, {how_long}")

    def chosen(self, first: _Task) -> Rungs:
        """The rungs at which the first process saw a difference, or the last ones; its readings say
        so.
        """
        found = self.found.get((first.arm.name, first.replica), {})
        rungs = {key: ladder[:1] for key, ladder in first.rungs.items()}
        for key, reading in found.items():
            if len(first.rungs[key]) > 1:
                found[key] = msgspec.structs.replace(reading, chosen=True)
            if reading.rung:
                rungs[key] = [reading.rung]
        return rungs

    def undecided(self) -> set[str]:
        """Probes that differ by default and not with the advice, but too rarely to say that the
        advice did it.
        """
        if not can_prove(2 * self.plan.effort.processes):
            return set()
        seen = self.readings()
        keys = (selected.key for selected in self.plan.selected)
        return {key for key in keys if _is_undecided(seen, key)}

    def readings(self, interrupted: bool = False) -> Readings:
        by_arm: dict[str, dict[str, list[Reading]]] = {}
        for (arm, _replica), found in sorted(self.found.items()):
            for key, reading in found.items():
                by_arm.setdefault(arm, {}).setdefault(key, []).append(reading)
        broken = {arm: why for arm, why in self.broken.items() if arm not in self.came_up}
        return Readings(by_arm, self.facts, broken, interrupted, self.seconds)


def _is_undecided(seen: Readings, key: str) -> bool:
    usual = [*seen.of("default", key), *seen.of("default-again", key)]
    default, advised = united(usual), united(seen.of("advised", key))
    if not default.varies or not advised.quiet or default.failed or advised.failed:
        return False
    return silence(usual, seen.of("advised", key)) > CHANCE


def run(plan: Plan, watch: Watch) -> Readings:
    """Everything that could be seen; a failure of one probe or arm is reported, never raised."""
    one = _Run(plan, watch)
    try:
        _perform(one)
    except KeyboardInterrupt:
        return one.readings(interrupted=True)
    return one.readings()


def _perform(one: _Run) -> None:
    plan, effort = one.plan, one.plan.effort
    own = [arm for arm in plan.arms if arm.same_as is None]
    rungs: Rungs = {selected.key: selected.probe.ladder[:1] for selected in plan.selected}
    places = list(_places(own, effort))
    share = None if effort.total is None else effort.total * plan.workers / len(places)
    one.announce([_Task(arm, replica, effort, rungs) for arm, replica in places])
    if effort.climb:
        whole = {selected.key: selected.probe.ladder for selected in plan.selected}
        first = _Task(*places.pop(0), effort, whole, share)
        one.perform_all([first])
        rungs = one.chosen(first)
    if one.is_hopeless():
        return
    one.perform_all(_Task(arm, replica, effort, rungs, share) for arm, replica in places)
    undecided = one.undecided()
    more = msgspec.structs.replace(
        effort, repeats=MORE * effort.repeats, budget=MORE * effort.budget
    )
    again = {key: rung for key, rung in rungs.items() if key in undecided}
    own = [arm for arm in own if arm.name in ("default", "advised")]
    replicas = range(effort.processes, 2 * effort.processes)
    tasks = [_Task(arm, replica, more, again) for replica in replicas for arm in own]
    if undecided:
        one.watch(
            f"{plan.framework}: {len(undecided)} differ too rarely to judge: {MORE} times the calls"
        )
        one.expected += len(tasks) * len(undecided)
        one.perform_all(tasks)


def _places(own: Sequence[Arm], effort: Effort) -> Iterator[tuple[Arm, int]]:
    """Every process, as an arm and which of its replicas it is."""
    for replica in range(effort.processes):
        for arm in own:
            if replica < _often(effort, arm):
                yield arm, replica


def _often(effort: Effort, arm: Arm) -> int:
    return effort.processes if arm.name in ("default", "as-is", "advised") else effort.again
