"""Compiled graphs are recorded at their border, and stay compiled."""

from __future__ import annotations

import json
import os
import subprocess
from pathlib import Path

import pytest
from recorded import TESTS, Recorded, record, torch_python
from written import opened


def test_a_compiled_graph_shows_what_goes_in_and_what_comes_out(tmp_path: Path) -> None:
    found = record(tmp_path, "--level op --inputs exact", torch_python(), "graph.py")
    _assert_right(found)
    lines = found.records("ceSo")
    borders = [line for line in lines if line[0] in "ce"]
    assert [line[:2] for line in borders] == [
        ["c", "graph 0 forward"], ["e", "graph 0 forward"],
        ["c", "graph 0 backward"], ["e", "graph 0 backward"],
    ]  # fmt: skip
    before, after = borders[0][2], borders[1][2]
    (ones, zeros) = [line for line in lines if line[0] == "o"][:2]
    assert {ones[4][0], zeros[4][0]} == set(before)
    changed = after[-1]
    assert changed not in before
    double = next(line[1] for line in lines if line[0] == "S" and line[2] == "aten::mul")
    (read,) = [line[3] for line in lines if line[0] == "o" and line[1] == double]
    assert read == [changed], "an op after the graph reads what the graph has changed"
    inside = [line[2] for line in lines if line[0] == "S" and line[2] in ("aten::sin", "aten::cos")]
    assert inside == []


def test_compiled_graphs_can_be_run_op_by_op(tmp_path: Path) -> None:
    found = record(tmp_path, "--level op --compiled eager", torch_python(), "graph.py")
    _assert_right(found)
    assert found.stream()[0]["compiled"] == "eager"
    assert found.records("ce") == []
    sites = {line[2]: line for line in found.records("S")}
    assert {"aten::sin", "aten::cos"} <= sites.keys()
    assert sites["aten::sin"][6] == ""
    assert sites["aten::sin"][7][0] == "graph.py"


OLDER = """
import torch
from torch.utils._python_dispatch import TorchDispatchMode
from d9m.trace import record

newer = vars(TorchDispatchMode)["ignore_compile_internals"]
del TorchDispatchMode.ignore_compile_internals  # as before PyTorch 2.9, while recording begins
with record("run", level="op"):
    TorchDispatchMode.ignore_compile_internals = newer
    torch.ones(3).exp()
    double = torch.compile(lambda x: x * 2 + 1, backend="aot_eager")
    print(double(torch.ones(3)).tolist(), torch._dynamo.utils.counters["frames"]["ok"])
"""


@pytest.mark.nightly
def test_before_torch_2_9_ops_make_way_for_the_compiler(tmp_path: Path) -> None:
    done = subprocess.run(
        [torch_python(), "-c", OLDER],
        cwd=tmp_path,
        env={**os.environ, "PYTHONPATH": str(TESTS.parent / "resolver")},
        capture_output=True,
        text=True,
    )
    assert (done.returncode, done.stdout) == (0, "[3.0, 3.0, 3.0] 1\n"), done.stderr
    lines = [json.loads(line) for line in opened(tmp_path / "run" / "r0-0.d9m")]
    assert [line[1] for line in lines[1:-1] if line[0] == "u"] == ["compiler"]
    ops = [line[2] for line in lines[1:-1] if line[0] == "S"]
    assert "aten::exp" in ops
    assert "aten::mul" not in ops


def _assert_right(found: Recorded) -> None:
    """The program ended well, and computed what it computes without a recorder."""
    assert (found.code, found.errors) == (0, "")
    gradient, doubled = found.stdout.split(" ", 1)
    assert abs(float.fromhex(gradient) - 2 * 0.5403023) < 1e-6
    assert doubled == "[128.0, 128.0, 128.0]\n"
