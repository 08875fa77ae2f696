"""When the silence of the advised arm says that the settings did it, and when it may be chance."""

from __future__ import annotations

import math
import random
from collections.abc import Iterator

import pytest

from d9m.check.judge.chance import CHANCE, PROCESSES, silence
from d9m.check.messages import Reading
from d9m.check.plan.effort import FULL, NORMAL, QUICK, Effort


def process(usual: int, odd: int = 0, result: str = "usual", **more: bool) -> Reading:
    """A process in which `odd` calls gave another result."""
    return Reading(digests={result: usual} | ({"odd": odd} if odd else {}), **more)


def restless(calls: int) -> Reading:
    return Reading(digests={str(random.random()): 1 for _ in range(calls)})


QUIET = [process(32)] * 3


@pytest.mark.parametrize(
    ("default", "advised", "decided"),
    [
        ([restless(32)] * 3, QUIET, True),
        ([restless(4)] * 3, [process(4)] * 3, True),
        ([process(31, 1)] * 3, QUIET, False),
        ([process(20, 12)] * 3, QUIET, True),
        ([process(20, 12)] * 3, [process(4)] * 3, False),
        ([process(20, 12), process(32), process(32)], QUIET, False),
        ([restless(32)], [process(32)], False),
        ([restless(32)] * 3, [process(32)] * 2, False),
        ([restless(32)] * 2 + [process(32)] * 2, QUIET, False),
        ([process(31, 1, "another"), process(31, 1)], QUIET, False),
    ],
)
def test_a_rare_difference_does_not_prove_that_it_was_fixed(
    default: list[Reading], advised: list[Reading], decided: bool
) -> None:
    assert (silence(default, advised) < CHANCE) is decided


def test_what_differs_between_starts_is_counted_in_starts() -> None:
    starts = [process(32, result=str(number)) for number in range(8)]
    assert silence(starts[:3], QUIET) > CHANCE, (
        "three starts are too few, whatever number of calls each made"
    )
    assert silence(starts, [process(32)] * 8) < CHANCE


def test_the_reading_that_chose_its_rung_counts_for_nothing() -> None:
    chosen = Reading(digests={str(number): 1 for number in range(32)}, chosen=True)
    assert silence([chosen], QUIET) == 1.0
    assert silence([chosen, process(32), process(32)], QUIET) == 1.0


def _odd_processes(before: int, after: int, rate: float) -> Iterator[tuple[int, float]]:
    """How many processes without settings are odd while none with them is, and how likely that
    is.
    """
    for odd in range(before + 1):
        chance = math.comb(before, odd) * rate**odd * (1 - rate) ** (before - odd)
        yield odd, chance * (1 - rate) ** after


@pytest.mark.parametrize("effort", [QUICK, NORMAL, FULL], ids=["quick", "normal", "full"])
@pytest.mark.parametrize("kind", ["calls", "starts"])
def test_what_depends_on_the_process_is_called_fixed_in_at_most_5_percent(
    effort: Effort, kind: str
) -> None:
    """The exact likelihood, for any share of odd processes, with the second try of what is
    undecided. No setting changes anything here.
    """
    before, after = effort.processes + effort.again - effort.climb, effort.processes
    more = effort.processes

    def decided(odd: int, of: int, held: int) -> bool:
        odds = [restless(9) if kind == "calls" else process(9, result=str(n)) for n in range(odd)]
        return silence([*odds, *[process(9)] * (of - odd)], [process(9)] * held) <= CHANCE

    for rate in (step / 40 for step in range(1, 40)):
        wrong = 0.0
        for odd, chance in _odd_processes(before, after, rate):
            if decided(odd, before, after):
                wrong += chance
            elif odd:
                for further, again in _odd_processes(more, more, rate):
                    if decided(odd + further, before + more, after + more):
                        wrong += chance * again
        assert wrong <= PROCESSES, rate


@pytest.mark.parametrize("effort", [QUICK, NORMAL, FULL], ids=["quick", "normal", "full"])
def test_what_varies_in_every_process_and_is_fixed_is_decided_at_once(effort: Effort) -> None:
    before = effort.processes + effort.again - effort.climb
    assert silence([restless(32)] * before, [process(32)] * effort.processes) <= CHANCE


def test_an_odd_first_call_is_one_odd_call() -> None:
    assert silence([process(1, 31), process(32)], [process(32)] * 2) > CHANCE


def test_nothing_that_differs_at_random_is_called_fixed() -> None:
    """A fault of any rate that no setting touches, checked two thousand times."""
    random.seed(7)
    wrong = 0
    for _ in range(2000):
        rate = random.choice([0.005, 0.01, 0.02, 0.05])
        arms = [
            [sum(random.random() < rate for _ in range(32)) for _ in range(count)]
            for count in (4, 3)
        ]
        default, advised = ([process(32 - odd, odd) for odd in arm] for arm in arms)
        quiet = not any(arms[1])
        wrong += quiet and any(arms[0]) and silence(default, advised) < CHANCE
    assert wrong <= 2
