"""From what was seen to a verdict, and to whether a record holds. Each table is the whole rule."""

from __future__ import annotations

from typing import get_args

import pytest

from d9m.check.judge.expect import Expected, agreement
from d9m.check.judge.observe import ArmResult, not_run
from d9m.check.judge.verdict import Name, Proofs, judge
from d9m.check.messages import Deviation

REFUSAL = "RuntimeError: put_ does not have a deterministic implementation"


def arm(distinct: int = 1, repeats: int = 96, digest: str = "a", **more: object) -> ArmResult:
    fields = {
        "processes": 3,
        "differing": distinct - 1,
        "changed": 0.0,
        "max_ulp": None,
        "raised": None,
        "seconds": 1.0,
    }
    return ArmResult(
        repeats=repeats,
        distinct=distinct,
        digest=digest if distinct == 1 else None,
        **{**fields, **more},
    )


QUIET, VARIES = arm(), arm(7)
RAISED = arm(0, 0, raised=REFUSAL)
DEAD = arm(0, 0, failed="hung: no answer within 60 s")
FULL = arm(0, 0, raised="OutOfMemoryError: CUDA out of memory")


NOT_RUN = not_run("not run")


def references(default: float | None, advised: float | None, norm: float = 1.0) -> Proofs:
    return Proofs(
        references={"default": Deviation(default, 1.0), "advised": Deviation(advised, norm)}
    )


CASES: list[tuple[str, str, dict[str, ArmResult], Proofs]] = [
    ("nothing varied", "no-difference-seen", {"default": QUIET, "advised": QUIET}, Proofs()),
    ("the advice fixes it", "fixed-by-advice", {"default": VARIES, "advised": QUIET}, Proofs()),
    ("the advice does not fix it", "not-fixed", {"default": VARIES, "advised": VARIES}, Proofs()),
    ("the advice brings it about", "not-fixed", {"default": QUIET, "advised": VARIES}, Proofs()),
    ("it stops with an error", "raises", {"default": VARIES, "advised": RAISED}, Proofs()),
    ("it stops although it was quiet", "raises", {"default": QUIET, "advised": RAISED}, Proofs()),
    (
        "advised died, default varied",
        "nondeterministic",
        {"default": VARIES, "advised": DEAD},
        Proofs(),
    ),
    ("advised died, default quiet", "inconclusive", {"default": QUIET, "advised": DEAD}, Proofs()),
    ("advised ran out of memory", "inconclusive", {"default": QUIET, "advised": FULL}, Proofs()),
    ("default ran out of memory", "inconclusive", {"default": FULL, "advised": QUIET}, Proofs()),
    ("default died", "inconclusive", {"default": DEAD, "advised": QUIET}, Proofs()),
    (
        "the op does not run here at all",
        "inconclusive",
        {"default": RAISED, "advised": RAISED},
        Proofs(),
    ),
    ("never begun", "inconclusive", {}, Proofs()),
    (
        "interrupted after a difference",
        "nondeterministic",
        {"default": VARIES, "advised": NOT_RUN},
        Proofs(),
    ),
    (
        "interrupted before it was seen whether filling hides it",
        "inconclusive",
        {"default": VARIES, "advised": QUIET, "advised-no-fill": NOT_RUN},
        Proofs(),
    ),
    (
        "interrupted before the environment as it is was run",
        "inconclusive",
        {"default": QUIET, "as-is": NOT_RUN, "advised": QUIET},
        Proofs(),
    ),
    (
        "a difference counts, whatever was not run",
        "not-fixed",
        {"default": VARIES, "advised": VARIES, "advised-no-fill": NOT_RUN},
        Proofs(),
    ),
    (
        "silent by chance, perhaps",
        "inconclusive",
        {"default": VARIES, "advised": QUIET},
        Proofs(silence=0.12),
    ),
    (
        "as silent by default",
        "no-difference-seen",
        {"default": QUIET, "advised": QUIET},
        Proofs(silence=1.0),
    ),
    (
        "only the second default varies",
        "fixed-by-advice",
        {"default": QUIET, "advised": QUIET, "default-again": VARIES},
        Proofs(),
    ),
    (
        "filling hides it",
        "uninitialised-read",
        {"default": VARIES, "advised": QUIET, "advised-no-fill": VARIES},
        Proofs(),
    ),
    (
        "filling hides what default did not show",
        "uninitialised-read",
        {"default": QUIET, "advised": QUIET, "advised-no-fill": VARIES},
        Proofs(),
    ),
    (
        "only the user's environment varies",
        "nondeterministic",
        {"default": QUIET, "as-is": VARIES, "advised": QUIET},
        Proofs(),
    ),
    (
        "one thread gives other bits",
        "config-dependent",
        {"default": QUIET, "advised": QUIET, "one-thread": arm(digest="b")},
        Proofs(),
    ),
    (
        "a wrong value",
        "value-mismatch",
        {"default": VARIES, "advised": QUIET},
        references(1e-7, 0.5),
    ),
    (
        "another truth",
        "value-mismatch",
        {"default": QUIET, "advised": QUIET},
        references(1e-7, 1e-7, 1.1),
    ),
    (
        "NaN with the advice alone",
        "value-mismatch",
        {"default": QUIET, "advised": QUIET},
        references(1e-7, None),
    ),
    (
        "right values",
        "fixed-by-advice",
        {"default": VARIES, "advised": QUIET},
        references(1e-7, 1e-7),
    ),
    (
        "the control varied",
        "inconclusive",
        {"default": VARIES, "advised": QUIET},
        Proofs(controls=(1, 2)),
    ),
    (
        "a planted change was missed",
        "inconclusive",
        {"default": QUIET, "advised": QUIET},
        Proofs(planted=(False,)),
    ),
    (
        "blind to order",
        "inconclusive",
        {"default": QUIET, "advised": QUIET},
        Proofs(moved=(False, False)),
    ),
    (
        "sighted in one arm",
        "no-difference-seen",
        {"default": QUIET, "advised": QUIET},
        Proofs(moved=(False, True)),
    ),
    (
        "blind, yet it varied",
        "fixed-by-advice",
        {"default": VARIES, "advised": QUIET},
        Proofs(moved=(False,)),
    ),
    ("too few repeats", "inconclusive", {"default": arm(repeats=4), "advised": QUIET}, Proofs()),
    (
        "both default arms are quiet and give different results",
        "fixed-by-advice",
        {"default": QUIET, "advised": QUIET, "default-again": arm(digest="b")},
        Proofs(),
    ),
    (
        "the second default stops with an error",
        "inconclusive",
        {"default": VARIES, "advised": QUIET, "default-again": RAISED},
        Proofs(),
    ),
    (
        "your environment stops it with an error",
        "inconclusive",
        {"default": QUIET, "as-is": RAISED, "advised": QUIET},
        Proofs(),
    ),
]


