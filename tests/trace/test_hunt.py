"""What a hunt records, when it looks closer and when it stops; the program is a made-up one."""

from __future__ import annotations

import os
import subprocess
import sys
import time
from collections.abc import Callable
from pathlib import Path
from xml.etree import ElementTree

import msgspec
import pytest
from written import ended, opened, sealed, write

import output_schema
from d9m.errors import AbsentError
from d9m.kb.locate import open_knowledge_base
from d9m.trace.findings import Cause, ComparedSteps, Findings, Replay, Stage
from d9m.trace.hunt import REPLAY_SECONDS, Hunt, HuntLimits
from d9m.trace.replay import ReplayFailure
from d9m.trace.report import html, verdict
from d9m.trace.report.text import FindingsView
from d9m.trace.start import RecordingRequest, RunExit
from process import d9m, environment

SITE = (
    '["S",1,"aten::index_put","","bwd","IndexBackward0","Net",["train.py",6,"forward"],'
    '["float32[4]"],"cpu"]'
)


class MadeUpProgram:
    """Trains for four steps. `varies(run, step)` says when its one op gives other bits."""

    def __init__(
        self,
        varies: Callable[[int, int], bool],
        code: int = 0,
        fits: bool = True,
        compiles: bool = False,
        framework: str = "torch",
        threads: int = 8,
    ) -> None:
        self.varies = varies
        self.code = code
        self.compiles = compiles
        self.framework = framework
        self.threads = threads
        """Of each second run, from step 2 on."""
        self.fits = fits
        """Whether all ops of a step fit into a recording."""
        self.requests: list[RecordingRequest] = []
        self.watched: list[bool] = []

    def __call__(
        self, path: Path, request: RecordingRequest, watch: Callable[[], bool] | None
    ) -> RunExit:
        self.requests.append(request)
        run = len(self.requests)
        last = 3 if request.stop is None else min(3, request.stop - 1)
        lines = [SITE]
        state = 0
        threads = self.threads if run % 2 == 0 else 8
        for step in range(last + 1):
            state = state * 16 + (run if self.varies(run, step) else 0)
            if step >= request.first and (step - request.first) % request.every == 0:
                if request.level == "op" and self.compiles and request.compiled == "as-is":
                    lines += [
                        '["c","graph 0 backward",["aa.1"]]',
                        f'["e","graph 0 backward",["{state:x}.{step + 9}"]]',
                    ]
                elif request.level == "op":
                    lines.append(f'["o",1,"accumulate=True",["aa.1"],["{state:x}.{step + 9}"]]')
                digests = f'"{state:x}.{step + 9}"' if request.level == "op" else ""
                if request.level == "module":
                    digests = f'"{state:x}"'
                    lines.append('["P",["Net.body.table.rows"]]')
                lines.append(f'["g","{state:x}",[{digests}]]')
                if step == 2 and request.first < 2:
                    lines.append(f'["t",{{}},{threads}]')
                lines.append(f'["d",{step},{{}}]')
        if request.level == "op" and not request.modules and not self.fits:
            lines = [lines[0], '["o",1,"",["aa.1"],["bb.2"]]', '{"ended": "size"}']
        header = {
            "level": request.level,
            "inputs": "exact",
            "steps": [request.first, request.last],
            "every": request.every,
            "modules": request.modules,
            "compiled": request.compiled,
            "packages": {self.framework: "2.13.0"},
            "threads": threads if request.first == 2 else 8,
        }
        write(path, {"r0-0": lines}, header)
        self.watched.append(watch is not None and watch())
        ended(path, self.code, stopped=self.watched[-1])
        return RunExit(self.code, self.watched[-1], 1)


def hunted(path: Path, program: MadeUpProgram, **limits: object) -> Findings:
    request = RecordingRequest(stop=20)
    hunt = Hunt(program, path, request, HuntLimits(**limits), "", lambda _text: None)  # type: ignore[arg-type]
    found = hunt.found()
    assert not output_schema.faults(msgspec.to_builtins(found), ["hunt"])
    return found


