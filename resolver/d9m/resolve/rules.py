"""The verdict of one source in one world, where nothing is open.

This is the evaluation that the site documents as a specification; the tests hold
an independent second one, and both must agree on every release and op.
"""

from __future__ import annotations

from collections.abc import Sequence

import msgspec

from d9m.kb.store import KnowledgeBase, OpSource
from d9m.model.advice import WITHOUT_SETTINGS
from d9m.model.op_syntax import BOTH, Direction
from d9m.model.records import (
    Default,
    Labels,
    RecordedOutcome,
    Solution,
    Source,
    TimelineStep,
    Unless,
    together,
)
from d9m.model.versions import covers, key
from d9m.model.when import Clause, Condition, Range, World, cuts, parse


class Verdict(msgspec.Struct, frozen=True):
    """The outcome of a source in one world, with what solves it."""

    outcome: RecordedOutcome
    default: Default
    alternatives: tuple[Labels, ...] = ()
    """Every set of solutions that would do, preferred first."""
    raised_by: str | None = None
    error: str | None = None
    note: str | None = None
    last_verified: tuple[str, RecordedOutcome] | None = None
    """Where the release is newer than those verified: the last one verified, and its outcome.
    """


class Basis(msgspec.Struct, frozen=True):
    """The basis of a verdict: a step of a track, or an exception to it."""

    track: str
    step: int
    exception: int | None


NOT_MET = Verdict("no-known-source", "unknown")


class Rules:
    """One source as some ops reach it, with its conditions parsed."""

    def __init__(self, kb: KnowledgeBase, op_source: OpSource, when: Clause) -> None:
        self.kb = kb
        self.source: Source = op_source.source
        self.home = kb.home(op_source.id)
        self.applies = op_source.source.condition
        self.reached = parse(when)
        self.patterns = [(parse(way.when), way.directions) for way in op_source.patterns]
        self.tracks = {
            package: [(step, [exception.condition for exception in step.unless]) for step in steps]
            for package, steps in op_source.source.timeline.items()
        }
        self.usable = {
            label: _usable(solution)
            for label, _id, solution in kb.labelled(op_source.source.labels())
        }
        labelled = kb.labelled(op_source.source.labels())
        self.warned = {label: solution.warns_where for label, _id, solution in labelled}
        self.cuts = cuts(self._all_conditions())

    def _all_conditions(self) -> list[Condition]:
        found = [self.applies, self.reached, *(each for each, _directions in self.patterns)]
        for package, steps in self.tracks.items():
            for step, exceptions in steps:
                found.append(parse({package: Range(from_=step.from_)}))
                found.extend(exceptions)
                beyond = self._first_unverified(package, step)
                if beyond is not None:
                    found.append(parse({package: Range(from_=beyond)}))
        for where, blocks in self.usable.values():
            found.extend([where, *blocks])
        return found

    def _first_unverified(self, package: str, step: TimelineStep) -> str | None:
        """First known release after those that was verified."""
        seen = step.verified_through
        if seen is None:
            return None
        for release in self.kb.releases(package):
            if key(release) > key(seen) and not covers(seen, release):
                return release
        return None

    def directions(self, wanted: Sequence[Direction]) -> list[Direction]:
        ways = {direction for _when, directions in self.patterns for direction in directions}
        return [each for each in BOTH if each in ways and each in wanted]

    def verdict(
        self,
        world: World,
        image: str | None,
        wanted: Sequence[Direction],
        warned: frozenset[str] = frozenset(),
    ) -> tuple[Verdict, Basis | None]:
        """Return the verdict in one world, and its basis; with switches that are `warned` of, a
        call that they refuse goes on.
        """
        op_source = any(
            set(directions) & set(wanted) and when.holds(world)
            for when, directions in self.patterns
        )
        if not (op_source and self.reached.holds(world) and self.applies.holds(world)):
            return NOT_MET, None
        track = image if image in self.tracks else self.home
        found = self._at(track, world)
        if found is not None and found[1].as_ == "stock":
            track = self.home
            found = self._at(track, world)
        if found is None:
            return NOT_MET, None
        place, step, exceptions = found
        exception = next((at for at, when in enumerate(exceptions) if when.holds(world)), None)
        rule = step if exception is None else step.unless[exception]
        value = world[track]
        beyond = (
            self._first_unverified(track, step) if place == len(self.tracks[track]) - 1 else None
        )
        late = beyond is not None and isinstance(value, tuple) and value >= key(beyond)
        told = self._ruled(rule, world)
        if told.outcome == "raises" and not warned.isdisjoint(together(told.raised_by or "")):
            outcome = WITHOUT_SETTINGS[told.default]
            told = msgspec.structs.replace(told, outcome=outcome, error=None)
        return unverified(told, step.verified_through or "") if late else told, Basis(
            track, place, exception
        )

    def _at(self, track: str, world: World) -> tuple[int, TimelineStep, list[Condition]] | None:
        """The step of a track that holds in a world."""
        release = world.get(track)
        found = None
        for place, (step, exceptions) in enumerate(self.tracks.get(track, ())):
            if isinstance(release, tuple) and key(step.from_) <= release:
                found = (place, step, exceptions)
        return found

    def _ruled(self, rule: TimelineStep | Unless, world: World) -> Verdict:
        outcome: RecordedOutcome = rule.outcome or ("solved" if rule.by else "unknown")
        usable = tuple(
            labels
            for labels in rule.alternatives
            if all(self._is_usable(label, world) for label in labels)
        )
        default = rule.default or DEFAULTS[outcome]
        if outcome == "solved" and not usable:
            outcome = "unsolved"
        if outcome == "raises":
            switch = " + ".join(usable[0]) if usable else None
            error = rule.error if switch else None
            return Verdict(
                outcome if switch else "unsolved",
                default,
                (),
                switch,
                error,
                rule.note,
            )
        alternatives = usable if outcome == "solved" else ()
        return Verdict(outcome, default, alternatives, None, None, rule.note)

    def _is_usable(self, label: str, world: World) -> bool:
        """Whether a solution exists, and nothing blocks it."""
        where, blocks = self.usable[label]
        return where.holds(world) and not any(block.holds(world) for block in blocks)


DEFAULTS: dict[RecordedOutcome, Default] = {
    "no-known-source": "unknown",
    "deterministic": "deterministic",
    "solved": "nondeterministic",
    "unknown": "unknown",
    "raises": "nondeterministic",
    "unsolved": "nondeterministic",
}
"""Return what happens with nothing set, where the record does not say."""


def _usable(solution: Solution) -> tuple[Condition, list[Condition]]:
    blocking = [caution for caution in solution.cautions if caution.blocks]
    return solution.condition, [caution.condition for caution in blocking]


def rules(kb: KnowledgeBase, op_source: OpSource, when: Clause) -> Rules:
    """The rules of a source under a condition, read once: most of its ops share them."""
    return kb.once(
        ("rules", op_source.id, op_source.ways, str(when)), lambda: Rules(kb, op_source, when)
    )


def unverified(verdict: Verdict, newest: str) -> Verdict:
    """The verdict of the last release that was verified, reported as unknown."""
    if verdict.outcome in ("no-known-source", "unknown") or verdict.last_verified:
        return verdict
    seen = (newest, verdict.outcome)
    return msgspec.structs.replace(
        verdict, outcome="unknown", default="unknown", last_verified=seen
    )
