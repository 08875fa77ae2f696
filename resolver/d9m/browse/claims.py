"""Collect the sources' claims about each stretch of releases, with the best evidence for each
claim.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence

import msgspec

from d9m.kb.store import KnowledgeBase
from d9m.model.records import EVIDENCE_KINDS, Evidence, TimelineStep, Unless
from d9m.model.when import Clause, Range, When, clauses

"""Kinds of evidence, weakest first."""


class Claim(msgspec.Struct, frozen=True):
    source: str
    package: str
    """Whose releases it speaks of."""
    text: str
    best: str
    """The strongest kind of evidence that it follows; empty where it has none."""


def claims(kb: KnowledgeBase) -> Iterator[Claim]:
    """Every step of every timeline, and every exception to one.

    A claim rests on its own evidence; without any on that of its step, then of its source.
    """
    for id_, source in kb.sources.items():
        for package, steps in source.timeline.items():
            for step in steps:
                evidence = step.evidence or source.evidence
                yield Claim(id_, package, f"from {step.from_}: {_answer(step)}", _best(evidence))
                for exception in step.unless:
                    where = _condition(exception.when)
                    text = f"from {step.from_}, {where}: {_answer(exception)}"
                    yield Claim(id_, package, text, _best(exception.evidence or evidence))


def _best(evidence: Sequence[Evidence]) -> str:
    kinds = [proof.kind for proof in evidence if proof.follows]
    return max(kinds, key=EVIDENCE_KINDS.index, default="")


def _answer(step: TimelineStep | Unless) -> str:
    if isinstance(step, TimelineStep) and step.as_:
        return f"as {step.as_}"
    by = " or ".join(step.by)
    return f"{step.outcome} by {by}" if step.outcome and by else step.outcome or f"solved by {by}"


def _condition(when: When) -> str:
    return " or ".join(_clause(clause) for clause in clauses(when))


def _clause(clause: Clause) -> str:
    return " and ".join(f"{name} {_allowed(allowed)}" for name, allowed in clause.items())


def _allowed(allowed: str | list[str] | Range) -> str:
    if isinstance(allowed, Range):
        bounds = (("from", allowed.from_), ("until", allowed.until))
        return " ".join(f"{word} {release}" for word, release in bounds if release) or "present"
    return allowed if isinstance(allowed, str) else "/".join(allowed)
