"""Layers that want different values of one setting: the choices, what each costs, other scopes."""

from __future__ import annotations

from layers import ask

from d9m.model.advice import exit_code


def test_layers_that_disagree_are_a_conflict_with_choices_and_costs() -> None:
    advice = ask("train=2.0 serve=1.0")
    (conflict,) = advice.conflicts
    assert (conflict.name, conflict.between, conflict.scope) == (
        "FRAME_ALGO",
        ["SRV", "TRN"],
        "run",
    )
    assert conflict.choices == [
        "for Ordered requests: tree",
        "for Ordered training: ring",
        "separate environments for Serve and Train",
    ]
    assert conflict.costs == [
        'loses Ordered training, which fixes "Sums between devices"',
        'loses Ordered requests, which fixes "Requests are taken in any order". '
        "Cost: A tenth slower",
        "loses nothing; start each program with its own settings",
    ]
    assert "FRAME_ALGO" not in advice.settings.env
    assert exit_code(advice) == 1


def test_what_another_scope_would_force_is_told_apart_and_is_no_finding() -> None:
    advice = ask("train=2.0 serve=2.0")
    assert advice.conflicts == []
    (conflict,) = advice.scope_conflicts
    assert (conflict.name, conflict.scope) == ("FRAME_ALGO", "batch")
    assert conflict.choices == [
        "for Ordered training: ring",
        "for Any batch alike: tree",
        "separate environments for Train and Serve",
    ]
    assert advice.settings.env["FRAME_ALGO"] == "ring"
    assert exit_code(advice) == 0


def test_a_scope_that_includes_runs_has_their_contradiction() -> None:
    advice = ask("train=2.0 serve=2.0", scope="batch")
    found = {source.id for op in advice.ops for source in op.sources}
    assert {"serve/batch", "train/sums"} <= found
    assert [each.name for each in advice.conflicts] == ["FRAME_ALGO"]
    assert exit_code(advice) == 1
    assert advice.scope_conflicts == []


def test_a_package_alone_has_no_conflict() -> None:
    for packages in ("train=2.0", "serve=2.0", "train=2.0 serve=1.0 frame=1.1"):
        assert ask(packages).scope_conflicts == []


def test_values_that_change_with_an_undecided_release_have_one_in_common() -> None:
    assert ask("train").settings.env["FRAME_ALGO"] == "ring"


def test_an_item_of_a_list_variable_that_only_some_releases_know_is_separate() -> None:
    steps = [
        step for step in ask("frame train=1.0 driver=4", "add").steps if step.name == "FRAME_FLAGS"
    ]
    assert [step.accepts for step in steps] == [["--frame_order=true"], ["--frame_tune=0"]]
    assert all(step.when for step in steps)


def test_items_that_all_releases_know_are_united() -> None:
    (step,) = [
        step for step in ask("frame=1.1 driver=4", "add").steps if step.name == "FRAME_FLAGS"
    ]
    assert step.accepts == ["--frame_order=true", "--frame_tune=0"]
