"""What one source does in one environment: a verdict for every world, joined.

This is the evaluation that `site` documents as a specification; the tests hold
an independent second one, and both must agree on every release and op.
"""

from __future__ import annotations

import itertools
from collections.abc import Sequence
from typing import TypeAlias

import msgspec

from d9m.environment import releases
from d9m.environment.environment import Environment
from d9m.kb.store import KnowledgeBase, Met
from d9m.model import conditions
from d9m.model.advice import WORST_LAST
from d9m.model.conditions import Cells, Condition, World
from d9m.model.op_syntax import BOTH, Direction
from d9m.model.records import Clause, Default, Outcome, Range, Solution, Source, Step, Unless
from d9m.model.versions import covers, key

Labels: TypeAlias = tuple[str, ...]
"""Solutions that are all needed together."""


class Verdict(msgspec.Struct, frozen=True):
    """What a source does in one world."""

    outcome: Outcome
    default: Default
    alternatives: tuple[Labels, ...] = ()
    """Every set of solutions that would do, preferred first."""
    raised_by: str | None = None
    error: str | None = None
    pending: str | None = None
    note: str | None = None
    last_verified: tuple[str, Outcome] | None = None
    """Where the release is newer than anybody looked at: the last one looked at, and its outcome."""


class Basis(msgspec.Struct, frozen=True):
    """What a verdict rests on: a step of a track, or an exception to it."""

    track: str
    step: int
    exception: int | None


NOT_MET = Verdict("no-known-source", "unknown")


class Finding(msgspec.Struct, frozen=True):
    """What a source does here: every possible verdict, with what leads to it."""

    possible: tuple[tuple[Clause, Verdict], ...]
    worst: tuple[Clause, Verdict]
    """The verdict that counts: what is undecided counts as the worst case."""
    bases: dict[Verdict, tuple[Basis, ...]]
    fixed_in: str | None
    asks: tuple[str, ...]
    """Facts that a condition asks about."""

    @property
    def residual(self) -> Clause:
        """What would have to hold for the worst verdict; empty where all verdicts are as bad."""
        clause, verdict = self.worst
        return {} if all(each.outcome == verdict.outcome for _clause, each in self.possible) else clause


