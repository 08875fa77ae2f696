"""Where a question leaves something open: every answer, what most programs get, what decides it,
what was assumed.
"""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path

import pytest

from d9m.api import advise
from d9m.environment.environment import Setup
from d9m.errors import ExitCode
from d9m.kb import locate
from d9m.model.advice import Advice, OpAnswer, exit_code

EVIDENCE = "[{kind: documented, url: https://example.org}]"

FILES = {
    "facts.yaml": """
        training: {title: Trains, values: ["true", "false"], default: "true"}
        shared: {title: Several devices, values: ["true", "false"], default: "false"}
        fast: {title: Fast mode, values: ["true", "false"], default: "false"}
        sm: {title: Capability, type: int, least: "1", usual: "90"}
        ndim: {title: Dimensions, type: int, argument: "true", usual: "2"}
        kind: {title: Kind, values: [sum, mean, prod], argument: "true", default: sum}
        repeats: {title: Repeated indices, values: ["true", "false"], argument: "true"}""",
    "versions/tool.yaml": f"""
        title: Tool
        kind: framework
        folder: tool
        releases: {{"1.0": {{}}, "1.1": {{}}, "2.0.0": {{with: {{part: "3.1"}}}}, "2.0.1": {{with: {{part: "3.1"}}}}}}
        evidence: {EVIDENCE}""",
    "versions/part.yaml": f"""
        title: Part
        kind: platform
        folder: part
        concerns: {{shared: "true"}}
        evidence: {EVIDENCE}""",
    "versions/loose.yaml": f"""
        title: Loose
        kind: library
        folder: loose
        evidence: {EVIDENCE}""",
    "ops/tool.yaml": """
        package: tool
        prefixes: {t.: tool.}
        ops: {tool.loss: {}, tool.put: {}, tool.pool: {}, tool.mix: {}, tool.plain: {}, tool.sure: {}}
        reach: {"x[idx] = v": [tool.put]}""",
    "settings/tool/fix.yaml": f"""
        name: TOOL_FIX
        kind: env
        summary: Fixes the order.
        read: first-use
        evidence: {EVIDENCE}""",
    "solutions/tool/fix.yaml": f"""
        label: FIX
        title: Fix
        summary: Fixes the order.
        settings: [{{set: TOOL_FIX, to: ["1"]}}]
        evidence: {EVIDENCE}""",
    "errors/tool/loss.yaml": f"""
        title: Loss
        texts: [{{text: no deterministic loss}}]
        advice: Wait.
        evidence: {EVIDENCE}""",
    "sources/tool/loss.yaml": """
        ops: [tool.loss]
        when: {ndim: {from: "3"}}
        timeline: {tool: [{from: "1.0", outcome: raises, by: [FIX], error: tool/loss, verified_through: "2.0"}]}""",
    "sources/tool/put.yaml": """
        ops: [tool.put]
        when: {repeats: "true"}
        timeline: {tool: [{from: "1.0", outcome: unsolved}, {from: "2.0.1", by: [FIX], verified_through: "2.0"}]}""",
    "sources/tool/pool.yaml": """
        ops: [tool.pool]
        when: {ndim: {from: "3"}}
        timeline: {tool: [{from: "1.0", by: [FIX], verified_through: "2.0"}]}""",
    "sources/tool/mix.yaml": """
        ops: ["tool.mix[kind=prod]"]
        timeline:
          tool:
            - from: "1.0"
              by: [FIX]
              unless: [{when: {fast: "true", shared: "true"}, outcome: unsolved}]
              verified_through: "2.0"
        cautions: [{text: Products are slow.}]""",
    "sources/tool/gpu.yaml": """
        ops: [tool.plain]
        when: {sm: {from: "80"}}
        timeline: {tool: [{from: "1.0", outcome: unsolved, verified_through: "2.0"}]}""",
    "sources/tool/sure.yaml": """
        ops: [tool.sure, tool.loss]
        when: {fast: "true"}
        timeline: {tool: [{from: "1.0", outcome: raises, by: [FIX], error: tool/loss, verified_through: "2.0"}]}""",
    "sources/part/sums.yaml": """
        timeline: {part: [{from: "1.0", outcome: unsolved, verified_through: "3.1"}]}""",
    "sources/loose/order.yaml": """
        timeline: {loose: [{from: "0.5", outcome: unsolved, verified_through: "1.0"}]}""",
}

