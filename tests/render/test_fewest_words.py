"""Several clauses of which one must hold, in as few words as say the same."""

from __future__ import annotations

from typing import Any

import pytest

from d9m.model.when import Range
from d9m.render import phrases
from golden import knowledge_base

AMPERE = {"sm": Range(from_="80")}
HOPPER, OLDER = {"sm": Range(from_="90")}, {"sm": Range(until="90")}


@pytest.mark.parametrize(
    ("clauses", "said"),
    [
        ([HOPPER], "on Hopper GPUs or newer"),
        ([HOPPER, OLDER], ""),
        (
            [{"tensor_parallel": "true", **HOPPER}, {"sm": Range(from_="80")}],
            "on Ampere GPUs or newer",
        ),
        (
            [{"torch": Range(from_="2.1", until="2.4")}, {"torch": Range(from_="2.1")}],
            "with PyTorch 2.1 or newer",
        ),
        (
            [
                {"tensor_parallel": "true", **HOPPER},
                {"online_serving": "true", **AMPERE},
                {"online_serving": "false", **AMPERE},
            ],
            "on Ampere GPUs or newer",
        ),
        ([{"training": "true"}, {"training": "false"}], ""),
        ([{"xla": "true", **HOPPER}, {"xla": "true", **OLDER}], "with XLA"),
        ([{"torch": Range(until="2.1")}, {"torch": Range(from_="2.3")}], None),
        ([{"torch": Range(until="2.1")}, {"torch": Range(from_="2.1")}], "with PyTorch"),
    ],
)
def test_what_leaves_nothing_out_is_not_said(clauses: list[Any], said: str | None) -> None:
    found = phrases.conditions(knowledge_base(), clauses)
    if said is None:
        assert ", or " in found
    else:
        assert found == said
