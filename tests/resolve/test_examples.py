"""One example for each module of the resolver: what goes in, and what comes out.

The records are those of the invented stack in `layers/`: read `layers/sources/frame/add.yaml` and
`layers/solutions/frame/` beside this. A module with a test file of its own needs no example here.
"""

from __future__ import annotations

import sys
from pathlib import Path

from layers import ask, knowledge_base

from d9m.environment.environment import Environment, Setup, describe
from d9m.model import op_syntax
from d9m.model.conditions import Cell
from d9m.model.versions import key
from d9m.model.when import Range, parse
from d9m.resolve import (
    answers,
    applied_sources,
    call_arguments,
    decide,
    deviations,
    evaluate,
    helper_calls,
    helper_effects,
    merge,
    needs,
    op_lookup,
    op_names,
    plain_statements,
    resolver,
    rules,
    unknown_ops,
    workarounds,
)

KB = knowledge_base()
TESTS = Path(__file__).parent
MODULES = Path(resolver.__file__).parent


def frame(version: str | None, **facts: str) -> Environment:
    """Return an environment with the framework `frame`, and whatever else is named."""
    return describe(KB, Setup((("frame", version),), facts=tuple(facts.items())))


def items(environment: Environment, *texts: str) -> list[op_lookup.OpItem]:
    return [op_lookup.find(KB, environment, op_syntax.parse(text)) for text in texts]


def applied(environment: Environment, *texts: str) -> list[applied_sources.AppliedSource]:
    """Return the sources of some ops, evaluated."""
    every = applied_sources.of_items(KB, environment, items(environment, *texts), "run")
    return [source for sources in every for source in sources]


def test_example_of_rules() -> None:
    """A source, and a world in which nothing is open -> one verdict, and the step that gave it."""
    add, _compiled = applied(frame("1.1"), "add")
    rules_of_add = rules.rules(KB, add.op_source, {})
    verdict, basis = rules_of_add.verdict({"frame": key("1.1")}, None, ["forward"])
    assert (verdict.outcome, verdict.alternatives) == ("solved", (("ORD",),))
    assert basis == rules.Basis(track="frame", step=0, exception=None)


def test_example_of_evaluate() -> None:
    """A source, and an environment that leaves the driver open -> a verdict for each driver."""
    _add, compiled = applied(frame("1.1"), "add")
    found, directions = evaluate.judge(KB, frame("1.1"), compiled.op_source, {}, ["backward"])
    assert [(clause, verdict.outcome) for clause, verdict in found.possible] == [
        ({"driver": Range(until="5.0")}, "solved"),
        ({"driver": Range(from_="5.0")}, "no-known-source"),
    ]
    assert (found.outcome, directions) == ("solved", ["backward"])


def test_example_of_deviations() -> None:
    """An assumption, and the outcome in each world -> where a worse outcome hides."""
    found = deviations.deviations(
        {"compiled": (Cell("false", name="false"), Cell("true", name="true"))},
        {"compiled": "false"},
        lambda world: "unsolved" if world["compiled"] == "true" else "solved",
        "solved",
    )
    assert found == [({"compiled": "true"}, "unsolved")]


def test_example_of_applied_sources() -> None:
    """Ops -> the sources that apply to them here, the worst first."""
    found = applied(frame("1.1"), "add", "conv")
    assert [source.op_source.id for source in found] == [
        "frame/add", "frame/compiled", "frame/conv",
    ]  # fmt: skip


def test_example_of_needs() -> None:
    """Evaluated sources -> what has to be solved, and each set of solutions that would do."""
    found = needs.needs(applied(frame("1.1"), "add"))
    assert [(need.source, need.alternatives) for need in found] == [
        ("frame/add", (("ORD",),)),
        ("frame/compiled", (("FLG",),)),
    ]
    assert needs.covered("ORD", frozenset({"ORD"}), needs.by_label(found)) == ["frame/add"]


