"""What every answer for a terminal promises, on the real knowledge base."""

from __future__ import annotations

import pytest

from d9m.api import advise
from d9m.environment.environment import Setup
from d9m.model.records import Scope
from d9m.render.advice.text import render
from d9m.render.interface import Answer
from d9m.render.page import WIDTH
from golden import flat, knowledge_base

COPIED = "  "
"""How lines to copy begin; they are as long as they must be."""


def shown(
    ops: list[str] | None = None,
    device: str = "cuda",
    scope: Scope = "run",
    everything: bool = False,
    width: int = WIDTH,
    **packages: str,
) -> tuple[str, list[str]]:
    """The text of an answer, and the queries of ops that do not repeat."""
    asked = Setup(packages=tuple(packages.items()), device=device)
    advice = advise(knowledge_base(), asked, ops, scope)
    answer = Answer(
        advice,
        knowledge_base(),
        named_ops=ops is not None,
        everything=everything,
        width=width,
    )
    page = render(answer).body
    assert not isinstance(page, str)
    return page.plain(), [op.query for op in advice.ops if op.outcome in ("raises", "unsolved")]


@pytest.mark.parametrize("width", [60, 80, 120])
@pytest.mark.parametrize(
    ("name", "version"),
    [
        ("tensorflow", "1.14"),
        ("tensorflow", "2.21"),
        ("torch", "1.8"),
        ("torch", "2.15"),
        ("jax", "0.10"),
    ],
)
def test_a_line_fits_the_terminal_unless_it_is_to_be_copied(
    name: str, version: str, width: int
) -> None:
    text, _open = shown(width=width, everything=True, **{name: version})
    long = [line for line in text.splitlines() if len(line) > width]
    assert [line for line in long if not line.startswith(COPIED)] == []


@pytest.mark.parametrize(
    ("name", "version"), [("tensorflow", "2.9"), ("torch", "2.10"), ("jax", "0.4.30")]
)
def test_every_op_that_does_not_repeat_has_a_line(name: str, version: str) -> None:
    text, open_ = shown(everything=True, **{name: version})
    assert open_
    head = flat(text.partition("Shell, before")[0])
    assert [query for query in open_ if query.rpartition(".")[2] not in head] == []


def test_an_op_that_no_record_names_is_not_promised_to_repeat() -> None:
    text, _open = shown(["index_add", "F.gelu"], torch="2.4")
    assert "gelu no record names a difference" in flat(text)
    assert "Both ops repeat with these settings, 1 of them as far as anybody knows." in flat(text)
    text, _open = shown(["F.gelu"], scope="hardware", torch="2.4")
    assert text.startswith("No record names a dependence on the machine of gelu")


def test_no_code_of_ours_reaches_a_reader() -> None:
    """Labels are ids of records: a reader sees the call or the variable instead."""
    labels = [f" {label}" for label in ("UDA", "CWC", "CWR", "CBO", "CDT", "EOD", "TDO")]
    text, _open = shown(everything=True, torch="2.4")
    assert [label for label in labels if label in text] == []


def test_a_note_stands_under_the_name_of_what_it_is_about() -> None:
    text, _open = shown(["conv", "index_add"], everything=True, torch="2.4")
    assert "use_deterministic_algorithms(True): It does not switch cuDNN benchmarking off" in flat(
        text
    )
