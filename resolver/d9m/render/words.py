"""What outcomes and kinds of evidence are called, and how they look."""

from __future__ import annotations

from typing import NamedTuple

from d9m.model.advice import REPEATS
from d9m.model.records import EvidenceKind, Outcome, Scope
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

PROMISES: dict[Scope, tuple[str, str]] = {
    "run": ("repeats", "repeat"),
    "batch": ("gives the same bits in any batch", "give the same bits in any batch"),
    "hardware": ("gives the same bits on any machine", "give the same bits on any machine"),
}
"""Scope -> what one op does, and what several do."""

DIFFERS: dict[Scope, str] = {
    "run": "can differ between runs",
    "batch": "can differ with the batch",
    "hardware": "can differ between machines",
}
"""Scope -> what an op does that breaks the promise."""


def does(outcome: Outcome, scope: Scope, several: bool = False) -> str:
    """What an op, or several, do in a scope: ``can differ with the batch``."""
    if outcome == "unsolved":
        return DIFFERS[scope]
    return PROMISES[scope][several] if outcome in REPEATS else DOES[outcome]


STYLES: dict[Outcome, Style] = {
    "no-known-source": "dim",
    "deterministic": "good",
    "solved": "good",
    "depends": "doubt",
    "unknown": "doubt",
    "raises": "bad",
    "unsolved": "bad",
}


class EvidenceWords(NamedTuple):
    seen: str
    """Where somebody saw it."""
    disagrees: str
    """How a note begins where it says something else than the record: ``… on cumsum``."""


EVIDENCE: dict[EvidenceKind, EvidenceWords] = {
    "assumed": EvidenceWords("assumed", "Others disagree"),
    "documented": EvidenceWords("in the docs", "The docs disagree"),
    "release-note": EvidenceWords("in the release notes", "The release notes disagree"),
    "tested-upstream": EvidenceWords("in upstream's tests", "Upstream's tests disagree"),
    "source-read": EvidenceWords("in the source code", "The source code disagrees"),
    "binary-read": EvidenceWords("in the shipped binary", "The shipped binary disagrees"),
    "measured": EvidenceWords("in a measured run", "A measured run disagrees"),
}
