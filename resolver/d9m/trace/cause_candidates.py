"""The causes of one process while they are collected: alike ones are one, counted by step."""

from __future__ import annotations

from collections.abc import Iterable, Iterator

import msgspec

from d9m.trace.align import Matched
from d9m.trace.findings import CauseKind
from d9m.trace.stream_records import Key, Site

BELIEVED_AFTER_FORK: tuple[CauseKind, ...] = ("op", "compiled", "collective", "seed", "structure")
"""Kinds that a fork cannot explain: these compare equal inputs, or seeds."""

DRAWS: tuple[CauseKind, ...] = ("seed", "generator")

FROM_OUTSIDE: tuple[CauseKind, ...] = (
    "data-order",
    "data-content",
    "outside-value",
    "argument",
    "order",
)
"""Causes that Python may have carried here from another one, where no trace follows."""

PAST_THE_TRACE: tuple[CauseKind, ...] = (*FROM_OUTSIDE, "structure", "state")
"""Causes of which a value in Python, or a random number, can be the reason."""


class Arrival(msgspec.Struct, frozen=True):
    """The collective by which a difference came in."""

    op: str
    group: str | int
    number: int


class CauseCandidate(msgspec.Struct):
    kind: CauseKind
    step: int
    record: int
    """Line of run A's recording."""
    site: Site | None = None
    name: str | None = None
    arguments: str = ""
    argument: str | None = None
    parameter: str | None = None
    """Of a state: the first parameter that differs, or whose gradient does."""
    a: str | None = None
    b: str | None = None
    certain: bool = True
    draws: bool = False
    """Whether it draws random numbers, from a generator in the same state."""
    arrival: Arrival | None = None
    opaque: bool = False
    """Of a compiled graph: whether it got something whose content has no digest."""
    storage: int | None = None
    """Of run A: what was read without having been written."""
    steps: list[int] = []
    count: int = 0
    inherited: int = 0
    """Later ops that differ because of it."""
    descendants: dict[int, list[int]] = {}
    """Number of their site in run A -> the first step, and how many there are."""
    may_follow: set[int] = set()
    leaked: bool = False
    """Whether the program took a value out of a tensor that differs because of it."""
    reaches: dict[str, int] = {}
    moved: bool = False
    """Whether it began on another rank."""

    def inherit(self, site: int, step: int) -> None:
        """A later op differs because of it."""
        self.inherited += 1
        descendant = self.descendants.get(site)
        if descendant is None:
            self.descendants[site] = [step, 1]
        else:
            descendant[1] += 1

    @property
    def matters(self) -> bool:
        return bool(self.reaches) or self.kind == "structure"

    @property
    def at_step_end(self) -> bool:
        """Whether it is a generator, of which only the step is known."""
        return self.kind == "generator" and self.site is None


class CauseCandidates:
    """All candidates of one process, in the order in which they were found."""

    def __init__(self) -> None:
        self.found: list[CauseCandidate] = []
        self.fork: int | None = None
        """The first place where the programs part."""
        self._numbers: dict[Key, int] = {}

    def __iter__(self) -> Iterator[CauseCandidate]:
        return iter(self.found)

    def __getitem__(self, number: int) -> CauseCandidate:
        return self.found[number]

    def __len__(self) -> int:
        return len(self.found)

    def numbers(self, kinds: Iterable[CauseKind]) -> set[int]:
        wanted = set(kinds)
        return {number for number, each in enumerate(self.found) if each.kind in wanted}

    def add(self, at: Matched, suspect: CauseCandidate, *keys: Key) -> int:
        """The number of a suspect: that of an equal one, by any of `keys`, if there is one.

        After a fork it is the fork's, unless a fork could not be the reason.
        """
        if self.fork is not None and suspect.kind not in BELIEVED_AFTER_FORK:
            return self.fork
        of_kind = [(suspect.kind, *key) for key in keys]
        number = next((self._numbers[key] for key in of_kind if key in self._numbers), None)
        if number is None:
            number = len(self.found)
            self.found.append(suspect)
        for key in of_kind:
            self._numbers.setdefault(key, number)
        known = self.found[number]
        known.count += 1
        if not known.steps or known.steps[-1] != at.a.step:
            known.steps.append(at.a.step)
        return number

    def reach(self, what: str, step: int, numbers: Iterable[int]) -> None:
        for number in numbers:
            self.found[number].reaches.setdefault(what, step)

    def leak(self, numbers: Iterable[int]) -> None:
        """The program took a value out of a tensor: what differs later may follow from it."""
        for number in numbers:
            self.found[number].leaked = True

    def link(self) -> None:
        """Say of what came past the trace from which earlier causes it may follow."""
        for suspect in self.found:
            if suspect.kind in PAST_THE_TRACE:
                for number, earlier in enumerate(self.found):
                    if earlier is not suspect and _may_lead_to(earlier, suspect):
                        suspect.may_follow.add(number)

    def mattering(self, anything: bool) -> set[int]:
        """Return those that reach something, and where the runs do different things; with
        `anything`, where nothing could be reached, all.
        """
        found: set[int] = set()
        for number, suspect in enumerate(self.found):
            alone = anything and not suspect.at_step_end
            if suspect.matters or alone:
                found.add(number)
        ahead = list(found)
        while ahead:
            for number in self.found[ahead.pop()].may_follow:
                earlier = self.found[number]
                if number not in found and (earlier.leaked or earlier.kind in DRAWS):
                    found.add(number)
                    ahead.append(number)
        return found


def _may_lead_to(earlier: CauseCandidate, suspect: CauseCandidate) -> bool:
    if earlier.at_step_end:
        return earlier.step <= suspect.step
    return earlier.record < suspect.record and (earlier.leaked or earlier.kind in DRAWS)


def place(site: Site) -> Key:
    """Return what ops of one cause share."""
    return site.op, site.node, site.module, site.phase