class Rules:
    """One source as met in one way, with its conditions parsed."""

    def __init__(self, kb: KnowledgeBase, met: Met, when: Clause) -> None:
        self.kb = kb
        self.source: Source = met.source
        self.home = kb.home(met.id)
        self.applies = conditions.parse(met.source.when)
        self.reached = conditions.parse(when)
        self.patterns = [(conditions.parse(each.when), each.directions) for each in met.patterns]
        self.tracks = {
            package: [(step, [conditions.parse(each.when) for each in step.unless]) for step in steps]
            for package, steps in met.source.timeline.items()
        }
        labels = {
            label
            for steps in met.source.timeline.values()
            for part in itertools.chain(steps, *(step.unless for step in steps))
            for combined in part.by
            for label in combined.split(" + ")
        }
        self.solutions = {label: solution for label, _id, solution in kb.with_required(labels)}
        self.usable = {label: _usable(solution) for label, solution in self.solutions.items()}
        self.cuts = conditions.cuts(self._all_conditions())

    def _all_conditions(self) -> list[Condition]:
        found = [self.applies, self.reached, *(each for each, _directions in self.patterns)]
        for package, steps in self.tracks.items():
            for step, exceptions in steps:
                found.append(conditions.parse({package: Range(from_=step.from_)}))
                found.extend(exceptions)
                beyond = self._first_unverified(package, step)
                if beyond is not None:
                    found.append(conditions.parse({package: Range(from_=beyond)}))
        for where, blocks in self.usable.values():
            found.extend([where, *blocks])
        return found

    def _first_unverified(self, package: str, step: Step) -> str | None:
        """First known release after those that somebody looked at."""
        seen = step.verified_through
        if seen is None:
            return None
        after = (each for each in self.kb.releases(package) if key(each) > key(seen) and not covers(seen, each))
        return next(after, None)

    def directions(self, wanted: Sequence[Direction]) -> list[Direction]:
        ways = {direction for _when, directions in self.patterns for direction in directions}
        return [each for each in BOTH if each in ways and each in wanted]

    def verdict(self, world: World, image: str | None, wanted: Sequence[Direction]) -> tuple[Verdict, Basis | None]:
        """What happens in one world, and what says so."""
        met = any(set(directions) & set(wanted) and conditions.holds(when, world) for when, directions in self.patterns)
        if not (met and conditions.holds(self.reached, world) and conditions.holds(self.applies, world)):
            return NOT_MET, None
        track = image if image in self.tracks else self.home
        found = self._at(track, world)
        if found is not None and found[1].as_ == "stock":
            track = self.home
            found = self._at(track, world)
        if found is None:
            return NOT_MET, None
        place, step, exceptions = found
        exception = next((at for at, when in enumerate(exceptions) if conditions.holds(when, world)), None)
        rule = step if exception is None else step.unless[exception]
        value = world[track]
        beyond = self._first_unverified(track, step) if place == len(self.tracks[track]) - 1 else None
        late = beyond is not None and isinstance(value, tuple) and value >= key(beyond)
        told = self._ruled(rule, world)
        return unverified(told, step.verified_through or "") if late else told, Basis(track, place, exception)

    def _at(self, track: str, world: World) -> tuple[int, Step, list[Condition]] | None:
        """The step of a track that holds in a world."""
        release = world.get(track)
        found = None
        for place, (step, exceptions) in enumerate(self.tracks.get(track, ())):
            if isinstance(release, tuple) and key(step.from_) <= release:
                found = (place, step, exceptions)
        return found

    def _ruled(self, rule: Step | Unless, world: World) -> Verdict:
        outcome: Outcome = rule.outcome or ("solved" if rule.by else "unknown")
        usable = tuple(
            labels
            for labels in (tuple(each.split(" + ")) for each in rule.by)
            if all(self._is_usable(label, world) for label in labels)
        )
        default = rule.default or DEFAULTS[outcome]
        if outcome == "solved" and not usable:
            outcome = "unsolved"
        if outcome == "raises":
            switch = " + ".join(usable[0]) if usable else None
            error = rule.error if switch else None
            return Verdict(outcome if switch else "unsolved", default, (), switch, error, rule.pending, rule.note)
        alternatives = usable if outcome == "solved" else ()
        return Verdict(outcome, default, alternatives, None, None, rule.pending, rule.note)

    def _is_usable(self, label: str, world: World) -> bool:
        """Whether a solution and all that it requires exist, and nothing blocks them."""
        where, blocks = self.usable[label]
        return (
            conditions.holds(where, world)
            and not any(conditions.holds(each, world) for each in blocks)
            and all(self._is_usable(each, world) for each in self.solutions[label].requires)
        )


DEFAULTS: dict[Outcome, Default] = {
    "no-known-source": "unknown",
    "deterministic": "deterministic",
    "solved": "nondeterministic",
    "unknown": "unknown",
    "raises": "nondeterministic",
    "unsolved": "nondeterministic",
}
"""What happens with nothing set, where the record does not say."""


def _usable(solution: Solution) -> tuple[Condition, list[Condition]]:
    return conditions.parse(solution.when), [conditions.parse(each.when) for each in solution.cautions if each.blocks]


def directions_here(environment: Environment, wanted: Sequence[Direction]) -> list[Direction]:
    """Without gradients there is no backward."""
    training = environment.facts.get("training", environment.vocabulary["training"].default)
    return [each for each in wanted if each == "forward" or training != "false"]


def rules(kb: KnowledgeBase, met: Met, when: Clause) -> Rules:
    """The rules of a source as met under a condition, read once: most of its ops meet it alike."""
    return kb.once(("rules", met.id, str(met.patterns), str(when)), lambda: Rules(kb, met, when))


