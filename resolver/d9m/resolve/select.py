"""Choose solutions: the smallest consistent set that covers what has to be solved."""

from __future__ import annotations

import itertools
from collections.abc import Callable, Iterator, Sequence

import msgspec

from d9m.model.records import Labels
from d9m.model.when import Clause


class Need(msgspec.Struct, frozen=True):
    """One source that wants one of several sets of solutions."""

    source: str
    alternatives: tuple[Labels, ...]
    """Preferred first."""
    when: Clause
    """Where it is needed; empty where that is certain."""

    def is_satisfied_by(self, chosen: frozenset[str]) -> bool:
        return any(chosen.issuperset(labels) for labels in self.alternatives)


MOST_LABELS = 12
"""Free solutions that the search combines. Real questions have one to four; beyond, each need takes
its first.
"""


def choose(
    needs: Sequence[Need],
    consistent: Callable[[frozenset[str]], bool],
    made: frozenset[str] = frozenset(),
) -> frozenset[str]:
    """Solutions that meet every need.

    First those without an alternative, and those that the user has `made` already;
    then the smallest set for the rest; then the order in which records prefer them;
    then their names. A set whose settings contradict each other is passed over
    while there is another; if all do, the first is returned and its contradictions
    are for the caller to report.
    """
    forced = frozenset(label for need in needs for label in _given(need, made))
    rest = _distinct(need for need in needs if not need.is_satisfied_by(forced))
    candidates = _candidates(forced, rest)
    first = next(candidates, forced)
    if consistent(first) or not consistent(forced):  # more solutions never end a contradiction
        return first
    return next((candidate for candidate in candidates if consistent(candidate)), first)


def _given(need: Need, made: frozenset[str]) -> Labels:
    """Return the solutions that meet a need without a choice."""
    if len(need.alternatives) == 1:
        return need.alternatives[0]
    return next((labels for labels in need.alternatives if made.issuperset(labels)), ())


def _distinct(needs: Iterator[Need]) -> list[Need]:
    return list({need.alternatives: need for need in needs}.values())


def _candidates(forced: frozenset[str], rest: list[Need]) -> Iterator[frozenset[str]]:
    """Sets that meet every need, best first."""
    named: set[str] = set()
    for need in rest:
        named.update(*need.alternatives)
    labels = sorted(named - forced)
    if len(labels) > MOST_LABELS:
        yield forced.union(*(need.alternatives[0] for need in rest))
        return
    for size in range(len(labels) + 1):
        sets = map(forced.union, itertools.combinations(labels, size))
        fitting = [chosen for chosen in sets if all(need.is_satisfied_by(chosen) for need in rest)]
        yield from sorted(fitting, key=lambda chosen: (_preference(chosen, rest), sorted(chosen)))


def _preference(chosen: frozenset[str], needs: list[Need]) -> int:
    """How far down its list each need finds its answer, summed."""
    total = 0
    for need in needs:
        fits = list(map(chosen.issuperset, need.alternatives))
        total += fits.index(True)
    return total
