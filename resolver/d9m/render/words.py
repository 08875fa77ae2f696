"""What an outcome is called, and how it looks."""

from __future__ import annotations

from d9m.model.records import Outcome
from d9m.render.page import Style

DOES: dict[Outcome, str] = {
    "no-known-source": "repeats",
    "deterministic": "repeats",
    "solved": "repeats",
    "depends": "depends",
    "unknown": "nobody has checked",
    "raises": "raises an error",
    "unsolved": "can differ between runs",
}
"""What an op does with the advised settings."""

STYLES: dict[Outcome, Style] = {
    "no-known-source": "dim",
    "deterministic": "good",
    "solved": "good",
    "depends": "doubt",
    "unknown": "doubt",
    "raises": "bad",
    "unsolved": "bad",
}
