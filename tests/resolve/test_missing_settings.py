"""An advised environment variable that is not set is a finding, whatever was asked."""

from __future__ import annotations

from pathlib import Path

import pytest

from d9m import api
from d9m.authoring import cases
from d9m.environment.environment import Setup
from d9m.errors import D9mError
from d9m.model.advice import Advice, exit_code
from d9m.model.settings import PlainValue
from golden import CASES, knowledge_base

ALL = sorted(CASES.glob("*.json"))
BY_DAY = ALL[::60]


def ask(case: cases.Case, settings: dict[str, PlainValue]) -> Advice:
    asked = case.ask
    setup = Setup(
        tuple(asked.with_.items()),
        asked.container,
        asked.device,
        tuple(asked.facts.items()),
        asked.inference,
    )
    kb = knowledge_base()
    return api.advise(kb, setup, asked.ops, asked.scope, asked.calls, settings=[settings])


def complete(advice: Advice) -> dict[str, PlainValue]:
    """Return every advised environment variable with its value; a list has all its items."""
    found: dict[str, PlainValue] = {}
    for step in advice.steps:
        if step.kind == "env" and step.covered_by is None:
            found[step.name] = step.value or ""
        elif step.kind == "append" and step.covered_by is None:
            before = f"{found[step.name]}{step.separator}" if step.name in found else ""
            found[step.name] = f"{before}{step.value}"
    return found


def check(case: cases.Case) -> None:
    said = cases.reply(knowledge_base(), case)
    variables = {} if isinstance(said, D9mError) else complete(said)
    if not variables:
        return
    whole = ask(case, variables)
    assert [name for name in whole.missing if name in variables] == [], case.title
    for name in complete(whole):
        rest = {other: value for other, value in variables.items() if other != name}
        advice = ask(case, rest)
        if name in complete(advice):
            assert name in advice.missing
            assert exit_code(advice) == 1
            assert exit_code(advice, allow_unknown=True) == 1
            assert exit_code(advice, exit_zero=True) == 0


@pytest.mark.parametrize("path", BY_DAY, ids=lambda path: path.stem)
def test_each_advised_variable_that_is_taken_away_is_a_finding(path: Path) -> None:
    check(cases.read(path))


@pytest.mark.nightly
def test_each_advised_variable_of_every_case_that_is_taken_away_is_a_finding() -> None:
    for path in ALL:
        check(cases.read(path))
