"""The grammar of `when`, and joining worlds."""

import itertools

from hypothesis import given
from hypothesis import strategies as st

from d9m.model import conditions
from d9m.model.conditions import Cell
from d9m.model.versions import FIRST, key
from d9m.model.when import Clause, Range, Restriction, World, parse
from growth import calls

FACT = tuple(Cell(name, name=name) for name in ("a", "b", "c"))
CUDA = conditions.intervals(("10.2", "12.0"), key, FIRST)


def test_keys_are_anded_values_ored_and_clauses_ored() -> None:
    condition = parse([{"xla": ["a", "b"], "cuda": Range(from_="10.2")}, {"xla": "c"}])
    assert condition.holds({"xla": "b", "cuda": key("11.0")})
    assert not condition.holds({"xla": "b", "cuda": key("10.1")})
    assert condition.holds({"xla": "c", "cuda": None})
    assert not condition.holds({"xla": "a", "cuda": None})


def test_an_empty_range_means_present() -> None:
    condition = parse({"horovod": Range()})
    assert condition.holds({"horovod": FIRST})
    assert not condition.holds({"horovod": None})


def test_until_is_exclusive() -> None:
    condition = parse({"torch": Range(from_="1.7", until="2.10")})
    answers = {
        text: condition.holds({"torch": key(text)})
        for text in ("1.6.0", "1.7.0", "2.9.1", "2.10.0")
    }
    assert answers == {"1.6.0": False, "1.7.0": True, "2.9.1": True, "2.10.0": False}


def test_equal_answers_are_told_once_with_what_they_share() -> None:
    found = conditions.by_answer(
        {"cuda": CUDA, "xla": FACT}, lambda world: world["cuda"] >= key("10.2")
    )
    assert found == [({"cuda": Range(until="10.2")}, False), ({"cuda": Range(from_="10.2")}, True)]


def test_ranges_join_only_with_their_neighbours() -> None:
    found = conditions.by_answer({"cuda": CUDA}, lambda world: world["cuda"] == key("10.2"))
    assert [clause for clause, answer in found if not answer] == [
        {"cuda": Range(until="10.2")},
        {"cuda": Range(from_="12.0")},
    ]


def test_what_is_decided_does_not_appear() -> None:
    assert conditions.by_answer({"cuda": CUDA[:1]}, lambda world: True) == [({}, True)]


def test_an_excluded_value_is_left_out_of_every_clause() -> None:
    """Of a variable as a whole, not of the cells that are left: all but one value is a clause."""
    domains = {"cuda": CUDA, "xla": FACT}
    found = conditions.by_answer(domains, lambda world: True, without={"xla": "b"})
    assert found == [({"xla": ["a", "c"]}, True)]
    assert conditions.by_answer({"xla": FACT[:1]}, lambda world: True, without={"xla": "a"}) == []
    assert conditions.by_answer({"xla": FACT[:1]}, lambda world: True, without={"xla": "b"})


@given(st.sampled_from("abc"), st.sampled_from(CUDA), st.integers(1, 4))
def test_what_is_excluded_is_not_asked(fact: str, cuda: Cell, divisor: int) -> None:
    domains, without = {"xla": FACT, "cuda": CUDA}, {"xla": fact, "cuda": cuda.value}

    def answer(world: World) -> int:
        return len(str(world)) % divisor

    def unless_excluded(world: World) -> int | None:
        shares = any(world[name] == without[name] for name in world)
        return None if shares else answer(world)

    found = conditions.by_answer(domains, answer, without)
    assert found == conditions.by_answer(domains, unless_excluded)


def test_a_condition_excludes_a_value_that_no_clause_allows() -> None:
    either = parse([{"device": ["cuda", "rocm"], "xla": "a"}, {"device": "mps"}])
    devices = ("cuda", "rocm", "mps", "cpu")
    allowed = [name for name in devices if not either.excludes("device", name)]
    assert allowed == ["cuda", "rocm", "mps"]
    assert not parse({"xla": "a"}).excludes("device", "cuda")
    assert not parse([{"device": "cuda"}, {"xla": "a"}]).excludes("device", "cpu")
    assert parse({"torch": Range(from_="2.0")}).excludes("torch", None)


