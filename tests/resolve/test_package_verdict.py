"""An answer on a package says no more than the records of the package hold."""

from __future__ import annotations

import msgspec
import pytest

import d9m
from d9m.model.advice import REPEATS, Advice, exit_code
from d9m.model.records import Evidence, Review
from d9m.resolve.package_verdict import is_seeded
from golden import knowledge_base

KB = knowledge_base()


def asked(name: str, version: str | None = None) -> Advice:
    return d9m.advise(kb=KB, device="cuda", **{name.replace("-", "_"): version})


@pytest.mark.parametrize("name", list(KB.package_level))
def test_no_package_is_deterministic_without_a_review_nor_solved_without_a_seed(name: str) -> None:
    try:
        advice = asked(name)
    except d9m.UsageError:
        pytest.skip("not for CUDA")
    own = next((op for op in advice.ops if op.query == "*"), None)
    if own is None:
        return
    assert own.outcome != "deterministic"
    assert is_seeded(KB, name) or own.outcome not in REPEATS
    counted = sum(sum(counts.values()) for counts in advice.known_sources.values())
    assert counted == len(own.sources)


def test_known_sources_count_the_outcomes_of_each_package() -> None:
    assert asked("llama-cpp").known_sources == {"llama-cpp": {"solved": 2}}


def test_a_package_without_a_seed_on_record_ends_with_unknown() -> None:
    advice = asked("openmm", "8.5.2")
    assert (advice.outcome, int(exit_code(advice))) == ("unknown", 3)
    assert any("random numbers of OpenMM" in each.needs for each in advice.unknowns)


def test_a_review_covers_the_releases_that_it_names_and_no_other() -> None:
    read = Evidence(kind="source-read", url="https://example.org")
    review = Review(extent="whole", releases=["1.0", "1.1"], entry_points={"f": [read]})
    assert review.covers(["1.1"])
    assert not review.covers(["1.1", "1.2"])
    assert not review.covers([])
    with pytest.raises(msgspec.ValidationError):
        msgspec.convert({"extent": "half", "releases": [], "entry_points": {}}, Review)


@pytest.mark.parametrize(
    ("name", "version", "statement"),
    [("mindspore", "2.5", "mindspore.set_seed(0)"), ("mxnet", "1.9", "mx.random.seed(0)")],
)
def test_the_seed_of_a_library_is_in_its_advice(name: str, version: str, statement: str) -> None:
    assert statement in asked(name, version).settings.python


def test_llama_cpp_needs_a_seed_beside_the_prompt_cache() -> None:
    assert set(asked("llama-cpp").settings.flags) == {"--no-cache-prompt", "--seed 0"}


@pytest.mark.parametrize("op", ["XGBRanker", "XGBClassifier", "xgboost.train"])
def test_a_model_of_a_library_is_no_more_than_its_package(op: str) -> None:
    assert d9m.advise(kb=KB, xgboost="3.2", ops=[op]).ops[0].outcome == "no-known-source"


@pytest.mark.parametrize(
    "op", ["nn.DataParallel", "torch.lobpcg", "torch.vmap", "nn.attention.varlen.varlen_attn"]
)
def test_a_name_that_no_catalogue_holds_may_exist(op: str) -> None:
    with pytest.raises(d9m.UsageError, match=r"leaves .* out"):
        d9m.advise(kb=KB, torch="2.13", ops=[op])