def test_only_the_step_that_differs_is_recorded_op_by_op(tmp_path: Path) -> None:
    program = MadeUpProgram(lambda run, step: run % 2 == 0 and step == 2)
    found = hunted(tmp_path, program)
    (cause,) = found.causes
    assert (cause.kind, cause.op, cause.step) == ("op", "aten::index_put", 2)
    assert [(request.level, request.first, request.last) for request in program.requests] == [
        ("step", 0, None),
        ("step", 0, None),
        ("op", 2, 2),
        ("op", 2, 2),
    ]
    assert program.requests[-1].inputs == "exact"
    assert program.requests[-1].stop == 3
    assert [(stage.runs, stage.differs_from) for stage in found.stages] == [(2, 2), (2, 2)]


def test_the_steps_before_the_first_recorded_one_that_differs_are_recorded_each(
    tmp_path: Path,
) -> None:
    program = MadeUpProgram(lambda run, step: run % 2 == 0 and step == 2)
    request = RecordingRequest(every=3)
    found = Hunt(program, tmp_path, request, HuntLimits(), "", lambda _text: None).found()
    (cause,) = found.causes
    assert (cause.kind, cause.op, cause.step) == ("op", "aten::index_put", 2)
    looked = [(each.level, each.every, each.first, each.last) for each in program.requests]
    assert looked[::2] == [("step", 3, 0, None), ("step", 1, 1, 3), ("op", 1, 2, 2)]
    assert [(stage.runs, stage.differs_from) for stage in found.stages] == [(2, 3), (2, 2), (2, 2)]


def test_a_difference_between_recorded_steps_that_does_not_come_back_is_still_told(
    tmp_path: Path,
) -> None:
    program = MadeUpProgram(lambda run, step: run == 2 and step == 2)
    request = RecordingRequest(every=3)
    found = Hunt(program, tmp_path, request, HuntLimits(runs=4), "", lambda _text: None).found()
    assert [cause.step for cause in found.causes] == [3]
    assert verdict.sentences(found).startswith("The runs differ from a step between 1 and 3 on.")
    assert "Another pair of runs was equal in steps 1 to 3." in found.notes


def test_equal_steps_with_others_between_say_which_they_are(tmp_path: Path) -> None:
    program = MadeUpProgram(lambda _run, _step: False)
    request = RecordingRequest(every=2)
    found = Hunt(program, tmp_path, request, HuntLimits(), "", lambda _text: None).found()
    assert "one step in 2 of 0 to 2 of 1 process" in verdict.sentences(found)


