"""An unknown name costs one line: the known ops are answered beside it."""

import json

import pytest

from d9m.render.advice import FOR_READERS, FORMATS
from process import d9m

ASKED = ("advise", "--torch", "2.4", "--ops", "frobnicate,index_add,indx_add")


@pytest.mark.parametrize("format_", FOR_READERS)
def test_advise_answers_the_known_ops_beside_unknown_ones(format_: str) -> None:
    done = d9m(*ASKED, "--format", format_)
    assert (done.returncode, done.stderr) == (2, "")
    for part in ("indx_add", "frobnicate", "use_deterministic_algorithms"):
        assert part in done.stdout.replace("\\", "")


@pytest.mark.parametrize("format_", [name for name in FORMATS if name not in FOR_READERS])
def test_advise_prints_no_block_beside_unknown_ops(format_: str) -> None:
    done = d9m(*ASKED, "--format", format_)
    assert (done.returncode, done.stdout) == (2, "")
    assert "unknown op 'indx_add'" in done.stderr


def test_json_lists_unknown_ops_in_the_order_asked() -> None:
    answer = json.loads(d9m(*ASKED, "--format", "json").stdout)
    assert [op["error"] is None for op in answer["ops"]] == [False, True, False]
    assert "index_add" in answer["ops"][2]["nearest"]
    assert answer["outcome"] == "unknown"


@pytest.mark.parametrize("format_", FORMATS)
def test_advise_prints_nothing_if_no_name_is_known(format_: str) -> None:
    done = d9m("advise", "--torch", "2.4", "--ops", "frobnicate", "--format", format_)
    assert (done.returncode, done.stdout) == (2, "")


def test_exit_zero_and_allow_unknown_do_not_hide_an_unknown_name() -> None:
    assert d9m(*ASKED, "--exit-zero", "--allow-unknown").returncode == 2


def test_a_model_is_answered_with_how_to_record_its_ops() -> None:
    alone = d9m("advise", "--torch", "2.4", "--ops", "resnet50")
    beside = d9m("advise", "--torch", "2.4", "--ops", "resnet50,index_add")
    for text in (alone.stderr, beside.stdout):
        said = " ".join(text.split())
        for way in ("--ops conv2d,", "d9m trace --level op -o RUN -- python PROGRAM", "d9m scan"):
            assert way in said


@pytest.mark.parametrize("name", ["frobnicate", "catalyst", "resnet", "bert", "whisper", "llama"])
def test_a_name_that_is_like_no_op_gets_no_suggestion(name: str) -> None:
    done = d9m("advise", "--torch", "2.4", "--ops", name)
    assert done.returncode == 2
    assert "did you mean" not in done.stderr


@pytest.mark.parametrize(
    "question", ["--torch 2.4 --ops index_add,mm", "--torch 2.4", "--with vllm"]
)
def test_a_quiet_verdict_is_one_line_that_points_to_nothing(question: str) -> None:
    done = d9m("advise", *question.split(), "-q")
    assert len(done.stdout.splitlines()) == 1
    assert "below" not in done.stdout
    assert "--ops" not in done.stdout
