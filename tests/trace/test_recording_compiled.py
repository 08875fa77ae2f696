"""Compiled graphs are recorded at their border, and stay compiled."""

from __future__ import annotations

from pathlib import Path

from recorded import Recorded, record, torch_python


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


def _assert_right(found: Recorded) -> None:
    """The program ended well, and computed what it computes without a recorder."""
    assert (found.code, found.errors) == (0, "")
    gradient, doubled = found.stdout.split(" ", 1)
    assert abs(float.fromhex(gradient) - 2 * 0.5403023) < 1e-6
    assert doubled == "[128.0, 128.0, 128.0]\n"
