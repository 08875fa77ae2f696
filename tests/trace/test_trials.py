"""What pairs of runs find out of a cause: where it comes from, and which settings fix it."""

from __future__ import annotations

import json
import zlib
from collections.abc import Callable
from pathlib import Path

import pytest
from written import ended, write

from d9m.trace.findings import Cause, CauseFix, Findings
from d9m.trace.fixing import fixed
from d9m.trace.hunt import Hunt, HuntLimits
from d9m.trace.inject._d9m_recorder.core.varying import NOTES
from d9m.trace.report import fixes
from d9m.trace.start import RecordingRequest, RunExit
from d9m.trace.trials import Trials
from d9m.trace.varying_calls import VaryingCall, hypotheses, looks_like, origin_lines

SITE = '["S",{},"aten::lift_fresh","","fwd","","",["train.py",{},"main"],["float32[4]"],"cpu"]'


class VaryingProgram:
    """Puts a value into a tensor for each of `origins`, which are `hash` or what can be held."""

    def __init__(self, *origins: str, steps: Callable[[RecordingRequest], int] | None = None):
        self.origins = origins
        self.steps = steps or (lambda _request: 2)
        self.runs = 0

    def __call__(
        self, path: Path, request: RecordingRequest, _watch: Callable[[], bool] | None
    ) -> RunExit:
        self.runs += 1
        lines = [SITE.format(number, number + 10) for number in range(len(self.origins))]
        for step in range(self.steps(request)):
            for number, origin in enumerate(self.origins):
                value = 1 if self._is_fixed(origin, request) else self.runs + 1
                if request.level == "op":
                    lines.append(f'["o",{number},"",["{value}a{number}n{number}"],[]]')
                lines.append(f'["l",["{value}a{number}.{number}"]]')
            lines.append(f'["g","{self._sum(lines):x}",[]]')
            lines.append(f'["d",{step},{{}}]')
        header = {"level": request.level, "steps": [request.first, request.last]}
        write(path, {"r0-0": lines}, header)
        calls = [[kind, f"{kind}.call", None, [["train.py", 5, "main"]]] for kind in self.origins]
        (path / NOTES).write_text("\n".join(map(json.dumps, calls)) + "\n")
        ended(path, 0)
        return RunExit(0, False, 1)

    def _sum(self, lines: list[str]) -> int:
        return zlib.crc32("".join(lines[-len(self.origins) :]).encode())

    def _is_fixed(self, origin: str, request: RecordingRequest) -> bool:
        if origin == "hash":
            return request.env.get("PYTHONHASHSEED") == "0"
        return origin in request.held


def explained(path: Path, program: VaryingProgram, **limits: int) -> Findings:
    hunt = Hunt(program, path, RecordingRequest(), HuntLimits(**limits), "", lambda _text: None)
    return Trials(hunt, lambda _cause: None).explained(hunt.found(), True)


def hunted_on(path: Path, program: VaryingProgram) -> Findings:
    def begin(base: CauseFix, limits: HuntLimits) -> Hunt:
        request = RecordingRequest(env=base.env, python=tuple(base.python))
        folder = path / str(program.runs)
        return Hunt(program, folder, request, limits, "", lambda _text: None)

    def answer(hunt: Hunt, base: CauseFix, proves: bool) -> Findings:
        return Trials(hunt, lambda _cause: None, base).explained(hunt.found(), proves)

    return fixed(begin, answer, HuntLimits(), [])


def test_a_setting_that_removes_the_cause_is_proved_by_whole_runs(tmp_path: Path) -> None:
    cause = explained(tmp_path, VaryingProgram("hash")).causes[0]
    assert cause.fix == CauseFix({"PYTHONHASHSEED": "0"}, [], proved=True, runs=3)
    assert cause.origin is not None
    assert cause.origin.kinds == ["hash"]
    assert fixes.edit(cause) == ""


def test_a_call_that_is_held_is_an_edit_at_its_line(tmp_path: Path) -> None:
    cause = explained(tmp_path, VaryingProgram("clock")).causes[0]
    assert cause.fix is None
    assert fixes.edit(cause).startswith("train.py:5: use a fixed value")


def test_two_calls_that_matter_only_together_are_named_together(tmp_path: Path) -> None:
    program = VaryingProgram("clock", "pid")
    program._is_fixed = lambda _origin, request: set(request.held) == {"clock", "pid"}  # type: ignore[method-assign]
    cause = explained(tmp_path, program).causes[0]
    assert cause.origin is not None
    assert cause.origin.kinds == ["clock", "pid"]