def test_the_page_of_a_hunt_shows_its_steps_and_the_line_of_the_cause(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(tmp_path)
    source = [f"line {number}" for number in range(1, 20)]
    Path("train.py").write_text("\n".join([*source[:5], "table[<ids>]", *source[6:]]))
    found = hunted(tmp_path, MadeUpProgram(lambda run, step: run % 2 == 0 and step == 2))
    page = html.render(FindingsView(found, open_knowledge_base()))
    body = ElementTree.fromstring(page.removeprefix("<!doctype html>"))
    steps = [(each.text, each.get("class")) for each in body.findall(".//ol/li")]
    assert steps == [("0", "equal"), ("1", "equal"), ("2", "first"), ("3", "after")]
    assert body.findtext(".//mark") == "    6  table[<ids>]"
    assert "line 9" in page
    assert "line 10" not in page


def test_of_many_steps_the_page_shows_the_ends_and_those_near_the_difference() -> None:
    stage = Stage(2, "step", 500, ComparedSteps(0, 999, False))
    found = msgspec.json.decode(
        b'{"d9m":{"version":"1","kb_date":""},"same":false,"complete":true,"runs":[],"settings":[],'
        b'"compared":{},"first":{"process":"rank 0","step":500,"record":1,"cause":0},"causes":[],'
        b'"harmless":[],"forks":[],"unseen":[]}',
        type=Findings,
    )
    (row,) = html.step_row(msgspec.structs.replace(found, stages=[stage]))
    assert (row.count("<li"), row.count("…")) == (2 * html.NEAR + 2 * html.NEAR + 1 + 2, 2)
    assert 'class="first" title="the first difference">500<' in row


def test_a_setting_that_one_run_changes_keeps_its_step_where_ops_are_looked_at(
    tmp_path: Path,
) -> None:
    program = MadeUpProgram(lambda run, step: run % 2 == 0 and step == 2, threads=1)
    found = hunted(tmp_path, program)
    assert [cause.kind for cause in found.causes] == ["settings", "op"]
    (setting,) = found.settings
    assert (setting.name, setting.a, setting.b, setting.step) == ("threads", "8", "1", 2)
    assert [(request.level, request.first) for request in program.requests[2:]] == [
        ("op", 2),
        ("op", 2),
    ]


def test_a_run_is_ended_a_step_after_it_began_to_differ(tmp_path: Path) -> None:
    program = MadeUpProgram(lambda run, step: run == 2 and step == 1)
    hunted(tmp_path, program)
    assert program.watched[:2] == [False, True]
    late = MadeUpProgram(lambda run, step: run == 2 and step == 3)
    hunted(tmp_path / "late", late)
    assert late.watched[:2] == [False, False]


def test_equal_runs_say_what_they_prove(tmp_path: Path) -> None:
    program = MadeUpProgram(lambda run, step: False)
    found = hunted(tmp_path, program)
    assert found.same
    assert len(program.requests) == 2
    assert found.bound is not None
    assert (found.bound.runs, round(found.bound.pair, 2)) == (2, 0.95)


def test_more_runs_are_compared_while_they_are_equal(tmp_path: Path) -> None:
    program = MadeUpProgram(lambda run, step: False)
    found = hunted(tmp_path, program, runs=8)
    assert len(program.requests) == 8
    assert found.bound is not None
    assert round(found.bound.pair, 2) == 0.35


def test_until_found_goes_on_until_a_run_differs(tmp_path: Path) -> None:
    program = MadeUpProgram(lambda run, step: run >= 7 and run % 2 == 1)
    found = hunted(tmp_path, program, until_found=True)
    assert [cause.op for cause in found.causes] == ["aten::index_put"]
    assert found.stages[0].runs == 7


def test_until_found_ends_with_the_limit(tmp_path: Path) -> None:
    program = MadeUpProgram(lambda run, step: False)
    hunted(tmp_path, program, until_found=True, runs=5)
    assert len(program.requests) == 5


def test_no_run_is_started_after_the_time_is_up(tmp_path: Path) -> None:
    program = MadeUpProgram(lambda run, step: False)
    hunted(tmp_path, program, until_found=True, seconds=time.monotonic() * 0)
    assert len(program.requests) == 2


def test_a_difference_that_does_not_come_back_is_still_told(tmp_path: Path) -> None:
    program = MadeUpProgram(lambda run, step: run == 2)
    found = hunted(tmp_path, program, runs=6)
    assert len(program.requests) == 5
    assert [cause.kind for cause in found.causes] == ["state"]
    assert any("did not show again" in note for note in found.notes)


def test_what_could_have_differed_is_called_alone_where_nothing_was_seen_to(
    tmp_path: Path,
) -> None:
    program = MadeUpProgram(lambda run, step: run == 2)
    limits = HuntLimits(runs=6)
    hunt = Hunt(program, tmp_path, RecordingRequest(stop=20), limits, "", lambda _text: None)
    found = hunt.found()
    (candidate,) = found.candidates
    assert (candidate.op, candidate.node, candidate.step) == (
        "aten::index_put",
        "IndexBackward0",
        0,
    )
    assert candidate.arguments == {"accumulate": "True"}
    found = hunt.replayed(found, lambda _place, _cause, _seconds: ALONE)
    assert len(program.requests) == 6
    assert len(program.requests[-1].zoom) == 1
    assert found.candidates[0].replay == ALONE
    assert [cause.replay for cause in found.causes] == [None]


def test_modules_are_recorded_where_ops_show_nothing(tmp_path: Path) -> None:
    program = MadeUpProgram(lambda run, step: run in (2, 7))
    found = hunted(tmp_path, program)
    levels = [request.level for request in program.requests]
    assert levels == ["step"] * 2 + ["op"] * 3 + ["module"] * 2
    (cause,) = found.causes
    assert (cause.kind, cause.parameter) == ("state", "Net.body.table.rows")
    assert [candidate.module for candidate in found.candidates] == ["Net"]
    assert [stage.differs_from for stage in found.stages] == [0, None, 0]


def test_a_step_that_does_not_fit_is_looked_at_by_module_first(tmp_path: Path) -> None:
    program = MadeUpProgram(lambda run, step: run % 2 == 0, fits=False)
    found = hunted(tmp_path, program)
    assert [(request.level, request.modules) for request in program.requests] == [
        ("step", ()),
        ("step", ()),
        ("op", ()),
        ("module", ()),
        ("module", ()),
        ("op", ("Net.body.table",)),
        ("op", ("Net.body.table",)),
    ]
    assert [(stage.runs, stage.level) for stage in found.stages] == [
        (2, "step"),
        (1, "op"),
        (2, "module"),
        (2, "op"),
    ]
    assert any("only those in Net.body.table" in note for note in found.notes)


def test_a_step_of_tensorflow_that_does_not_fit_is_not_looked_at_by_module(tmp_path: Path) -> None:
    program = MadeUpProgram(lambda run, step: run % 2 == 0, fits=False, framework="tensorflow")
    found = hunted(tmp_path, program)
    assert {request.level for request in program.requests} == {"step", "op"}
    assert [cause.kind for cause in found.causes] == ["state"]
    (note,) = found.notes[1:]
    assert note.startswith("The ops of that step are larger than --max-size")


def test_what_does_not_come_back_in_tensorflow_is_not_looked_at_by_module(tmp_path: Path) -> None:
    program = MadeUpProgram(lambda run, step: run == 2, framework="tensorflow")
    found = hunted(tmp_path, program)
    assert {request.level for request in program.requests} == {"step", "op"}
    assert any("did not show again" in note for note in found.notes)


def test_a_program_whose_ops_cannot_be_recorded_has_the_answer_of_its_steps(tmp_path: Path) -> None:
    made_up = MadeUpProgram(lambda run, step: run == 2, framework="tensorflow")

    def program(path: Path, request: RecordingRequest, watch: Callable[[], bool] | None) -> RunExit:
        if request.level == "step":
            return made_up(path, request, watch)
        write(path, {}, {})
        return RunExit(4, False, 0)

    found = Hunt(
        program, tmp_path, RecordingRequest(), HuntLimits(), "", lambda _text: None
    ).found()
    assert [cause.kind for cause in found.causes] == ["state"]
    assert any("could not be recorded: that run's stderr says why" in note for note in found.notes)


def test_a_compiled_graph_that_differs_is_run_op_by_op(tmp_path: Path) -> None:
    program = MadeUpProgram(lambda run, step: run % 2 == 0 and step == 1, compiles=True)
    hunt = Hunt(program, tmp_path, RecordingRequest(stop=20), HuntLimits(), "", lambda _text: None)
    found = hunt.found()
    assert [(cause.kind, cause.argument) for cause in found.causes] == [
        ("compiled", "graph 0 backward")
    ]
    assert [(cause.kind, cause.op, cause.step) for cause in found.inside] == [
        ("op", "aten::index_put", 1)
    ]
    assert [request.compiled for request in program.requests] == ["as-is"] * 4 + ["eager"] * 2
    found = hunt.replayed(found, lambda _place, _cause, _seconds: ALONE)
    assert (program.requests[-1].compiled, len(program.requests[-1].zoom)) == ("eager", 1)
    assert found.inside[0].replay == ALONE
    assert [stage.level for stage in found.stages] == ["step", "op", "eager", "replay"]


def test_a_compiled_graph_that_is_the_same_op_by_op_is_left_to_its_kernels(tmp_path: Path) -> None:
    program = MadeUpProgram(lambda run, step: run in (2, 4), compiles=True)
    found = hunted(tmp_path, program)
    assert [cause.kind for cause in found.causes] == ["compiled"]
    assert found.inside == []
    assert any("Run op by op, no op of the compiled graphs differed" in n for n in found.notes)


ALONE = Replay(32, 32, 0.84, 9216, 1)


@pytest.mark.parametrize("came", [ALONE, ReplayFailure("it took too long")])
def test_the_op_is_called_alone_with_what_one_more_run_saved(
    tmp_path: Path, came: Replay | ReplayFailure
) -> None:
    program = MadeUpProgram(lambda run, step: run % 2 == 0 and step == 2)
    hunt = Hunt(program, tmp_path, RecordingRequest(stop=20), HuntLimits(), "", lambda _text: None)
    asked: list[tuple[Path, str | None]] = []

    def replay(place: Path, cause: Cause, _seconds: float) -> Replay | ReplayFailure:
        asked.append((place, cause.op))
        return came

    found = hunt.replayed(hunt.found(), replay)
    assert asked == [(tmp_path / "run-5" / "zoom" / "0", "aten::index_put")]
    (call,) = program.requests[-1].zoom
    assert (call.op, call.node, call.nth, call.rank) == ("aten::index_put", "IndexBackward0", 0, 0)
    assert (program.requests[-1].first, program.requests[-1].stop) == (2, 3)
    assert found.causes[0].replay == (came if came is ALONE else None)
    failed = [note for note in found.notes if "was not called alone: it took too long" in note]
    assert bool(failed) is (came is not ALONE)
    assert [stage.level for stage in found.stages] == ["step", "op", "replay"]


def test_no_op_is_called_alone_after_the_time_is_up(tmp_path: Path) -> None:
    program = MadeUpProgram(lambda run, step: run % 2 == 0 and step == 2)
    limits = HuntLimits(seconds=3600)
    hunt = Hunt(program, tmp_path, RecordingRequest(stop=20), limits, "", lambda _text: None)
    given: list[float] = []

    def replay(_place: Path, _cause: Cause, seconds: float) -> Replay | ReplayFailure:
        given.append(seconds)
        return ALONE

    found = hunt.found()
    hunt.replayed(found, replay)
    assert len(given) == 1
    assert 0 < given[0] <= REPLAY_SECONDS, "without --time, too"
    late = Hunt(
        program, tmp_path / "late", RecordingRequest(stop=20), limits, "", lambda _text: None
    )
    found = late.found()
    late._limits = HuntLimits(seconds=0.0)  # pyright: ignore[reportPrivateUsage]
    late.replayed(found, replay)
    assert len(given) == 1


def test_a_replay_that_records_nothing_keeps_the_answer(tmp_path: Path) -> None:
    program = MadeUpProgram(lambda run, step: run % 2 == 0 and step == 2)

    def lost(path: Path, request: RecordingRequest, watch: Callable[[], bool] | None) -> RunExit:
        if not request.zoom:
            return program(path, request, watch)
        write(path, {}, {})
        return RunExit(1, False, 0)

    hunt = Hunt(lost, tmp_path, RecordingRequest(stop=20), HuntLimits(), "", lambda _text: None)
    found = hunt.replayed(hunt.found(), lambda _place, _cause, _seconds: ALONE)
    assert [cause.kind for cause in found.causes] == ["op"]
    assert any("No op was called alone: nothing was recorded" in note for note in found.notes)


def test_runs_that_fail_only_while_ops_are_recorded_say_so(tmp_path: Path) -> None:
    made_up = MadeUpProgram(lambda run, step: run % 2 == 0 and step == 2)

    def program(path: Path, request: RecordingRequest, watch: Callable[[], bool] | None) -> RunExit:
        ending = made_up(path, request, watch)
        if request.level != "op":
            return ending
        ended(path, 1, error="TypeError: all handlers returned NotImplemented")
        return RunExit(1, False, 1)

    found = Hunt(
        program, tmp_path, RecordingRequest(stop=20), HuntLimits(), "", lambda _text: None
    ).found()
    assert [cause.op for cause in found.causes] == ["aten::index_put"]
    assert [gap.why for gap in found.incomplete] == ["error", "error"]
    assert "Both runs ended with an error after 3 steps: TypeError" in verdict.sentences(found)


def test_no_op_is_called_alone_where_no_run_is_left(tmp_path: Path) -> None:
    program = MadeUpProgram(lambda run, step: run % 2 == 0 and step == 2)
    hunt = Hunt(
        program, tmp_path, RecordingRequest(stop=20), HuntLimits(runs=4), "", lambda _text: None
    )
    found = hunt.replayed(hunt.found(), lambda _place, _cause, _seconds: ALONE)
    assert len(program.requests) == 4
    assert any("call it alone: --runs" in note for note in found.notes)


def test_with_no_run_left_the_step_is_the_answer(tmp_path: Path) -> None:
    program = MadeUpProgram(lambda run, step: run == 2)
    found = hunted(tmp_path, program, runs=2)
    assert len(program.requests) == 2
    assert [cause.kind for cause in found.causes] == ["state"]
    assert any("No runs were left" in note for note in found.notes)


def test_a_program_that_fails_is_compared_all_the_same(tmp_path: Path) -> None:
    found = hunted(tmp_path, MadeUpProgram(lambda run, step: False, code=1))
    assert found.same
    assert not found.complete
    assert [(gap.why, gap.run, gap.what) for gap in found.incomplete] == [
        ("error", "A", "exit code 1"),
        ("error", "B", "exit code 1"),
    ]


def test_a_program_that_was_ended_after_the_last_step_has_not_failed(tmp_path: Path) -> None:
    program = MadeUpProgram(lambda run, step: False, code=1)

    def cut(path: Path, request: RecordingRequest, watch: Callable[[], bool] | None) -> RunExit:
        ending = program(path, request, watch)
        (stream,) = path.glob("*.d9m")
        stream.write_bytes(sealed(*(line.replace('"exit"', '"steps"') for line in opened(stream))))
        return ending

    hunt = Hunt(cut, tmp_path, RecordingRequest(stop=20), HuntLimits(), "", lambda _text: None)
    found = hunt.found()
    assert (found.notes, found.complete) == ([], True)


def test_a_program_without_a_framework_cannot_be_hunted(tmp_path: Path) -> None:
    def nothing(path: Path, request: RecordingRequest, watch: Callable[[], bool] | None) -> RunExit:
        write(path, {}, {})
        return RunExit(0, False, 0)

    with pytest.raises(AbsentError, match="nothing was recorded"):
        Hunt(nothing, tmp_path, RecordingRequest(), HuntLimits(), "", lambda _text: None).found()


@pytest.mark.parametrize(
    ("arguments", "code", "says"),
    [
        ([], 2, "name the program to run"),
        (["--runs", "1", "--", "true"], 2, "--runs"),
        (["--steps", "3:1", "--", "true"], 2, "the last step comes before the first"),
        (["--step-by", "moon", "--", "true"], 2, "--step-by"),
        (["--set", "NOPE", "--", "true"], 2, "NOPE"),
        (["--set", "use_deterministic_algoritms", "--", "true"], 2, "did you mean torch.use_det"),
        (["--set", "TF_DETERMINISTIC_OPS", "--", "true"], 2, "a variable that must be absent"),
        (["--set", "TDO", "--", "true"], 2, "needs more than d9m can set from outside"),
        (["--before", "'", "--", "true"], 2, "--before"),
        (["--before", "no-such-program", "--", "true"], 2, "cannot be run"),
        (["--before", "false", "--", "true"], 2, "ended with 1"),
        (["--keep", ".", "--", "true"], 2, "not an empty folder"),
        (["--", "no-such-program"], 2, "there is no such program"),
        (["--", "true"], 4, "nothing was recorded"),
    ],
)
def test_bad_input_gets_one_error(
    tmp_path: Path, arguments: list[str], code: int, says: str
) -> None:
    (tmp_path / "there").write_text("")
    done = d9m("hunt", *arguments, cwd=tmp_path, TMPDIR=str(tmp_path))
    assert (done.returncode, done.stdout) == (code, "")
    assert says in done.stderr
    assert "Traceback" not in done.stderr
    assert not list(tmp_path.glob("d9m-hunt-*"))


def test_a_machine_without_a_folder_for_temporary_files_gets_one_error(tmp_path: Path) -> None:
    (tmp_path / "sitecustomize.py").write_text(
        "import tempfile\ndef nowhere():\n    raise FileNotFoundError(2, 'no folder')\n"
        "tempfile._get_default_tempdir = nowhere\n"
    )
    path = os.pathsep.join([str(tmp_path), *sys.path])
    done = subprocess.run(
        [sys.executable, "-m", "d9m", "hunt", "--", "true"],
        capture_output=True, text=True, env=environment(PYTHONPATH=path), check=False,
    )  # fmt: skip
    assert (done.returncode, done.stdout) == (2, "")
    assert done.stderr == "d9m: the system refuses: no folder\n"
