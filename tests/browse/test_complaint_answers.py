"""What an answer to a complaint holds, and in which order it says it."""

from __future__ import annotations

import pytest

from d9m.browse.explain import Explained, explain
from d9m.environment.environment import Setup
from d9m.errors import UsageError
from d9m.render.browse.explain import render
from golden import flat, knowledge_base

SEEDED = "I set all the seeds and every run gives another loss"
SURE = "same seed gives different results every run"


def _explained(text: str, *packages: tuple[str, str | None]) -> Explained:
    return explain(knowledge_base(), text, Setup(packages=packages))


def _page(text: str, *packages: tuple[str, str | None]) -> str:
    return flat(render(knowledge_base(), _explained(text, *packages)).plain())


@pytest.mark.parametrize("text", [SEEDED, "loss differs after resume from checkpoint", "cumsum"])
def test_every_free_text_is_answered_with_how_it_was_read(text: str) -> None:
    assert _page(text, ("torch", "2.4")).startswith("Read as: ")


def test_the_list_has_five_lines_with_a_question_and_what_to_type() -> None:
    found = _explained(SEEDED, ("torch", "2.4"))
    page = _page(SEEDED, ("torch", "2.4"))
    assert len(found.candidates) == 5
    for one in found.candidates[found.is_sure :]:
        assert flat(f"{one.question} → {one.title} (d9m show {one.id})") in page


def test_what_is_sure_is_written_out_above_the_list() -> None:
    text = "The text of my LLM changes with the batch size of the server, at temperature zero"
    for said in (SURE, text, "training is much slower with use_deterministic_algorithms"):
        found, page = _explained(said), _page(said)
        record = knowledge_base().symptoms[found.candidates[0].id.partition("/")[2]]
        head = "Not that? It may be" if found.is_sure else "Which of these is it?"
        is_above = flat(record.diagnosis) in page.partition(head)[0]
        assert is_above == found.is_sure


def test_what_is_not_sure_begins_with_the_list_and_says_what_to_type() -> None:
    text = "values differ between machine and batch"
    found, page = _explained(text), _page(text)
    assert not found.is_sure
    assert page.index("Which of these is it?") < page.index("d9m advise --torch VERSION")


@pytest.mark.parametrize("library", ["lightning", "torchtune", "stable-baselines3", "ultralytics"])
def test_a_library_names_the_framework_whose_ops_it_runs(library: str) -> None:
    subject = _explained(SEEDED, (library, None)).subject
    assert subject is not None
    assert "torch" in subject.advice.environment.packages


def test_a_package_without_records_does_not_end_the_answer() -> None:
    found = _explained(SEEDED, ("no-such-library", "1.0"), ("torch", "2.4"))
    assert found.unknown_packages == ["no-such-library"]
    assert found.subject is not None
    assert flat("d9m has no records of 'no-such-library'.") in _page(
        SEEDED, ("no-such-library", None)
    )


def test_an_unknown_package_is_the_error_where_nothing_else_is_known() -> None:
    with pytest.raises(UsageError, match="unknown package 'no-such-library'"):
        _explained("foo bar", ("no-such-library", None))


def test_a_named_library_is_answered_although_it_is_deterministic() -> None:
    found = _explained("XGBoost gives another result in every run", ("xgboost", None))
    assert found.subject is not None
    assert found.subject.packages == ["xgboost"]


def test_a_source_can_be_shown() -> None:
    assert "d9m show symptoms/all-seeds-set" in _page(SEEDED, ("torch", "2.4"))


def test_an_op_with_many_causes_has_a_line_for_each() -> None:
    page = _page("torch.nn.Upsample differs between runs")
    assert "Gradient of bilinear interpolation" in page
    assert "Gradient of nearest interpolation" in page


def test_a_version_that_no_record_lists_does_not_end_the_answer() -> None:
    found = _explained(SEEDED, ("tensorflow", "1.14.1"))
    assert found.unlisted == {"tensorflow": "1.14.1"}
    page = _page(SEEDED, ("tensorflow", "1.14.1"))
    assert "No record of d9m is about TensorFlow 1.14.1" in page
    assert "You did not name a release" not in page


