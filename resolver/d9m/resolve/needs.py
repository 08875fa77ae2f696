"""Needs of evaluated sources, and the settings of the solutions that meet them."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence

from d9m.environment.environment import Environment
from d9m.kb.store import KnowledgeBase
from d9m.resolve.applied_sources import AppliedSource
from d9m.resolve.merge import Demand, demands
from d9m.resolve.select import Need


def needs(judged: Iterable[AppliedSource]) -> list[Need]:
    """Return what has to be solved, where it can be: the answer of a newest verified release counts
    too.
    """
    found: list[Need] = []
    for source in judged:
        for clause, verdict in source.finding.possible:
            if verdict.alternatives:
                found.append(Need(source.op_source.id, verdict.alternatives, clause))
    return found


def by_label(wanted: Iterable[Need]) -> dict[str, list[Need]]:
    """Label of a solution -> the needs that name it."""
    found: dict[str, list[Need]] = {}
    for need in wanted:
        labels: set[str] = set()
        labels.update(*need.alternatives)
        for label in labels:
            found.setdefault(label, []).append(need)
    return found


def served(label: str, labels: frozenset[str], naming: Mapping[str, Sequence[Need]]) -> list[Need]:
    """Needs that a chosen solution helps to meet. `naming`: as `by_label` gives them."""
    found: list[Need] = []
    for need in naming.get(label, ()):
        own = [alternative for alternative in need.alternatives if label in alternative]
        if any(map(labels.issuperset, own)):
            found.append(need)
    return found


def covered(label: str, labels: frozenset[str], naming: Mapping[str, Sequence[Need]]) -> list[str]:
    """Ids of the sources that a chosen solution helps to remove."""
    return list(dict.fromkeys(need.source for need in served(label, labels, naming)))


def turned(
    kb: KnowledgeBase, environment: Environment, labels: frozenset[str], wanted: Sequence[Need]
) -> list[Demand]:
    """Return the settings of chosen solutions, with where each is needed."""
    found: list[Demand] = []
    naming = by_label(wanted)
    for label, _id, solution in kb.labelled(labels):
        helped = served(label, labels, naming)
        clauses = (
            []
            if not helped or any(not need.when for need in helped)
            else [need.when for need in helped]
        )
        found += demands(kb, environment, label, solution.settings, clauses)
        found += demands(kb, environment, label, solution.sets, clauses, automatic=True)
    return found
