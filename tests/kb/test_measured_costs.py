"""What a run says of time is part of the answers for machines like it: a played run, with numbers
made for the test."""

from __future__ import annotations

from typing import Any

import msgspec
import pytest

from d9m.api import advise
from d9m.environment.environment import Setup
from d9m.kb.build import build
from d9m.kb.store import KnowledgeBase
from d9m.kb.yaml_files import Loaded, Records, load
from d9m.model.advice import Advice
from d9m.model.runs import Bounds, Gpu, Observation, Run, Seen
from d9m.render.advice import text
from d9m.render.interface import Answer
from golden import KB

H200 = Gpu("NVIDIA H200", "570.86", "9.0", 132, 150 << 30, False)
ADVISED = {"torch.use_deterministic_algorithms(True)": "True", "CUBLAS_WORKSPACE_CONFIG": ":4096:8"}


def seen(seconds: float, spread: float = 0.01) -> Seen:
    quartiles = (seconds * (1 - spread), seconds * (1 + spread))
    return Seen(
        repeats=96, processes=3, distinct=1, differing=0, seconds=seconds, quartiles=quartiles
    )


def call(name: str, source: str | None, default: Seen, advised: Seen, **more: Any) -> Observation:
    fields = {"verdict": "no-difference-seen", "dtype": "float32", "cost": None, **more}
    return Observation(
        probe=f"torch/{name}", source=source, op=name, direction="forward", case={"n": 1},
        bounds=Bounds(0.03, 0.78), arms={"default": default, "advised": advised}, **fields,
    )  # fmt: skip


CALLS = [
    call("mm", None, seen(2.0), seen(2.0)),
    call("index-add", "pytorch/index-add", seen(0.1), seen(0.14)),
    call("index-add-rows", "pytorch/index-add", seen(0.1), seen(0.3)),
    call("scatter-add", "pytorch/scatter-add", seen(0.3, 0.3), seen(0.33, 0.3)),
    call("put", "pytorch/put", seen(0.1), seen(9.0), verdict="inconclusive"),
]
"""2.5 seconds without settings, 2.77 with them."""


def run(calls: list[Observation], release: str = "2.11.0+cu128", **changes: Any) -> Run:
    fields = {"gpus": [H200], "settings": ADVISED, **changes}
    return Run(
        schema_version=3, tool="d9m 0.1.0", kb_date="2026-11-22", date="2026-11-22", device="cuda",
        cpu="", threads=16, container=None, packages={"torch": release, "cuda": "12.8"},
        frameworks={"torch": {"device": "NVIDIA H200"}}, observations=calls, **fields,
    )  # fmt: skip


@pytest.fixture(scope="module")
def records() -> Records:
    return load(KB)


def with_runs(records: Records, *runs: Run) -> KnowledgeBase:
    played = [Loaded("runs", f"played-{number}", "", run, {}) for number, run in enumerate(runs)]
    return build(msgspec.structs.replace(records, loaded=[*records.loaded, *played]))


@pytest.fixture(scope="module")
def played(records: Records) -> KnowledgeBase:
    return with_runs(records, run(CALLS))


def asked(kb: KnowledgeBase, torch: str = "2.11", device: str = "cuda") -> Advice:
    setup = Setup((("torch", torch),), device=device)
    return advise(kb, setup, ["index_add", "scatter_add"])


def prices(advice: Advice) -> list[tuple[str, str | None]]:
    """What the answer says that a run measured."""
    priced = (*advice.solutions, *advice.sources().values())
    found: list[tuple[str, str | None]] = []
    for one in priced:
        found += [(price.text, price.factor) for price in one.costs if "measured on" in price.text]
    return found


PLACE = "measured on NVIDIA H200 with PyTorch 2.11.0"


def test_an_answer_says_what_a_run_measured(played: KnowledgeBase) -> None:
    assert prices(asked(played)) == [
        (f"about 11 % slower in all, {PLACE} (4 calls, all advised settings)", "1.11"),
        (f"1.4 to 3 times as long with the advised settings, {PLACE}", "3"),
    ], "the scatter's times lie within their own spread, and the put had no verdict"


def test_a_reader_sees_it_in_the_notes(played: KnowledgeBase) -> None:
    page = text.render(Answer(asked(played), played, everything=True))
    plain = " ".join(page.body.plain().split())
    assert f"torch.use_deterministic_algorithms(True): about 11 % slower in all, {PLACE}" in plain
    assert "index_add: 1.4 to 3 times as long with the advised settings" in plain


@pytest.mark.parametrize(("torch", "device"), [("2.10", "cuda"), ("2.11", "cpu")])
def test_what_was_not_measured_has_no_measured_price(
    played: KnowledgeBase, torch: str, device: str
) -> None:
    assert prices(asked(played, torch, device)) == []


def test_a_newer_run_of_the_same_machine_takes_over(records: Records) -> None:
    newer = [call("mm", None, seen(2.0), seen(1.9))]
    kb = with_runs(records, run(CALLS), run(newer, "2.13.0"))
    assert [price[0][:11] for price in prices(asked(kb, "2.12"))] == ["about 11 % ", "1.4 to 3 ti"]
    (price,) = prices(asked(kb, "2.13"))
    assert price[0].startswith("about 5 % faster in all, measured on NVIDIA H200 with PyTorch 2.13")


def test_a_total_within_the_spread_is_called_neither_slower_nor_faster(records: Records) -> None:
    noisy = [call("mm", None, seen(2.0, 0.5), seen(2.2, 0.5))]
    (price,) = prices(asked(with_runs(records, run(noisy))))
    assert price[0].startswith("neither slower nor faster in all than the same calls vary")


def test_a_run_that_made_no_solution_says_nothing_in_all(records: Records) -> None:
    seeds = run(CALLS, settings={"PYTHONHASHSEED": "0"})
    found = prices(asked(with_runs(records, seeds)))
    assert [price[0][:8] for price in found] == ["1.4 to 3"]
