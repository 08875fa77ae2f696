"""The tracers of ops say which argument decides, and their traces make one catalogue."""

from __future__ import annotations

import importlib
import json
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path
from types import ModuleType
from typing import Any

import pytest

from d9m.authoring.collect.dispatch import add_trace
from d9m.errors import DataError
from d9m.kb import locate
from d9m.model.dispatch_facts import DispatchCatalogue, DispatchTrace
from d9m.model.wheel_facts import read

SCRIPTS = Path(__file__).parents[1] / "dispatch"
JAX = Path(__file__).parents[2] / "build/frameworks/jax-0.10.2/bin/python"
ADDING = {
    "dot_general",
    "gather",
    "reduce_sum",
    "reduce_sum[dtype=int32]",
    "scatter-add",
    "scatter-add[duplicate_indices=false]",
}
"""Primitives that the samples of JAX are asked about."""
TENSORFLOW = JAX.parents[2] / "tensorflow-2.21.0/bin/python"
OPERATIONS = {
    "BiasAddGrad",
    "Cos",
    "GatherNd",
    "GatherV2",
    "ScatterNd",
    "SegmentSum[dtype=int32]",
    "Sin",
    "UnsortedSegmentSum",
}
"""Operations that the samples of TensorFlow are asked about."""


@pytest.fixture(scope="module")
def tracer() -> Iterator[ModuleType]:
    sys.path.insert(0, str(SCRIPTS))
    yield importlib.import_module("torch_ops")
    sys.path.remove(str(SCRIPTS))


@pytest.fixture(scope="module")
def samples() -> Iterator[ModuleType]:
    sys.path.insert(0, str(SCRIPTS))
    yield importlib.import_module("samples")
    sys.path.remove(str(SCRIPTS))


AREA = {"mode": "area", "ndim": "4", "1": "2"}
LINEAR = {"mode": "linear", "ndim": "3", "1": "2"}
CUBIC = {"mode": "bicubic", "ndim": "4", "1": "3"}


@pytest.mark.parametrize(
    ("reaching", "others", "decides"),
    [
        ([AREA, LINEAR], [], ""),
        ([AREA, LINEAR], [CUBIC], "mode=area|linear"),
        ([{"ndim": "3", "1": "2"}], [{"ndim": "4", "1": "3"}], "ndim=3"),
        ([{"ndim": "3", "1": "2"}], [{"ndim": "3", "1": "3"}], "1=2"),
        ([{"ndim": "3"}], [{"ndim": "3"}], "?"),
        ([{"dim": "1", "ndim": "3"}, {"ndim": "4"}], [{"ndim": "3"}], "?"),
        ([{"0": str(each)} for each in range(5)], [{"0": "9"}], "?"),
    ],
)
def test_an_argument_decides_if_its_values_tell_the_samples_apart(
    samples: ModuleType, reaching: list[Any], others: list[Any], decides: str
) -> None:
    assert samples.deciding(reaching, [*reaching, *others]) == decides


def test_a_sample_that_fails_counts_as_none_and_another_is_still_traced(
    tracer: ModuleType, monkeypatch: pytest.MonkeyPatch
) -> None:
    def run(call: Any) -> Any:
        return call()

    def prepared(forward: set[str], backward: set[str], works: bool = True) -> Any:
        def prepare(meta: bool) -> Any:
            if meta or not works:
                raise NotImplementedError
            return lambda: (forward, backward)

        return prepare

    monkeypatch.setattr(tracer, "run", run)
    samples = [
        ({"mode": "sum"}, prepared({"add"}, {"scatter_add"})),
        ({"mode": "max"}, prepared({"add"}, set())),
        ({"mode": "fails"}, prepared({"mul"}, set(), works=False)),
    ]
    assert tracer.traced(samples) == {
        "forward": {"add": ""},
        "backward": {"scatter_add": "mode=sum"},
    }


def test_an_op_of_which_no_sample_runs_is_not_traced(tracer: ModuleType) -> None:
    def prepare(_meta: bool) -> Any:
        raise NotImplementedError

    assert tracer.traced([({}, prepare)]) is None


