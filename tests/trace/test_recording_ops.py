"""What is recorded of each op, of one program that calls every kind."""

from __future__ import annotations

import json
import re
import subprocess
from pathlib import Path
from typing import Any, NamedTuple

import pytest
from recorded import PROGRAMS, Recorded, record, recording, torch_python
from written import opened

from d9m.trace.start import RecordingRequest, start

LETTER = re.compile(r"(?:[0-9a-f]{16}|-)([.uvnxr+])\d+")


class OpCalled(NamedTuple):
    """A record of an op, with its site."""

    op: str
    phase: str
    node: str
    module: str
    function: str | None
    line: int | None
    shapes: list[str]
    arguments: str
    inputs: list[str]
    outputs: list[str]
    generator: list[str] | None


@pytest.fixture(scope="module")
def exact() -> Recorded:
    return recording("ops-exact", "--level op --inputs exact", "ops.py")


def calls(recorded: Recorded) -> list[OpCalled]:
    sites: dict[int, Any] = {}
    found: list[OpCalled] = []
    for line in recorded.records("So"):
        if line[0] == "S":
            sites[line[1]] = line
        else:
            _, _, op, overload, phase, node, module, source, shapes, *_ = sites[line[1]]
            name = op.removeprefix("aten::") + (f".{overload}" if overload else "")
            _file, number, function = source or (None, None, None)
            rest = [*line[2:5], line[5] if len(line) > 5 else None]
            found.append(OpCalled(name, phase, node, module, function, number, shapes, *rest))
    return found


def of(recorded: Recorded, function: str) -> list[OpCalled]:
    return [call for call in calls(recorded) if call.function == function]


def letters(digests: list[str]) -> str:
    found = [LETTER.fullmatch(digest) for digest in digests]
    return "".join(match[1] if match else "?" for match in found)


def test_nothing_failed(exact: Recorded) -> None:
    assert (exact.code, exact.errors, exact.stdout) == (0, "", "")


def test_a_backward_op_has_the_place_of_its_forward(exact: Recorded) -> None:
    put, *more = [call for call in calls(exact) if call.op == "index_put"]
    index = next(call for call in calls(exact) if call.op == "index.Tensor")
    assert (put.phase, put.node, put.module) == ("bwd", "IndexBackward0", "Tagger.lookup")
    assert (put.function, put.line, put.arguments) == ("forward", index.line, "accumulate=True")
    assert put.shapes == ["float32[16, 4]", "int64[3]", "float32[3, 4]"]
    assert len(more) == 2
    assert "return self.table[i]" in (PROGRAMS / "ops.py").read_text().splitlines()[index.line - 1]


def test_what_an_op_read_is_what_another_wrote(exact: Recorded) -> None:
    ones, sums = of(exact, "values")[:2]
    assert ones.outputs == sums.inputs


@pytest.mark.parametrize(
    ("function", "op", "inputs"),
    [
        ("from_outside", "lift_fresh", ["n"]),
        ("from_outside", "add.Tensor", ["."]),
        ("written_by_numpy", "mul.Tensor", [".", "x", "."]),
        ("unwritten", "mul.Tensor", [".", "u", "v", "u"]),
        ("row_by_row", "mul.Tensor", ["."]),
        ("with_out", "add.out", ["."]),
    ],
)
def test_letters_say_who_wrote_an_input(
    exact: Recorded, function: str, op: str, inputs: list[str]
) -> None:
    found = [letters(call.inputs) for call in of(exact, function) if call.op == op]
    assert found == inputs


def test_a_part_that_was_written_is_marked(exact: Recorded) -> None:
    copies = [call for call in of(exact, "row_by_row") if call.op == "copy_"]
    assert [letters(call.outputs) for call in copies] == ["+", "+", "+"]
    assert [letters(call.inputs) for call in copies] == [".", ".", "."]


def test_new_memory_has_no_digest(exact: Recorded) -> None:
    made = next(call for call in of(exact, "unwritten") if call.op.startswith("empty"))
    assert made.outputs[0].startswith("-.")


def test_random_ops_name_their_generator(exact: Recorded) -> None:
    rand, _ones, _empty, bernoulli, div, _mul = of(exact, "dropped")
    assert rand.generator is not None
    assert rand.generator[0] == "5"
    assert bernoulli.generator is not None
    assert re.fullmatch(r"\d+", bernoulli.generator[0])
    assert bernoulli.inputs == []
    assert (div.generator, div.arguments) == (None, "other=0.5")


