"""Releases after the newest on record: nothing is known of them, so nothing is called good."""

from __future__ import annotations

import pytest

from d9m import api
from d9m.environment.environment import Setup
from golden import knowledge_base


@pytest.mark.parametrize("package", ["torch", "tensorflow", "jax", "cupy", "torchvision"])
def test_no_op_is_deterministic_in_a_release_newer_than_the_records(package: str) -> None:
    advice = api.advise(knowledge_base(), Setup(((package, "99"),), device="cuda"))
    recorded = [source for op in advice.ops for source in op.sources]
    assert recorded
    assert [each.id for each in recorded if each.outcome in ("deterministic", "solved")] == []
