"""What a source does by release: one history, for the command line, the JSON and the pages."""

from __future__ import annotations

import pytest

from d9m.browse import history
from d9m.browse.show import show, source_history
from d9m.model.when import Range
from golden import knowledge_base

SOURCES = list(knowledge_base().sources)


@pytest.mark.parametrize("id_", SOURCES)
def test_every_source_says_what_happens_by_release(id_: str) -> None:
    assert source_history(knowledge_base(), id_).ranges


def test_a_source_that_needs_a_fact_is_shown_where_the_fact_holds() -> None:
    """`rbg` keys are not the default of jax.random."""
    shown = source_history(knowledge_base(), "jax/rbg-generator")
    assert [answer.outcome for answer in shown.ranges] == ["deterministic", "solved"]
    assert shown.ranges[1].solutions == ["XTF"]


def outcomes(source: str) -> list[str]:
    (shown,) = show(knowledge_base(), [source]).found
    (told,) = shown.history
    return [answer.outcome for answer in told.ranges]


def test_a_history_begins_with_the_oldest_release() -> None:
    assert outcomes("tensorrt-llm/all-reduce") == ["unknown", "solved"]
    assert outcomes("pytorch/cumsum") == [
        "unsolved",  # with CUDA 9.0 or newer, until 1.5
        "deterministic",  # with an older one
        "unsolved",
        "unsolved",
        "raises",
        "solved",
    ]
    assert history.of(knowledge_base(), "pytorch/cumsum").usual.rows[0].verdict.outcome == "solved"


def test_unverified_releases_are_one_range_under_any_conditions() -> None:
    shown = source_history(knowledge_base(), "pytorch/xpu-adaptive-avg-pool2d")
    assert [(answer.outcome, sorted(answer.when)) for answer in shown.ranges] == [
        ("raises", ["output_size", "torch"]),
        ("deterministic", ["output_size", "torch"]),
        ("unknown", ["torch"]),
    ]


def test_an_exception_has_separate_ranges() -> None:
    shown = source_history(knowledge_base(), "tensorflow/bias-add")
    under = [other for other in shown.others if other.under == {"xla": "true"}]
    assert [answer.outcome for answer in under[0].ranges][:1] == ["unsolved"]


def test_answers_of_images_say_from_which_image_on() -> None:
    """NGC 21.06 brings TensorFlow 2.5, whose convolutions need one setting more."""
    shown = source_history(knowledge_base(), "tensorflow/conv-autotune")
    images = [other for other in shown.others if other.package == "ngc-tensorflow-tf2"]
    starts = [answer.when["ngc-tensorflow-tf2"] for answer in images[0].ranges]
    assert len(starts) > 1
    assert [isinstance(one, Range) and one.from_ for one in starts] == ["19.11", "21.06", "22.03"]
