"""What every test may ask of the machine it runs on."""

from __future__ import annotations

import os

import pytest

EVERYTHING = "D9M_TEST_EVERYTHING"
"""Set where everything is installed: a test that finds something missing then fails instead of being skipped."""


def needs(present: object, what: str, how: str) -> None:
    """Skip the test unless `present`, saying what is missing and how to get it."""
    if not present:
        end = pytest.fail if os.environ.get(EVERYTHING) else pytest.skip
        end(f"{what} is not installed; to get it: {how}")