def test_a_call_has_the_name_that_it_begins_with_or_that_precedes_it(
    samples: ModuleType,
) -> None:
    text = "# a comment\ntorch.celu(x)\ntorch.Tensor.dim: x.dim()\ntorch.celu(y)\n"
    assert samples.called_lines(text, "torch") == {
        "torch.celu": ["torch.celu(x)", "torch.celu(y)"],
        "torch.Tensor.dim": ["x.dim()"],
    }


def test_samples_say_which_argument_decides_in_each_direction(samples: ModuleType) -> None:
    nearest, linear = samples.features("r(x, 'nearest')"), samples.features("r(x, how='linear')")
    assert (nearest, linear) == ({"0": "x", "1": "'nearest'"}, {"0": "x", "how": "linear"})
    assert samples.ways(
        [(nearest, {"forward": {"gather"}, "backward": set[str]()}), (linear, {"forward": {"dot"}})]
    ) == {"forward": {"dot": "how=linear", "gather": "1='nearest'"}}
    assert samples.used_names("f(lambda a: m @ a, v)") == {"f", "m", "a", "v"}
    assert samples.guesses("# text\n* (x)\n* (x, y)\njax.f(x)\n") == ["(x)", "(x, y)"]


TRACED: dict[str, tuple[set[str], set[str] | None]] = {
    "jnp.take(v, i)": ({"gather"}, {"scatter-add"}),
    "v.at[i].add(w, unique_indices=True)": ({"scatter-add[duplicate_indices=false]"}, {"gather"}),
    "jnp.sum(j)": ({"reduce_sum[dtype=int32]"}, None),
    "jnp.expand_dims(v, 0)": (set(), set()),
    "jnp.broadcast_to(v, (3, 4))": (set(), {"reduce_sum"}),
    "lax.fori_loop(0, 3, lambda i, a: a @ m, m)": ({"dot_general"}, {"dot_general"}),
    "jnp.linalg.eig(m)": (set(), None),
}
"""A call of JAX -> which of the primitives that add it ends in, forward and backward: an axis of
length one is no sum, a loop is looked into, and what has no gradient is traced forward."""


TRACED_IN_GRAPHS: dict[str, tuple[set[str], set[str] | None]] = {
    "tf.gather_nd(x, [[0, 1], [0, 1]])": ({"GatherNd"}, {"ScatterNd"}),
    "tf.gather(v, i)": ({"GatherV2"}, {"UnsortedSegmentSum"}),
    "tf.keras.layers.Dense(3)(x)": (set(), {"BiasAddGrad"}),
    "tf.map_fn(tf.sin, x)": ({"Sin"}, {"Cos"}),
    "tf.argmax(x)": (set(), None),
    "tf.math.segment_sum(j, [0, 1, 1])": ({"SegmentSum[dtype=int32]"}, None),
}
"""The same for TensorFlow: sparse gradients are made dense, layers are made before, and loops and
functions of a graph are looked into."""


@pytest.mark.parametrize(
    ("python", "script", "calls", "operators"),
    [
        (JAX, "jax_ops", TRACED, ADDING),
        (TENSORFLOW, "tensorflow_ops", TRACED_IN_GRAPHS, OPERATIONS),
    ],
)
def test_a_function_is_traced_with_its_gradient(
    python: Path,
    script: str,
    calls: dict[str, tuple[set[str], set[str] | None]],
    operators: set[str],
) -> None:
    if not python.exists():
        pytest.skip(f"needs {python.parents[1]}")
    program = (
        f"import json, {script} as script; known = script.arguments()\n"
        f"for line in {list(calls)!r}:\n"
        "    ways = script.reached(line, known, False)\n"
        "    print(json.dumps({way: sorted(names) for way, names in ways.items()}))"
    )
    command = [python, "-c", program]
    done = subprocess.run(command, cwd=SCRIPTS, capture_output=True, check=True, text=True)
    for (line, expected), printed in zip(calls.items(), done.stdout.splitlines(), strict=True):
        ways = json.loads(printed)
        found = {way: operators & {*names} for way, names in ways.items()}
        assert (line, found["forward"], found.get("backward")) == (line, *expected)


