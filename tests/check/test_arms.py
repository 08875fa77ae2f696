"""The settings that stand in a probe's process."""

from __future__ import annotations

from d9m.api import advise, understand
from d9m.check.plan.arms import Arm, arms
from d9m.environment.environment import Setup
from golden import knowledge_base


def made(device: str = "cpu", version: str = "2.13.0", full: bool = False, **variables: str) -> dict[str, Arm]:
    kb, asked = knowledge_base(), Setup((("torch", version),), device=device)
    found = arms(kb, understand(kb, asked), advise(kb, asked), "torch", variables, full)
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


def test_an_environment_without_settings_is_the_default_one() -> None:
    assert made()["as-is"].same_as == "default"
    assert made(PYTHONHASHSEED="0")["as-is"].same_as == "default"


def test_an_environment_with_a_setting_is_an_arm_of_its_own() -> None:
    found = made("cuda", CUBLAS_WORKSPACE_CONFIG=":4096:8")["as-is"]
    assert found.same_as is None
    assert found.unset == []


def test_the_last_arm_takes_the_filling_away_where_that_can_be_done() -> None:
    assert made()["advised-no-fill"].statements[-1][1].endswith("fill_uninitialized_memory = False")
    assert "advised-no-fill" not in made(version="2.1.0")


def test_full_tries_a_single_thread_on_a_cpu() -> None:
    assert made(full=True)["one-thread"].threads == 1
    assert "one-thread" not in made("cuda", full=True)


def test_a_statement_of_another_framework_is_not_made() -> None:
    kb = knowledge_base()
    asked = Setup((("torch", "2.13.0"), ("tensorflow", "2.16.1")), device="cpu")
    found = arms(kb, understand(kb, asked), advise(kb, asked), "torch", {})
    assert not any("tensorflow" in line for each in found for imports, *_rest in each.statements for line in imports)
