"""`d9m run` and `d9m.enable()` with real frameworks on the CPU."""

from __future__ import annotations

import json
import os
import subprocess
import sys
from importlib.util import find_spec
from pathlib import Path
from typing import Any

import pytest
from started import ROOT, python_with, records, run

TRAINING = """
import torch
model = torch.nn.Linear(4, 4)
optimizer = torch.optim.SGD(model.parameters(), 0.1)
for step in range(4):
    optimizer.zero_grad()
    model(torch.randn(3, 4)).sum().backward()
    optimizer.step()
"""

REFUSED = """
import torch
pooled, at = torch.nn.functional.max_pool2d(torch.randn(1, 1, 4, 4), 2, return_indices=True)
torch.nn.functional.max_unpool2d(pooled, at, 2)
"""

RANKS = """
import torch, torch.distributed as dist
dist.init_process_group("gloo")
value = torch.ones(1) * (dist.get_rank() + 1)
dist.all_reduce(value)
if dist.get_rank() == 1:
    torch.use_deterministic_algorithms(False)
print(dist.get_rank(), value.item())
dist.destroy_process_group()
"""


@pytest.fixture
def torch() -> str:
    return python_with("torch-2.13.0")


def report_of(*words: str, cwd: Path) -> Any:
    done = run("--format", "json", "-o", "report.json", *words, cwd=cwd)
    found = json.loads((cwd / "report.json").read_text())
    assert found["exit"] == done.returncode, done.stderr
    return found


@pytest.mark.parametrize(
    ("name", "program", "expected"),
    [
        (
            "torch-2.13.0",
            "import torch as t; print(t.are_deterministic_algorithms_enabled())",
            "True",
        ),
        (
            "tensorflow-2.21.0",
            "import tensorflow; from tensorflow.python.framework import config\n"
            "print(config.is_op_determinism_enabled())",
            "True",
        ),
        (
            "tensorflow-2.0.4",
            "import tensorflow as t; print(t.config.threading.get_intra_op_parallelism_threads())",
            "0",
        ),
        ("tensorflow-1.15.5", "import tensorflow as t; print(t.__version__)", "1.15.5"),
        ("jax-0.10.2", "import jax.numpy as n; print(n.ones(3).sum())", "3.0"),
    ],
    ids=lambda each: each.partition(" ")[0],
)  # fmt: skip
def test_settings_are_in_force_in_a_real_framework(
    name: str, program: str, expected: str, tmp_path: Path
) -> None:
    (tmp_path / "train.py").write_text(program)
    done = run("--strict", "--", python_with(name), "train.py", cwd=tmp_path)
    assert done.stdout == expected + "\n", done.stderr
    assert done.returncode == 0, done.stderr
    assert name.replace("-", " ") in done.stderr


@pytest.mark.parametrize(("words", "equal"), [([], False), (["--seed", "3"], True)])
def test_twice_tells_equal_runs_from_others(
    words: list[str], equal: bool, torch: str, tmp_path: Path
) -> None:
    (tmp_path / "train.py").write_text(TRAINING)
    found = report_of("--twice", "--strict", *words, "--", torch, "train.py", cwd=tmp_path)
    twice = found["twice"]
    assert (twice["equal"], twice["complete"], found["exit"]) == (equal, True, int(not equal))
    assert twice["first_step"] == (None if equal else 0)


COUNTED = """
import sys, torch
calls = []
def count(frame, event, argument):
    if "_d9m_hook" in frame.f_code.co_filename:
        calls.append(frame.f_code.co_name)
model = torch.nn.Sequential(torch.nn.Linear(4, 4), torch.nn.BatchNorm1d(4), torch.nn.Dropout())
optimizer = torch.optim.Adam(model.parameters())
for step in range(4):
    sys.setprofile(count if step else None)  # the first step still imports
    optimizer.zero_grad()
    model(torch.randn(8, 4)).sum().backward()
    optimizer.step()
print(calls)
"""


def test_no_code_of_the_hook_runs_in_a_training_step(torch: str, tmp_path: Path) -> None:
    (tmp_path / "train.py").write_text(COUNTED)
    done = run("--", torch, "train.py", cwd=tmp_path)
    assert (done.stdout, done.returncode) == ("[]\n", 0), done.stderr


