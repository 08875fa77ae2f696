"""What every op gets for an answer in every release: how many of them are known, and which are
not.
"""

from __future__ import annotations

import itertools
from collections import Counter
from collections.abc import Iterator

import msgspec

from d9m.about import SCHEMA_VERSION
from d9m.environment.environment import Environment, Setup, describe
from d9m.errors import UsageError
from d9m.kb.store import KnowledgeBase
from d9m.model.advice import WORST_LAST, Advice
from d9m.model.op_syntax import parse
from d9m.model.records import Outcome
from d9m.model.wheel_facts import spans
from d9m.resolve import op_lookup
from d9m.resolve.resolver import resolve


class Open(msgspec.Struct, frozen=True, order=True):
    """A source whose answer nobody knows, and the releases in which it leaves one op or more
    without an answer.
    """

    source: str
    releases: str
    """``first..until``, the second exclusive, empty to the newest; several joined by ``,``."""
    ops: list[str]
    missing: str
    """What is missing, or what was tried."""


class Answered(msgspec.Struct, frozen=True):
    """One package: an op in a release is one pair."""

    package: str
    ops: int
    releases: int
    pairs: int
    outcomes: dict[Outcome, int]
    """Outcome -> pairs that have it."""
    unknown_percent: float
    """Of all pairs."""
    unknown_percent_met: float
    """Of the pairs in which a record names a source."""
    unknown: list[Open]

    def text(self) -> str:
        counted = ", ".join(f"{outcome} {number}" for outcome, number in self.outcomes.items())
        lines = [
            f"{self.package}: {self.ops} ops, {self.releases} releases, {self.pairs} pairs: "
            f"{counted}"
        ]
        lines.append(
            f"    unknown: {self.unknown_percent:.1f} % of all,"
            f" {self.unknown_percent_met:.1f} % of those in which a record names a source"
        )
        for gap in self.unknown:
            lines.append(f"    {gap.source}  {gap.releases}  {', '.join(gap.ops)}")
            lines.append(f"        {gap.missing}")
        return "\n".join(lines) + "\n"


class AnswerStats(msgspec.Struct, frozen=True, kw_only=True):
    """The answer of `d9m kb stats --answers`."""

    schema_version: int = SCHEMA_VERSION
    packages: list[Answered]

    def text(self) -> str:
        return "".join(each.text() for each in self.packages)


def answered(kb: KnowledgeBase) -> AnswerStats:
    """Every framework and every vendor's build of one, as trained on a GPU with every other fact at
    its default.
    """
    builds = itertools.chain.from_iterable(kb.meta.images.values())
    return AnswerStats(packages=[_package(kb, package) for package in (*kb.meta.prefixes, *builds)])


def _package(kb: KnowledgeBase, package: str) -> Answered:
    outcomes: Counter[Outcome] = Counter()
    ops: set[str] = set()
    missing: dict[tuple[str, str], dict[str, set[str]]] = {}
    releases = kb.releases(package)
    for release in releases:
        for answer in _answers(kb, package, release).ops:
            ops.add(answer.query)
            outcomes[answer.outcome] += 1
            for source in answer.sources if answer.outcome == "unknown" else ():
                if source.outcome == "unknown":
                    place = (source.id, source.note or "nobody has confirmed what happens here")
                    missing.setdefault(place, {}).setdefault(release, set()).add(answer.query)
    open_: list[Open] = []
    for (source, why), found in missing.items():
        where = spans(releases, [release in found for release in releases])
        open_.append(Open(source, where, sorted(set[str]().union(*found.values())), why))
    counted: dict[Outcome, int] = {each: outcomes[each] for each in WORST_LAST if outcomes[each]}
    pairs, unknown = outcomes.total(), outcomes["unknown"]
    met = pairs - outcomes["no-known-source"]
    return Answered(
        package=package,
        ops=len(ops),
        releases=len(releases),
        pairs=pairs,
        outcomes=counted,
        unknown_percent=round(100 * unknown / max(1, pairs), 2),
        unknown_percent_met=round(100 * unknown / max(1, met), 2),
        unknown=sorted(open_),
    )


def _answers(kb: KnowledgeBase, package: str, release: str) -> Advice:
    environment = describe(kb, Setup(((package, release),)))
    return resolve(kb, environment, list(_items(kb, environment)))


def _items(kb: KnowledgeBase, environment: Environment) -> Iterator[op_lookup.OpItem]:
    """Every op that the records list and that this environment has."""
    for home in op_lookup.catalogues(kb, environment):
        for name in kb.once(("catalogued", home), lambda h=home: _catalogued(kb, h)):
            try:
                yield op_lookup.find(kb, environment, parse(name))
            except UsageError:  # this release lacks it
                continue


def _catalogued(kb: KnowledgeBase, package: str) -> list[str]:
    entries = (kb.ops[place] for place in kb.ops if place.startswith(f"{package}:"))
    return [entry.name for entry in entries if entry.catalogued]