def judge(
    kb: KnowledgeBase, environment: Environment, met: Met, when: Clause, wanted: Sequence[Direction]
) -> tuple[Finding, list[Direction]]:
    """All that a source can do here, and the directions in which it does.

    `environment` already holds the arguments of the call; `when` is the
    condition under which the asked name reaches this op.
    """
    case = rules(kb, met, when)
    here = directions_here(environment, wanted)
    image = environment.image.package if environment.image else None
    domains = environment.domains(case.cuts)
    held = {name: environment.packages[name] for name in (case.home, *domains) if name in environment.packages}
    given = tuple(name for name, each in held.items() if each.origin == "given")
    home = held.get(case.home)
    off_the_map = home if home and home.candidates.how in ("newer", "between") else None
    place = ("finding", case, tuple(here), image, tuple(domains.items()), given, off_the_map)
    finding = kb.once(place, lambda: _find(case, environment, domains, image, here))
    return finding, case.directions(here)


def _find(
    case: Rules, environment: Environment, domains: dict[str, Cells], image: str | None, here: list[Direction]
) -> Finding:
    bases: dict[Verdict, dict[Basis, None]] = {}

    def answer(world: World) -> Verdict:
        verdict, basis = case.verdict(world, image, here)
        if basis is not None:
            bases.setdefault(verdict, {})[basis] = None
        return verdict

    known = _honest(environment, case.home, conditions.by_answer(domains, answer))
    return Finding(
        possible=tuple(known),
        worst=max(known, key=lambda each: (WORST_LAST.index(each[1].outcome), -len(each[0]))),
        bases={verdict: tuple(group) for verdict, group in bases.items()},
        fixed_in=_fixed_in(case, environment, here),
        asks=tuple(name for name in domains if name in environment.vocabulary),
    )


def _honest(
    environment: Environment, home: str, possible: list[tuple[Clause, Verdict]]
) -> list[tuple[Clause, Verdict]]:
    """Say `unknown` where nobody looked, or where a pre-release lies between two answers."""
    if home not in environment.packages:
        return possible
    around = environment.packages[home].candidates
    if around.how == "newer":
        return [(clause, unverified(each, around.releases[-1])) for clause, each in possible]
    answers = {(each.outcome, each.alternatives) for _clause, each in possible}
    if around.how == "between" and len(answers) > 1 and any(home in clause for clause, _verdict in possible):
        note = f"{around.releases[0]} and {around.releases[-1]} differ, and this build lies between them"
        if environment.packages[home].version is None:
            note = f"nobody has confirmed which {home} the image holds"
        return [({}, Verdict("unknown", "unknown", note=note))]
    return possible


def unverified(verdict: Verdict, newest: str) -> Verdict:
    """The verdict of the last release that somebody looked at, reported as unknown."""
    if verdict.outcome == "no-known-source" or verdict.last_verified:
        return verdict
    seen = (newest, verdict.outcome)
    return msgspec.structs.replace(verdict, outcome="unknown", default="unknown", last_verified=seen)


def _fixed_in(case: Rules, environment: Environment, here: list[Direction]) -> str | None:
    """First release from which every later known one is solved or deterministic."""
    domains = everywhere(case, environment).domains(case.cuts)
    place = ("fixed in", case, tuple(here), tuple(domains.items()))
    return case.kb.once(place, lambda: first_good(case, domains, here))


def everywhere(case: Rules, environment: Environment) -> Environment:
    """The same surroundings with any release of the home package; what an image or a wheel holds does not count."""
    any_ = releases.of_any(case.kb.releases(case.home))
    given = {name: each for name, each in environment.packages.items() if each.origin == "given"}
    return msgspec.structs.replace(environment, packages={**given, case.home: any_}, image=None)


def first_good(case: Rules, domains: dict[str, Cells], here: list[Direction]) -> str | None:
    fixed: str | None = None
    for cell in domains.get(case.home, ()):
        verdicts = conditions.by_answer(
            {**domains, case.home: (cell,)}, lambda world: case.verdict(world, None, here)[0]
        )
        if any(verdict.outcome not in _GOOD for _clause, verdict in verdicts):
            fixed = None
        elif fixed is None:
            fixed = cell.low or (case.kb.releases(case.home) or (case.source.timeline[case.home][0].from_,))[0]
    return fixed


_GOOD: tuple[Outcome, ...] = ("no-known-source", "deterministic", "solved")