def test_an_op_that_a_real_framework_refuses_is_in_the_first_line(
    torch: str, tmp_path: Path
) -> None:
    (tmp_path / "train.py").write_text(REFUSED)
    done = run("--", torch, "train.py", cwd=tmp_path)
    line = next(each for each in done.stderr.splitlines() if each.startswith("d9m run: "))
    assert "ended by a refused op at train.py:4: " in line
    assert "max_unpool2d" in line
    assert done.returncode == 1
    done = run("--on-refusal", "warn", "--strict", "--", torch, "train.py", cwd=tmp_path)
    assert "(no deterministic version, called at train.py:4)" in done.stderr
    assert done.returncode == 1


def test_both_ranks_of_torchrun_are_reached_and_reported(torch: str, tmp_path: Path) -> None:
    (tmp_path / "ranks.py").write_text(RANKS)
    words = ["-m", "torch.distributed.run", "--standalone", "--nproc-per-node", "2", "ranks.py"]
    found = report_of("--strict", "--", torch, *words, cwd=tmp_path)
    processes, undone = found["processes"], found["undone"]
    assert {each["rank"] for each in processes} == {None, "0", "1"}
    assert [(each["places"], each["processes"]) for each in undone] == [(["ranks.py:7"], 1)]
    assert (found["unreached"], found["exit"]) == ([], 1)


def test_run_joins_a_hunt(torch: str, tmp_path: Path) -> None:
    (tmp_path / "train.py").write_text(TRAINING)
    hunt = ["-m", "d9m", "hunt", "--no-replay", "--runs", "2", "--"]
    env = {**os.environ, "PYTHONPATH": str(ROOT / "resolver"), "D9M_KB": str(records())}
    run_ = ["-m", "d9m", "run", "--seed", "1", "--"]
    done = subprocess.run(
        [sys.executable, *hunt, sys.executable, *run_, torch, "train.py"], env=env, cwd=tmp_path,
        capture_output=True, text=True, check=False,
    )  # fmt: skip
    assert done.returncode == 0, done.stderr
    assert "bitwise identical" in done.stdout
    assert done.stderr.count("torch.use_deterministic_algorithms(True)") == 2


ENABLED = """
import d9m
first = d9m.enable(seed=5)
assert "torch" not in __import__("sys").modules
import torch
assert torch.are_deterministic_algorithms_enabled() and torch.initial_seed() == 5
torch.use_deterministic_algorithms(True, warn_only=True)
with d9m.deterministic(fast=True):
    assert not torch.is_deterministic_algorithms_warn_only_enabled()
    assert not torch.utils.deterministic.fill_uninitialized_memory
assert torch.is_deterministic_algorithms_warn_only_enabled()
assert torch.utils.deterministic.fill_uninitialized_memory
"""

LATE = """
import d9m, tensorflow
def is_missing(): return [each.name for each in d9m.enable().missing if "tf." in each.name]
try:
    with d9m.deterministic(): pass
except d9m.Refused as fault: assert "enable_op_determinism() cannot be undone" in str(fault)
else: raise AssertionError
tensorflow.constant(1.0) + 1
assert "tf.config.experimental.enable_op_determinism" in is_missing(), d9m.enable()
"""


@pytest.mark.parametrize(
    ("name", "program"), [("torch-2.13.0", ENABLED), ("tensorflow-2.21.0", LATE)]
)
def test_enable_in_a_real_framework(name: str, program: str, tmp_path: Path) -> None:
    for package in ("msgspec", "packaging"):  # what d9m needs, and nothing else of this Python
        found = find_spec(package)
        assert found is not None
        (tmp_path / package).symlink_to(Path(str(found.origin)).parent)
    path = os.pathsep.join([str(ROOT / "resolver"), str(tmp_path)])
    done = subprocess.run(
        [python_with(name), "-c", program], capture_output=True, text=True, check=False,
        env={**os.environ, "PYTHONPATH": path, "D9M_KB": str(records())},
    )  # fmt: skip
    assert done.returncode == 0, done.stderr
