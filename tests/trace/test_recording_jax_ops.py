"""Functions of JAX that are run op by op: what is recorded of them, and what is found."""

from __future__ import annotations

import subprocess
from pathlib import Path
from typing import Any

import pytest
from recorded import PROGRAMS, Recorded, jax_python, json_diff, record, recording
from written import compared as written

from d9m.kb.locate import open_knowledge_base
from d9m.trace.called_ops import called_ops
from d9m.trace.cause_advice import with_advice

LINES = (PROGRAMS / "jax_ops.py").read_text().splitlines()
EAGER = "--level op --compiled eager"


def line(text: str) -> int:
    """The number of the only line with this text."""
    (number,) = (number for number, line in enumerate(LINES, 1) if text in line)
    return number


def recorded(
    run: str, *arguments: str, program: str = "jax_ops.py", options: str = EAGER
) -> Recorded:
    """A recording of a program; all tests share those of one name."""
    return recording(f"jax-ops-{run}", options, program, *arguments, python=jax_python())


@pytest.fixture(scope="module")
def plain() -> Recorded:
    return recorded("plain", "none")


def differing(noise: str) -> dict[str, Any]:
    """The only cause of two recordings that draw noise in one place."""
    pair = [recorded(f"{noise}-{run}", noise, options=f"{EAGER} --steps 0:0") for run in "ab"]
    code, found = json_diff(*pair)
    assert code == 1
    (cause,) = found["causes"]
    return cause


def numbers(printed: str) -> list[float]:
    """What the program prints: the bytes of numbers."""
    data = bytes.fromhex("".join(printed.split()))
    return list(memoryview(data).cast("f"))


def test_every_primitive_is_a_record_with_its_place(plain: Recorded) -> None:
    assert (plain.code, plain.errors) == (0, "")
    places = {
        (site[2], site[4], site[6], site[7][1] if site[7] else None) for site in plain.records("S")
    }
    assert ("train", "jit", "", line("new, loss, drawn")) in places
    assert ("jax::max", "fwd", "train.Block.relu", line("jax.nn.relu(")) in places
    assert ("jax::gather", "recompute", "train.Block", line("jax.nn.relu(")) in places
    assert ("jax::scatter-add", "bwd", "train.Block", line("jax.nn.relu(")) in places
    assert ("jax::min", "fwd", "train", line("jnp.minimum(")) in places
    assert ("jax::add", "fwd", "train", line("lambda x: x + 1")) in places, "the branch taken"
    assert ("jax::sub", "fwd", "train", line("lambda x: x + 1")) not in places


def test_loops_are_run_turn_by_turn_and_say_what_they_decided(plain: Recorded) -> None:
    sites = {site[1]: site[2] for site in plain.records("S")}
    decided = [(sites[value[1]], value[2]) for value in plain.records("v")]
    step = [("jax::cond", "1"), *3 * [("jax::while", "True")], ("jax::while", "False")]
    assert decided == 2 * step
    called = [sites[op[1]] for op in plain.records("o")]
    assert called.count("jax::scan") == 2 * 2 * (4 + 1), "4 turns and their results, both ways"
    assert "u" not in {record[0] for record in plain.stream() if isinstance(record, list)}


def test_numbers_and_arrays_of_numpy_are_followed_from_the_call(plain: Recorded) -> None:
    sites = {site[1]: site for site in plain.records("S")}
    call = next(op for op in plain.records("o") if sites[op[1]][2] == "train")
    assert call[2] == "count=3"
    assert [shape.split()[0] for shape in sites[call[1]][8]] == ["table", "x", "ids"]
    made = set(call[4])
    assert len(made) == 2, "of x and of count"
    read = {digest for op in plain.records("o") for digest in op[3]}
    assert made <= read


def test_the_values_are_those_of_the_program_but_for_rounding(plain: Recorded) -> None:
    alone = subprocess.run(
        [jax_python(), "jax_ops.py", "none"],
        cwd=PROGRAMS,
        capture_output=True,
        text=True,
        check=True,
    )
    assert numbers(plain.stdout) == pytest.approx(numbers(alone.stdout), rel=1e-4)


def test_equal_runs_are_equal_and_the_answer_says_what_ran(plain: Recorded) -> None:
    again = recorded("again", "none")
    code, found = json_diff(plain, again)
    assert (code, found["same"], plain.stdout) == (0, True, again.stdout)
    assert any(note.startswith("JAX functions ran op by op") for note in found["notes"])


def test_noise_in_a_loop_is_the_only_cause() -> None:
    cause = differing("loop")
    assert (cause["kind"], cause["op"], cause["certain"]) == ("op", "jax::pure_callback", True)
    assert cause["arguments"]["callback"] == "draw"
    assert cause["source"]["line"] == line("jax.pure_callback(")
    assert (cause["phase"], cause["module"], cause["count"]) == ("fwd", "train", 3)
    assert cause["reaches"]["outputs"] == 0
    assert cause["hints"][0] == ("It calls draw, a function of the program whose results differ.")
    assert cause["records"] == [], "which generator it draws from is not known"
    assert cause["inherited"] == 5, "a sum and a product a turn, but for the first product"


