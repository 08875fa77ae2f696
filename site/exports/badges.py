"""Badges in the form that shields.io/endpoint reads: one a source, one a framework."""

from __future__ import annotations

from collections.abc import Iterator

from d9m.browse import history
from d9m.kb.store import KnowledgeBase
from d9m.model.records import Outcome
from exports.addresses import API
from exports.api import encoded
from exports.shapes import Badge

_COLOURS: dict[Outcome, str] = {
    "no-known-source": "lightgrey",
    "deterministic": "brightgreen",
    "solved": "green",
    "depends": "yellow",
    "unknown": "lightgrey",
    "raises": "orange",
    "unsolved": "red",
}


def files(kb: KnowledgeBase) -> Iterator[tuple[str, bytes]]:
    for id_ in kb.sources:
        yield f"{API}badges/sources/{id_}.json", encoded(_source(kb, id_))
    for package in kb.meta.prefixes:
        yield f"{API}badges/packages/{package}.json", encoded(_package(kb, package))


def _source(kb: KnowledgeBase, id_: str) -> Badge:
    """What the newest release of its home package does."""
    today = history.of(kb, id_).today
    if today is None:
        return Badge(1, id_, "no longer applies", "brightgreen")
    by = " + ".join(today.verdict.alternatives[0]) if today.verdict.alternatives else ""
    outcome = today.verdict.outcome
    return Badge(
        1, id_, f"{outcome.replace('-', ' ')}{f' with {by}' if by else ''}", _COLOURS[outcome]
    )


def _package(kb: KnowledgeBase, package: str) -> Badge:
    released = kb.releases(package)
    sources = sum(kb.home(id_) == package for id_ in kb.sources)
    return Badge(
        1, kb.packages[package].title, f"{released[0]} - {released[-1]}, {sources} sources", "blue"
    )