def test_example_of_merge() -> None:
    """What solutions set -> one step for each setting, in the order in which a person does it."""
    wanted: list[merge.Demand] = []
    for label, _id, solution in KB.labelled({"ORD", "TUN"}):
        wanted += merge.demands(KB, frame("1.1"), label, solution.settings)
    steps = merge.merge(wanted).steps
    assert [(step.kind, step.name, step.value, step.solutions) for step in steps] == [
        ("env", "FRAME_WORKSPACE", ":8", ["ORD"]),
        ("python", "frame.ordered", "True", ["ORD"]),
        ("python", "frame.tune", "False", ["TUN"]),
    ]


def test_example_of_helper_effects() -> None:
    """Settings, and a call that the user makes -> which settings the call already makes."""
    here = describe(KB, Setup((("frame", "1.1"), ("train", "1.1"))))
    (solution,) = (each for label, _id, each in KB.labelled({"ORD"}) if label == "ORD")
    merged = merge.merge(merge.demands(KB, here, "ORD", solution.settings))
    call = helper_calls.find(KB, ["train"], "Runner(ordered=True)")
    steps = helper_effects.with_calls(KB, here, merged, [call]).steps
    assert {step.name: step.covered_by for step in steps} == {
        "FRAME_WORKSPACE": "train.Runner(ordered=True)",
        "frame.ordered": "train.Runner(ordered=True)",
    }


def test_example_of_plain_statements() -> None:
    """A statement of the user -> the setting that it makes, as a call."""
    found = plain_statements.helper_of(KB, 'os.environ["FRAME_ALGO"] = "ring"')
    assert found is not None
    assert [(change.name, change.to) for change in found[1].sets] == [("FRAME_ALGO", ["ring"])]


def test_example_of_decide() -> None:
    """A condition that is open -> the option that decides it."""
    (item,) = items(frame(None), "add")
    (clause,) = parse({"frame": {"from": "2.0"}}).clauses
    assert decide.to_decide(KB, frame(None), item, clause) == ["--with frame=2.0"]
    assert decide.with_arguments(item, {"dim": "0"}) == "add[dim=0]"


def test_example_of_answers() -> None:
    """Items with their sources, and the chosen solutions -> the entries of the answer."""
    here = frame("1.1")
    judged = [(item, applied(here, item.text)) for item in items(here, "add", "conv")]
    found = answers.op_answers(KB, judged, frozenset({"ORD", "FLG"}), "run")
    assert [(op.query, op.outcome, op.solutions) for op in found] == [
        ("add", "solved", ["ORD", "FLG"]),
        ("conv", "solved", ["ORD"]),
    ]


def test_example_of_resolver() -> None:
    """An environment and ops -> the advice."""
    here = frame("1.1")
    advice = resolver.resolve(KB, here, items(here, "conv"))
    assert advice.outcome == "solved"
    assert [solution.label for solution in advice.solutions] == ["ORD"]
    assert advice.settings.env == {"FRAME_SEED": "0", "FRAME_WORKSPACE": ":8"}


def test_example_of_workarounds() -> None:
    """An advice -> the same with the settings of workarounds; unchanged where all is solved."""
    advice = ask("frame=1.1", "conv")
    sources = [source for op in advice.ops for source in op.sources]
    assert workarounds.with_workarounds(advice, sources) == advice


def test_example_of_call_arguments() -> None:
    """A call -> the facts that its arguments decide; the invented ops take none."""
    (entry,) = op_names.meaning(KB, "frame", "conv").entries
    found = call_arguments.call_facts(KB, frame("1.1"), entry, None, is_method=False)
    assert found == call_arguments.CallFacts()


def test_example_of_op_names() -> None:
    """A name as it is written -> the op that it means."""
    assert [entry.name for entry in op_names.meaning(KB, "frame", "conv").entries] == ["frame.conv"]


def test_example_of_unknown_ops() -> None:
    """A name that no package has -> the error, with what is nearest."""
    error = unknown_ops.unknown_op(KB, frame("1.1"), ["frame"], op_syntax.parse("cnv"))
    assert error.nearest == ["conv"]


def test_each_module_of_the_resolver_has_an_example() -> None:
    for module in MODULES.glob("[a-z]*.py"):
        name = module.stem
        has_example = hasattr(sys.modules[__name__], f"test_example_of_{name}")
        assert has_example or (TESTS / f"test_{name}.py").exists(), f"no example of {name}"
