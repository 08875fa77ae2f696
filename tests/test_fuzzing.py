"""A few hundred broken inputs at every door; `python tests/fuzzing.py` puts a hundred thousand."""

from __future__ import annotations

import pytest

from fuzzing import WEIGHTS, fuzz


@pytest.mark.parametrize("door", WEIGHTS)
def test_what_is_broken_is_refused_or_answered(door: str) -> None:
    found = fuzz(40, seed=2, doors=[door])
    assert found.tried[door] == 40
    assert not found.failures, found.failures[0].text


def test_an_input_that_fails_is_made_again_by_its_number() -> None:
    tried = fuzz(40, seed=2, only=7).tried
    assert tried == fuzz(40, seed=2, only=7).tried
    assert sum(tried[door] for door in WEIGHTS) == 1