Ask = Callable[..., Advice]


@pytest.fixture(scope="module")
def ask(tmp_path_factory: pytest.TempPathFactory) -> Ask:
    root = tmp_path_factory.mktemp("kb")
    for name, text in FILES.items():
        path = root / name
        path.parent.mkdir(parents=True, exist_ok=True)
        if name.startswith("sources"):
            text = (
                f"title: {Path(name).stem}\nsummary: Varies.\nmechanism: order\nevidence: "
                f"{EVIDENCE}\n{_flush(text)}"
            )
        path.write_text(_flush(text), encoding="utf-8")
    kb = locate.from_yaml(root)

    def advice(packages: str, *ops: str, facts: dict[str, str] | None = None) -> Advice:
        named = tuple(
            (name, version or None)
            for name, _, version in (each.partition("=") for each in packages.split())
        )
        return advise(kb, Setup(named, facts=tuple((facts or {}).items())), list(ops) or None)

    return advice


def _flush(text: str) -> str:
    """Text without the indentation of this file."""
    lines = text.splitlines()
    return "\n".join(line.removeprefix(" " * 8) for line in lines)


def only(advice: Advice) -> OpAnswer:
    (op,) = advice.ops
    return op


def test_what_is_open_and_changes_the_outcome_makes_it_depend(ask: Ask) -> None:
    advice = ask("tool=2.0.1", "t.loss")
    (source,) = [source for source in only(advice).sources if source.id == "tool/loss"]
    assert (advice.outcome, only(advice).outcome, source.outcome) == (
        "depends",
        "depends",
        "depends",
    )
    assert (source.raised_by, source.error, source.when) == (None, None, {})
    assert [(branch.outcome, branch.raised_by) for branch in source.possible] == [
        ("no-known-source", None),
        ("raises", "FIX"),
    ]
    assert exit_code(advice) == ExitCode.UNKNOWN
    assert exit_code(advice, allow_unknown=True) == ExitCode.ANSWERED


def test_answers_that_are_all_deterministic_are_one_answer(ask: Ask) -> None:
    advice = ask("tool=2.0.1", "t.pool")
    (source,) = only(advice).sources
    assert (source.outcome, source.solutions, source.alternatives) == ("solved", ["FIX"], [["FIX"]])
    assert set(source.when) == {"ndim"}
    assert advice.steps[0].when == [source.when]
    assert exit_code(advice) == ExitCode.ANSWERED


def test_what_most_programs_get_comes_first_then_best_to_worst(ask: Ask) -> None:
    def outcomes(packages: str, op: str) -> list[str]:
        return [branch.outcome for branch in only(ask(packages, op)).sources[-1].possible]

    assert outcomes("tool", "t.put:repeats=true") == ["solved", "unsolved"], "the newest release"
    assert outcomes("tool=2.0.1", "t.plain") == ["unsolved", "no-known-source"], (
        "the usual GPU, though it is worse"
    )
    assert outcomes("tool=2.0.0", "t.put") == ["no-known-source", "unsolved"], (
        "the best, where nothing is usual"
    )


@pytest.mark.parametrize(
    ("packages", "op", "decide"),
    [
        ("tool=2.0.1", "t.loss", [["t.loss[ndim=2]"], ["t.loss[ndim=3]"]]),
        ("tool=2.0.1", "loss:backward", [["loss[ndim=2]:backward"], ["loss[ndim=3]:backward"]]),
        ("tool=2.0.1", "loss[kind=mean]", [["loss[kind=mean,ndim=2]"], ["loss[kind=mean,ndim=3]"]]),
        ("tool=2.0.1", "loss(x, y)", [["loss(x, y):ndim=2"], ["loss(x, y):ndim=3"]]),
        ("tool=2.0.0", "x[idx] = v", [["tool.put[repeats=false]"], ["tool.put[repeats=true]"]]),
        ("tool=2.0.1", "plain", [["--fact sm=90"], ["--fact sm=79"]]),
        ("tool=2.0", "put:repeats=true", [["--with tool=2.0.1"], ["--with tool=2.0.0"]]),
        ("tool", "put:repeats=true", [["--with tool=2.0.1"], ["--with tool=2.0.0"]]),
    ],
)
def test_each_answer_says_what_to_add(
    ask: Ask, packages: str, op: str, decide: list[list[str]]
) -> None:
    (source,) = [
        source for source in only(ask(packages, op)).sources if source.outcome == "depends"
    ]
    assert [branch.decide for branch in source.possible] == decide


