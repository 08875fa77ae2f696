"""A second evaluation of the records, written against their description and not against the
resolver.

What nobody decided is tried out, value by value. Nothing here is shared with d9m.
"""

from __future__ import annotations

import functools
import itertools
from collections.abc import Iterable, Iterator, Mapping
from typing import Any, NamedTuple

from second_reading import OPLESS, AskedPlace, Book, Record, Way

OUTCOMES = [
    "no-known-source",
    "deterministic",
    "solved",
    "depends",
    "unknown",
    "raises",
    "unsolved",
]

REPEATING = OUTCOMES[:3]

World = Mapping[str, Any]
"""Package -> index of its release, or None if absent; fact -> value; ``device``."""


class OwnVerdict(NamedTuple):
    outcome: str
    alternatives: tuple[tuple[str, ...], ...] = ()
    raised_by: str | None = None


NOT_MET = OwnVerdict("no-known-source")


def _good_for_all(verdicts: Iterable[OwnVerdict]) -> tuple[tuple[str, ...], ...]:
    """Of what solves it in some release, what solves it in each; nothing if one has no solution."""
    told = list(verdicts)
    if {each.outcome for each in told} != {"solved"}:
        return ()
    good: list[tuple[str, ...]] = []
    for labels in itertools.chain(*(each.alternatives for each in told)):
        solved = [any(set(one) <= set(labels) for one in each.alternatives) for each in told]
        if all(solved) and labels not in good:
            good.append(labels)
    return tuple(good)


class OwnAnswer(NamedTuple):
    """What a source may do where every assumption holds, and what it comes to where some do not."""

    verdicts: set[OwnVerdict]
    elsewhere: dict[frozenset[tuple[str, str]], str]
    """Values of facts that differ from what is assumed -> outcome."""

    @property
    def outcome(self) -> str:
        return OUTCOMES[1] if self.only_elsewhere else summed_up(self.verdicts)

    @property
    def only_elsewhere(self) -> bool:
        return self.verdicts == {NOT_MET}

    @property
    def is_met(self) -> bool:
        return not self.only_elsewhere or any(
            each != NOT_MET.outcome for each in self.elsewhere.values()
        )


