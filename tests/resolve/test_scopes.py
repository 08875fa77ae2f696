"""A wider scope takes over what is known of runs: sources, outcomes and settings."""

from __future__ import annotations

from typing import get_args

import pytest

from conftest import sample
from d9m import api
from d9m.environment.environment import Setup
from d9m.model.advice import NEVER_DIFFERS, WORST_LAST, Advice, OpAnswer
from d9m.model.records import Outcome, Scope
from d9m.render.advice import text
from d9m.render.interface import Answer
from golden import knowledge_base

WIDER = [scope for scope in get_args(Scope) if scope != "run"]
FRAMEWORKS = {
    "torch": ["2.4.0", "1.13.1", "2.13.0"],
    "tensorflow": ["2.21.0", "1.15.0"],
    "jax": ["0.10.2"],
}
QUESTIONS = [(name, release) for name, releases in FRAMEWORKS.items() for release in releases]


def ask(package: str, release: str | None, scope: Scope, ops: list[str] | None = None) -> Advice:
    return api.advise(knowledge_base(), Setup(((package, release),), device="cuda"), ops, scope)


def badness(outcome: Outcome) -> int:
    """Return the rank of an outcome; what never differs ranks as one."""
    return 0 if outcome in NEVER_DIFFERS else WORST_LAST.index(outcome)


def _plain(advice: Advice) -> str:
    body = text.render(Answer(advice, knowledge_base())).body
    return body if isinstance(body, str) else body.plain()


def by_query(advice: Advice) -> dict[str, OpAnswer]:
    return {op.query: op for op in advice.ops}


@pytest.mark.parametrize("scope", WIDER)
@pytest.mark.parametrize(("package", "release"), QUESTIONS)
def test_no_op_is_better_in_a_wider_scope(package: str, release: str, scope: Scope) -> None:
    runs, wider = ask(package, release, "run"), by_query(ask(package, release, scope))
    for op in runs.ops:
        there = wider[op.query]
        assert badness(there.outcome) >= badness(op.outcome), op.query
        assert {source.id for source in op.sources} <= {source.id for source in there.sources}
        if badness(op.outcome) > 0:
            assert there.outcome != "no-known-source"


@pytest.mark.parametrize("scope", WIDER)
@pytest.mark.parametrize("package", sample(sorted(knowledge_base().package_level), 8))
def test_no_package_is_better_in_a_wider_scope(package: str, scope: Scope) -> None:
    runs, wider = ask(package, None, "run", []), ask(package, None, scope, [])
    assert badness(wider.outcome) >= badness(runs.outcome)
    assert runs.sources().keys() <= wider.sources().keys()


@pytest.mark.parametrize("scope", WIDER)
@pytest.mark.parametrize(("package", "release"), QUESTIONS[:1])
def test_the_settings_of_runs_are_among_those_of_a_wider_scope(
    package: str, release: str, scope: Scope
) -> None:
    ops = [op.query for op in ask(package, release, "run").ops if op.outcome == "solved"]
    for name in sample([op for op in ops if op != "*"], 5):
        runs, wider = (ask(package, release, each, [name]) for each in ("run", scope))
        open_ = {conflict.name for conflict in wider.conflicts}
        assert {step.name for step in runs.steps} <= {step.name for step in wider.steps} | open_


@pytest.mark.parametrize("scope", WIDER)
def test_an_op_that_is_solved_between_runs_is_not_called_the_same_elsewhere(scope: Scope) -> None:
    advice = ask("torch", "2.9.0", scope, ["index_add", "avg_pool3d", "relu"])
    assert [op.outcome for op in advice.ops] == ["solved", "raises", "no-known-source"]
    assert "torch.use_deterministic_algorithms(True)" in advice.settings.python
    said = " ".join(_plain(advice).split())
    assert "index_add is deterministic with" in said
    assert "the same results across hardware" not in said
    assert "batch-invariant" not in said
