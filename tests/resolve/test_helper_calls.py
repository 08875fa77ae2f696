"""Calls that set things on the user's behalf: which is meant, what they cover, what they leave."""

from __future__ import annotations

import re

import pytest
from layers import KB, ask, knowledge_base

from d9m.api import advise, understand
from d9m.authoring.lint import as_text, lint
from d9m.environment.environment import Setup
from d9m.errors import UsageError
from d9m.kb.locate import open_knowledge_base
from d9m.model.advice import exit_code
from d9m.resolve import helper_calls


def test_the_invented_stack_has_no_fault() -> None:
    faults = lint(KB)
    assert not faults, as_text(faults)


MEANT = [
    ("train.seed_all", "train/seed-all"),
    ("seed_all", "train/seed-all"),
    ("Train.Seed_All", "train/seed-all"),
    ("seed_all(3)", "train/seed-all"),
    ("seed_all(seed=3)", "train/seed-all"),
    ("tr.seed_all", "train/seed-all"),
    ("train/seed-all", "train/seed-all"),
    ("seed_all(3, workers=True)", "train/seed-all-workers"),
    ("train.seed_all(workers=True, seed=4)", "train/seed-all-workers"),
    ("seed_all(3, workers=False)", "train/seed-all"),
    ("Runner(ordered=True, epochs=3)", "train/runner"),
    ("Runner(ordered=False)", "train/fast"),
    ("Runner()", "train/fast"),
    ("other.seed_all", "other/seed-all"),
    ("train.mode('fast')", "train/mode-fast"),
    ('train.mode("Strict")', "train/mode-strict"),
    ("--train.ordered --seed 0", "train/flags"),
    ("--train.ordered", "train/flags"),
]


@pytest.mark.parametrize(("text", "id_"), MEANT)
def test_a_call_is_found_as_people_write_it(text: str, id_: str) -> None:
    assert helper_calls.find(knowledge_base(), ["train"], text).id == id_


REFUSED = [
    ("seed_al", "unknown call 'seed_al'", ["train.seed_all(seed)"]),
    ("train.seed_every(1)", "unknown call", []),
    ("Runner", "may be any of 2", ["train.Runner(ordered=True)", "train.Runner(ordered=False)"]),
    ("mode", "may be any of 2", ["train.mode('fast')"]),
    ("train.mode(3)", "unknown call", ["train.mode('fast')"]),
    ("Runner(ordered='warn')", "unknown call", []),
    ("Runner(**options)", "unknown call", []),
    ("seed_all(", "is not a call", []),
    ("", "is not a call", []),
    ("x" * 600, "is not a call", []),
]


@pytest.mark.parametrize(("text", "said", "nearest"), REFUSED)
def test_what_is_no_known_call_is_refused_with_the_nearest(
    text: str, said: str, nearest: list[str]
) -> None:
    with pytest.raises(UsageError) as raised:
        helper_calls.find(knowledge_base(), ["train"], text)
    assert said in raised.value.text()
    assert [each for each in nearest if each not in raised.value.text()] == []


def test_a_call_that_two_packages_have_belongs_to_the_named_one() -> None:
    assert helper_calls.find(knowledge_base(), ["other"], "seed_all").id == "other/seed-all"
    with pytest.raises(UsageError, match="may be any of 2"):
        helper_calls.find(knowledge_base(), ["frame"], "seed_all")


def test_a_call_that_the_release_lacks_is_refused() -> None:
    with pytest.raises(UsageError, match=r"train 1\.0 has no train\.Runner"):
        ask("frame=1.1 train=1.0", "add", calls=("Runner(ordered=True)",))


def test_a_call_brings_its_package_along() -> None:
    assert "train" in ask("frame=1.1", "add", calls=("train.seed_all",)).environment.packages


def test_what_a_call_makes_in_time_is_covered_and_the_rest_is_left() -> None:
    advice = ask("frame=1.1 train=2.0", "add", calls=("Runner(ordered=True)",))
    (helper,) = advice.helpers
    assert (helper.id, helper.used) == ("train/runner", True)
    assert helper.covers == ["FRAME_WORKSPACE", "frame.ordered"]
    assert helper.leaves == ["FRAME_ALGO", "FRAME_SEED", "FRAME_FLAGS", "frame.seed", "--ordered"]
    covered = {step.name: step.covered_by for step in advice.steps}
    assert covered["frame.ordered"] == "train.Runner(ordered=True)"
    assert covered["frame.seed"] is None


