"""Every rule on small projects: what it must find, and what it must not."""

from __future__ import annotations

import random
from pathlib import Path

import msgspec
import pytest

from d9m.scan.rules import upkeep
from d9m.scan.rules.catalogue import RULES
from d9m.scan.rules.rule import ScanRule
from scan.projects import scanned

RULE_CASES = Path(__file__).parent / "rules"


class RuleCase(msgspec.Struct, forbid_unknown_fields=True):
    """A project, and where one rule must speak."""

    name: str
    files: dict[str, str]
    expect: list[str]
    """``path:line severity``."""
    torch: str | None = None
    tensorflow: str | None = None
    jax: str | None = None


def cases() -> dict[str, list[RuleCase]]:
    return {
        file.stem: msgspec.yaml.decode(file.read_bytes(), type=list[RuleCase])
        for file in sorted(RULE_CASES.glob("*.yaml"))
    }


JUDGED = tuple(rule for rule in RULES if rule not in upkeep.RULES)
"""Rules that look at a project; those of comments look at what these find."""

CASES = cases()
EVERY = [(code, case) for code, found in CASES.items() for case in found]


@pytest.mark.parametrize(("code", "case"), EVERY, ids=lambda value: getattr(value, "name", value))
def test_a_rule_speaks_where_it_must_and_nowhere_else(code: str, case: RuleCase) -> None:
    versions = {"torch": case.torch, "tensorflow": case.tensorflow, "jax": case.jax}
    answer = scanned(case.files, **versions)
    found = [
        f"{finding.path}:{finding.line} {finding.severity}"
        for finding in answer.findings
        if finding.code == code
    ]
    assert found == case.expect


def test_every_rule_has_three_cases_of_each_kind() -> None:
    assert CASES.keys() == {rule.code for rule in JUDGED}
    for code, found in CASES.items():
        bad = [case for case in found if case.expect]
        assert len(bad) >= 3, code
        assert len(found) - len(bad) >= 3, code


@pytest.mark.parametrize("rule", JUDGED, ids=lambda rule: rule.code)
def test_the_samples_of_a_rule_show_it(rule: ScanRule) -> None:
    for text, speaks in ((rule.bad, True), (rule.good, False)):
        answer = scanned({rule.sample: text}, torch="2.4.1", jax="0.5.0")
        codes = {finding.code for finding in answer.findings}
        assert (rule.code in codes) is speaks, text


def test_the_order_of_the_files_changes_nothing() -> None:
    files = {
        f"{number}.py": next(iter(case.files.values())) for number, (_, case) in enumerate(EVERY)
    }
    shuffled = list(files.items())
    random.Random(1).shuffle(shuffled)
    assert scanned(files).findings == scanned(dict(shuffled)).findings
