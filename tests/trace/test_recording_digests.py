"""Digests: what differs in one bit has another one, and what is equal has the same."""

from __future__ import annotations

import json
import subprocess
from pathlib import Path

import pytest
import xxhash
from recorded import PROGRAMS, torch_python

from d9m.trace.start import INJECT


@pytest.fixture(scope="module")
def equal() -> dict[str, list[str]]:
    """Kind of digest -> the pairs of `digests.py` that it does not tell from each other."""
    done = subprocess.run(
        [torch_python(), "digests.py", str(Path(xxhash.__file__).parent)],
        cwd=PROGRAMS, capture_output=True, text=True, check=True,
        env={"PYTHONPATH": str(INJECT), "PYTHONDONTWRITEBYTECODE": "1"},
    )  # fmt: skip
    found: dict[str, list[str]] = json.loads(done.stdout)
    return found


@pytest.mark.parametrize("kind", ["xxh3-64", "crc32"])
def test_only_what_is_equal_bit_for_bit_has_the_same_digest(
    equal: dict[str, list[str]], kind: str
) -> None:
    assert equal[kind] == ["NaN and the same NaN", "an equal copy", "an equal part with gaps"]