def test_two_origins_at_one_place_are_fixed_together(tmp_path: Path) -> None:
    """Each setting alone leaves the other origin, so that its trial still differs."""
    program = VaryingProgram("draw random")
    program._is_fixed = lambda _origin, request: (  # type: ignore[method-assign]
        bool(request.env) and request.python == ("random.seed(0)",)
    )
    cause = explained(tmp_path, program).causes[0]
    assert cause.origin is not None
    assert cause.origin.kinds == ["random", "hash"]
    assert cause.fix == CauseFix({"PYTHONHASHSEED": "0"}, ["random.seed(0)"], proved=True, runs=3)


def test_what_no_trial_removes_has_neither_origin_nor_fix(tmp_path: Path) -> None:
    cause = explained(tmp_path, VaryingProgram("weather")).causes[0]
    assert (cause.origin, cause.fix) == (None, None)


def test_fewer_steps_with_a_setting_prove_nothing(tmp_path: Path) -> None:
    program = VaryingProgram("hash", steps=lambda request: 1 if request.env else 2)
    found = explained(tmp_path, program)
    assert found.causes[0].fix is None


def test_a_second_cause_keeps_the_fix_from_being_proved(tmp_path: Path) -> None:
    found = explained(tmp_path, VaryingProgram("hash", "weather"))
    fix = found.causes[0].fix
    assert fix is not None
    assert not fix.proved


def test_no_trial_goes_beyond_the_runs_that_were_allowed(tmp_path: Path) -> None:
    program = VaryingProgram("hash")
    explained(tmp_path, program, runs=5)
    assert program.runs <= 5


def test_a_hunt_that_fixes_ends_with_the_settings_that_are_needed(tmp_path: Path) -> None:
    found = hunted_on(tmp_path, VaryingProgram("hash"))
    assert found.same
    assert [(each.fix.env, each.fix.proved, each.needed) for each in found.fixes] == [
        ({"PYTHONHASHSEED": "0"}, True, True)
    ]


def test_a_hunt_that_fixes_ends_at_the_line_to_edit(tmp_path: Path) -> None:
    found = hunted_on(tmp_path, VaryingProgram("hash", "clock"))
    assert [each.fix.env for each in found.fixes] == [{"PYTHONHASHSEED": "0"}]
    assert fixes.edit(found.causes[0]).startswith("train.py:5:")


@pytest.mark.parametrize(
    ("a", "b", "pids", "like"),
    [
        ("1795892476", "1795892485", [], "clock"),
        ("1795892476123456789", "1795892485123456789", [], "clock"),
        ("23843", "23868", [23843, 23868], "pid"),
        ("23843", "23868", [1, 2], None),
        ("139961234567890", "140061234567890", [], "addresses"),
        ("42", "43", [], None),
        ("0.1", "0.2", [], None),
        ("none", "tanh", [], None),
    ],
)
def test_values_that_look_like_a_clock_a_pid_or_an_address_are_called_so(
    a: str, b: str, pids: list[int | None], like: str | None
) -> None:
    assert looks_like(a, b, pids) == like


def test_the_call_whose_value_is_the_seed_is_the_one_that_is_named() -> None:
    calls = [
        VaryingCall("clock", "time.time", 1.5, (("train.py", 3, "main"),)),
        VaryingCall("clock", "time.time", 1795892476.9, (("train.py", 9, "main"),)),
        VaryingCall("clock", "time.time", 7.5, (("train.py", 12, "main"),)),
    ]
    cause = Cause(kind="seed", process="rank 0", step=0, record=1, a="1795892476", b="1795892485")
    names, lines = origin_lines(calls, ["clock"], cause)
    assert (names, [line.line for line in lines]) == (["time.time"], [9])
    assert hypotheses(cause, calls, [])[0] == ("clock",)


@pytest.mark.parametrize(
    ("order", "is_tried"),
    [(["draw random", "seed"], True), (["seed", "draw random"], False), (["draw random"], True)],
)
def test_a_generator_that_is_seeded_after_its_first_draw_was_not_seeded(
    order: list[str], is_tried: bool
) -> None:
    line = ("train.py", 1, "main")
    noted = [VaryingCall(kind, f"random.{kind.partition(' ')[0]}", 0, (line,)) for kind in order]
    cause = Cause(kind="outside-value", process="main", step=0, record=1)
    assert (("random",) in hypotheses(cause, noted, [])) == is_tried


def test_a_seed_by_chance_is_tried_where_the_program_seeds_too_late() -> None:
    noted = [VaryingCall("seed", "torch.manual_seed", 0, (("train.py", 60, "setup"),))]
    chance = Cause(kind="seed", process="main", step=0, record=1, a=str(2**60), b=str(2**61))
    assert ("torch",) in hypotheses(chance, noted, [])
    given = Cause(kind="seed", process="main", step=0, record=1, a="7", b="9")
    assert ("torch",) not in hypotheses(given, noted, [])
