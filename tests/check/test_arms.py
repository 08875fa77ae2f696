"""The settings that stand in a probe's process."""

from __future__ import annotations

import pytest

from d9m.api import advise
from d9m.check.examine import advice_for
from d9m.check.judge.expect import expectations
from d9m.check.plan import catalogue
from d9m.check.plan.arms import Arm, arms
from d9m.check.plan.catalogue import Selected
from d9m.environment.environment import Setup, describe
from golden import knowledge_base


def made(
    device: str = "cpu", version: str = "2.13.0", full: bool = False, **variables: str
) -> dict[str, Arm]:
    kb, asked = knowledge_base(), Setup((("torch", version),), device=device)
    found = arms(kb, describe(kb, asked), advise(kb, asked), "torch", variables, full)
    return {each.name: each for each in found}


def test_the_default_arm_removes_every_known_variable() -> None:
    found = made(CUBLAS_WORKSPACE_CONFIG=":4096:8", HOME="/root")["default"]
    assert "CUBLAS_WORKSPACE_CONFIG" in found.unset
    assert "PYTHONHASHSEED" in found.unset
    assert "HOME" not in found.unset
    assert found.env == {}
    assert found.statements == []


def test_the_advised_arm_makes_what_the_advice_says() -> None:
    kb, asked = knowledge_base(), Setup((("torch", "2.4.1"),), device="cuda")
    advice = advise(kb, asked)
    found = made("cuda", "2.4.1")["advised"]
    assert found.env.items() >= advice.settings.env.items()
    assert "CUBLAS_WORKSPACE_CONFIG" in found.env
    said = [line for line in advice.settings.python if not line.startswith("import ")]
    assert [line for _imports, line, _early in found.statements] == said


def test_nothing_is_both_set_and_removed() -> None:
    for each in made("cuda", "2.4.1", CUBLAS_WORKSPACE_CONFIG=":16:8").values():
        assert not set(each.env) & set(each.unset)


def test_an_environment_without_settings_is_the_default_one_on_a_gpu() -> None:
    assert made("cuda")["as-is"].same_as == "default"
    assert made("cuda", PYTHONHASHSEED="0")["as-is"].same_as == "default"


def test_on_a_cpu_the_environment_as_it_is_keeps_its_own_threads() -> None:
    assert made()["as-is"].same_as is None
    assert {name: arm.threads for name, arm in made(full=True).items()} == {
        "default": "many",
        "as-is": "own",
        "advised": "many",
        "default-again": "many",
        "advised-no-fill": "many",
        "one-thread": "one",
    }


def test_an_environment_with_a_setting_is_a_separate_arm() -> None:
    found = made("cuda", CUBLAS_WORKSPACE_CONFIG=":4096:8")["as-is"]
    assert found.same_as is None
    assert found.unset == []


def test_the_last_arm_takes_the_filling_away_where_that_can_be_done() -> None:
    assert made()["advised-no-fill"].statements[-1][1].endswith("fill_uninitialized_memory = False")
    assert "advised-no-fill" not in made(version="2.1.0")


def test_full_tries_a_single_thread_on_a_cpu() -> None:
    assert made(full=True)["one-thread"].threads == "one"
    assert "one-thread" not in made("cuda", full=True)


KB, HERE = knowledge_base(), Setup((("torch", "2.13.0"),), device="cpu")
EVERY = [
    Selected(probe, probe.dtypes[0])
    for probe in catalogue.probes("torch")
    if "cpu" in probe.devices
]
RAISING = {
    id_
    for id_, each in expectations(KB, HERE, [one.probe for one in EVERY]).items()
    if each.outcome == "raises"
}


@pytest.mark.parametrize(
    "selected", [each for each in EVERY if each.probe.id in RAISING], ids=lambda each: each.key
)
def test_an_op_that_raises_is_run_with_the_switch_on_though_nothing_else_was_named(
    selected: Selected,
) -> None:
    advice = advice_for(KB, HERE, [selected], [selected.probe.id])
    arm = next(
        each for each in arms(KB, describe(KB, HERE), advice, "torch", {}) if each.name == "advised"
    )
    assert "torch.use_deterministic_algorithms(True)" in [
        line for _imports, line, _early in arm.statements
    ]


def test_there_are_ops_that_raise_on_a_cpu() -> None:
    assert {"torch/put", "torch/max-unpool2d", "torch/quantized-resize"} <= RAISING


def test_a_statement_of_another_framework_is_not_made() -> None:
    kb = knowledge_base()
    asked = Setup((("torch", "2.13.0"), ("tensorflow", "2.16.1")), device="cpu")
    found = arms(kb, describe(kb, asked), advise(kb, asked), "torch", {})
    assert not any(
        "tensorflow" in line
        for each in found
        for imports, *_rest in each.statements
        for line in imports
    )
