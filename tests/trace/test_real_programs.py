"""Programs with a planted reason to differ, in a real framework, through the real command line."""

from __future__ import annotations

import json
import subprocess
from pathlib import Path
from typing import Any

import pytest
from recorded import PROGRAMS, TRIES, compared, kinds, need_processors, torch_python

from process import COMMAND, environment

LONGEST = 600
"""Seconds for the runs of one hunt, on a busy machine."""


@pytest.fixture(autouse=True)
def several_processors() -> None:
    need_processors()


def test_two_sources_are_two_causes(tmp_path: Path) -> None:
    for attempt in range(TRIES):
        found = compared(tmp_path / str(attempt), "two_sources")
        if len(found["causes"]) > 1:
            break
    assert kinds(found) == ["op", "op"]
    assert sorted(cause["node"] for cause in found["causes"]) == ["IndexBackward0", "TakeBackward0"]
    assert [cause["advice"]["solutions"] for cause in found["causes"]] == [["UDA"], ["UDA"]]


@pytest.mark.parametrize(
    "optimizer",
    [
        "fused",
        pytest.param("foreach", marks=pytest.mark.nightly),
        pytest.param("loop", marks=pytest.mark.nightly),
    ],
)
def test_a_learning_rate_is_named_with_both_values(tmp_path: Path, optimizer: str) -> None:
    found = compared(tmp_path, "learning_rate", (f"0.1 {optimizer}", f"0.2 {optimizer}"))
    (cause,) = found["causes"]
    assert (cause["kind"], cause["argument"]) == ("argument", "learning rate of SGD")
    assert (cause["a"], cause["b"]) == ("0.1", "0.2")
    assert cause["reaches"]["parameters"] == 0


def test_dropout_without_a_seed_is_the_seeds_fault(tmp_path: Path) -> None:
    found = compared(tmp_path, "dropout")
    (cause,) = found["causes"]
    assert (cause["kind"], cause["op"]) == ("seed", "aten::bernoulli_")
    assert cause["module"] == "Net.drop"
    assert cause["reaches"]["loss"] == 0


def test_another_order_of_samples_is_named_with_the_sampler(tmp_path: Path) -> None:
    found = compared(tmp_path, "shuffled")
    assert set(kinds(found)) == {"seed", "data-order"}
    order = next(cause for cause in found["causes"] if cause["kind"] == "data-order")
    assert order["reaches"]["data"] == 0
    assert order["may_follow"]


@pytest.mark.nightly
def test_a_write_past_the_framework_is_not_the_readers_fault(tmp_path: Path) -> None:
    found = compared(tmp_path, "outside_write")
    (cause,) = found["causes"]
    assert (cause["kind"], cause["step"]) == ("outside-write", 1)


@pytest.mark.nightly
def test_a_timer_in_a_tensor_is_harmless(tmp_path: Path) -> None:
    found = compared(tmp_path, "harmless")
    assert found["same"]
    assert found["harmless"]


def test_memory_never_written_is_named_where_it_was_made(tmp_path: Path) -> None:
    found = compared(tmp_path, "unwritten_memory")
    (cause,) = found["causes"]
    assert (cause["kind"], cause["step"], cause["module"]) == ("uninitialised", 0, "Net")
    lines = (PROGRAMS / "causes.py").read_text().splitlines()
    assert "torch.empty(8, WIDTH)" in lines[cause["made"]["line"] - 1]
    assert cause["reaches"]["loss"] == 0


@pytest.mark.nightly
def test_an_op_inside_a_subclass_is_seen(tmp_path: Path) -> None:
    for attempt in range(TRIES):
        found = compared(tmp_path / str(attempt), "subclass")
        if found["causes"]:
            break
    (cause,) = found["causes"]
    assert (cause["kind"], cause["op"], cause["phase"]) == ("op", "aten::index_put", "fwd")
    assert cause["reaches"]["gradients"] == 0


@pytest.mark.nightly
def test_other_threads_are_expected_to_give_other_bits(tmp_path: Path) -> None:
    found = compared(tmp_path, "other_threads", ("1", "8"))
    first, *ops = found["causes"]
    assert (first["kind"], first["argument"]) == ("settings", "threads")
    assert {"name": "threads", "a": "1", "b": "8", "step": None} in found["settings"]
    assert ops
    assert not any(cause["certain"] for cause in ops)
    assert all(0 in cause["may_follow"] for cause in ops)


@pytest.mark.nightly
def test_a_run_that_resumes_without_its_generator_is_told_so(tmp_path: Path) -> None:
    saved = tmp_path / "parameters"
    found = compared(tmp_path, "resumed", (f"{saved} whole", f"{saved} rest"), steps=":")
    (cause,) = found["causes"]
    assert (cause["kind"], cause["step"], cause["module"]) == ("generator", 2, "Net.drop")
    assert cause["reaches"]["loss"] == 2
    assert "The second run goes on where step 1 of the first ended." in found["notes"]


@pytest.mark.nightly
def test_a_compiled_graph_that_differs_is_named_and_its_op_where_it_runs_alone(
    tmp_path: Path,
) -> None:
    for attempt in range(TRIES):
        found = compared(tmp_path / str(attempt), "compiled")
        if found["causes"]:
            break
    (cause,) = found["causes"]
    assert (cause["kind"], cause["argument"]) == ("compiled", "graph 0 backward")
    assert cause["reaches"]["gradients"] == 0
    for attempt in range(TRIES):
        found = compared(tmp_path / f"eager {attempt}", "compiled", more="--compiled eager")
        if found["causes"]:
            break
    (cause,) = found["causes"]
    assert (cause["kind"], cause["op"], cause["phase"]) == ("op", "aten::index_put", "bwd")
    assert cause["node"] == "CompiledFunctionBackward"


