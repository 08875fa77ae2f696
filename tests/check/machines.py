"""Interpreters with a framework, and jobs for workers in them."""

from __future__ import annotations

import contextlib
import os
import subprocess
import sys
import threading
import time
from collections.abc import Callable, Sequence
from pathlib import Path
from typing import Any, TypeVar

import pytest

from conftest import needs
from d9m.check.messages import Exercise, ProbeDeath, ProbeJob, ProbeReading, Reading, WorkerFault
from d9m.check.plan import catalogue
from d9m.check.plan.selection import ProbeRequest, select
from d9m.check.workers import launch
from d9m.environment.environment import Setup, describe
from golden import knowledge_base
from process import compiled_kb

sys.path.append(str(Path(__file__).parents[1] / "emitted"))

import environments

FAULTY = os.pathsep.join([str(Path(__file__).with_name("faulty")), *sys.path])
"""PYTHONPATH with which FAULT says what is wrong with PyTorch."""

COMMAND = (sys.executable, "-m", "d9m", "check")

UDA = [[["import torch"], "torch.use_deterministic_algorithms(True)", False]]


def brief(processes: int) -> tuple[str, ...]:
    """The command with less effort: so many processes of each arm that is compared."""
    return sys.executable, str(Path(__file__).with_name("brief.py")), str(processes), "check"


def d9m(
    *arguments: str, command: Sequence[str] = COMMAND, **more: Any
) -> subprocess.CompletedProcess[str]:
    known = ("PATH", "HOME", "PYTHONPATH", "SYSTEMROOT", "TMPDIR")
    variables = {name: os.environ[name] for name in known if name in os.environ}
    variables |= {
        "PYTHONPATH": os.pathsep.join(sys.path),
        "D9M_KB": str(compiled_kb()),
        **more.pop("env", {}),
    }
    return subprocess.run(
        [*command, *arguments],
        capture_output=True,
        text=True,
        env=variables,
        **more,
    )


def python_with(name: str) -> str:
    """The interpreter that has this release: ``torch-2.13.0``."""
    known = {each.name: each for each in (*environments.FRAMEWORKS, *environments.PROBED)}
    each = known[name]
    if each.extra and not each.stands:
        pytest.skip(
            f"{name} repeats on an old release what the others show; to have it: {each.how}"
        )
    needs(each.stands, each.name, each.how)
    return str(each.interpreter)


def pick(
    probes: Sequence[catalogue.Probe],
    device: str,
    ops: list[str] | None,
    quick: bool = False,
    full: bool = False,
) -> list[catalogue.Selected]:
    """Those that a question selects in the newest release."""
    kb = knowledge_base()
    setup = Setup(
        tuple((name, None) for name in {probe.framework for probe in probes}), device=device
    )
    return select(kb, describe(kb, setup), probes, ProbeRequest(ops, quick, full))


def probe(name: str, call: str, **fields: Any) -> Exercise:
    """A probe as a worker gets it, made for one test."""
    fields = {"inputs": {}, "ladder": [{"n": 64}], **fields}
    made = catalogue.Probe(id=f"torch/{name}", op=name, call=call, **fields)
    return catalogue.Selected(made, "float32").exercise(made.ladder)


def job(probes: list[Exercise], framework: str = "torch", **changes: Any) -> ProbeJob:
    fields = {
        "adapter": catalogue.adapter(framework),
        "device": "cpu",
        "threads": 8,
        "memory": None,
        "env": {"OMP_WAIT_POLICY": "passive"},
        "unset": [],
        "statements": [],
        "repeats": 8,
        "budget": 2.0,
        "limit": 30.0,
        "proofs": True,
        "probes": probes,
        **changes,
    }
    return ProbeJob(**fields)


def readings(launcher: launch.Launcher, asked: ProbeJob) -> dict[str, Reading]:
    """Name of a probe -> what became of it; ``worker``: why none ran."""
    found: dict[str, Reading] = {}
    for event in launch.events(launcher, asked, threading.Event()):
        if isinstance(event, ProbeReading):
            found[_name(event.key)] = event.reading
        elif isinstance(event, ProbeDeath):
            found[_name(event.key)] = Reading(failed=event.why)
        elif isinstance(event, WorkerFault):
            found["worker"] = Reading(failed=event.why)
    return found


def children(process: int) -> list[int]:
    """Processes that this one started and that are still there."""
    found: list[int] = []
    for task in Path(f"/proc/{process}/task").glob("*/children"):
        with contextlib.suppress(OSError):
            found += map(int, task.read_text().split())
    return found


Awaited = TypeVar("Awaited")


def until(look: Callable[[], Awaited], most: float = 300.0) -> Awaited:
    """What `look` finds, once it finds anything: a machine may be as slow as it likes."""
    end = time.monotonic() + most
    while time.monotonic() < end:
        with contextlib.suppress(OSError):
            if found := look():
                return found
        time.sleep(0.02)
    raise AssertionError(f"nothing within {most:g} s")


def _name(key: str) -> str:
    return key.partition("/")[2].partition(" ")[0]