def test_values_that_the_program_took_are_written_down(exact: Recorded) -> None:
    texts = [line[2] for line in exact.records("v")]
    assert texts[:3] == ["3.0", "False", "True"]


def test_views_are_not_recorded(exact: Recorded) -> None:
    assert [call.op for call in of(exact, "views")] == ["ones"]


def test_strides_are_part_of_a_shape(exact: Recorded) -> None:
    shapes = [call.shapes for call in of(exact, "transposed") if call.op == "add.Tensor"]
    assert shapes == [["float32[6, 4] strides [1, 6]"], ["float32[6, 2] strides [6, 1]"]]


def test_recomputation_is_a_separate_phase(exact: Recorded) -> None:
    found = [(call.op, call.phase) for call in of(exact, "<lambda>")]
    forward, again = found[:2], found[2:4]
    assert forward == [("sin", "fwd"), ("exp", "fwd")]
    assert again == [("sin", "recompute"), ("exp", "recompute")]
    assert {phase for _op, phase in found[4:]} == {"bwd"}


def test_gradients_of_gradients_are_no_recomputation(exact: Recorded) -> None:
    assert {call.phase for call in of(exact, "twice_differentiated")} == {"fwd", "bwd"}


def test_a_subclass_takes_itself_apart(exact: Recorded) -> None:
    assert [call.op for call in calls(exact) if call.function == "__torch_dispatch__"] == ["cos"]


def test_sparse_tensors_are_followed_by_their_values(exact: Recorded) -> None:
    eye, to_sparse, mul = of(exact, "sparse")
    assert re.fullmatch(r"[0-9a-f]{16}\.\d+", mul.inputs[0])
    assert mul.inputs[0] == to_sparse.outputs[0]
    assert eye.outputs[0] != mul.inputs[0]


@pytest.mark.parametrize("op", ["_fused_adamw_", "_foreach_addcdiv_.ScalarList", "addcdiv_"])
def test_optimizers_show_what_they_write(exact: Recorded, op: str) -> None:
    found = [call for call in calls(exact) if call.op == op]
    assert {(call.phase, call.module) for call in found} == {("opt", "AdamW")}
    written = {digest for call in found for digest in call.outputs}
    updated = [set(line[2]) for line in exact.records("p")]
    assert any(parameters <= written for parameters in updated)


def test_a_number_in_the_place_of_a_tensor_is_an_argument(exact: Recorded) -> None:
    decay = next(call for call in of(exact, "trained") if call.op == "mul_.Tensor")
    assert decay.arguments == "other=0.9999"


def test_states_name_the_storages_that_ops_name(exact: Recorded) -> None:
    first = exact.records("g")[0]
    put = next(call for call in calls(exact) if call.op == "index_put")
    assert first[2][0] == put.outputs[0]


def test_cached_inputs_are_those_that_were_seen(exact: Recorded, tmp_path: Path) -> None:
    cached = record(tmp_path, "--level op --steps :0", torch_python(), "ops.py")
    assert [line[1] for line in cached.records("d")] == [0]
    every, few = calls(exact), calls(cached)
    differ = [
        (one.function, letters(one.inputs), letters(other.inputs))
        for one, other in zip(every, few)
        if one.inputs != other.inputs and one.function != "unwritten" and one.node == ""
    ]
    assert differ[0] == ("written_by_numpy", "x", "."), "only exact inputs show what NumPy writes"


def test_a_batch_that_comes_from_a_worker_is_no_op(tmp_path: Path) -> None:
    found = record(tmp_path, "--level op", torch_python(), "loaders.py")
    assert (found.code, found.errors) == (0, "")
    assert len(found.records("b")) == 4
    sources = [line[7] for line in found.records("S")]
    assert sources
    assert not [source for source in sources if source and source[0] == "queues.py"]


@pytest.mark.nightly
def test_a_program_that_compiles_still_does(tmp_path: Path) -> None:
    found = record(tmp_path, "--level op", torch_python(), "compiled.py")
    assert (found.code, found.errors) == (0, "")
    alone = subprocess.run(
        [torch_python(), "compiled.py"], cwd=PROGRAMS, capture_output=True, text=True, check=True
    )
    assert found.stdout == alone.stdout
    assert "graphs 1 breaks 0\n" in found.stdout
    assert found.stderr.startswith("d9m: 1 process, 3 steps"), "a warning of torch's"


