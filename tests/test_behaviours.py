"""Each behaviour that people rely on is held by a test that exists."""

from __future__ import annotations

import ast
from pathlib import Path

import pytest
import yaml

ROOT = Path(__file__).parents[1]
BEHAVIOURS = yaml.safe_load((ROOT / "tests" / "behaviours.yaml").read_text("utf-8"))
HELD = {what: held for kept in BEHAVIOURS.values() for what, held in kept.items()}


@pytest.mark.parametrize("behaviour", HELD)
def test_a_behaviour_is_held_by_a_test(behaviour: str) -> None:
    file, _, name = HELD[behaviour].partition("::")
    tree = ast.parse((ROOT / file).read_text("utf-8"))
    assert name in {node.name for node in tree.body if isinstance(node, ast.FunctionDef)}
