"""The verdicts of one source in one environment: a verdict for every world that is open, and what
they come to.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence

import msgspec

from d9m.environment import releases
from d9m.environment.environment import Environment
from d9m.kb.store import KnowledgeBase, OpSource
from d9m.model import conditions
from d9m.model.advice import REPEATS, joined, worst, worst_default
from d9m.model.conditions import Cell, Cells
from d9m.model.op_syntax import Direction
from d9m.model.records import Default, Labels, Outcome
from d9m.model.versions import Candidates, key
from d9m.model.when import Clause, World
from d9m.resolve.deviations import deviations
from d9m.resolve.rules import NOT_MET, Basis, Rules, Verdict, rules, unverified


class Evaluation(msgspec.Struct, frozen=True):
    """The possible verdicts of a source here, with what leads to each."""

    possible: tuple[tuple[Clause, Verdict], ...]
    outcome: Outcome
    """The outcome of all of them together."""
    applies: bool
    """Whether the source applies under what is assumed, or only where an assumption does not hold.
    """
    otherwise: tuple[tuple[Clause, Outcome], ...]
    """Worse outcomes, and the fewest assumptions that must fall for each."""
    refused: frozenset[tuple[str | None, Default]]
    """Where assumptions fall, the switches that refuse the call, and what it does without them."""
    bases: dict[Verdict, tuple[Basis, ...]]
    fixed_in: str | None
    """First release of the home package from which every later known one repeats."""
    fixed_with: Labels
    """Solutions to set in that release."""
    asks: tuple[str, ...]
    """Facts that had a part in it."""

    @property
    def lead(self) -> tuple[Clause, Verdict] | None:
        """The verdict that stands for all; None where it depends."""
        same = [branch for branch in self.possible if branch[1].outcome == self.outcome]
        return min(same, key=lambda branch: len(branch[0]), default=None)

    @property
    def residual(self) -> Clause:
        """Conditions that would have to hold for the leading verdict; empty where all have its
        outcome, and where it depends.
        """
        outcomes = {verdict.outcome for _clause, verdict in self.possible}
        if self.lead is None or outcomes == {self.outcome}:
            return {}
        return self.lead[0]

    @property
    def is_present(self) -> bool:
        """Whether the source applies here, be it only where an assumption does not hold."""
        return self.outcome != NOT_MET.outcome


ELSEWHERE = Verdict("deterministic", "deterministic")
"""A source that applies only where an assumption does not hold."""


def judge(
    kb: KnowledgeBase,
    environment: Environment,
    op_source: OpSource,
    when: Clause,
    wanted: Sequence[Direction],
) -> tuple[Evaluation, list[Direction]]:
    """All that a source can do here, and the directions in which it does.

    `environment` already holds the arguments of the call; `when` is the
    condition under which the asked name reaches this op.
    """
    case = rules(kb, op_source, when)
    here = directions_here(environment, wanted)
    image = environment.image.package if environment.image else None
    domains = since_first_step(case, environment, environment.domains(case.cuts))
    assumed = tuple(name for name in domains if environment.assumes(name))
    held = {
        name: environment.packages[name]
        for name in (case.home, *domains)
        if name in environment.packages
    }
    given = tuple(name for name, installed in held.items() if installed.origin == "given")
    warned = frozenset(
        label for label, where in case.warned.items() if {} in environment.holding(where)
    )
    home = held.get(case.home)
    off_the_map = home if home and home.candidates.how in ("newer", "between") else None
    place = (
        "finding",
        case,
        tuple(here),
        image,
        tuple(domains.items()),
        assumed,
        given,
        off_the_map,
        warned,
    )
    return kb.once(
        place, lambda: _find(case, environment, domains, assumed, here, warned)
    ), case.directions(here)


def since_first_step(
    case: Rules, environment: Environment, domains: dict[str, Cells]
) -> dict[str, Cells]:
    """Where the home package's releases are not listed, an unnamed version is none before
    the first step.
    """
    home = environment.packages.get(case.home)
    if home is None or home.candidates != _ANY_UNLISTED or case.home not in domains:
        return domains
    first = key(case.source.timeline[case.home][0].from_)
    later = tuple(
        cell for cell in domains[case.home] if cell.low is not None and key(cell.low) >= first
    )
    return {**domains, case.home: later}


_ANY_UNLISTED = Candidates((), "any")


def directions_here(environment: Environment, wanted: Sequence[Direction]) -> list[Direction]:
    """Without gradients there is no backward."""
    training = environment.facts.get("training", environment.vocabulary["training"].default)
    return [direction for direction in wanted if direction == "forward" or training != "false"]


def _find(
    case: Rules,
    environment: Environment,
    domains: Mapping[str, Cells],
    assumed: Sequence[str],
    here: Sequence[Direction],
    warned: frozenset[str],
) -> Evaluation:
    image = environment.image.package if environment.image else None
    home = environment.packages.get(case.home)
    off_the_map = home is not None and home.candidates.how in ("newer", "between")
    bases: dict[Verdict, dict[Basis, None]] = {}
    refused: set[tuple[str | None, Default]] = set()

    def answer(world: World) -> Verdict:
        verdict, basis = case.verdict(world, image, here, warned)
        if basis is not None:
            bases.setdefault(verdict, {})[basis] = None
        return verdict

    def outcome_at(deviation: World) -> Outcome:
        elsewhere = {**domains, **{name: (Cell(value),) for name, value in deviation.items()}}
        if off_the_map:
            branches = conditions.by_answer(
                elsewhere, lambda world: case.verdict(world, image, here, warned)[0]
            )
            verdicts = [verdict for _, verdict in mark_unverified(environment, case.home, branches)]
        else:
            worlds = conditions.worlds(elsewhere)
            verdicts = [case.verdict(world, image, here, warned)[0] for world in worlds]
        for verdict in verdicts:
            if verdict.outcome == "raises":
                refused.add((verdict.raised_by, verdict.default))
        return joined(verdict.outcome for verdict in verdicts)

    possible = mark_unverified(environment, case.home, conditions.by_answer(domains, answer))
    outcome = joined(verdict.outcome for _clause, verdict in possible)
    asks = [name for name in domains if name in environment.vocabulary]
    opened = {name: environment.cells(name, case.cuts[name], assume=False) for name in assumed}
    held = {
        name: conditions.cell_of(opened[name], domains[name][0].value).value for name in assumed
    }
    otherwise = deviations(opened, held, outcome_at, worst([outcome, ELSEWHERE.outcome]))
    applies = outcome != NOT_MET.outcome
    if not applies and (otherwise or deviations(opened, held, outcome_at, outcome)):
        everywhere_else: Clause = {}
        possible = mark_unverified(environment, case.home, [(everywhere_else, ELSEWHERE)])
        outcome = joined(verdict.outcome for _clause, verdict in possible)
        asks = [name for name in asks if any(name in clause for clause, _outcome in otherwise)]
    fixed_in, fixed_with = _fixed(case, environment, here)
    return Evaluation(
        possible=tuple(possible),
        outcome=outcome,
        applies=applies,
        otherwise=tuple(otherwise),
        refused=frozenset(refused),
        bases={verdict: tuple(group) for verdict, group in bases.items()},
        fixed_in=fixed_in,
        fixed_with=fixed_with,
        asks=tuple(asks),
    )


def mark_unverified(
    environment: Environment, home: str, possible: list[tuple[Clause, Verdict]]
) -> list[tuple[Clause, Verdict]]:
    """Return `unknown` for releases that are not verified, or where a pre-release lies between two
    answers of which one may repeat.
    """
    if home not in environment.packages:
        return possible
    around = environment.packages[home].candidates
    if around.how == "newer":
        return [(clause, unverified(verdict, around.releases[-1])) for clause, verdict in possible]
    answers = {(verdict.outcome, verdict.alternatives) for _clause, verdict in possible}
    is_split = len(answers) > 1 and any(home in clause for clause, _verdict in possible)
    if around.how != "between" or not is_split:
        return possible
    first, last = around.releases[0], around.releases[-1]
    note = f"this build is between {first} and {last}, which differ"
    if environment.packages[home].version is None:
        note = f"the version of {home} in the image is not verified"
    differing = [(clause, verdict) for clause, verdict in possible if home in clause]
    default = _default_of_both(home, possible)
    if all(verdict.outcome in _NEVER_REPEATS for _clause, verdict in differing):
        neither = Verdict("unsolved", default, note=note)
        wheres = [_without(home, clause) for clause, _verdict in differing]
        alike = [branch for branch in possible if branch not in differing]
        unlike = [where for at, where in enumerate(wheres) if where not in wheres[:at]]
        return [*alike, *((where, neither) for where in unlike)]
    settings = _settings_of_both([verdict for _clause, verdict in possible])
    return [({}, Verdict("unknown", default, settings, note=note))]


def _without(name: str, clause: Clause) -> Clause:
    return {key: value for key, value in clause.items() if key != name}


_NEVER_REPEATS = ("unsolved", "raises")
"""Outcomes of which it does not matter which side of a pre-release has them: neither repeats."""


def _settings_of_both(verdicts: Sequence[Verdict]) -> tuple[Labels, ...]:
    """The solutions that hold one of each side of a pre-release: the best available."""
    if any(verdict.outcome != "solved" for verdict in verdicts):
        return ()
    found: dict[Labels, None] = {}
    for verdict in verdicts:
        for labels in verdict.alternatives:
            held = (map(set(labels).issuperset, each.alternatives) for each in verdicts)
            if all(map(any, held)):
                found[labels] = None
    return tuple(found)


def _default_of_both(home: str, possible: Sequence[tuple[Clause, Verdict]]) -> Default:
    """Return what happens without settings, if it is the same on both sides of a pre-release."""
    sides = [clause[home] for clause, _verdict in possible if home in clause]
    found: set[Default] = set()
    for side in sides:
        here = [verdict for clause, verdict in possible if clause.get(home, side) == side]
        found.add(worst_default(verdict.default for verdict in here))
    return found.pop() if len(found) == 1 else "unknown"


def _fixed(
    case: Rules, environment: Environment, here: Sequence[Direction]
) -> tuple[str | None, Labels]:
    """First release from which every later known one is solved or deterministic, and what to set
    there.
    """
    domains = everywhere(case, environment).domains(case.cuts)
    place = ("fixed in", case, tuple(here), tuple(domains.items()))

    def find() -> tuple[str | None, Labels]:
        release = first_good(case, domains, here)
        return release, _settings_of(case, domains, here, release) if release else ()

    return case.kb.once(place, find)


def _settings_of(
    case: Rules, domains: Mapping[str, Cells], here: Sequence[Direction], release: str
) -> Labels:
    """The preferred settings of a release; where they differ, those of the first circumstances
    that need any.
    """
    cells = domains[case.home]
    cell = next((cell for cell in cells if cell.low == release), cells[0])
    there = {**domains, case.home: (cell,)}
    for _clause, verdict in conditions.by_answer(
        there, lambda world: case.verdict(world, None, here)[0]
    ):
        if verdict.alternatives:
            return verdict.alternatives[0]
    return ()


def everywhere(case: Rules, environment: Environment) -> Environment:
    """The same surroundings with any release of the home package; what an image or a wheel holds
    does not count.
    """
    any_ = releases.of_any(case.kb.releases(case.home))
    held = environment.packages.items()
    given = {name: installed for name, installed in held if installed.origin == "given"}
    return msgspec.structs.replace(environment, packages={**given, case.home: any_}, image=None)


def first_good(case: Rules, domains: Mapping[str, Cells], here: Sequence[Direction]) -> str | None:
    fixed: str | None = None
    for cell in domains.get(case.home, ()):
        worlds = conditions.worlds({**domains, case.home: (cell,)})
        if any(case.verdict(world, None, here)[0].outcome not in REPEATS for world in worlds):
            fixed = None
        elif fixed is None:
            fixed = (
                cell.low
                or (case.kb.releases(case.home) or (case.source.timeline[case.home][0].from_,))[0]
            )
    return fixed