def test_a_fault_of_the_recorder_stays_inside(tmp_path: Path) -> None:
    (tmp_path / "sitecustomize.py").write_text(FAULTS)
    found = record(tmp_path, "--level op", torch_python(), "train.py", PYTHONPATH=str(tmp_path))
    assert (found.code, found.stdout.split()[0]) == (3, "loss")
    assert "recording was incomplete" in found.stderr
    planted = set(re.findall("planted in (\\w+)", found.errors))
    assert planted == {
        "read", "view", "_write_losses", "_write_before", "_write", "leaves", "states"
    }  # fmt: skip
    alone = recording("step-plain", "", "train.py")
    assert found.stdout == alone.stdout


@pytest.mark.nightly
def test_a_fault_at_the_border_of_a_module_or_a_graph_stays_inside(tmp_path: Path) -> None:
    plants = FAULTS.partition("\nplant(")[0]
    plants += 'plant(module("torch.modules")._Names, "number")\n'
    plants += 'plant(module("torch.compiled"), "is_tensor")\n'
    (tmp_path / "sitecustomize.py").write_text(plants)
    python = torch_python()
    options = "--level module"
    found = record(tmp_path / "m", options, python, "ops.py", PYTHONPATH=str(tmp_path))
    assert (found.code, found.stdout) == (0, "")
    assert "planted in number" in found.errors
    found = record(tmp_path / "g", options, python, "graph.py", PYTHONPATH=str(tmp_path))
    assert (found.code, found.stdout[-23:]) == (0, " [128.0, 128.0, 128.0]\n")
    assert "planted in is_tensor" in found.errors


FAULTS = '''
"""Makes the hooks of the recorder fail once it is there: the user's own sitecustomize runs last."""

import importlib
import sys


def plant(where, name):
    def fail(*arguments, **named):
        raise RuntimeError("planted in " + name)
    setattr(where, name, fail)


def module(name):
    return importlib.import_module("_d9m_recorder." + name)


plant(module("torch.memory").Memories, "read")
plant(module("torch.place").Places, "view")
plant(module("torch.steps").Steps, "_write_losses")
plant(module("torch.steps").Steps, "_write_before")
plant(module("torch.steps").Steps, "_write")
plant(module("torch.batches"), "leaves")
plant(module("core.generators"), "states")
'''


def test_modules_show_what_they_return_and_what_comes_back(tmp_path: Path) -> None:
    found = record(tmp_path, "--level module", torch_python(), "ops.py")
    assert (found.code, found.errors) == (0, "")
    names = {line[1]: line[2] for line in found.records("M")}
    first = found.records("mhg")[:7]
    order = [(line[0], names.get(line[1])) for line in first]
    assert order == [
        ("m", "Tagger.lookup"), ("m", "Tagger.out"), ("m", "Tagger"),
        ("h", "Tagger"), ("h", "Tagger.out"), ("h", "Tagger.lookup"), ("g", None),
    ]  # fmt: skip
    ops = recording("ops-exact", "--level op --inputs exact", "ops.py")
    assert [line[1] for line in found.records("p")] == [line[1] for line in ops.records("p")]


def test_ops_of_some_modules_are_recorded_with_what_encloses_them(tmp_path: Path) -> None:
    found = record_request(
        tmp_path, RecordingRequest(level="op", stop=1, modules=("FilledNet.memory.0",))
    )
    modules = {line[6] for line in found if line[0] == "S"}
    assert {"FilledNet.memory.0", "FilledNet"} <= modules
    assert not [module for module in modules if module.startswith("FilledNet.filler")]
    assert "SGD" not in modules
    whole = record_request(tmp_path / "all", RecordingRequest(level="op", stop=1))
    assert {"FilledNet.filler.0", "FilledNet.filler.1"} < {
        line[6] for line in whole if line[0] == "S"
    }


def test_parameters_are_named_where_modules_are_recorded(tmp_path: Path) -> None:
    found = record_request(tmp_path, RecordingRequest(level="module", stop=1))
    (names,) = [line[1] for line in found if line[0] == "P"]
    assert names == [
        "FilledNet.filler.1.weight",
        "FilledNet.filler.1.bias",
        "FilledNet.memory.0.rows",
    ]


def record_request(path: Path, request: RecordingRequest) -> list[Any]:
    """The records of `modules.py` with a request that only hunt has."""
    ending = start([torch_python(), str(PROGRAMS / "modules.py")], path / "run", request)
    assert ending.code == 0
    assert not (path / "run" / "errors.txt").exists()
    (stream,) = (path / "run").glob("*.d9m")
    lines = [json.loads(line) for line in opened(stream)]
    return [line for line in lines if isinstance(line, list)]
