"""The ops of a recorded program, as a question names them."""

from __future__ import annotations

import json
from pathlib import Path

import pytest
from written import sealed

from d9m.errors import UsageError
from d9m.trace import folder
from d9m.trace.called_ops import called_ops
from golden import knowledge_base
from process import d9m

HEADER = {
    "d9m_trace": folder.FORMAT, "level": "op", "digest": "xxh3-64", "device": "cpu",
    "packages": {"torch": "2.13.0+cpu"}, "argv": ["train.py"],
}  # fmt: skip


def run(path: Path, *calls: tuple[str, str, str, str, list[str]], **packages: str) -> Path:
    """A recording of these calls: op, phase, node, arguments, shapes."""
    folder.make(path, folder.begun(["python", "train.py"], "op"))
    lines: list[object] = [{**HEADER, "packages": packages or HEADER["packages"]}]
    for number, (op, phase, node, arguments, shapes) in enumerate(calls):
        lines.append(["S", number, op, "", phase, node, "", ["train.py", 3, "f"], shapes, "cpu"])
        lines.append(["o", number, arguments, [], []])
        lines.append(["o", number, arguments, [], []])
    lines.append({"ended": "exit", "steps": 1})
    (path / "r0-0.d9m").write_bytes(sealed(*map(json.dumps, lines)))
    return path


TRAINING = (
    ("aten::index_put", "bwd", "IndexBackward0", "accumulate=True", ["float32[64, 256]"]),
    ("aten::put_", "fwd", "", "accumulate=True", ["float64[64]"]),
    ("aten::cumsum", "fwd", "", "dim=0", ["int64[64]"]),
    ("aten::_fused_adamw_", "opt", "", "lr=0.01, beta1=0.9", ["float32[64]"]),
    ("aten::_no_such_op", "fwd", "", "", ["float32[64]"]),
)


def test_each_op_is_asked_once_with_what_decides_about_it(tmp_path: Path) -> None:
    found = called_ops(knowledge_base(), run(tmp_path / "a", *TRAINING))
    assert found.items == (
        "IndexBackward0",
        "aten::put_:accumulate=True:dtype=float64",
        "aten::cumsum:dim=0:dtype=integer",
        "aten::_fused_adamw_",
    )
    assert found.unknown == ("aten::_no_such_op",)


def test_arguments_that_no_record_asks_about_are_left_out(tmp_path: Path) -> None:
    calls = (
        ("aten::uniform_", "fwd", "", "from=-0.25, to=0.25", ["float32[64]"]),
        ("aten::uniform_", "fwd", "", "from=-0.5, to=0.5", ["float32[64]"]),
        ("aten::put_", "fwd", "", "accumulate=True", ["float32[64]"]),
        ("aten::put_", "fwd", "", "", ["float32[64]"]),
    )
    found = called_ops(knowledge_base(), run(tmp_path / "a", *calls))
    assert found.items == (
        "aten::uniform_:forward",
        "aten::put_:accumulate=True",
        "aten::put_:forward",
    )


def test_primitives_of_jax_are_asked_for_by_their_public_names(tmp_path: Path) -> None:
    names = ("tanh", "select_n", "and", "add_any", "reduce_max", "no_such")
    calls = [(f"jax::{name}", "fwd", "", "", ["float32[64]"]) for name in names]
    found = called_ops(knowledge_base(), run(tmp_path / "a", *calls, jax="0.10.2"))
    assert found.items == (
        "jax.lax.tanh",
        "jax.lax.select_n",
        "jax.extend.core.primitives.and_p",
        "jax.extend.core.primitives.add_any_p",
        "jax.lax.reduce_max",
    )
    assert found.unknown == ("jax::no_such",)


def test_a_question_takes_the_recording_itself(tmp_path: Path) -> None:
    path = run(tmp_path / "a", *TRAINING)
    listed = d9m("trace", "--ops", str(path))
    assert (listed.returncode, listed.stderr) == (0, "")
    assert listed.stdout.endswith("\n# aten::_no_such_op\n")
    (tmp_path / "ops.txt").write_text(listed.stdout)
    options = ("advise", "--torch", "2.13", "--device", "cpu", "--format", "json", "--ops")
    by_run = json.loads(d9m(*options, f"@{path}").stdout)
    by_list = json.loads(d9m(*options, f"@{tmp_path / 'ops.txt'}").stdout)
    assert by_run["ops"] == by_list["ops"]
    outcomes = {op["query"]: op["outcome"] for op in by_run["ops"]}
    assert outcomes["IndexBackward0"] == "solved"
    assert outcomes["aten::_fused_adamw_"] == "no-known-source"


def test_a_recording_without_ops_names_none(tmp_path: Path) -> None:
    path = run(tmp_path / "a")
    with pytest.raises(UsageError, match="holds no ops"):
        called_ops(knowledge_base(), path)
    done = d9m("advise", "--torch", "2.13", "--ops", f"@{path}")
    assert (done.returncode, done.stdout) == (2, "")


def test_a_folder_that_is_no_recording_is_bad_data(tmp_path: Path) -> None:
    done = d9m("advise", "--torch", "2.13", "--ops", f"@{tmp_path}")
    assert (done.returncode, done.stdout) == (5, "")
    assert "is not a recording" in done.stderr