def test_what_is_no_version_is_an_error() -> None:
    with pytest.raises(UsageError, match="'abc' is not a version of torch"):
        _explained(SEEDED, ("torch", "abc"))


def test_a_type_that_a_text_names_decides_what_an_op_does() -> None:
    page = _page("F.linear(x, w) differs from call to call in bfloat16 on MPS", ("torch", "2.12"))
    assert "linear (bfloat16) is nondeterministic" in page
    assert "M5" in page


def test_a_parameter_that_the_text_sets_is_not_advised_again() -> None:
    page = _page("LightGBM 3.1.1 differs in every run with\ndeterministic=True\nseed=0")
    assert "Set in your text: deterministic (line 2) and seed (line 3)." in page
    assert "force_col_wise=true" in page
    assert "deterministic=true #" not in page


@pytest.mark.parametrize("value", ["deterministic=off", "'deterministic': no", "seed=None"])
def test_a_parameter_that_is_switched_off_is_still_to_set(value: str) -> None:
    assert "Set in your text" not in _page(f"LightGBM 3.1.1 differs in every run with\n{value}")


@pytest.mark.parametrize(
    ("text", "asked"),
    [
        ("what does torch.backends.cudnn.benchmark do?", "setting"),
        ("how do I make my PyTorch training reproducible?", "recipe"),
        ("which versions of PyTorch have deterministic scatter_add?", "versions"),
        ("I get an error when I switch deterministic algorithms on", "error"),
        ("the accuracy changes with different seeds", "seeds"),
        (SEEDED, "differs"),
    ],
)
def test_the_kind_of_question_decides_the_answer(text: str, asked: str) -> None:
    assert _explained(text).asked == asked


def test_a_question_about_a_setting_is_answered_with_what_it_does() -> None:
    page = _page("what does torch.backends.cudnn.benchmark do?")
    assert "d9m show torch.backends.cudnn.benchmark" in page


def test_a_question_for_a_recipe_is_answered_with_the_settings() -> None:
    page = _page("how do I make my training reproducible with torch 2.4?")
    assert "torch.use_deterministic_algorithms(True)" in page


def test_an_error_without_its_text_is_asked_for() -> None:
    page = _page("I get an error when I switch deterministic algorithms on in PyTorch")
    assert 'd9m explain "LAST LINE"' in page


def test_another_seed_is_no_nondeterminism() -> None:
    found = _explained("the accuracy changes with different seeds")
    assert not found.is_sure
    assert "give other results on purpose" in _page("the accuracy changes with different seeds")


def test_advice_for_another_framework_stays_away() -> None:
    page = _page(SURE, ("jax", "0.4.30"))
    assert "torch.use_deterministic_algorithms" not in page
    assert "enable_op_determinism" not in page


def test_a_device_that_the_text_names_decides_the_recipe() -> None:
    assert " · CPU · " in _page("how do I make training on the CPU reproducible with torch 2.4?")


def test_a_server_gets_no_settings_of_a_training() -> None:
    page = _page("vLLM 0.11.1 gives another answer each time at temperature 0")
    assert "torch.manual_seed" not in page.partition(" one of these")[0]


@pytest.mark.parametrize(
    ("text", "op"),
    [
        ("scatter operation gives another result in each run with torch 2.4", "scatter"),
        ("index add differs between runs in PyTorch", "index_add"),
    ],
)
def test_an_op_with_a_blank_in_its_name_is_on_the_first_screen(text: str, op: str) -> None:
    subject = _explained(text).subject
    assert subject is not None
    assert op in subject.ops


CUMSUM = (
    "cumsum_cuda_kernel does not have a deterministic implementation, but you set "
    "'torch.use_deterministic_algorithms(True, warn_only=True)'."
)


def test_a_message_that_comes_again_and_cut_off_is_one_message() -> None:
    whole = f"UserWarning: {CUMSUM} You can file an issue at https://github.com/pytorch/pytorch"
    found = _explained(f"{whole}\n\nUserWarning: {CUMSUM}").found
    assert [one.id for one in found] == ["pytorch/cumsum"]
