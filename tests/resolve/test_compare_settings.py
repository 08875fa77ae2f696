"""Settings that are already made: one verdict each, and what is missing."""

from __future__ import annotations

import pytest
from layers import ask, knowledge_base

from d9m.api import advise
from d9m.environment import env_file
from d9m.environment.environment import Environment, Setup, describe
from d9m.errors import DataError
from d9m.model.advice import Existing
from d9m.model.settings import PlainValue
from d9m.resolve.compare_settings import judge_existing, missing

HERE = "frame=1.1 train=2.0 driver=4"


def judged(
    packages: str, found: dict[str, PlainValue], calls: tuple[str, ...] = ()
) -> list[Existing]:
    ops = ["add"] if "frame" in packages else []
    advice = ask(packages, *ops, calls=calls)
    return judge_existing(knowledge_base(), environment_of(packages), advice, found)


def environment_of(packages: str) -> Environment:
    named = [each.partition("=") for each in packages.split()]
    setup = Setup(tuple((name, version or None) for name, _, version in named))
    return describe(knowledge_base(), setup)


def lacking(
    found: dict[str, PlainValue], packages: str = HERE, calls: tuple[str, ...] = ()
) -> list[str]:
    ops = ["add"] if "frame" in packages else []
    advice = ask(packages, *ops, calls=calls)
    return missing(knowledge_base(), environment_of(packages), advice, [found])


VERDICTS = [
    (HERE, "FRAME_WORKSPACE", ":16", "needed", ""),
    (HERE, "FRAME_WORKSPACE", ":4", "contradictory", "must be :8 or :16, for Ordered kernels"),
    (HERE, "FRAME_WORKSPACE", ":2", "invalid", "accepts :8, :16 or :4"),
    ("train=2.0", "FRAME_WORKSPACE", ":4", "harmless", "not needed"),
    (HERE, "FRAME_SEED", "3", "needed", ""),
    (HERE, "FRAME_SEED", "random", "contradictory", "with random, results differ"),
    (HERE, "FRAME_SEED", "three", "invalid", "must be a whole number"),
    (HERE, "FRAME_ALGO", "chain", "contradictory", "must be ring, for Ordered training"),
    ("frame=1.1 train=1.0", "FRAME_ALGO", "chain", "needed", ""),
    (HERE, "FRAME_DETERMINISM", "1", "no-effect", "nothing reads it; FRAME_ALGO was meant"),
    ("train=2.0 serve=1.0", "FRAME_ALGO", "ring", "contradictory", "no value suits all"),
    (
        "train=2.0 serve=2.0",
        "SERVE_INVARIANT",
        "1",
        "contradictory",
        "Any batch alike sets FRAME_ALGO=tree, which must be ring, for Ordered training",
    ),
    ("train=2.0 serve=1.0", "SERVE_INVARIANT", "1", "harmless", ""),
    (HERE, "FRAME_FLAGS", "--mine --frame_order=true --frame_tune=0", "needed", ""),
    (HERE, "FRAME_FLAGS", "--mine", "harmless", "lacks --frame_order=true --frame_tune=0"),
    (HERE, "FRAME_FLAGS", "--frame_order=true", "needed", "lacks --frame_tune=0"),
    (
        HERE,
        "FRAME_FLAGS",
        "--frame_order=false --frame_tune=0",
        "contradictory",
        "must hold --frame_order=true, for Compiler flags",
    ),
    ("frame=2.0 train=2.0", "FRAME_FLAGS", "--frame_tune=0", "forbidden", "Wrong sums in 2.0."),
]


@pytest.mark.parametrize(("packages", "name", "value", "status", "why"), VERDICTS)
def test_each_setting_gets_its_verdict(
    packages: str, name: str, value: str, status: str, why: str
) -> None:
    (existing,) = judged(packages, {name: value})
    assert (existing.name, existing.value, existing.status) == (name, value, status)
    assert why in existing.why


def test_who_says_that_nothing_reads_it_is_told() -> None:
    (existing,) = judged(HERE, {"FRAME_DETERMINISM": "1"})
    assert [(each.kind, each.note) for each in existing.evidence] == [
        ("source-read", "No hit in any release.")
    ]


def test_only_a_wrong_item_of_a_list_has_a_separate_verdict() -> None:
    verdicts = judged(HERE, {"FRAME_FLAGS": "--frame_old=1 --frame_order=true --frame_tune=0"})
    assert [(each.name, each.status) for each in verdicts] == [
        ("FRAME_FLAGS", "needed"),
        ("--frame_old", "no-effect"),
    ]


def test_what_a_call_replaces_has_no_effect() -> None:
    (existing,) = judged(HERE, {"FRAME_WORKSPACE": ":8"}, ("Runner(ordered=True)",))
    assert (existing.status, existing.why) == (
        "no-effect",
        "train.Runner(ordered=True) replaces it",
    )


def test_what_a_call_replaces_too_late_counts() -> None:
    (existing,) = judged(HERE, {"FRAME_SEED": "4"}, ("train.seed_all",))
    assert existing.status == "needed"


@pytest.mark.parametrize("name", ["FRAME_WORKSPCE", "frame_workspace", "FRAME_WORKSPACES"])
def test_a_name_that_is_almost_a_known_one_is_misspelt(name: str) -> None:
    (existing,) = judged(HERE, {name: ":8"})
    assert (existing.name, existing.status) == (name, "misspelt")
    assert existing.why == "nothing reads this name; FRAME_WORKSPACE was meant"