def test_an_accepted_value_of_a_call_takes_the_place_of_the_preferred_one() -> None:
    advice = ask("frame=1.1 train=2.0", "add", calls=("Runner(ordered=True)",))
    assert advice.settings.env["FRAME_WORKSPACE"] == ":16"
    assert advice.conflicts == []


def test_a_variable_read_at_process_start_is_not_covered_by_a_call() -> None:
    (helper,) = ask("frame=1.1 train=2.0", "add", calls=("train.seed_all",)).helpers
    assert helper.covers == ["frame.seed"]
    (late,) = helper.differs
    assert (late.name, late.when) == ("FRAME_SEED", [])
    assert "too late for this process" in late.why


def test_a_call_prefers_the_solution_that_it_makes_already() -> None:
    assert "TUN" not in [each.label for each in ask("frame=1.1 train=2.0", "conv").solutions]
    made = ask("frame=1.1 train=2.0", "conv", calls=("Runner(ordered=True)",))
    assert "ORD" in [each.label for each in made.solutions]
    assert all(step.covered_by for step in made.steps if "ORD" in step.solutions)


def test_a_value_that_a_call_forces_against_the_advice_is_a_conflict() -> None:
    advice = ask("frame=1.1 train=2.0", "add", calls=("Runner(ordered=False)",))
    (conflict,) = advice.conflicts
    assert conflict.name == "frame.ordered"
    assert conflict.choices == [
        "for train.Runner(ordered=False): False",
        "for Ordered kernels: True",
    ]
    assert "frame.ordered" not in [step.name for step in advice.steps]
    assert exit_code(advice) == 1


def test_a_value_that_gives_way_to_the_users_is_no_conflict() -> None:
    (helper,) = ask("frame=1.1 train=2.0", "add", calls=("Runner(ordered=False)",)).helpers
    (differs,) = [each for each in helper.differs if each.name == "FRAME_WORKSPACE"]
    assert differs.sets == ":4"
    assert "yours is kept if you set it before" in differs.why


def test_what_only_some_releases_of_a_call_do_is_not_counted() -> None:
    advice = ask("frame=1.1 train", "conv", calls=("Runner(ordered=True)",))
    (helper,) = advice.helpers
    assert helper.covers == []
    assert {each.name for each in helper.differs} == {"FRAME_WORKSPACE", "frame.ordered"}
    assert all(each.when for each in helper.differs)


def test_without_calls_those_of_the_named_packages_are_told_best_first() -> None:
    helpers = ask("frame=1.1 train=2.0", "add").helpers
    assert [(each.id, each.used, len(each.covers)) for each in helpers] == [
        ("train/runner", False, 2),
        ("train/flags", False, 1),
        ("train/mode-strict", False, 1),
        ("train/seed-all", False, 1),
        ("train/seed-all-workers", False, 1),
    ]
    assert ask("frame=1.1", "add").helpers == []


STATEMENTS = [
    ("frame.ordered(True)", ["frame.ordered"], []),
    ("frame.ordered", ["frame.ordered"], []),
    ("frame.seed(7)", ["frame.seed"], []),
    ("os.environ['FRAME_WORKSPACE'] = ':8'", ["FRAME_WORKSPACE"], []),
    ("os.environ['FRAME_SEED'] = '7'", [], ["FRAME_SEED"]),
]


@pytest.mark.parametrize(("text", "covers", "differs"), STATEMENTS)
def test_a_statement_that_makes_one_setting_is_a_call(
    text: str, covers: list[str], differs: list[str]
) -> None:
    (helper,) = ask("frame=1.1", "add", calls=(text,)).helpers
    assert (helper.call, helper.covers) == (text, covers)
    assert [difference.name for difference in helper.differs] == differs


def test_a_statement_with_the_wrong_value_is_a_conflict() -> None:
    (conflict,) = ask("frame=1.1", "add", calls=("frame.ordered(False)",)).conflicts
    assert conflict.between == ["frame.ordered(False)", "ORD"]


@pytest.mark.parametrize("call", ["seed_all(7)", "seed_all(seed=7)", "frame.seed(7)"])
def test_a_seed_that_was_given_is_the_one_of_the_answer(call: str) -> None:
    advice = ask("frame=1.1 train=2.0", "add", calls=(call,))
    (step,) = [step for step in advice.steps if step.name == "frame.seed"]
    assert (step.value, step.text) == ("7", "frame.seed(7)")
    assert "7" in advice.helpers[0].call


