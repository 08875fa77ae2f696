"""The smallest consistent set."""

import pytest

from d9m.resolve.select import Need, choose

CASES = [
    ("one solution that covers both beats two", [["TCD", "TDP"], ["TDP"]], {"TDP"}),
    ("the preferred one among equals", [["TDO", "TCD"], ["TDO", "TCD"]], {"TDO"}),
    ("preference is summed over needs", [["A", "B"], ["B", "A"], ["B", "C", "A"]], {"B"}),
    ("names decide what nothing else does", [["B", "A"], ["A", "B"]], {"A"}),
    ("sets that belong together are taken whole", [["A + B", "C + D"], ["D"]], {"C", "D"}),
    ("nothing is needed", [], set()),
    ("two where one cannot do", [["A", "B"], ["C", "D"]], {"A", "C"}),
]


def needs(lists: list[list[str]]) -> list[Need]:
    return [
        Need(str(place), tuple(tuple(each.split(" + ")) for each in alternatives), {})
        for place, alternatives in enumerate(lists)
    ]


@pytest.mark.parametrize(("promise", "lists", "expected"), CASES)
def test_choice(promise: str, lists: list[list[str]], expected: set[str]) -> None:
    assert choose(needs(lists), lambda _chosen: True) == expected, promise


def test_a_contradictory_set_is_passed_over() -> None:
    assert choose(needs([["A", "B"], ["C"]]), lambda chosen: chosen != {"A", "C"}) == {"B", "C"}


def test_where_all_sets_contradict_the_first_is_returned() -> None:
    assert choose(needs([["A", "B"]]), lambda _chosen: False) == {"A"}


def test_many_needs_are_answered_soon() -> None:
    lists = [[f"A{place}", f"B{place}"] for place in range(40)]
    assert choose(needs(lists), lambda _chosen: True) == {f"A{place}" for place in range(40)}