def test_settings_of_python_are_judged_and_missed_where_a_file_holds_some() -> None:
    found: dict[str, PlainValue] = {"frame.ordered": False, "FRAME_WORKSPACE": ":8"}
    verdicts = judged(HERE, found)
    assert [(made.name, made.value, made.status) for made in verdicts] == [
        ("FRAME_WORKSPACE", ":8", "needed"),
        ("frame.ordered", "False", "contradictory"),
    ]
    assert verdicts[1].why == "must be True, for Ordered kernels"
    assert "frame.seed" in lacking(found)
    assert "frame.seed" not in lacking({"FRAME_WORKSPACE": ":8"})


def test_variables_without_a_record_are_named_and_their_values_are_not() -> None:
    verdicts = judged(HERE, {"TOKEN": "secret", "PATH": "x", "FRAME_SEED": "3"})
    assert [(made.name, made.value, made.status) for made in verdicts] == [
        ("FRAME_SEED", "3", "needed"),
        ("PATH", "", "unknown"),
        ("TOKEN", "", "unknown"),
    ]


@pytest.mark.parametrize("flags", ["mine=1", "--mine=1 frame_order=true"])
def test_a_list_variable_refuses_what_is_no_flag_of_it(flags: str) -> None:
    (existing,) = judged(HERE, {"FRAME_FLAGS": flags})
    assert (existing.status, existing.why) == ("invalid", "accepts flags that begin with --")


def test_a_misspelt_flag_is_named() -> None:
    (existing,) = judged(HERE, {"FRAME_FLAGS": "--frame_ordr=true --frame_order=true"})
    assert (existing.status, existing.why) == (
        "invalid",
        "--frame_ordr is no flag; --frame_order was meant",
    )


def test_nothing_is_appended_to_a_list_that_holds_what_is_refused() -> None:
    found: dict[str, PlainValue] = {"FRAME_FLAGS": "--mine=1 frame_tune=0 --frame_order=false"}
    setup = Setup((("frame", "1.1"), ("train", "2.0"), ("driver", "4")))
    advice = advise(knowledge_base(), setup, ["add"], settings=[found])
    assert advice.settings.env["FRAME_FLAGS"] == "--mine=1 --frame_order=true --frame_tune=0"
    assert advice.settings.append == {}


def test_what_is_missing_is_told_but_for_what_a_call_does() -> None:
    assert lacking({"FRAME_ALGO": "ring", "FRAME_FLAGS": "--frame_tune=0"}) == [
        "FRAME_WORKSPACE", "FRAME_SEED", "FRAME_FLAGS",
    ]  # fmt: skip
    calls = ("Runner(ordered=True)",)
    assert lacking({"FRAME_ALGO": "ring"}, calls=calls) == ["FRAME_SEED", "FRAME_FLAGS"]


VARIABLES = ["FRAME_ALGO", "FRAME_WORKSPACE", "FRAME_SEED", "FRAME_FLAGS"]


@pytest.mark.parametrize(
    "name", ["foo.bar", "no.FRAME_SEED", "frame.unknown", "x", "frame_ordered"]
)
def test_a_name_that_no_record_has_excuses_no_missing_variable(name: str) -> None:
    assert sorted(lacking({name: "1"})) == sorted(VARIABLES)


def test_a_setting_of_python_excuses_no_missing_variable() -> None:
    assert set(VARIABLES) <= set(lacking({"frame.ordered": True}))


def test_a_configuration_is_not_asked_for_variables() -> None:
    assert lacking({"epochs": 3, "train.seed": 7}, packages="train=2.0") == []
    assert lacking({"epochs": 3}, packages="train=2.0") == ["FRAME_ALGO"]


def test_a_configuration_beside_an_environment_excuses_no_missing_variable() -> None:
    places: list[dict[str, PlainValue]] = [{"HOME": "/"}, {"train.seed": 7}]
    here = environment_of("train=2.0")
    assert missing(knowledge_base(), here, ask("train=2.0"), places) == ["FRAME_ALGO"]


def test_json_is_read_with_its_nested_keys_and_types() -> None:
    text = '{"epochs": 3, "train": {"seed": 7, "fast": true, "steps": [1], "name": null}}'
    assert env_file.read(text, "job.json") == {"epochs": 3, "train.seed": 7, "train.fast": True}


BROKEN = [
    ('{"a": 1,\n  "b": }', "job.json:2:8: not JSON: Expecting value"),
    ('{"a" 1}', "job.json:1:6: not JSON"),
    ("{", "job.json:1:2: not JSON"),
    ('{"a": ' * 100_000, "job.json:1:"),
    ("A=1\nB\n", "job.json:2:1: expected NAME=value"),
]


@pytest.mark.parametrize(("text", "said"), BROKEN, ids=[said for _text, said in BROKEN])
def test_what_cannot_be_read_is_refused_with_line_and_column(text: str, said: str) -> None:
    with pytest.raises(DataError) as raised:
        env_file.read(text, "job.json")
    assert said in raised.value.text()


TYPES: list[tuple[PlainValue, str]] = [
    (7, "harmless"),
    ("7", "invalid"),
    (True, "invalid"),
    (7.5, "invalid"),
]


@pytest.mark.parametrize(("value", "status"), TYPES)
def test_a_configuration_value_has_the_type_of_its_key(value: PlainValue, status: str) -> None:
    (existing,) = judged("train=2.0", {"train.seed": value})
    assert existing.status == status
