"""What every answer for a terminal promises, on the real knowledge base."""

from __future__ import annotations

import pytest

from d9m.api import advise
from d9m.environment.environment import Setup
from d9m.model.records import Scope
from d9m.render.advice.text import render
from d9m.render.page import WIDTH
from golden import flat, knowledge_base

COPIED = "     "
"""How lines to copy begin; they are as long as they must be."""


def shown(
    ops: list[str] | None = None, device: str = "cuda", scope: Scope = "run", **packages: str
) -> tuple[str, list[str]]:
    """The text of an answer, and the queries whose ops are not settled."""
    asked = Setup(packages=tuple(packages.items()), device=device)
    advice = advise(knowledge_base(), asked, ops, scope)
    text = render(advice, named_ops=ops is not None).plain()
    return text, [each.query for each in advice.ops if each.outcome in ("raises", "unsolved")]


@pytest.mark.parametrize(
    ("name", "version"),
    [("tensorflow", "1.14"), ("tensorflow", "2.21"), ("torch", "1.8"), ("torch", "2.15"), ("jax", "0.10")],
)
def test_a_line_fits_a_terminal_unless_it_is_to_be_copied(name: str, version: str) -> None:
    text, _open = shown(**{name: version})
    assert [each for each in text.splitlines() if len(each) > WIDTH and not each.startswith(COPIED)] == []


@pytest.mark.parametrize(("name", "version"), [("tensorflow", "2.9"), ("torch", "2.10"), ("jax", "0.4.30")])
def test_each_unsettled_op_of_the_table_is_explained_below_it(name: str, version: str) -> None:
    text, open_ = shown(**{name: version})
    table, _more, rest = text.partition("Watch out")[0].partition("more: --all")
    listed = [each for each in open_ if f"\n{each} " in table]
    assert listed
    assert [each for each in listed if f"{each}:" not in flat(rest) and f"{each}," not in flat(rest)] == []


def test_an_op_that_no_record_names_is_not_promised_to_repeat() -> None:
    text, _open = shown(["index_add", "bmm"], device="rocm", torch="2.4")
    assert "1 of 2 ops repeats bit for bit with UDA. No record names a source of nondeterminism for one other" in flat(
        text
    )


def test_of_another_scope_only_ops_with_a_record_are_listed() -> None:
    text, open_ = shown(scope="batch", torch="2.8")
    assert open_
    assert "no-known-source" not in text
    assert f"{len(open_)} of " in text


def test_a_statement_stands_under_the_name_of_what_it_is_about() -> None:
    text, _open = shown(["conv"], torch="2.4")
    assert "UDA: It does not switch cuDNN benchmarking off." in flat(text)
    assert "CBO: It fixes which algorithm runs" in flat(text)
