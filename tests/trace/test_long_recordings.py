"""Recordings of a million ops: what comparing them may take."""

from __future__ import annotations

import sys
from pathlib import Path

import pytest

sys.path.insert(0, str(Path(__file__).parents[1] / "benchmarks"))

from trace_diff import measure, write

RECORDS = 1_000_000
MEMORY = 100
"""MB that a comparison may take, however long the recordings are."""


@pytest.mark.nightly
@pytest.mark.parametrize(("seed", "seconds"), [(0, 1), (1 << 40, 30)], ids=["equal", "different"])
def test_a_million_records_are_compared_in_little_memory(
    tmp_path: Path, seed: int, seconds: int
) -> None:
    """The seconds are of the processor, several times what it takes."""
    write(tmp_path / "a", RECORDS, 0)
    write(tmp_path / "b", RECORDS, seed)
    taken, memory = measure(tmp_path / "a", tmp_path / "b")
    assert memory < MEMORY
    assert taken < seconds
