"""A text names the helpers that its program calls."""

from __future__ import annotations

import pytest

from d9m.browse.named_calls import find
from golden import knowledge_base


@pytest.mark.parametrize(
    ("text", "packages", "calls"),
    [
        ("I call pl.seed_everything(42)", ["lightning"], ["lightning.seed_everything(0)"]),
        (
            "seed_everything(1, workers=True) and Trainer(deterministic=True)",
            ["lightning"],
            ["lightning.seed_everything(0, workers=True)", "lightning.Trainer(deterministic=True)"],
        ),
        ("deterministic='warn'", ["lightning"], ['lightning.Trainer(deterministic="warn")']),
        (
            "set_seed(42), cudnn.deterministic = True",
            ["transformers"],
            ["transformers.set_seed(0)"],
        ),
        (
            "set_seed(42, deterministic = True)",
            ["transformers"],
            ["transformers.set_seed(0, deterministic=True)"],
        ),
        ("seed_everything(42)", ["torch"], []),
        ("tf.set_random_seed(1)", ["keras"], []),
        ("keras.utils.set_random_seed(1)", ["keras"], ["keras.utils.set_random_seed(0)"]),
        ("the trainer is not deterministic", ["lightning"], []),
        (
            "full_determinism=True",
            ["transformers"],
            ["transformers.enable_full_determinism(0)"],
        ),
    ],
)
def test_a_helper_is_known_by_its_name_and_arguments(
    text: str, packages: list[str], calls: list[str]
) -> None:
    assert sorted(find(knowledge_base(), text, packages)) == sorted(calls)
