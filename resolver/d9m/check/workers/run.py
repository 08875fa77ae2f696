"""Run the arms of one framework on one device: a process per arm and replica, a few at a time."""

from __future__ import annotations

import os
import threading
from collections.abc import Callable, Iterable, Sequence
from concurrent.futures import FIRST_COMPLETED, Future, ThreadPoolExecutor, wait
from typing import Any, TypeAlias

import msgspec

from d9m.check.judge.observe import Found
from d9m.check.plan import catalogue
from d9m.check.plan.arms import Arm
from d9m.check.plan.catalogue import Selected
from d9m.check.workers.launch import Launcher, events

Watch: TypeAlias = Callable[[str], None]
"""Told what is going on, for a person who waits."""

Rungs: TypeAlias = dict[str, list[dict[str, int]]]

THREADS = 8
"""At least, on a CPU: with two, an op that always varies with eight can look stable for minutes."""


class Effort(msgspec.Struct, frozen=True):
    """How much is tried."""

    repeats: int = 32
    processes: int = 3
    again: int = 1
    """Processes of the arms that only guard: default-again, advised-no-fill."""
    budget: float = 1.0
    """Seconds for the repeats of one probe in one process; slow ops get fewer repeats."""
    calls: int = 32
    """Repeats of a collective: every rank has to make the same number, however slow it is."""
    climb: bool = True
    """Whether ladders are climbed, or only their first rung is tried."""


QUICK = Effort(repeats=160, budget=0.5, climb=False)
NORMAL = Effort()
FULL = Effort(repeats=100, processes=8, again=3, budget=10.0, calls=100)


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
    """Bytes a worker may take on a CPU; None: half of what is free."""


class Told(msgspec.Struct, frozen=True):
    """Everything that was seen."""

    found: dict[str, dict[str, list[Found]]]
    """Arm -> key of a probe -> what each process told."""
    facts: dict[str, Any]
    broken: dict[str, str]
    """Arm -> why no process of it came up."""
    interrupted: bool
    seconds: dict[str, float]
    """Spent by all processes together in ``imports`` and in ``probes``, and of that inside ``ops``."""


