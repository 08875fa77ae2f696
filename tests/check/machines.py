"""Interpreters with a framework, and jobs for workers in them."""

from __future__ import annotations

import os
import subprocess
import sys
import threading
from pathlib import Path
from typing import Any

import pytest

from conftest import needs
from d9m.check.plan import catalogue
from d9m.check.workers import launch
from golden import KB

sys.path.append(str(Path(__file__).parents[1] / "emitted"))

import environments

FAULTY = os.pathsep.join([str(Path(__file__).with_name("faulty")), *sys.path])
"""PYTHONPATH with which FAULT says what is wrong with PyTorch."""

UDA = [[["import torch"], "torch.use_deterministic_algorithms(True)", False]]


def d9m(*arguments: str, **more: Any) -> subprocess.CompletedProcess[str]:
    known = ("PATH", "HOME", "PYTHONPATH", "SYSTEMROOT", "TMPDIR")
    variables = {name: os.environ[name] for name in known if name in os.environ}
    variables |= {"PYTHONPATH": os.pathsep.join(sys.path), "D9M_KB": str(KB), **more.pop("env", {})}
    return subprocess.run(
        [sys.executable, "-m", "d9m", "check", *arguments], capture_output=True, text=True, env=variables, **more
    )


def python_with(name: str) -> str:
    """The interpreter that has this release: ``torch-2.13.0``."""
    known = {each.name: each for each in (*environments.FRAMEWORKS, *environments.PROBED)}
    each = known[name]
    if each.extra and not each.stands:
        pytest.skip(f"{name} repeats on an old release what the others show; to have it: {each.how}")
    needs(each.stands, each.name, each.how)
    return str(each.interpreter)


def probe(name: str, call: str, **fields: Any) -> dict[str, Any]:
    """A probe as the worker is told it, made for one test."""
    fields = {"inputs": {}, "ladder": [{"n": 64}], **fields}
    made = catalogue.Probe(id=f"torch/{name}", op=name, call=call, **fields)
    return catalogue.Selected(made, "float32").job(made.ladder)


def job(probes: list[dict[str, Any]], framework: str = "torch", **changes: Any) -> dict[str, Any]:
    return {
        "kind": "probe", "adapter": catalogue.adapter(framework), "device": "cpu", "threads": 8, "memory": None,
        "env": {"OMP_WAIT_POLICY": "passive"}, "unset": [], "statements": [], "repeats": 8, "budget": 2.0,
        "limit": 30.0, "proofs": True, "probes": probes, **changes,
    }  # fmt: skip


def told(launcher: launch.Launcher, asked: dict[str, Any]) -> dict[str, dict[str, Any]]:
    """Key of a probe -> what became of it."""
    found: dict[str, dict[str, Any]] = {}
    for event in launch.events(launcher, asked, threading.Event()):
        if event["event"] == "result":
            found[event["key"].split("/")[1].split()[0]] = event["found"]
        elif event["event"] in ("dead", "broken"):
            found[event.get("key", "/worker ").split("/")[1].split()[0]] = {"failed": event["why"]}
    return found
