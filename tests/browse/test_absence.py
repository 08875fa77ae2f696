"""What a text says that its program lacks is cut out, and nothing else."""

from __future__ import annotations

import pytest

from d9m.browse.absence import present
from golden import knowledge_base


@pytest.mark.parametrize(
    ("text", "left"),
    [
        ("without dropout the loss differs", "the loss differs"),
        ("with no `torch.compile` the loss differs", "with the loss differs"),
        ("I don't use torch.compile or DDP and runs differ", "I and runs differ"),
        ("num_workers=0, shuffle=False, other loss", ", , other loss"),
        ("No shuffle. No mixed-precision. It differs", ". . It differs"),
    ],
)
def test_what_is_absent_is_cut_out(text: str, left: str) -> None:
    assert " ".join(present(knowledge_base(), text).split()) == left


@pytest.mark.parametrize(
    "text",
    [
        "the same without num_workers, another result with num_workers=4",
        "It is reproducible without DDP",
        "outputs differ with and without dropout",
        "compiled code is slower than without torch.compile",
        "num_workers=0.5 and num_workers=04",
        "results are not the same",
    ],
)
def test_what_is_compared_stays(text: str) -> None:
    assert present(knowledge_base(), text) == text