@pytest.mark.nightly
def test_a_sparse_gradient_inherits_what_its_values_inherit(tmp_path: Path) -> None:
    found = compared(tmp_path, "sparse_gradients")
    (cause,) = found["causes"]
    assert (cause["kind"], cause["op"]) == ("outside-value", "aten::lift_fresh")
    assert cause["descendants"][0]["op"] == "aten::mul"
    assert cause["reaches"]["gradients"] == cause["reaches"]["parameters"] == 0
    assert "aten::add_" in [descendant["op"] for descendant in cause["descendants"]]


@pytest.mark.nightly
def test_the_statistics_of_a_batch_norm_inherit_what_its_input_inherits(tmp_path: Path) -> None:
    found = compared(tmp_path, "batch_norm")
    (cause,) = found["causes"]
    assert (cause["kind"], cause["op"]) == ("outside-value", "aten::lift_fresh")
    assert cause["descendants"][0]["op"] == "aten::mul"
    assert "aten::native_batch_norm_backward" in [
        descendant["op"] for descendant in cause["descendants"]
    ]


@pytest.mark.nightly
def test_one_more_op_is_told_and_is_no_finding(tmp_path: Path) -> None:
    found = compared(tmp_path, "one_more_op", ("", "more"))
    assert found["same"]
    assert found["forks"]


@pytest.mark.nightly
@pytest.mark.parametrize("way", ["", "reentrant"])
def test_what_is_computed_again_is_equal(tmp_path: Path, way: str) -> None:
    found = compared(tmp_path, "recomputed", (way, way))
    assert found["same"]
    assert not found["forks"]
    assert not found["harmless"]


def hunt(path: Path, *options: str) -> tuple[int, dict[str, Any]]:
    path.mkdir()
    answer = path / "answer.json"
    arguments = ["--keep", str(path / "runs"), "--format", "json", "-o", str(answer)]
    done = subprocess.run(
        [*COMMAND, "hunt", *arguments, *options],
        env=environment(),
        cwd=PROGRAMS,
        capture_output=True,
        text=True,
        check=False,
        timeout=LONGEST,
    )
    assert answer.exists(), done.stderr
    return done.returncode, json.loads(answer.read_text())


def test_a_hunt_names_the_op_and_its_fix_holds(tmp_path: Path) -> None:
    command = ["--", torch_python(), "causes.py", "one_op"]
    for attempt in range(TRIES):
        code, found = hunt(tmp_path / str(attempt), *command)
        if code:
            break
    (cause,) = found["causes"]
    assert (cause["kind"], cause["op"], cause["phase"]) == ("op", "aten::index_put", "bwd")
    assert (cause["node"], cause["module"]) == ("IndexBackward0", "IndexedTable")
    assert cause["source"]["function"] == "forward"
    lines = (PROGRAMS / "causes.py").read_text().splitlines()
    assert "self.table[i]" in lines[cause["source"]["line"] - 1]
    assert cause["reaches"]["gradients"] == 0
    assert cause["reaches"]["loss"] is None
    assert cause["advice"]["solutions"] == ["UDA"]
    alone = cause["replay"]
    assert alone["repeats"] >= 2
    assert alone["distinct"] > 1
    assert 0 < alone["changed"] <= 1
    assert alone["max_ulp"] >= 1
    assert alone["with_advice"] == 1
    code, found = hunt(tmp_path / "fixed", "--set", "UDA", *command)
    assert (code, found["same"]) == (0, True)


def test_a_hunt_of_inference_names_what_an_output_differs_by(tmp_path: Path) -> None:
    command = ["--step-by", "forward", "--", torch_python(), "inference.py", "vary"]
    code, found = hunt(tmp_path / "hunt", *command)
    (cause,) = found["causes"]
    assert (code, cause["kind"], cause["step"]) == (1, "outside-value", 3)
    assert (cause["op"], cause["source"]["function"]) == ("aten::lift_fresh", "<module>")
    assert (cause["descendants"][0]["op"], cause["descendants"][0]["module"]) == (
        "aten::add",
        "Scored",
    )
    assert cause["reaches"]["outputs"] == 3


@pytest.mark.nightly
def test_a_hunt_looks_at_the_one_step_that_differs(tmp_path: Path) -> None:
    command = ["--", torch_python(), "causes.py", "late_step"]
    for attempt in range(TRIES):
        code, found = hunt(tmp_path / str(attempt), *command)
        if code:
            break
    (cause,) = found["causes"]
    assert (cause["kind"], cause["step"]) == ("op", 4)
    assert [stage["level"] for stage in found["stages"]] == ["step", "op", "replay"]


@pytest.mark.nightly
def test_a_hunt_goes_by_module_where_a_step_has_too_many_ops(tmp_path: Path) -> None:
    command = ["--max-size", "20KB", "--", torch_python(), "modules.py"]
    for attempt in range(TRIES):
        code, found = hunt(tmp_path / str(attempt), *command)
        if code and found["causes"][0]["kind"] == "op":
            break
    (cause,) = found["causes"]
    assert (cause["op"], cause["module"]) == ("aten::index_put", "FilledNet.memory.0")
    levels = [stage["level"] for stage in found["stages"]]
    assert levels == ["step", "op", "module", "op", "replay"]
    assert any("only those in FilledNet.memory.0" in note for note in found["notes"])
