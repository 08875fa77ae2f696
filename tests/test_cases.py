"""Every golden case is answered as the documents say, and every expected value is in a document."""

from __future__ import annotations

from pathlib import Path

import msgspec
import pytest

import meaning
import output_schema
from d9m.authoring import cases
from d9m.errors import D9mError
from d9m.model import records
from golden import CASES, knowledge_base, unfounded

ALL = sorted(CASES.glob("*.json"))
HELD = meaning.held()
REWRITE = "the answer changed; if that is meant: python tests/meaning.py --write"


@pytest.mark.parametrize("path", ALL, ids=lambda path: path.stem)
def test_a_case_is_answered_as_its_documents_say(path: Path) -> None:
    case = cases.read(path)
    reply = cases.reply(knowledge_base(), case)
    failures = cases.faults(case, reply)
    if not isinstance(reply, D9mError):
        failures += output_schema.faults(msgspec.to_builtins(reply), ["advise"])
    assert not failures, "\n".join([case.title, *failures])
    assert meaning.of_reply(reply) == HELD["answers"].get(case.name), REWRITE


def test_no_record_changed_but_in_its_words() -> None:
    assert meaning.of_records() == HELD["records"], REWRITE
    assert HELD["answers"].keys() == {path.stem for path in ALL}, REWRITE


def test_a_change_of_words_changes_no_meaning_and_any_other_does() -> None:
    step = records.TimelineStep(from_="1.0", by=["EOD"], note="one")
    source = records.Source(
        title="A", summary="B", mechanism="x", timeline={"p": [step]}, evidence=[]
    )
    reworded = msgspec.structs.replace(
        source, title="C", timeline={"p": [msgspec.structs.replace(step, note="other")]}
    )
    other = msgspec.structs.replace(
        source, timeline={"p": [msgspec.structs.replace(step, from_="1.1")]}
    )
    assert meaning.without_prose(reworded) == meaning.without_prose(source)
    assert meaning.without_prose(other) != meaning.without_prose(source)


@pytest.mark.parametrize("path", ALL, ids=lambda path: path.stem)
def test_every_expected_value_is_in_a_document(path: Path) -> None:
    case = cases.read(path)
    reasons = [row.because for row in case.expect] + (
        [case.expect_error.because] if case.expect_error else []
    )
    wrong = [fault for because in reasons if (fault := unfounded(because)) is not None]
    assert not wrong, "\n".join(wrong)


@pytest.mark.parametrize(
    "because",
    [
        {"seed": "000", "quote": "this sentence stands in no seed"},
        {"seed": "000", "quote": " "},
        {"seed": "009", "quote": "a seed that does not exist"},
        {"fact": "tf_prs.json", "at": ["tensorflow", 0, "version"], "value": "1.13"},
        {"fact": "tf_prs.json", "at": ["tensorflow", 9999], "value": "1.14"},
        {"fact": "tf_prs.json", "at": ["tensorflow", 0], "value": "1.14"},
        {"fact": "tf_beyond.md", "quote": "this sentence stands in no extract"},
        {"url": "https://example.org"},
    ],
)
def test_a_reference_that_leads_nowhere_is_noticed(because: dict[str, object]) -> None:
    assert unfounded(because) is not None


ANSWER = {
    "outcome": "solved",
    "settings": {"env": {"A": "1"}, "python": ["import torch"], "config": {"determinism.seed": 1}},
    "ops": [
        {
            "query": "tf.nn.bias_add",
            "sources": [{"id": "tensorflow/bias-add", "alternatives": [["TDP"]]}],
        },
        {
            "query": "m:dtype=float32",
            "sources": [{"id": "tensorflow/bias-add", "alternatives": [["TDP"]]}],
        },
    ],
    "ingredients": [{"id": "seeds", "title": "Seeds"}],
}


@pytest.mark.parametrize(
    ("at", "comparison", "right", "wrong"),
    [
        ("outcome", "is", "solved", "unsolved"),
        ("outcome", "contains", "", "x"),
        ("settings.env", "has", {"A": "1"}, {"A": "2"}),
        ("settings.env", "has", ["A"], ["B"]),
        ("settings.env", "lacks", ["B"], ["A", "B"]),
        ("settings.config.determinism.seed", "is", 1, "1"),
        ("settings.python", "some_contains", "torch", "numpy"),
        ("settings.python", "none_contains", "numpy", "torch"),
        ("sources.tensorflow/bias-add.alternatives", "is", [["TDP"]], [["TDO"]]),
        ("sources.tensorflow/bias-add.alternatives", "lacks", [["TDO"]], [["TDP"]]),
        ("ops.m:dtype=float32.sources", "has_id", "tensorflow/bias-add", "tensorflow/conv"),
        (
            "ops.tf.nn.bias_add.sources",
            "some",
            {"id": "tensorflow/bias-add"},
            {"id": "tensorflow/conv"},
        ),
        ("ingredients", "has_id", "seeds", "threads"),
        ("ingredients", "none", {"id": "threads"}, {"id": "seeds"}),
        ("settings.env.A", "matches", '"[0-9]"', '"[2-9]"'),
        ("settings.env.B", "matches", "null", '"1"'),
    ],
)
def test_a_comparison_tells_right_from_wrong(
    at: str, comparison: str, right: object, wrong: object
) -> None:
    def failure(wanted: object) -> str | None:
        return msgspec.convert(
            {"at": at, "because": {}, comparison: wanted}, cases.CaseRow
        ).failure(ANSWER)

    assert failure(right) is None
    assert failure(wrong) is not None


@pytest.mark.parametrize(
    ("at", "comparison", "wanted"),
    [
        ("outcome", "lacks", ["x"]),
        ("outcome", "none_contains", "x"),
        ("outcome", "none", {}),
        ("nowhere.at.all", "lacks", ["x"]),
    ],
)
def test_an_absence_in_the_wrong_place_is_no_success(
    at: str, comparison: str, wanted: object
) -> None:
    row = msgspec.convert({"at": at, "because": {}, comparison: wanted}, cases.CaseRow)
    assert row.failure(ANSWER) is not None
