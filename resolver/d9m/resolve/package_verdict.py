"""Limit the verdict on packages to what their records hold."""

from __future__ import annotations

import msgspec

from d9m.environment.environment import Environment
from d9m.kb.store import KnowledgeBase
from d9m.model.advice import REPEATS, OpAnswer
from d9m.model.records import Outcome
from d9m.resolve.op_lookup import OpItem


def limited(kb: KnowledgeBase, environment: Environment, answer: OpAnswer) -> OpAnswer:
    """Return the entry of the packages, no better than what was read of them.

    A few known causes that are all absent make no package deterministic, and one whose seed is on
    no record is not solved.
    """
    homes = dict.fromkeys(kb.home(source.id) for source in answer.sources)
    unseeded = [home for home in homes if not is_seeded(kb, home)]
    if unseeded and answer.outcome in REPEATS:
        titles = ", ".join(kb.packages[home].title for home in unseeded)
        note = f"how to seed the random numbers of {titles}"
        return msgspec.structs.replace(answer, outcome="unknown", note=note)
    if answer.outcome == "deterministic" and not all(
        is_reviewed(kb, environment, home) for home in homes
    ):
        return msgspec.structs.replace(answer, outcome="no-known-source")
    return answer


def stands_for_package(kb: KnowledgeBase, item: OpItem) -> bool:
    """Return whether an op has all records of its package, as XGBoost's models have."""
    entries = [(op.package, kb.ops.get(f"{op.package}:{op.name}")) for op in item.ops]
    return any(entry is not None and package in entry.parts for package, entry in entries)


def known_sources(
    kb: KnowledgeBase, environment: Environment, answer: OpAnswer
) -> dict[str, dict[Outcome, int]]:
    """Return how many causes in each package that is not reviewed whole have which outcome."""
    found: dict[str, dict[Outcome, int]] = {}
    for source in answer.sources:
        home = kb.home(source.id)
        if not is_reviewed(kb, environment, home):
            counts = found.setdefault(home, {})
            counts[source.outcome] = counts.get(source.outcome, 0) + 1
    return found


def is_reviewed(kb: KnowledgeBase, environment: Environment, package: str) -> bool:
    """Return whether each release in question had its whole public interface read."""
    review = kb.packages[package].reviewed
    held = environment.packages.get(package)
    return review is not None and held is not None and review.covers(held.candidates.releases)


def is_seeded(kb: KnowledgeBase, package: str) -> bool:
    """Return whether the records say where the random numbers of a package come from."""
    record = kb.packages[package]
    if record.kind not in ("library", "application") or record.seed or record.framework:
        return True
    if record.runs_on:
        return True
    own = kb.package_level.get(package) or ()
    return any(one.source.mechanism in _OF_SEEDS for one in own)


_OF_SEEDS = ("random-generator", "unseeded-random")
"""Mechanisms of records on a package's random numbers."""
