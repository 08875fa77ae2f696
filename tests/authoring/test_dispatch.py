"""The tracer of PyTorch's ops says which argument decides, and writes a file that d9m reads."""

from __future__ import annotations

import importlib.util
from pathlib import Path
from types import ModuleType
from typing import Any

import pytest

from d9m.kb import locate
from d9m.model.dispatch_facts import DispatchTrace
from d9m.model.wheel_facts import canonical, read

SCRIPT = Path(__file__).parents[1] / "dispatch" / "trace.py"


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


def test_the_file_that_it_wrote_is_kept_as_d9m_writes_files() -> None:
    files = sorted(locate.folder().glob("evidence/dispatch/*.json"))
    assert files
    for file in files:
        trace: DispatchTrace = read(file, DispatchTrace)
        assert canonical(trace) == file.read_bytes()
        assert "scatter_add" in trace.ops["torch.gather"]["backward"]
        assert (
            trace.ops["torch.nn.functional.interpolate"]["backward"]["upsample_bicubic2d_backward"]
            == "mode=bicubic"
        )
