"""Whether a golden case notices a small lie in a record."""

from __future__ import annotations

import os
from pathlib import Path
from typing import Any

import msgspec
import pytest

import output_schema
from conftest import EVERYTHING
from d9m.authoring import cases
from d9m.authoring.mutation import mutate
from d9m.authoring.mutation.mutants import mutants
from d9m.errors import UsageError
from d9m.kb import yaml_files

ROOT = Path(__file__).parents[2]

FILES = {
    "edition.yaml": 'date: "2026-01-31"',
    "facts.yaml": 'training: {title: Trains, values: ["true", "false"], default: "true"}',
    "versions/tool.yaml": """
        title: Tool
        kind: framework
        folder: tool
        releases: {"1.0": {}, "1.1": {}, "1.2": {}, "2.0": {}, "2.1": {}}
        evidence: []""",
    "ops/tool.yaml": """
        package: tool
        ops: {sum: {}}""",
    "settings/tool/fix.yaml": """
        name: TOOL_FIX
        kind: env
        summary: Fixes the order.
        read: first-use
        evidence: []""",
    "solutions/tool/fix.yaml": """
        label: FIX
        title: Fix
        summary: Fixes the order.
        when: {tool: {from: "1.1"}}
        settings: [{set: TOOL_FIX, to: ["1"]}]
        evidence: []""",
    "sources/tool/sum.yaml": """
        title: Sum
        summary: Sums in any order.
        mechanism: order
        ops: [sum]
        timeline:
          tool:
            - {from: "1.0", outcome: unsolved}
            - {from: "1.2", by: [FIX]}
            - {from: "2.1", outcome: deterministic, verified_through: "2.1"}
        evidence: []""",
}


@pytest.fixture
def records(tmp_path: Path) -> yaml_files.Records:
    for name, text in FILES.items():
        path = tmp_path / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(text, encoding="utf-8")
    return yaml_files.load(tmp_path)


def case(version: str, **rows: Any) -> cases.Case:
    expect = [{"at": f"ops.sum.{at}", "is": wanted, "because": {}} for at, wanted in rows.items()]
    question = {"with": {"tool": version}, "ops": ["sum"]}
    return msgspec.convert(
        {"title": version, "name": version, "ask": question, "expect": expect}, cases.Case
    )


ON_BOTH_SIDES = [
    case("1.0", outcome="unsolved"),
    case("1.1", outcome="unsolved"),
    case("1.2", outcome="solved"),
    case("2.0", outcome="solved"),
    case("2.1", outcome="deterministic"),
]


def survivors(records: yaml_files.Records, asked: list[cases.Case]) -> list[str]:
    return [str(each) for each in mutate.try_all(records, asked).survivors]


def test_cases_on_both_sides_of_every_boundary_notice_every_mutant(
    records: yaml_files.Records,
) -> None:
    report = mutate.try_all(records, ON_BOTH_SIDES)
    assert (report.survivors, report.failing, report.score) == ([], [], 1.0)
    assert report.killed == 8


def test_a_boundary_that_no_case_guards_survives(records: yaml_files.Records) -> None:
    assert survivors(records, ON_BOTH_SIDES[:3] + ON_BOTH_SIDES[4:]) == [
        "sources/tool/sum.yaml: timeline.tool[2].from: 2.1 -> 2.0 (differs in tool 2.0)"
    ]


def test_without_cases_every_mutant_survives(records: yaml_files.Records) -> None:
    report = mutate.try_all(records, [])
    assert not output_schema.faults(msgspec.to_builtins(report), ["kb-mutate"])
    assert (report.killed, len(report.survivors), report.score) == (0, 8, 0.0)
    assert "not noticed:\n" in report.text()


def test_a_mutant_that_changes_no_answer_does_not_count(records: yaml_files.Records) -> None:
    bounds = [each.edit for each in mutants(records) if each.edit.field == "when.tool.from"]
    assert [each.after for each in bounds] == ["1.0", "1.2"]
    report = mutate.try_all(records, ON_BOTH_SIDES)
    assert report.equivalent == len(bounds), "no step uses the solution before 1.2"


def test_a_case_that_fails_already_notices_nothing(records: yaml_files.Records) -> None:
    report = mutate.try_all(records, [case("1.2", outcome="unsolved")])
    assert (report.killed, report.failing) == (0, ["1.2"])


def test_a_sample_is_the_same_for_the_same_seed(records: yaml_files.Records) -> None:
    first, second = (mutate.try_all(records, [], sample=4, seed=7).survivors for _ in range(2))
    assert first == second
    assert len(first) <= 4


def test_only_the_records_asked_for_are_broken(records: yaml_files.Records) -> None:
    report = mutate.try_all(records, [], only=["sources/tool/"])
    assert {each.file for each in report.survivors} == {"sources/tool/sum.yaml"}
    assert len(report.survivors) < 8


def test_records_without_a_mutant_are_a_mistake_in_the_question(
    records: yaml_files.Records,
) -> None:
    with pytest.raises(UsageError, match="sources/tol"):
        mutate.try_all(records, [], only=["sources/tol"])


@pytest.mark.parametrize(
    ("count", "least"),
    [
        (40, 0.85) if os.environ.get(EVERYTHING) else (12, 0.75),
        pytest.param(240, 0.95, marks=pytest.mark.nightly),
    ],
)
def test_the_golden_cases_notice_nearly_every_mutant(count: int, least: float) -> None:
    """95 of 100. In a sample of 40, of which every edited record draws another one, five may be
    missed by chance.
    """
    report = mutate.run(ROOT / "kb", ROOT / "tests" / "cases", sample=count, seed=1)
    assert report.score >= least, report.text()
