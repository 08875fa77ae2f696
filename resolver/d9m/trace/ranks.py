"""Processes that trained together: a difference that a collective brought began somewhere else."""

from __future__ import annotations

from collections.abc import Sequence

from d9m.trace.cause_candidates import CauseCandidate
from d9m.trace.causes import DiffWalker


def settle(walkers: Sequence[DiffWalker]) -> None:
    """Trace what collectives brought back to the process that sent it.

    Where every process sent what it had sent in the other run, the collective itself is the cause.
    """
    for walker in walkers:
        for suspect in walker.suspects:
            suspect.moved = bool(_senders(walkers, walker, suspect))
    for walker in walkers:
        for suspect in walker.suspects:
            if suspect.moved:
                for root in _roots(walkers, walker, suspect, []):
                    for what, step in suspect.reaches.items():
                        root.reaches[what] = min(step, root.reaches.get(what, step))
                    root.inherited += suspect.inherited


def _senders(
    walkers: Sequence[DiffWalker], own: DiffWalker, suspect: CauseCandidate
) -> list[tuple[DiffWalker, CauseCandidate]]:
    """The causes, on other ranks, of what the collective was given."""
    arrival = suspect.arrival
    if arrival is None:
        return []
    found: list[tuple[DiffWalker, CauseCandidate]] = []
    for walker in walkers:
        if walker is not own:
            numbers = walker.collectives.sent.get((arrival.group, arrival.number), frozenset())
            found += [(walker, walker.suspects[number]) for number in sorted(numbers)]
    return found


def _roots(
    walkers: Sequence[DiffWalker],
    own: DiffWalker,
    suspect: CauseCandidate,
    passed: list[CauseCandidate],
) -> list[CauseCandidate]:
    """Return what began it, through as many collectives as it takes."""
    if any(suspect is known for known in passed):
        return []
    if not suspect.moved:
        return [suspect]
    passed.append(suspect)
    found: list[CauseCandidate] = []
    for walker, sender in _senders(walkers, own, suspect):
        found += _roots(walkers, walker, sender, passed)
    return found
