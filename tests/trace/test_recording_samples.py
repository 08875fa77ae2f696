"""Two recordings with samples: rounding is no fault, and what is planted is named."""

from __future__ import annotations

import json
from typing import Any

import pytest
from recorded import Recorded, recording

from process import d9m

PROGRAM = "tolerance.py"


def sampled(*arguments: str, options: str = "--samples") -> Recorded:
    name = "-".join(["samples", *options.split(), *arguments]).replace("=", "-").replace("--", "")
    found = recording(name, options, PROGRAM, *arguments)
    assert found.code == 0, found.stderr
    assert found.errors == ""
    return found


def judged(one: Recorded, other: Recorded) -> tuple[int, dict[str, Any]]:
    done = d9m("diff", str(one.run), str(other.run), "--tolerance", "--format", "json")
    assert done.stderr == ""
    return done.returncode, json.loads(done.stdout)["tolerance"]


@pytest.mark.parametrize(
    ("one", "other"),
    [
        (["gpt", "steps=10"], ["gpt", "steps=10", "threads=4"]),
        (["gpt", "steps=10"], ["gpt", "steps=10", "split=2"]),
        (["gpt", "threads=1"], ["gpt", "math=1"]),
        (["ops"], ["ops", "threads=4"]),
        (["ops"], ["ops", "reordered=1"]),
    ],
    ids=["threads", "batch in parts", "attention by another kernel", "ops", "a reordered sum"],
)
def test_what_only_rounds_otherwise_is_within_rounding(one: list[str], other: list[str]) -> None:
    code, found = judged(sampled(*one), sampled(*other))
    assert (code, found["verdict"], found["first"]) == (0, "rounding", None)


@pytest.mark.parametrize(
    ("planted", "kind", "op", "module"),
    [
        ("eps=1e-6", "argument", "aten::native_layer_norm", "GPT.blocks.1.first"),
        ("gelu=tanh", "argument", "aten::gelu", "GPT.blocks.1"),
        ("half=1", "structure", "aten::addmm", "GPT.blocks.1"),
        ("relu=1", "structure", "aten::gelu", "GPT.blocks.1"),
        ("lr=2e-3", "argument", None, "AdamW"),
        ("seed=1", "seed", "aten::normal_", None),
    ],
)
def test_a_planted_fault_is_above_rounding_and_its_place_is_named(
    planted: str, kind: str, op: str | None, module: str | None
) -> None:
    code, found = judged(sampled("gpt", "threads=1"), sampled("gpt", "threads=4", planted))
    first = found["first"]
    assert (code, found["verdict"]) == (1, "above")
    assert (first["kind"], first["step"], first["module"]) == (kind, 0, module)
    assert op in (None, first["op"])


def test_a_layer_in_another_dtype_is_called_so() -> None:
    one, other = sampled("gpt", "threads=1"), sampled("gpt", "threads=4", "half=1")
    done = d9m("diff", str(one.run), str(other.run), "--tolerance")
    assert done.returncode == 1
    assert "Only run B computes in bfloat16." in done.stdout


def test_nan_in_one_run_is_named_where_it_comes_from() -> None:
    code, found = judged(sampled("gpt", "threads=1"), sampled("gpt", "nan=1"))
    assert (code, found["verdict"], found["first"]["module"]) == (1, "above", "GPT.blocks.1")


def test_different_shapes_cannot_be_compared() -> None:
    code, found = judged(sampled("gpt", "threads=1"), sampled("gpt", "width=32"))
    assert (code, found["verdict"], found["first"]) == (3, "unknown", None)
    assert "different shapes" in found["why"]


def test_a_recording_cut_short_is_not_within_rounding() -> None:
    code, found = judged(sampled("gpt", "threads=4"), sampled("gpt", "kill=1"))
    assert (code, found["verdict"], found["first"]) == (3, "unknown", None)


def test_equal_runs_are_bitwise_identical_and_samples_change_no_result() -> None:
    one = sampled("gpt", "threads=1")
    code, found = judged(one, sampled("gpt", "optimizer=adam"))
    assert (code, found["verdict"]) == (0, "equal")
    plain = sampled("gpt", "threads=1", options="--level op")
    done = d9m("diff", str(one.run), str(plain.run), "--format", "json")
    assert json.loads(done.stdout)["same"]
    code, found = judged(one, plain)
    assert code == 3
    assert "--samples" in found["why"]


def test_a_kept_module_says_which_run_is_further_from_float64() -> None:
    keep = "--samples --steps 1 --keep blocks.1"
    one = sampled("gpt", "threads=1", options=keep)
    other = sampled("gpt", "half=1", options=keep)
    code, found = judged(one, other)
    assert code == 1
    a = [call["a"] for call in found["exact"] if call["op"] == "aten::addmm" and call["a"]]
    b = [call["b"] for call in found["exact"] if call["op"] == "aten::addmm" and call["b"]]
    assert max(a) < 1e-5 < 1e-4 < max(b)


def test_every_kind_of_tensor_is_sampled_and_nothing_is_lost() -> None:
    lines = sampled("kinds").records("z")
    found = {line[2]: line[3:] for line in lines}
    assert found["bool[3]"][:4] == [3, pytest.approx(2**0.5), 1.0, pytest.approx(2 / 3)]
    assert found["int64[2]"][-1] == [7.0, -9.0]
    assert found["float32[5]"] == [
        5,
        pytest.approx(5.0),
        4.0,
        3.5,
        [1, 1, 1],
        [3.0, None, None, 4.0, None],
    ]
    assert found["complex64[1]"][-1] == [1.0, -2.0]
    assert len(found["float16[1000]"][-1]) == 64
    assert found["bfloat16[4]"][-1] == [0.0, 1.0, 2.0, 3.0]
    assert found["float32[2, 3]"][-1] == [0.0, 3.0, 6.0, 9.0, 12.0, 15.0]  # a local part