@pytest.mark.nightly
def test_noise_in_a_gradient_has_the_line_of_the_forward_pass() -> None:
    cause = differing("gradient")
    assert (cause["op"], cause["phase"]) == ("jax::pure_callback", "bwd")
    assert cause["source"]["line"] == line("scaled(hidden)")


def test_what_a_function_takes_from_outside_is_one_cause() -> None:
    cause = differing("constant")
    assert (cause["kind"], cause["inputs"]) == ("outside-value", ["float32[4]"])
    assert cause["source"]["line"] == line("+ offsets")


@pytest.mark.nightly
def test_a_number_that_differs_is_an_argument_of_the_call() -> None:
    pair = [
        recorded(f"rate-{rate}", "learning_rate", rate, program="jax_train.py")
        for rate in ("0.1", "0.2")
    ]
    _code, found = json_diff(*pair)
    (cause,) = found["causes"]
    assert (cause["kind"], cause["op"], cause["argument"]) == ("argument", "train_step", "lr")
    assert (cause["a"], cause["b"]) == ("0.1", "0.2")
    assert cause["inherited"]


@pytest.mark.nightly
def test_the_rest_of_a_long_loop_is_one_op_and_so_is_a_loop_of_vmap() -> None:
    found = recorded("long", "long")
    assert found.records("u") == [["u", "loop"]]
    sites = {site[1]: site for site in found.records("S")}
    called = [sites[op[1]] for op in found.records("o")]
    at = max(number for number, site in enumerate(called) if site[6] == "turned")
    assert called[at][2] == "jax::while"
    assert [site[2] for site in called if site[6] == "halved"] == ["jax::while"], "of two loops"
    assert 20_000 < len(found.records("ov")) < 50_000


def test_without_the_option_functions_stay_whole() -> None:
    found = recorded("whole", "none", options="--level op")
    sites = {site[1]: site[2] for site in found.records("S")}
    called = [sites[op[1]] for op in found.records("o")]
    assert called == ["jax.random.key", "train", "train"]
    assert found.records("u") == [["u", "compiled"]]


def test_a_function_that_fails_fails_as_it_would_alone() -> None:
    found = recorded("raises", "raises")
    assert found.code == 1
    assert "ValueError: no noise today" in found.stderr
    assert "the ops of train" in found.errors


SCATTER = """
  ["S",1,"jax::scatter-add","","bwd","","train.Embed",["train.py",9,"loss"],["float32[6]"],"cuda"]
  ["M",1,"train"]
A ["o",1,"unique_indices=False, mode=CLIP",["aa.1"],["bb.2"]]
B ["o",1,"unique_indices=False, mode=CLIP",["aa.1"],["cc.2"]]
A ["m",1,["bb.2"]]
B ["m",1,["cc.2"]]
"""


def test_a_primitive_is_looked_up_in_the_records(tmp_path: Path) -> None:
    header = {"packages": {"jax": "0.10.2", "jaxlib": "0.10.2"}, "device": "cuda"}
    found = written(tmp_path, SCATTER, compiled="eager", **header)
    (cause,) = with_advice(open_knowledge_base(), found).causes
    assert cause.advice is not None
    assert cause.advice.query.startswith("jax.lax.scatter_add")
    assert (cause.advice.sources, cause.advice.solutions) == (["jax/scatter-add"], ["XDO"])


def test_the_ops_of_a_recording_can_be_asked_for(plain: Recorded) -> None:
    found = called_ops(open_knowledge_base(), plain.run)
    asked = {item.partition(":")[0] for item in found.items}
    assert {"jax.lax.dot_general", "jax.lax.gather", "jax.lax.scatter_add"} <= asked
    assert "train" not in {*asked, *found.unknown}


def test_what_runs_on_several_devices_is_one_op_and_said_to_be(tmp_path: Path) -> None:
    found = record(
        tmp_path,
        EAGER,
        jax_python(),
        "jax_devices.py",
        XLA_FLAGS="--xla_force_host_platform_device_count=2",
    )
    assert (found.code, found.errors) == (0, "")
    assert found.stdout.startswith("2 ")
    names = {site[1]: (site[2], site[6]) for site in found.records("S")}
    called = [names[line[1]] for line in found.records("o")]
    step = [("train", ""), ("jax::mul", "train"), ("jax::shard_map", "train"), ("evaluate", "")]
    assert called[:4] == step
    assert called[4][0] in ("jax::shard_map", "jax::xla_pmap")
    assert called[5:9] == step
    assert found.records("u") == [["u", "devices"]]
    outputs = [line[4][0] for line in found.records("o") if line[4]]
    assert len({output.partition(".")[0] for output in outputs}) == len(outputs)