@pytest.mark.parametrize(
    ("name", "expected", "arms", "proofs"), CASES, ids=[each[0] for each in CASES]
)
def test_verdict(name: str, expected: str, arms: dict[str, ArmResult], proofs: Proofs) -> None:
    assert judge(arms, proofs, "float32", None).name == expected


def test_every_verdict_is_reached() -> None:
    assert {each[1] for each in CASES} == set(get_args(Name))


def test_a_verdict_without_a_conclusion_says_why() -> None:
    for name, expected, arms, proofs in CASES:
        if expected == "inconclusive":
            assert judge(arms, proofs, "float32", None).reason, name


SOLVED = Expected("solved", "nondeterministic")
STOPS = Expected("raises", "nondeterministic")
UNSOLVED = Expected("unsolved", "nondeterministic")
STABLE = Expected("deterministic", "deterministic")
UNKNOWN = Expected("unknown", "unknown")
NO_RECORD = Expected("no-known-source", "deterministic")

AGREEMENTS: list[tuple[Expected, dict[str, ArmResult], str]] = [
    (SOLVED, {"default": VARIES, "advised": QUIET}, "agrees"),
    (SOLVED, {"default": QUIET, "advised": QUIET}, "agrees"),
    (SOLVED, {"default": VARIES, "advised": VARIES}, "contradicts"),
    (SOLVED, {"default": VARIES, "advised": RAISED}, "contradicts"),
    (STOPS, {"default": VARIES, "advised": RAISED}, "agrees"),
    (STOPS, {"default": VARIES, "advised": QUIET}, "contradicts"),
    (STOPS, {"default": VARIES, "advised": VARIES}, "contradicts"),
    (UNSOLVED, {"default": QUIET, "advised": QUIET}, "agrees"),
    (UNSOLVED, {"default": VARIES, "advised": VARIES}, "agrees"),
    (UNSOLVED, {"default": VARIES, "advised": RAISED}, "contradicts"),
    (STABLE, {"default": QUIET, "advised": QUIET}, "agrees"),
    (STABLE, {"default": VARIES, "advised": QUIET}, "contradicts"),
    (STABLE, {"default": QUIET, "advised": RAISED}, "contradicts"),
    (UNKNOWN, {"default": VARIES, "advised": QUIET}, "fills"),
    (UNKNOWN, {"default": QUIET, "advised": QUIET}, "silent"),
    (NO_RECORD, {"default": QUIET, "advised": QUIET}, "silent"),
    (NO_RECORD, {"default": QUIET, "advised": RAISED}, "fills"),
    (NO_RECORD, {"default": QUIET, "advised": FULL}, "silent"),
    (SOLVED, {"default": DEAD, "advised": QUIET}, "silent"),
]


@pytest.mark.parametrize(("expected", "arms", "told"), AGREEMENTS)
def test_agreement_with_the_record(
    expected: Expected, arms: dict[str, ArmResult], told: str
) -> None:
    assert agreement(expected, arms, judge(arms, Proofs(), "float32", None)) == told


def test_a_difference_contradicts_a_record_even_where_the_advice_is_not_decided() -> None:
    arms = {"default": VARIES, "advised": QUIET}
    assert (
        agreement(STABLE, arms, judge(arms, Proofs(silence=0.5), "float32", None)) == "contradicts"
    )
    assert agreement(SOLVED, arms, judge(arms, Proofs(silence=0.5), "float32", None)) == "agrees"
    assert agreement(STABLE, arms, judge(arms, Proofs(controls=(2,)), "float32", None)) == "silent"


def test_nan_is_said_to_be_nan() -> None:
    arms = {"default": QUIET, "advised": QUIET}
    reason = "NaN or infinity where double precision gives a number, or the reverse"
    assert judge(arms, references(1e-7, None), "float32", None).reason == reason
    assert (
        judge(arms, references(None, None), "float32", None).reason == f"{reason} (as by default)"
    )


def test_a_wrong_value_contradicts_a_record_that_says_solved() -> None:
    arms = {"default": VARIES, "advised": QUIET}
    assert (
        agreement(SOLVED, arms, judge(arms, references(1e-7, 0.5), "float32", None))
        == "contradicts"
    )


def test_half_precision_may_be_as_wrong_as_it_is_by_default() -> None:
    arms = {"default": VARIES, "advised": QUIET}
    assert judge(arms, references(0.2, 0.3), "bfloat16", None).name == "fixed-by-advice"
    assert judge(arms, references(0.01, 0.5), "bfloat16", None).name == "value-mismatch"
    assert judge(arms, references(0.2, 0.3), "float32", None).name == "value-mismatch"
