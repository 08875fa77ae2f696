"""Sentences are kept, and code that was pasted with them is left out."""

from __future__ import annotations

import pytest

from d9m.browse.prose import code, prose


@pytest.mark.parametrize(
    ("text", "kept"),
    [
        ("Each run differs. import torch", "Each run differs."),
        ("Each run differs.\nx = torch.rand(3)\ntorch.manual_seed(0)", "Each run differs."),
        ("Each run differs.\n```python\nmodel = nn.Linear(3, 1)\n```", "Each run differs."),
        ("Each run differs. torch.manual_seed(0) random.seed(0)", "Each run differs."),
        ("Each run differs. for x in loader:\n    loss = step(x)", "Each run differs."),
    ],
)
def test_code_is_left_out(text: str, kept: str) -> None:
    assert prose(text).strip() == kept


@pytest.mark.parametrize(
    "text",
    [
        "F.interpolate(x, mode='bilinear') differs between runs",
        "deterministic = True but results still differ",
        "With num_workers = 4 I get other results",
        "torch.rand(3)",
        "Runs differ with all seeds. NPROC_PER_NODE=8. The flag is on",
    ],
)
def test_a_sentence_with_code_in_it_is_kept(text: str) -> None:
    assert prose(text) == text


def test_code_configuration_and_variables_have_their_line() -> None:
    text = "Runs differ:\n```\nx = 1\n```\nseed: 4\nexport A=1\nHOST_NAME=2\n# x = f(2)\nWhy?"
    found = [(line, part.strip()) for line, part in code(text) if part.strip("` \n")]
    assert found == [(3, "x = 1"), (5, "seed: 4"), (6, "export A=1"), (7, "HOST_NAME=2")]


@pytest.mark.parametrize(
    "text",
    [
        "I have not set f.use_it(True)",
        "Do I need f.use_it(True)?",
        "# f.use_it(True)",
        "see f.use_it",
    ],
)
def test_a_sentence_or_comment_is_no_code(text: str) -> None:
    assert not any("use_it" in part for _line, part in code(text))