class _Run:
    def __init__(self, plan: Plan, watch: Watch) -> None:
        self.plan, self.watch = plan, watch
        self.stopped = threading.Event()
        self.found: dict[tuple[str, int], dict[str, Found]] = {}
        self.facts: dict[str, Any] = {}
        self.broken: dict[str, str] = {}
        self.lost: set[tuple[str, str]] = set()
        """Arm and probe that took a process down: not tried again in that arm, nor anywhere if in the default one."""
        self.done = self.expected = 0
        self.seconds = {"imports": 0.0, "probes": 0.0, "ops": 0.0}

    def task(self, arm: Arm, replica: int, rungs: Rungs) -> None:
        """One process, or several where probes take it down."""
        found = self.found.setdefault((arm.name, replica), {})
        kept = [each for each in self.plan.selected if not self.lost & {(arm.name, each.key), ("default", each.key)}]
        if not kept:
            return
        proofs = replica == 0 and arm.name in ("default", "advised")
        job = self._job(arm, proofs, [each.job(rungs[each.key]) for each in kept])
        for event in events(self.plan.launcher, job, self.stopped):
            if event["event"] == "ready":
                self.facts = event["facts"] if arm.name == "default" or not self.facts else self.facts
                self.seconds["imports"] += event["seconds"]
            elif event["event"] == "result":
                found[event["key"]] = event["found"]
                self.seconds["probes"] += event["found"]["took"]
                self.seconds["ops"] += event["found"]["in_ops"]
                self.done += 1
                self.watch(f"{self.done} of {self.expected} · {arm.name}: {event['key']}")
            elif event["event"] == "dead":
                found[event["key"]] = {"failed": event["why"]}
                self.lost.add((arm.name, event["key"]))
                self.watch(f"{arm.name}: {event['key']}: {event['why']}")
            elif event["event"] == "broken":
                self.broken[arm.name] = event["why"]

    def _job(self, arm: Arm, proofs: bool, probes: list[dict[str, Any]]) -> dict[str, Any]:
        plan, env = self.plan, dict(arm.env)
        if plan.device == "cpu" and arm.threads == "many" and "OMP_WAIT_POLICY" not in os.environ:
            env["OMP_WAIT_POLICY"] = "passive"  # more threads than cores: who waits must not spin
        return {
            "kind": "probe",
            "adapter": catalogue.adapter(plan.framework),
            "device": plan.device,
            "threads": self._threads(arm),
            "memory": (plan.memory or _spare_memory()) if plan.device == "cpu" else None,
            "env": env,
            "unset": arm.unset,
            "statements": arm.statements,
            "repeats": plan.effort.repeats,
            "budget": plan.effort.budget,
            "limit": plan.limit,
            "proofs": proofs,
            "probes": probes,
        }

    def _threads(self, arm: Arm) -> int | None:
        """None: as many as the framework takes by itself."""
        if self.plan.device != "cpu" or arm.threads == "own":
            return None
        return 1 if arm.threads == "one" else max(THREADS, 2 * self.plan.cores)

    def all(self, tasks: Iterable[tuple[Arm, int]], rungs: Rungs) -> None:
        """Every task, side by side where that disturbs nothing. Raises KeyboardInterrupt when asked to stop."""
        pool = ThreadPoolExecutor(max_workers=2 if self.plan.device == "cpu" and self.plan.cores > 1 else 1)
        running: set[Future[None]] = {pool.submit(self.task, arm, replica, rungs) for arm, replica in tasks}
        try:
            while running:
                done, running = wait(running, timeout=0.5, return_when=FIRST_COMPLETED)
                for each in done:
                    each.result()
        finally:
            if running:
                self.stopped.set()
            pool.shutdown(cancel_futures=True)


def _spare_memory() -> int | None:
    """Half of what is free: what a probe may take without endangering anybody."""
    try:
        with open("/proc/meminfo", encoding="ascii") as file:
            free = next(int(line.split()[1]) * 1024 for line in file if line.startswith("MemAvailable"))
    except (OSError, StopIteration, ValueError):
        return None
    return max(free // 2, 1 << 30)


def run(plan: Plan, watch: Watch) -> Told:
    """Everything that could be seen; a failure of one probe or arm is told, never raised."""
    one = _Run(plan, watch)
    interrupted = False
    own = [arm for arm in plan.arms if arm.same_as is None]
    rungs: Rungs = {each.key: each.probe.ladder[:1] for each in plan.selected}
    try:
        tasks = [
            (arm, replica) for replica in range(plan.effort.processes) for arm in own if replica < _often(plan, arm)
        ]
        one.expected = len(tasks) * len(plan.selected)
        if plan.effort.climb:
            every = {each.key: each.probe.ladder for each in plan.selected}
            one.all(tasks[:1], every)
            tasks = tasks[1:]
            first = one.found.get((own[0].name, 0), {})
            rungs = {key: [first.get(key, {}).get("rung", ladder[0])] for key, ladder in every.items()}
        if own[0].name not in one.broken:
            one.all(tasks, rungs)
    except KeyboardInterrupt:
        interrupted = True
    return Told(_by_arm(one.found), one.facts, one.broken, interrupted, one.seconds)


def _often(plan: Plan, arm: Arm) -> int:
    return plan.effort.processes if arm.name in ("default", "as-is", "advised") else plan.effort.again


def _by_arm(found: dict[tuple[str, int], dict[str, Found]]) -> dict[str, dict[str, list[Found]]]:
    arms: dict[str, dict[str, list[Found]]] = {}
    for (arm, _replica), told in sorted(found.items()):
        for key, each in told.items():
            arms.setdefault(arm, {}).setdefault(key, []).append(each)
    return arms
