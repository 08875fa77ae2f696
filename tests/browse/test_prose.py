"""Sentences are kept, and code that was pasted with them is left out."""

from __future__ import annotations

import pytest

from d9m.browse.prose import prose


@pytest.mark.parametrize(
    ("text", "kept"),
    [
        ("Each run differs. import torch", "Each run differs."),
        ("Each run differs.\nx = torch.rand(3)\ntorch.manual_seed(0)", "Each run differs."),
        ("Each run differs.\n```python\nmodel = nn.Linear(3, 1)\n```", "Each run differs."),
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
        "Results are random. print(torch.rand(5)) print(torch.rand(5)) tensor([0.7])",
    ],
)
def test_a_sentence_with_code_in_it_is_kept(text: str) -> None:
    assert prose(text) == text