@given(st.dictionaries(st.tuples(st.sampled_from("abc"), st.integers(0, 2)), st.booleans()))
def test_the_joined_clauses_say_in_every_world_what_was_answered(
    answers: dict[tuple[str, int], bool],
) -> None:
    domains = {"xla": FACT, "cuda": CUDA}

    def answer(world: World) -> bool:
        place = next(at for at, cell in enumerate(CUDA) if cell.value == world["cuda"])
        return answers.get((str(world["xla"]), place), False)

    found: list[tuple[Clause, bool]] = conditions.by_answer(domains, answer)
    for fact, cuda in itertools.product(FACT, CUDA):
        world = {"xla": fact.value, "cuda": cuda.value}
        told = {each for clause, each in found if parse(clause).holds(world)}
        assert told == {answer(world)}


def _joined(packages: int) -> tuple[list[tuple[Clause, int]], int]:
    """Answers of so many undecided packages, and the work that they take for each world."""
    cells = conditions.intervals(("1.0", "2.0", "3.0"), key, FIRST)
    domains = {f"package-{number}": cells for number in range(packages)}

    def answer(world: World) -> int:
        return sum(value == key("2.0") for value in world.values()) % 3

    found: list[tuple[Clause, int]] = []
    work = calls(lambda: found.extend(conditions.by_answer(domains, answer)))
    return found, work // 4**packages


def test_many_undecided_packages_are_joined_with_little_work_for_each_world() -> None:
    """Pair by pair, as a person would, 64 times as many worlds take 64 times the work for each."""
    few, many = _joined(3)[1], _joined(6)[1]
    assert 0 < many < 3 * few


def test_the_worlds_of_many_packages_become_few_clauses() -> None:
    found, _work = _joined(6)
    assert {answered for _clause, answered in found} == {0, 1, 2}
    assert len(found) < 4**6 / 2


ENDS = [
    (None, None),
    (None, "10.2"),
    (None, "12.0"),
    ("10.2", None),
    ("12.0", None),
    ("10.2", "12.0"),
]
RANGES = st.sampled_from([Range(from_=low, until=high) for low, high in ENDS])
CLAUSES = st.fixed_dictionaries(
    {}, optional={"xla": st.sampled_from(["a", "b", ["a", "b"]]), "cuda": RANGES}
)
WORLDS = [{"xla": fact.value, "cuda": cuda.value} for fact, cuda in itertools.product(FACT, CUDA)]


def holds(clauses: list[Clause], world: World) -> bool:
    return parse(list(clauses)).holds(world)


@given(CLAUSES, CLAUSES)
def test_meeting_clauses_hold_where_both_do(first: Clause, second: Clause) -> None:
    both = conditions.meet(first, second)
    for world in WORLDS:
        assert (both is not None and holds([both], world)) == (
            holds([first], world) and holds([second], world)
        )


@given(st.lists(CLAUSES, max_size=4))
def test_fewer_clauses_hold_where_the_many_did(clauses: list[Clause]) -> None:
    united = conditions.united(clauses)
    assert len(united) <= len(clauses)
    assert all(holds(united, world) == holds(clauses, world) for world in WORLDS)


def test_releases_are_grouped_by_what_divides_them() -> None:
    cells = conditions.releases(("2.1", "2.3"), ("2.0.0", "2.0.1", "2.1.0", "2.2.0"))
    assert [(cell.low, cell.high) for cell in cells] == [(None, "2.1"), ("2.1", None)]


def test_a_package_can_be_required_to_be_absent() -> None:
    condition = parse({"horovod": "absent"})
    assert condition.holds({"horovod": None})
    assert not condition.holds({"horovod": key("0.28.1")})


def test_only_what_python_reads_as_a_number_divides_a_domain_of_numbers() -> None:
    assert Restriction(values=("8", "²", "9" * 5000)).bounds() == ("8", "9")


def test_a_variable_that_does_not_matter_everywhere_is_left_out_where_it_does_not() -> None:
    ndim = conditions.intervals(("1", "2"), int, 0)
    torch = conditions.intervals(("1.10", "1.13"), key, FIRST)

    def repeats(world: World) -> bool:
        one_dimension = world["torch"] == key("1.10") and world["ndim"] == 1
        return world["torch"] == key("1.13") or one_dimension

    found = conditions.by_answer({"torch": torch, "ndim": ndim}, repeats)
    assert [clause for clause, answer in found if answer] == [
        {"torch": Range(from_="1.10", until="1.13"), "ndim": Range(from_="1", until="2")},
        {"torch": Range(from_="1.13")},
    ]