class Opinion:
    """What the records of a book say."""

    def __init__(self, book: Book) -> None:
        self.book = book
        self._answers: dict[Any, OwnAnswer] = {}

    def answers(
        self,
        package: str,
        name: str,
        place: AskedPlace,
        left_out: Mapping[str, Mapping[str, str]] = {},
    ) -> dict[str, list[OwnAnswer]]:
        """Source -> what it may do; several where the name meets it in several ways.

        `left_out`: op -> what its API gives arguments that a call leaves out.
        """
        found: dict[str, list[OwnAnswer]] = {}
        for reading in self.book.readings(package, name):
            op = reading.item.op
            here = place if name == OPLESS else self.book.having(package, op, place)
            if here is not None:
                answer = self._answer(reading, here, self._usual(left_out.get(op, {})))
                framework = name == OPLESS and self.book.packages[package]["kind"] == "framework"
                if answer.is_met and not (framework and answer.only_elsewhere):
                    found.setdefault(reading.source, []).append(answer)
        return found

    def _answer(self, reading: Way, place: AskedPlace, usual: Mapping[str, str]) -> OwnAnswer:
        """Ops that meet a source alike, and leave out alike, have one answer wherever all is alike
        that the source mentions.
        """
        said = self._mentions(reading)
        packages = (self.book.home(reading.source), *said)
        here = [(place.releases.get(name), place.standing.get(name)) for name in packages]
        assumed = [usual.get(name) for name in said]
        given = (place.device, place.image, *place.facts.items())
        alike = (reading.alike, given, *here, *assumed)
        if alike not in self._answers:
            self._answers[alike] = OwnAnswer(
                self._verdicts(reading, place, usual), self._elsewhere(reading, place, usual)
            )
        return self._answers[alike]

    def _usual(self, left_out: Mapping[str, str]) -> dict[str, str]:
        """What is assumed of each fact: what the API of the call says, else what the records do."""
        defaults = {
            name: each["default"] for name, each in self.book.facts.items() if "default" in each
        }
        return {**defaults, **left_out}

    def _elsewhere(
        self, reading: Way, place: AskedPlace, usual: Mapping[str, str]
    ) -> dict[frozenset[tuple[str, str]], str]:
        """What a source comes to for every combination of values that the assumed facts do not
        have.
        """
        said = self._mentions(reading)
        assumed = [
            name
            for name in said
            if name in usual and name not in {**place.facts, **reading.item.arguments}
        ]
        choices = [[None, *self._others(name, said[name], usual[name])] for name in assumed]
        found: dict[frozenset[tuple[str, str]], str] = {}
        for values in itertools.product(*choices):
            instead = {name: value for name, value in zip(assumed, values) if value is not None}
            if instead:
                found[frozenset(instead.items())] = summed_up(
                    self._verdicts(reading, place, {**usual, **instead})
                )
        return found

    def _others(self, name: str, said: set[str], usual: str) -> list[str]:
        """Values that a fact has not by default: those that a condition names, and one that stands
        for the rest.
        """
        fact = self.book.facts[name]
        values = fact.get("values") or [str(each) for each in self._numbers(fact, said)]
        named = [each for each in values if each in said and each != usual]
        silent = [each for each in values if each not in said and each != usual]
        return [*named, *silent[:1]]

    def _verdicts(
        self, reading: Way, place: AskedPlace, assumed: Mapping[str, str]
    ) -> set[OwnVerdict]:
        """All that a source may do there, over everything that is undecided beyond what is
        `assumed`.
        """
        home = self.book.home(reading.source)
        domains = {
            name: self._domain(name, said, reading, place, assumed)
            for name, said in self._mentions(reading).items()
        }
        names = [name for name in domains if name != home]
        rest = [
            dict(zip(names, values))
            for values in itertools.product(*(domains[name] for name in names))
        ]
        by_release = [
            [self._verdict(reading, {**world, home: at}, place) for world in rest]
            for at in place.releases[home]
        ]
        found = {verdict for verdicts in by_release for verdict in verdicts}
        if place.standing.get(home) == "newer":
            return {_unverified(each) for each in found}
        if place.standing.get(home) == "between" and any(
            each != by_release[0] for each in by_release
        ):
            split = [set(sides) for sides in zip(*by_release) if len(set(sides)) > 1]
            if all(each.outcome in ("unsolved", "raises") for sides in split for each in sides):
                alike = {sides[0] for sides in zip(*by_release) if len(set(sides)) == 1}
                return {*alike, OwnVerdict("unsolved")}
            return {OwnVerdict("unknown", _good_for_all(itertools.chain(*by_release)))}
        return found

    def _verdict(self, reading: Way, world: World, place: AskedPlace) -> OwnVerdict:
        source, home = self.book.sources[reading.source], self.book.home(reading.source)
        if not (
            self._is_called(reading, world, place)
            and self._holds(reading.item.when, world)
            and self._holds(source.get("when", {}), world)
        ):
            return NOT_MET
        track = place.image if place.image in source["timeline"] else home
        step = self._step(source, track, world)
        if step is not None and step.get("as") == "stock":
            track, step = home, self._step(source, home, world)
        if step is None:
            return NOT_MET
        rule = next(
            (each for each in step.get("unless", []) if self._holds(each["when"], world)), step
        )
        told = self._ruled(rule, world)
        last = step is source["timeline"][track][-1]
        return (
            _unverified(told)
            if last and self._unseen(track, step.get("verified_through"), world[track])
            else told
        )

    def _is_called(self, reading: Way, world: World, place: AskedPlace) -> bool:
        """Whether the source is about such a call, in a direction that is computed."""
        wanted = reading.item.ways - {"backward" if place.facts.get("training") == "false" else ""}
        for pattern in reading.patterns:
            if pattern.ways & wanted and self._holds(pattern.arguments, world):
                return True
        return False

    def _step(self, source: Record, track: str, world: World) -> Record | None:
        """The last step that has begun."""
        release = world[track]
        found = None
        if release is not None:
            for step in source["timeline"][track]:
                if self.book.at(track, step["from"]) <= release:
                    found = step
        return found

    @functools.cache  # noqa: B019
    def _unseen(self, track: str, seen: str | None, release: int) -> bool:
        """Whether a release is one that nobody has looked at."""
        covered = [each for each in self.book.releases[track] if f"{each}.".startswith(f"{seen}.")]
        return seen is not None and release > max(
            self.book.at(track, each) for each in [seen, *covered]
        )

    def _ruled(self, rule: Record, world: World) -> OwnVerdict:
        by = [tuple(each.split(" + ")) for each in rule.get("by", [])]
        usable = tuple(
            labels for labels in by if all(self._usable(label, world) for label in labels)
        )
        outcome = rule.get("outcome", "solved" if by else "unknown")
        if outcome in ("solved", "raises") and not usable:
            return OwnVerdict("unsolved")
        if outcome == "raises":
            return OwnVerdict("raises", (), " + ".join(usable[0]))
        return OwnVerdict(outcome, usable if outcome == "solved" else ())

    def _usable(self, label: str, world: World) -> bool:
        solution = self.book.solutions[label]
        return self._holds(solution.get("when", {}), world) and not any(
            self._holds(each, world) for each in _blocks(solution)
        )

    # --- conditions ------------------------------------------------------------

    def _holds(self, when: Any, world: World) -> bool:
        for clause in _clauses(when):
            for name, allowed in clause.items():
                if not self.book.allows(name, allowed, world[name]):
                    break
            else:
                return True
        return False

    def _domain(
        self,
        name: str,
        said: set[str],
        reading: Way,
        place: AskedPlace,
        assumed: Mapping[str, str],
    ) -> Iterable[Any]:
        """Every value that a variable may have."""
        if name == "device":
            return (place.device,)
        if name in self.book.facts:
            fact = self.book.facts[name]
            given = {**assumed, **place.facts, **reading.item.arguments}.get(name)
            if given is not None:
                return (int(given) if fact.get("type") == "int" else given,)
            return fact.get("values") or self._numbers(fact, said)
        if name in place.releases and place.standing.get(name) == "around":
            low, high = place.releases[name]
            compared = [self.book.at(name, each) for each in said if each != "absent"]
            return [low, *(each for each in compared if low < each < high), high]
        if name in place.releases:
            return place.releases[name]
        undecided = self.book.packages[name]["kind"] == "platform"
        return (
            [-1, *(self.book.at(name, each) for each in said if each != "absent")]
            if undecided
            else (None,)
        )

    def _numbers(self, fact: Record, said: set[str]) -> list[int]:
        """The least number that a fact can be, and those around each that a condition names."""
        least = int(fact.get("least", 0))
        around = [int(each) + step for each in said for step in (-1, 0, 1)]
        return [least, *(each for each in around if each > least)]

    @functools.cache  # noqa: B019
    def _mentions(self, reading: Way) -> dict[str, set[str]]:
        """Variable -> the versions or values that a condition compares it with."""
        source = self.book.sources[reading.source]
        steps = [step for track in source["timeline"].values() for step in track]
        exceptions = [each for step in steps for each in step.get("unless", [])]
        labels = {
            label
            for each in [*steps, *exceptions]
            for both in each.get("by", [])
            for label in both.split(" + ")
        }
        whens = [
            source.get("when", {}),
            reading.item.when,
            *(each.arguments for each in reading.patterns),
        ]
        whens += [each["when"] for each in exceptions]
        whens += [when for label in labels for when in self._conditions(label)]
        found: dict[str, set[str]] = {name: set() for name in source["timeline"]}
        for name, allowed in (
            pair for when in whens for clause in _clauses(when) for pair in clause.items()
        ):
            said = (
                allowed.values()
                if isinstance(allowed, dict)
                else [allowed]
                if isinstance(allowed, str)
                else allowed
            )
            found.setdefault(name, set()).update(said)
        return found

    def _conditions(self, label: str) -> Iterator[Any]:
        """Where a solution can be used."""
        solution = self.book.solutions[label]
        yield from [solution.get("when", {}), *_blocks(solution)]


def summed_up(verdicts: Iterable[OwnVerdict]) -> str:
    """One outcome for all: it depends, unless they agree or all of them repeat."""
    outcomes = {each.outcome for each in verdicts}
    agree = len(outcomes) == 1 or all(each in REPEATING for each in outcomes)
    return max(outcomes, key=OUTCOMES.index) if agree else "depends"


def _blocks(solution: Record) -> list[Any]:
    return [
        each.get("when", {})
        for each in solution.get("cautions", [])
        if each.get("blocks") == "true"
    ]


def _clauses(when: Any) -> list[Record]:
    return when if isinstance(when, list) else [when]


def _unverified(verdict: OwnVerdict) -> OwnVerdict:
    return verdict if verdict == NOT_MET else verdict._replace(outcome="unknown")