REAL = open_knowledge_base()
WITHOUT_A_SEED = sorted(
    spelling
    for helper in REAL.helpers.values()
    for spelling in (helper.call, *helper.aliases)
    if re.search(r"[(, ](seed=)?0[,)]", spelling) and "=dict(" not in spelling
)


@pytest.mark.parametrize("spelling", WITHOUT_A_SEED)
@pytest.mark.parametrize("given", ["None", None, "7"])
def test_only_a_seed_that_is_given_seeds(spelling: str, given: str | None) -> None:
    name, _bracket, inside = spelling.partition("(")
    parts = inside.removesuffix(")").split(", ")
    place = next(place for place, said in enumerate(parts) if said in ("0", "seed=0"))
    parts[place : place + 1] = [parts[place].replace("0", given)] if given else []
    id_ = next(id_ for id_ in REAL.helpers if spelling in helper_spellings(id_))
    home = helper_calls.call(REAL, id_).home
    text = f"{name}({', '.join(parts)})"
    found = helper_calls.find(REAL, [home], text)
    assert found.home == home
    assert found.helper.call.partition("(")[2] == text.partition("(")[2]
    setup = Setup(packages=((home, None), ("torch", "2.4")))
    environment = understand(REAL, setup, ["torch.mm"]).environment
    seeds = [turn for turn in found.helper.sets if turn.name.endswith("manual_seed")]
    if given == "7":
        assert all(turn.to == ["7"] for turn in seeds)
    elif found.helper.left_out is None:
        assert not any(found.makes(environment, turn) for turn in seeds)


def helper_spellings(id_: str) -> tuple[str, ...]:
    return helper_calls.spellings(helper_calls.call(REAL, id_))


KEYWORDS = sorted(
    {
        (id_, spelling.partition("(")[0])
        for id_ in REAL.helpers
        for spelling in helper_spellings(id_)
        if re.search(r"[a-z_]+=(True|'|\")", spelling) and "(" in spelling.partition("=")[0]
    }
)


@pytest.mark.parametrize(("id_", "name"), KEYWORDS)
def test_a_call_without_its_keyword_is_not_the_call_with_it(id_: str, name: str) -> None:
    try:
        found = helper_calls.find(REAL, [helper_calls.call(REAL, id_).home], f"{name}()")
    except UsageError:
        return
    assert found.id != id_ or found.left_out


def test_a_named_package_wins_a_common_name() -> None:
    found = helper_calls.find(REAL, ["lightning"], "Trainer(max_epochs=3)")
    assert (found.home, found.helper.call) == ("lightning", "lightning.Trainer(max_epochs=3)")
    assert helper_calls.find(REAL, ["lightning"], "pl.Trainer()").home == "lightning"
    assert helper_calls.find(REAL, ["composer"], "Trainer()").home == "composer"
    for packages in ([], ["transformers"]):
        with pytest.raises(UsageError, match="may be any of"):
            helper_calls.find(REAL, packages, "Trainer(model, args)")
    with pytest.raises(UsageError, match="may be any of 2"):
        helper_calls.find(REAL, [], "manual_seed(0)")
    assert helper_calls.find(REAL, ["torch"], "manual_seed(0)").id == "pytorch/torch-manual-seed"


def test_lightning_seeds_without_a_seed_from_the_release_that_does() -> None:
    for release, covered in (("1.9", False), ("2.5", True)):
        setup = Setup(packages=(("lightning", release), ("torch", "2.4")))
        advice = advise(REAL, setup, ["nn.Linear"], calls=["pl.seed_everything()"])
        assert ("torch.manual_seed" in advice.helpers[0].covers) is covered


def test_a_statement_with_none_seeds_nothing() -> None:
    for text in ("np.random.seed(None)", "np.random.seed()"):
        assert not helper_calls.find(REAL, [], text).helper.sets


def test_torchtitan_is_deterministic_only_with_the_keyword() -> None:
    text = "set_determinism(world_mesh, device, seed=42)"
    found = helper_calls.find(REAL, ["torchtitan"], text)
    assert found.id == "torchtitan/set-determinism-seed"
    assert found.helper.sets[0].to == ["42"]


def test_a_statement_without_a_helpers_keyword_is_the_statement() -> None:
    for packages in ([], ["torch"]):
        found = helper_calls.find(REAL, packages, "torch.use_deterministic_algorithms(True)")
        assert found.id == "pytorch/torch-use-deterministic-algorithms"
        assert not found.left_out
