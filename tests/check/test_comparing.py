"""How the worker compares results, and what can be concluded from how many."""

from __future__ import annotations

import struct

import pytest
from hypothesis import given
from hypothesis import strategies as st

from d9m.check.judge.observe import CONFIDENCE, ArmResult, bounds, united
from d9m.check.messages import Reading
from d9m.check.workers import worker
from d9m.model.runs import Bounds

FORMATS = {"float16": "e", "float32": "f", "float64": "d"}


def leaf(kind: str, *values: float) -> list[tuple[str, bytes]]:
    return [(kind, struct.pack(f"{len(values)}{FORMATS[kind]}", *values))]


def test_equal_bits_do_not_differ() -> None:
    assert worker.compare(leaf("float32", 1.0, 2.0), leaf("float32", 1.0, 2.0)) == (0, 2, None)


@pytest.mark.parametrize("kind", FORMATS)
def test_a_distance_is_counted_in_neighbouring_floats_across_zero(kind: str) -> None:
    size = struct.calcsize(FORMATS[kind])
    smallest = [(kind, (1).to_bytes(size, "little"))]
    below = [(kind, ((1 << (8 * size - 1)) + 2).to_bytes(size, "little"))]
    assert worker.compare(smallest, below)[2] == 3


def test_both_zeros_differ_in_bits_and_lie_no_step_apart() -> None:
    assert worker.compare(leaf("float32", 0.0), leaf("float32", -0.0)) == (1, 1, 0)


def test_what_is_not_finite_differs_and_has_no_distance() -> None:
    assert worker.compare(leaf("float32", 1.0, 5.0), leaf("float32", float("nan"), 5.0)) == (
        1,
        2,
        None,
    )


def test_another_number_of_elements_differs_everywhere() -> None:
    assert worker.compare([("int64", b"\0" * 8)], [("int64", b"\0" * 16)])[0] > 0


@pytest.mark.parametrize("kind", FORMATS)
def test_a_planted_change_of_one_ulp_is_seen(kind: str) -> None:
    assert worker.planted(leaf(kind, 1.0, 3.0))


def test_digests_tell_types_apart() -> None:
    assert worker.digest([("int32", b"\0\0\0\0")]) != worker.digest([("float32", b"\0\0\0\0")])


def arm(repeats: int, processes: int) -> ArmResult:
    """A quiet arm."""
    first = Reading(digests={"a": repeats - processes + 1})
    return united([first, *[Reading(digests={"a": 1})] * (processes - 1)])


def test_95_calls_bound_a_call_at_3_percent_and_3_starts_a_start_at_78() -> None:
    found = bounds([arm(96, 3)])
    assert found.repeat == pytest.approx(0.031, abs=5e-4)
    assert found.start == pytest.approx(0.776, abs=1e-3)


def test_one_observation_bounds_nothing() -> None:
    assert bounds([arm(1, 1)]) == bounds([]) == Bounds(1.0, 1.0)


def test_more_observations_bound_more_tightly() -> None:
    series = [bounds([arm(number, 2)]).repeat for number in (2, 8, 32, 96, 300)]
    assert series == sorted(series, reverse=True)


@given(
    st.lists(st.integers(1, 1000), min_size=1, max_size=6), st.integers(2, 400), st.integers(2, 20)
)
def test_a_bound_is_exceeded_in_at_most_5_percent_of_the_quiet_arms(
    weights: list[int], repeats: int, processes: int
) -> None:
    """Whatever results there are, and however likely each of them is."""
    likely = [weight / sum(weights) for weight in weights]
    rate = 1 - max(likely)
    found = bounds([arm(repeats + processes, processes)])
    for bound, number in ((found.repeat, repeats + processes), (found.start, processes)):
        all_equal = sum(each**number for each in likely)
        assert rate <= bound or all_equal <= 1 - CONFIDENCE + 1e-9


def test_each_bound_is_that_of_the_arm_that_says_least() -> None:
    assert bounds([arm(100, 2), arm(50, 8)]) == Bounds(
        bounds([arm(50, 2)]).repeat, bounds([arm(50, 2)]).start
    )


def test_an_arm_that_varies_has_no_bound() -> None:
    varies = united([run({"a": 31, "b": 1})] * 3)
    assert bounds([varies]) == Bounds(1.0, 1.0)
    assert bounds([varies, arm(96, 3)]) == bounds([arm(96, 3)])


def run(digests: dict[str, int]) -> Reading:
    return Reading(digests=digests, seconds=1.0)


def test_calls_are_held_to_the_most_common_result() -> None:
    arm = united([run({"a": 1, "b": 31}), run({"b": 32})])
    assert (arm.repeats, arm.processes, arm.distinct, arm.differing) == (64, 2, 2, 1)
    assert arm.varies
    assert arm.digest is None


def test_an_arm_that_is_quiet_gives_its_digest() -> None:
    arm = united([run({"a": 32}), run({"a": 32})])
    assert arm.quiet
    assert arm.digest == "a"


def test_a_process_that_died_is_told_beside_what_the_others_saw() -> None:
    arm = united([run({"a": 32}), Reading(failed="hung")])
    assert (arm.processes, arm.failed) == (1, "hung")
