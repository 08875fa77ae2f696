"""The one table of what is said of an outcome in a scope, and how outcomes look."""

from __future__ import annotations

from collections.abc import Iterable
from typing import NamedTuple

from d9m.model.advice import REPEATS, SourceAnswer
from d9m.model.records import EvidenceKind, Outcome, Scope
from d9m.render.page import Style


class VerbPair(NamedTuple):
    """The end of a sentence about one op, and about several."""

    one: str
    many: str

    def adding(self, text: str) -> VerbPair:
        """Return the pair with more text at its end."""
        return VerbPair(self.one + text, self.many + text)


class ScopeWords(NamedTuple):
    """The terms of a scope: for a good result, a bad one, and causes."""

    good: VerbPair
    bad: VerbPair
    silent: str
    cause: tuple[str, str]


SCOPES: dict[Scope, ScopeWords] = {
    "run": ScopeWords(
        VerbPair("is deterministic", "are deterministic"),
        VerbPair("is nondeterministic", "are nondeterministic"),
        "no known nondeterminism (not a proof)",
        ("known source of nondeterminism", "known sources of nondeterminism"),
    ),
    "batch": ScopeWords(
        VerbPair("is batch-invariant", "are batch-invariant"),
        VerbPair("is not batch-invariant", "are not batch-invariant"),
        "no known dependence on the batch (not a proof)",
        ("known dependence on the batch", "known dependences on the batch"),
    ),
    "hardware": ScopeWords(
        VerbPair(
            "gives the same results across hardware",
            "give the same results across hardware",
        ),
        VerbPair("differs across hardware", "differ across hardware"),
        "no known difference across hardware (not a proof)",
        ("known difference across hardware", "known differences across hardware"),
    ),
}


def predicate(outcome: Outcome, scope: Scope) -> VerbPair:
    """Return what a sentence says of ops with an outcome: ``is deterministic``."""
    words = SCOPES[scope]
    if outcome == "no-known-source":
        return VerbPair(f"has {words.silent}", f"have {words.silent}")
    if outcome == "unsolved":
        one, many = words.bad
        return VerbPair(f"{one} and no setting fixes it", f"{many} and no setting fixes them")
    return _PREDICATES.get(outcome, words.good)


_PREDICATES: dict[Outcome, VerbPair] = {
    "depends": VerbPair("depends on the details below", "depend on the details below"),
    "unknown": VerbPair("is not verified for this release", "are not verified for this release"),
    "raises": VerbPair("raises an error", "raise errors"),
}


def scope_of(asked: Scope, outcome: Outcome, sources: Iterable[SourceAnswer]) -> Scope:
    """Return the scope whose words fit an outcome: that of the question if a source is about it."""
    is_good = outcome in REPEATS
    scopes = {source.scope for source in sources if is_good or source.outcome == outcome}
    return asked if asked in scopes or not scopes or outcome == "no-known-source" else "run"


def line(outcome: Outcome, scope: Scope = "run") -> str:
    """Return what a line says of an outcome, without a verb: ``deterministic``."""
    if outcome == "unsolved":
        return f"{bad(scope)}; no setting fixes it"
    if outcome == "depends":
        return "depends"
    return _without_verb(predicate(outcome, scope).one)


def short(outcome: Outcome, scope: Scope) -> str:
    """Return an outcome in a few words, for a table."""
    if outcome == "unsolved":
        return bad(scope)
    return line(outcome, scope).partition(" (")[0].removesuffix(" for this release")


def bad(scope: Scope) -> str:
    """Return what a line says of a result that is not the same: ``nondeterministic``."""
    return _without_verb(SCOPES[scope].bad.one)


def _without_verb(text: str) -> str:
    return text.removeprefix("is ").removeprefix("has ").removeprefix("gives the ")


SIGNS: dict[Outcome, str] = {
    "no-known-source": "–",
    "deterministic": "✓",
    "solved": "✓",
    "depends": "?",
    "unknown": "?",
    "raises": "✗",
    "unsolved": "✗",
}

EXCEPTION = "!"
"""The sign of what is deterministic with an exception."""

LEGEND = {
    "✓": "deterministic",
    "!": "deterministic with exceptions",
    "?": "depends, or not verified",
    "✗": "raises an error, or nondeterministic",
    "–": "nothing known",
}
"""Sign -> what it stands for."""

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
    """Where it was seen."""
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
