"""`advise --fast`: the settings that cost less, and what they give up."""

import json

import pytest

import d9m as library
from golden import knowledge_base
from process import d9m

SETTING = "torch.utils.deterministic.fill_uninitialized_memory = False"


def test_fast_leaves_memory_unfilled_and_says_what_that_gives_up() -> None:
    done = d9m("advise", "--torch", "2.13", "--ops", "index_add", "--fast")
    said = " ".join(done.stdout.split())
    assert done.returncode == 0
    assert SETTING in said
    assert "from 15 % to about 2 %" in said
    assert "# unwritten memory is nondeterministic" in said


def test_fast_says_what_it_gives_up_beside_many_other_notes() -> None:
    done = d9m("advise", "--torch", "2.4", "--ops", "nn.Linear,index_add,cumsum", "--fast")
    assert "# unwritten memory is nondeterministic" in done.stdout


def test_fast_does_not_advise_again_what_it_has_set() -> None:
    done = d9m("advise", "--torch", "2.13", "--ops", "index_add", "--fast", "--all")
    assert "If no op of yours reads memory" not in done.stdout


def test_advise_fills_memory_without_fast() -> None:
    done = d9m("advise", "--torch", "2.13", "--ops", "index_add")
    assert SETTING not in done.stdout


def test_an_op_that_reads_unwritten_memory_is_nondeterministic_with_fast() -> None:
    kb = knowledge_base()
    usual = library.advise(torch="2.13", ops="torch.empty", device="cuda", kb=kb)
    fast = library.advise(torch="2.13", ops="torch.empty", device="cuda", fast=True, kb=kb)
    assert (usual.ops[0].outcome, fast.ops[0].outcome) == ("solved", "unsolved")


def test_fast_gives_the_statement_in_every_block() -> None:
    asked = ("advise", "--torch", "2.13", "--ops", "index_add", "--fast", "--format")
    assert SETTING in d9m(*asked, "python").stdout
    assert SETTING in json.loads(d9m(*asked, "json").stdout)["settings"]["python"]


@pytest.mark.parametrize("environment", ["--tf 2.13", "--torch 1.12"])
def test_fast_is_refused_where_no_cheaper_setting_is_on_record(environment: str) -> None:
    done = d9m("advise", *environment.split(), "--fast")
    assert (done.returncode, done.stdout) == (2, "")
    assert "no cheaper setting is on record" in done.stderr