def test_what_is_added_decides_it(ask: Ask) -> None:
    (source,) = [
        source
        for source in only(ask("tool=2.0.1", "t.loss")).sources
        if source.outcome == "depends"
    ]
    for branch in source.possible:
        (item,) = branch.decide
        decided = only(ask("tool=2.0.1", item))
        assert [each.outcome for each in decided.sources if each.id == "tool/loss"] in (
            [],
            [branch.outcome],
        )


def test_an_op_that_surely_raises_raises_whatever_else_depends(ask: Ask) -> None:
    op = only(ask("tool=2.0.1", "t.loss", facts={"fast": "true"}))
    assert {source.id: source.outcome for source in op.sources} == {
        "tool/sure": "raises",
        "tool/loss": "depends",
    }
    assert op.outcome == "raises"


def test_an_assumption_that_hides_a_source_is_in_the_answer(ask: Ask) -> None:
    advice = ask("tool=2.0.1", "t.sure")
    (source,) = only(advice).sources
    assert (only(advice).outcome, source.outcome, source.default) == (
        "deterministic",
        "deterministic",
        "deterministic",
    )
    (other,) = only(advice).otherwise
    assert (other.when, other.outcome, other.decide) == (
        {"fast": "true"},
        "raises",
        ["--fact fast=true"],
    )
    assert "fast" in advice.environment.assumed
    assert exit_code(advice) == ExitCode.ANSWERED


def test_no_known_source_means_none_under_any_value_of_what_is_assumed(ask: Ask) -> None:
    op = only(ask("tool=2.0.1", "t.sure", facts={"fast": "false"}))
    assert (op.outcome, op.sources, op.otherwise) == ("no-known-source", [], [])


def test_other_arguments_than_the_defaults_are_named_where_they_are_worse(ask: Ask) -> None:
    advice = ask("tool=2.0.1", "t.mix")
    (source,) = only(advice).sources
    assert only(advice).outcome == "deterministic"
    assert [(other.when, other.outcome, other.decide) for other in source.otherwise] == [
        ({"kind": "prod"}, "solved", ["t.mix[kind=prod]"])
    ]
    assert advice.cautions == [], "of a source that this call does not meet"


def test_only_the_fewest_assumptions_that_must_fall_are_named(ask: Ask) -> None:
    (source,) = only(ask("tool=2.0.1", "t.mix[kind=prod]")).sources
    assert source.outcome == "solved"
    assert [(other.when, other.outcome) for other in source.otherwise] == [
        ({"fast": "true", "shared": "true"}, "unsolved")
    ]
    assert source.otherwise[0].decide == ["--fact fast=true", "--fact shared=true"]


def test_what_is_better_without_an_assumption_is_not_named(ask: Ask) -> None:
    op = ask("tool=2.0.1", "t.mix[kind=prod]", facts={"fast": "true", "shared": "true"}).ops[0]
    assert (op.outcome, op.otherwise) == ("unsolved", [])


def test_a_shipped_part_is_in_the_answer_of_programs_that_it_concerns(ask: Ask) -> None:
    assert [op.query for op in ask("tool=2.0.1", "t.pool").ops] == ["t.pool"]
    shared = ask("tool=2.0.1", "t.pool", facts={"shared": "true"})
    assert [(op.query, op.outcome) for op in shared.ops] == [
        ("t.pool", "solved"),
        ("*", "unsolved"),
    ]
    assert [source.id for source in shared.ops[1].sources] == ["part/sums"]


def test_an_unnamed_version_is_none_before_the_record_begins(ask: Ask) -> None:
    (source,) = only(ask("loose")).sources
    assert source.outcome == "unsolved"
    assert only(ask("loose=0.4 tool=2.0.1", "t.pool")).sources[0].id == "tool/pool", (
        "an older one that was named"
    )
