"""Processes that trained together: a difference that a collective brought began somewhere else."""

from __future__ import annotations

from collections.abc import Sequence

from d9m.trace.causes import DiffWalker
from d9m.trace.suspects import CauseCandidate


def settle(trails: Sequence[DiffWalker]) -> None:
    """Trace what collectives brought back to the process that sent it.

    Where every process sent what it had sent in the other run, the collective itself is the cause.
    """
    for trail in trails:
        for suspect in trail.suspects:
            suspect.moved = bool(_senders(trails, trail, suspect))
    for trail in trails:
        for suspect in trail.suspects:
            if suspect.moved:
                for root in _roots(trails, trail, suspect, []):
                    for what, step in suspect.reaches.items():
                        root.reaches[what] = min(step, root.reaches.get(what, step))
                    root.inherited += suspect.inherited


def _senders(
    trails: Sequence[DiffWalker], own: DiffWalker, suspect: CauseCandidate
) -> list[tuple[DiffWalker, CauseCandidate]]:
    """The causes, on other ranks, of what the collective was given."""
    arrival = suspect.arrival
    if arrival is None:
        return []
    found: list[tuple[DiffWalker, CauseCandidate]] = []
    for trail in trails:
        if trail is not own:
            numbers = trail.mailbox.sent.get((arrival.group, arrival.number), frozenset())
            found += [(trail, trail.suspects[number]) for number in sorted(numbers)]
    return found


def _roots(
    trails: Sequence[DiffWalker],
    own: DiffWalker,
    suspect: CauseCandidate,
    passed: list[CauseCandidate],
) -> list[CauseCandidate]:
    """What began it, through as many collectives as it takes."""
    if any(suspect is known for known in passed):
        return []
    if not suspect.moved:
        return [suspect]
    passed.append(suspect)
    found: list[CauseCandidate] = []
    for trail, sender in _senders(trails, own, suspect):
        found += _roots(trails, trail, sender, passed)
    return found
