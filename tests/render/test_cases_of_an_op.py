"""Cases of an op in words: spans of releases, conditions, a sentence or a list."""

from __future__ import annotations

import pytest

from d9m.model.when import Clause, Range
from d9m.render import phrases
from golden import flat, knowledge_base
from process import d9m


@pytest.mark.parametrize(
    ("package", "first", "until", "said"),
    [
        ("torch", "1.8", "2.11", "with PyTorch 1.8 to 2.10"),
        ("torch", "2.0", "2.1", "with PyTorch 2.0"),
        ("torch", "2.0.1", "2.1", "with PyTorch 2.0.1"),
        ("torch", "2.0.0", "2.1", "with PyTorch 2.0.0 to 2.0.1"),
        ("torch", "2.0", "2.0.1", "with PyTorch 2.0.0"),
        ("flash-attn", "2.0.0", "2.4.1", "with FlashAttention 2.0.0 to 2.4.0"),
        ("numpy", "1.19", "1.20", "with NumPy 1.19"),
        ("numpy", "1.19.2", "1.20", "with NumPy 1.19.2 or newer (before 1.20)"),
        ("numpy", "1.18", "1.20", "with NumPy 1.18 or newer (before 1.20)"),
    ],
)
def test_a_span_ends_with_the_last_release_in_it(
    package: str, first: str, until: str, said: str
) -> None:
    clause: Clause = {package: Range(from_=first, until=until)}
    assert phrases.condition(knowledge_base(), clause) == said


@pytest.mark.parametrize(("said", "is_sure"), [("", False), ("[one_column=true]", True)])
def test_newer_releases_are_named_only_where_no_case_is_fixed(said: str, is_sure: bool) -> None:
    svd = d9m("advise", "--tf", "2.8", "--ops", f"tf.linalg.svd{said}").stdout
    assert (", also in 2." in " ".join(svd.split())) == is_sure


def test_a_second_with_is_an_and() -> None:
    clause: Clause = {"tensor_parallel": "true", "torch": Range(from_="2.1")}
    said = phrases.condition(knowledge_base(), clause)
    assert said == "with tensor parallelism and PyTorch 2.1 or newer"


def test_three_cases_have_a_line_each_and_two_are_a_sentence() -> None:
    upsample = d9m("advise", "--torch", "any", "--ops", "nn.Upsample(mode='bilinear'):backward")
    lines = [line.strip() for line in upsample.stdout.splitlines()]
    assert "• With PyTorch 2.1 or newer: deterministic" in lines
    assert "• With PyTorch 1.7 to 2.0: raises an error" in lines
    dropout = d9m("advise", "--torch", "any", "--scope", "hardware", "--ops", "nn.Dropout")
    assert "differs across hardware with PyTorch 1.2 or newer; not verified" in flat(dropout.stdout)


def test_one_condition_and_the_rest_are_two_cases() -> None:
    scatter = d9m("advise", "--torch", "1.12", "--ops", "torch.scatter_add")
    assert "deterministic on 1-D inputs; otherwise raises an error" in flat(scatter.stdout)


def test_an_op_with_two_causes_names_both() -> None:
    asked = d9m("advise", "--torch", "any", "--ops", "cumprod")
    said = flat(asked.stdout)
    assert "depends, for 2 reasons: • cumprod and logcumsumexp of one dimension" in said
    assert "cumsum on CUDA: • With PyTorch 2.6 or newer: deterministic" in said
    assert "say which you have: --torch 2.15" in said


def test_releases_that_are_not_verified_do_not_lead() -> None:
    asked = d9m("advise", "--torch", "any", "--scope", "hardware", "--ops", "nn.Dropout")
    assert asked.stdout.startswith("Dropout differs across hardware with PyTorch 1.2 or newer")
    assert "say which" not in asked.stdout
