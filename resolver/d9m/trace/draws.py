"""Random numbers: what each op drew from, and the generators at the end of each step."""

from __future__ import annotations

from d9m.trace.align import Matched
from d9m.trace.cause_candidates import DRAWS, CauseCandidate, CauseCandidates, place
from d9m.trace.stream_records import CalledOp, Site, StepEnd

SEEDED_BY_CHANCE = ("python", "numpy")
"""Generators that begin differently in each process. A difference counts once they were equal."""

UNSEEDED = "not set"
"""The seed of an op that draws without one. Its numbers take the place of the generator's state."""


class Generators:
    """The generators of one process, in both runs."""

    def __init__(self, suspects: CauseCandidates) -> None:
        self._suspects = suspects
        self._were_equal: set[str] = set()
        self.other_states: dict[str, int] = {}
        """Those that differed at ends of steps without being a cause, and how many ends."""

    def drawn(self, at: Matched, a: CalledOp, b: CalledOp, site: Site) -> set[int]:
        """The cause, if the op drew from a generator in another state."""
        if a.generator is None or b.generator is None or a.generator == b.generator:
            return set()
        seed, its_seed = str(a.generator[0]), str(b.generator[0])
        suspect = CauseCandidate(
            "seed" if seed != its_seed or seed == UNSEEDED else "generator",
            at.a.step,
            at.a.number,
            site=site,
            arguments=a.arguments,
            argument=site.device,
            a=seed,
            b=its_seed,
        )
        return {self._suspects.add(at, suspect, (site.device, seed, its_seed), place(site))}

    def compare(self, at: Matched, a: StepEnd, b: StepEnd) -> None:
        """At the end of a step. A difference that no op explains is a new cause."""
        for name in a.generators.keys() & b.generators.keys():
            if a.generators[name] == b.generators[name]:
                self._were_equal.add(name)
            elif name in SEEDED_BY_CHANCE and name not in self._were_equal:
                self.other_states[name] = self.other_states.get(name, 0) + 1
            elif not self._suspects.numbers((*DRAWS, "structure")):
                suspect = CauseCandidate(
                    "generator", at.a.step, at.a.number, argument=name, certain=False
                )
                self._suspects.add(at, suspect, (name,))