OLD = DispatchTrace(
    "torch",
    "2.0.1",
    {"torch.sgn": {"forward": {"sgn": ""}}, "torch.gone": {"forward": {"sgn": ""}}},
    {"torch.signum": "torch.sgn"},
    ["torch.dtype"],
)
NEW = DispatchTrace(
    "torch",
    "2.2.2",
    {"torch.sgn": {"forward": {"sgn": "", "mul": ""}}},
    {"torch.signum": "torch.sgn"},
    ["torch.dtype", "torch.layout"],
)


def test_a_catalogue_gives_back_each_trace_in_any_order_that_they_came(tmp_path: Path) -> None:
    file = tmp_path / "dispatch-torch.json"
    for trace in (NEW, OLD, OLD):
        (tmp_path / "trace.json").write_bytes(trace.encoded())
        file.write_bytes(add_trace(file, tmp_path / "trace.json").encoded())
    catalogue: DispatchCatalogue = read(file, DispatchCatalogue)
    assert list(catalogue.traces()) == [OLD, NEW]
    assert catalogue.aliases == {"2.0.1..": {"torch.signum": "torch.sgn"}}
    around = {version: [each.version for each in catalogue.around(version)] for version in SPAN}
    assert around == SPAN


SPAN = {"1.13.1": ["2.0.1"], "2.0.1": ["2.0.1"], "2.1.2": ["2.0.1", "2.2.2"], "2.15.0": ["2.2.2"]}


def test_a_trace_of_another_package_or_none_is_refused(tmp_path: Path) -> None:
    file = tmp_path / "dispatch-jax.json"
    file.write_bytes(DispatchCatalogue("jax").encoded())
    (tmp_path / "trace.json").write_bytes(OLD.encoded())
    with pytest.raises(DataError, match="a catalogue of jax, not of torch"):
        add_trace(file, tmp_path / "trace.json")
    with pytest.raises(DataError, match="no such file"):
        add_trace(file, tmp_path / "absent.json")


@pytest.mark.parametrize("package", ["torch", "jax", "tensorflow"])
def test_the_catalogue_that_is_kept_is_as_d9m_writes_it(package: str) -> None:
    file = locate.folder() / f"evidence/dispatch-{package}.json"
    assert read(file, DispatchCatalogue).encoded() == file.read_bytes()


def test_the_traces_of_jax_hold_gradients_and_what_decides() -> None:
    catalogue: DispatchCatalogue = read(
        locate.folder() / "evidence/dispatch-jax.json", DispatchCatalogue
    )
    assert catalogue.releases == ["0.4.30", "0.5.3", "0.10.2"]
    for trace in catalogue.traces():
        assert len(trace.ops) > 850
        take = trace.ops["jax.numpy.take"]["backward"]
        assert take["scatter-add[duplicate_indices=false]"] == "unique_indices=True"
        resize = trace.ops["jax.image.resize"]["backward"]
        assert resize["scatter-add"] == "2='nearest'"
        assert "jax.numpy.float32" in trace.idle


def test_the_traces_of_tensorflow_hold_gradients_and_what_decides() -> None:
    catalogue: DispatchCatalogue = read(
        locate.folder() / "evidence/dispatch-tensorflow.json", DispatchCatalogue
    )
    assert catalogue.releases == ["2.21.0"]
    (trace,) = catalogue.traces()
    assert len(trace.ops) > 700
    assert trace.ops["tf.image.resize"]["backward"]["ResizeNearestNeighborGrad"] == "2='nearest'"
    assert "ScatterNd" in trace.ops["tf.gather_nd"]["backward"]
    assert "BiasAddGrad" in trace.ops["tf.keras.layers.Dense"]["backward"]
    assert trace.aliases["tf.compat.v1.matmul"] == "tf.matmul"
    assert "tf.DType" in trace.idle


def test_the_traces_of_torch_hold_gradients_and_what_decides() -> None:
    catalogue: DispatchCatalogue = read(
        locate.folder() / "evidence/dispatch-torch.json", DispatchCatalogue
    )
    for trace in catalogue.traces():
        assert "scatter_add" in trace.ops["torch.gather"]["backward"]
        bicubic = trace.ops["torch.nn.functional.interpolate"]["backward"]
        assert bicubic["upsample_bicubic2d_backward"].endswith("=bicubic")
        assert "torch.Generator" in trace.idle
        assert "torch.optim.SGD" in trace.ops
        assert not any(trace.ops["torch.is_tensor"].values())
