"""Marked tests that differ between processes for reasons that are known, and two that do not."""

from __future__ import annotations

from pathlib import Path

import pytest
from plugged import run_pytest, torch_python

PROGRAM = """
import os, random, secrets, time
import numpy, pytest, torch

def train(scale, steps=2):
    scale = torch.as_tensor(scale)
    model = torch.nn.Linear(256, 1)
    optimizer = torch.optim.SGD(model.parameters(), 0.1)
    for _ in range(steps):
        optimizer.zero_grad()
        (model(torch.ones(8, 256)) * scale).square().mean().backward()
        optimizer.step()

@pytest.mark.deterministic(steps=2)
def test_planted():
    torch.manual_seed(0)
"""

DIFFERENT = {
    "hash": ('scale = hash("seed") % 1000 / 1000', "hash()"),
    "set_order": (
        'scale = [len(word) for word in {"a", "bb", "ccc", "dddd", "eeeee", "ffffff"}][:1]',
        "the order of a set",
    ),
    "torch_seed": ("torch.seed(); scale = 1", "seed"),
    "clock": ("scale = time.time() % 1", "time.time"),
    "numpy_generator": ("scale = numpy.random.default_rng().random()", "default_rng"),
    "numpy_legacy": ("scale = numpy.random.rand()", "numpy.random"),
    "python_random": ("scale = random.random()", "random"),
    "entropy": ("scale = secrets.randbelow(1 << 20) / 7", "secrets.randbelow"),
    "addresses": ("scale = id(object()) % 9973 / 7", "id("),
    "pid_seed": ("torch.manual_seed(os.getpid()); scale = 1", "os.getpid"),
    "unwritten_memory": (
        "dirty = [torch.full((8, 256), secrets.randbelow(1 << 20) / 7) for _ in range(16)]\n"
        "    del dirty\n"
        "    scale = torch.empty(8, 256)[:, :1].clone()",
        "uninitialised",
    ),
    "accumulation": (
        "torch.set_num_threads(8)\n"
        "    table = torch.nn.Parameter(torch.randn(64, 256))\n"
        "    picked = torch.randint(64, (4096,))\n"
        "    table[picked].square().mul(torch.randn(4096, 256)).sum().backward()\n"
        "    scale = table.grad.sum().item()",
        "index_put",
    ),
}
"""What is planted, and what the answer must name: a function, an op, or its line."""

EQUAL = ("scale = 1", 'scale = [len(word) for word in sorted({"a", "bb", "ccc"})][0]')

NIGHTLY = pytest.mark.nightly
CASES = [
    pytest.param(*case, id=name, marks=() if name == "clock" else NIGHTLY)
    for name, case in DIFFERENT.items()
]


@pytest.mark.parametrize(("planted", "named"), CASES)
def test_the_cause_of_a_difference_is_named(
    planted: str, named: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(tmp_path)
    Path("test_sample.py").write_text(f"{PROGRAM}    {planted}\n    train(scale)\n")
    found = run_pytest(torch_python())
    assert found.outcome("test_planted") == "failure", found.output
    assert named in found.said("test_planted")
    assert found.properties("test_planted")["d9m.cause"]


@NIGHTLY
@pytest.mark.parametrize("planted", EQUAL)
def test_equal_runs_pass(planted: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    Path("test_sample.py").write_text(f"{PROGRAM}    {planted}\n    train(scale)\n")
    found = run_pytest(torch_python())
    assert found.outcome("test_planted") == "passed", found.output
    assert found.properties("test_planted")["d9m.equal"].startswith("equal in 2 of 2 runs")
