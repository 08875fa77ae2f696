"""No verdict from a prober that misses what every CPU shows."""

from __future__ import annotations

import os
import sys
from pathlib import Path

import msgspec
import pytest
from forked_interpreter import forked_python
from machines import d9m
from test_ranks import report

from d9m.check import trust
from d9m.check.result import ProofResults, Report

ONE_THREAD = "import torch\ntorch.set_num_threads(1)\ntorch.set_num_threads = lambda _count: None\n"
"""A PyTorch on which nothing meets: what must vary does not."""


def seen(default: str | None = None, **changed: bool | None) -> Report:
    """A report on the op of the self-test; by default, it varies without the settings and is fixed
    by them.
    """
    probe = report(default).probes[0]
    varies = msgspec.structs.replace(probe.arms["default"], distinct=1 if default else 9)
    arms = {"default": varies, "advised": report("a").probes[0].arms["default"]}
    proofs = ProofResults(
        **{"control": True, "order": True, "planted": True, "value": None, **changed}
    )
    made = {
        "id": trust.VARIES,
        "device": "cpu",
        "expected": "solved",
        "arms": arms,
        "proofs": proofs,
    }
    return msgspec.structs.replace(report(), probes=[msgspec.structs.replace(probe, **made)])


def test_the_facts_hold_where_the_prober_sees() -> None:
    assert [each.holds for each in trust.facts(seen().probes[0])] == [True] * 5
    assert trust.missed(seen().probes) == []


@pytest.mark.parametrize(
    ("told", "fact"),
    [
        (seen("a"), "index_put(accumulate=True) differs without settings"),
        (seen(control=False), "with unique indices it is deterministic"),
        (seen(order=False), "another order of inputs changes the result"),
        (seen(planted=False), "a planted change of 1 ulp is seen"),
    ],
)
def test_a_prober_that_misses_something_is_not_trusted(told: Report, fact: str) -> None:
    assert [each.text for each in trust.facts(told.probes[0]) if not each.holds] == [fact]
    assert trust.missed(told.probes) == [fact]


def test_advice_that_does_not_fix_it_is_a_finding_and_no_reason_for_distrust() -> None:
    probe = seen().probes[0]
    broken = msgspec.structs.replace(probe, arms={**probe.arms, "advised": probe.arms["default"]})
    assert [each.holds for each in trust.facts(broken)] == [True, True, True, True, False]
    assert trust.missed([broken]) == []


@pytest.mark.parametrize(
    "changed", [{"expected": "deterministic"}, {"device": "cuda"}, {"id": "torch/sum"}]
)
def test_only_what_is_known_to_vary_can_be_missed(changed: dict[str, str]) -> None:
    assert trust.missed([msgspec.structs.replace(seen("a").probes[0], **changed)]) == []


@pytest.mark.parametrize("dtype", ["float64", "float16", "bfloat16"])
def test_a_type_that_is_added_in_one_thread_is_no_reason_for_distrust(dtype: str) -> None:
    quiet = msgspec.structs.replace(seen("a").probes[0], dtype=dtype)
    assert trust.missed([quiet]) == []
    assert trust.missed([quiet, msgspec.structs.replace(quiet, dtype="float32")]) != []


def test_a_run_that_was_cut_short_is_no_reason_for_distrust() -> None:
    assert trust.missed(seen("a", control=None).probes) == []


def test_the_self_test_says_what_is_missed(tmp_path: Path) -> None:
    torch = forked_python("torch-2.13.0")
    (tmp_path / "sitecustomize.py").write_text(ONE_THREAD)
    blind = {"PYTHONPATH": os.pathsep.join([str(tmp_path), *sys.path]), "PYTHONHASHSEED": "0"}
    ran = d9m("--python", torch, "--selftest", env=blind)
    assert ran.returncode == 4
    assert "✗ index_put(accumulate=True) differs without settings: 0 of 31" in ran.stdout
