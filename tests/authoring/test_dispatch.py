"""The tracer of PyTorch's ops says which argument decides, and its traces make one catalogue."""

from __future__ import annotations

import importlib.util
from pathlib import Path
from types import ModuleType
from typing import Any

import pytest

from d9m.authoring.collect.dispatch import add_trace
from d9m.errors import DataError
from d9m.kb import locate
from d9m.model.dispatch_facts import DispatchCatalogue, DispatchTrace
from d9m.model.wheel_facts import canonical, read

SCRIPT = Path(__file__).parents[1] / "dispatch" / "torch_ops.py"


@pytest.fixture(scope="module")
def tracer() -> ModuleType:
    spec = importlib.util.spec_from_file_location("dispatch_trace", SCRIPT)
    assert spec is not None
    assert spec.loader is not None
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    return module


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
    tracer: ModuleType, reaching: list[Any], others: list[Any], decides: str
) -> None:
    assert tracer.deciding(reaching, [*reaching, *others]) == decides


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


def test_a_call_has_the_name_that_it_begins_with_or_that_stands_before_it(
    tracer: ModuleType,
) -> None:
    text = "# a comment\ntorch.celu(x)\ntorch.Tensor.dim: x.dim()\ntorch.celu(y)\n"
    assert tracer.called_lines(text) == {
        "torch.celu": ["torch.celu(x)", "torch.celu(y)"],
        "torch.Tensor.dim": ["x.dim()"],
    }


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
        (tmp_path / "trace.json").write_bytes(canonical(trace))
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
    (tmp_path / "trace.json").write_bytes(canonical(OLD))
    with pytest.raises(DataError, match="a catalogue of jax, not of torch"):
        add_trace(file, tmp_path / "trace.json")
    with pytest.raises(DataError, match="no such file"):
        add_trace(file, tmp_path / "absent.json")


def test_the_catalogue_that_is_kept_is_as_d9m_writes_it() -> None:
    file = locate.folder() / "evidence/dispatch-torch.json"
    catalogue: DispatchCatalogue = read(file, DispatchCatalogue)
    assert catalogue.encoded() == file.read_bytes()
    for trace in catalogue.traces():
        assert "scatter_add" in trace.ops["torch.gather"]["backward"]
        bicubic = trace.ops["torch.nn.functional.interpolate"]["backward"]
        assert bicubic["upsample_bicubic2d_backward"].endswith("=bicubic")
        assert "torch.Generator" in trace.idle
        assert "torch.optim.SGD" in trace.ops
        assert not any(trace.ops["torch.is_tensor"].values())
