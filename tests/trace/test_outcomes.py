"""How a comparison ends, by how both runs ended: exit code, JSON, JUnit and headline agree."""

from __future__ import annotations

import functools
import itertools
import json
from pathlib import Path
from typing import Any
from xml.etree import ElementTree

import pytest
from written import ended, recordings, sealed, write

from d9m.errors import AbsentError, ExitCode
from d9m.kb.locate import open_knowledge_base
from d9m.kb.store import KnowledgeBase
from d9m.trace import folder
from d9m.trace.comparison import Wanted, compare
from d9m.trace.findings import Findings, Gap, GapKind, exit_code, with_gaps
from d9m.trace.report import html, junit, markdown, text, verdict
from d9m.trace.report.text import FindingsView
from process import d9m

STEP = '["g","ee",[]]\n["d",{},{{}},"optimizer"]'
ERROR = "RuntimeError: no"


@functools.cache
def kb() -> KnowledgeBase:
    return open_knowledge_base()


def steps(count: int, run: str = "") -> str:
    lines = "\n".join(STEP.format(number) for number in range(count)).splitlines()
    return "\n".join(f"{run} {line}".strip() for line in lines)


def found(path: Path, text_: str, a: dict[str, Any], b: dict[str, Any]) -> Findings:
    """Of two runs at level step; what `ended` takes of each."""
    runs = recordings(path, text_, level="step")
    for run, how in zip(runs, (a, b)):
        ended(run, how.pop("code", 0), **how)
    return compare(*runs, "2026-11-22", Wanted())


def failed(**more: object) -> dict[str, Any]:
    return {"code": 1, "error": ERROR, **more}


TABLE: dict[str, tuple[str, dict[str, Any], dict[str, Any], int, bool, str]] = {
    "equal": (steps(2), {}, {}, 0, True, "Nothing that is learned differs: 2 steps of 1 process"),
    "both fail": (
        steps(2), failed(), failed(), 3, False,
        "Both runs ended with an error after 2 steps: RuntimeError: no (train.py:9).",
    ),
    "both exit with 3": (
        steps(2), {"code": 3}, {"code": 3}, 3, False,
        "Both runs ended with an error after 2 steps: exit code 3.",
    ),
    "both are killed": (
        f"{steps(2)}\nkilled", {"code": 139}, {"code": 139}, 3, False,
        "Both runs ended with an error after 2 steps: killed by SIGSEGV (signal 11).",
    ),
    "one fails after as many steps": (
        steps(2), {}, failed(), 1, False,
        "The runs differ from step 2 on. Run B ended with an error after 2 steps, run A did not: "
        "RuntimeError: no (train.py:9).",
    ),
    "one fails earlier": (
        f"{steps(2)}\nA {STEP.format(2).splitlines()[0]}", {}, failed(), 1, False,
        "Run B ended with an error after 2 steps, run A goes on with the optimizer: RuntimeError",
    ),
    "one is killed earlier": (
        f"{steps(2)}\nA {STEP.format(2).splitlines()[0]}\nB killed", {}, {"code": 137}, 1, False,
        "Run B ended with an error after 2 steps, run A did not: killed by SIGKILL (signal 9).",
    ),
    "they fail differently": (
        steps(2), {"code": 3}, failed(), 1, False,
        "The runs ended with different errors: exit code 3; RuntimeError: no (train.py:9).",
    ),
    "B is shorter": (
        f"{steps(2)}\nA {STEP.format(2).splitlines()[0]}", {}, {}, 1, True,
        "The runs differ from step 2 on. Run B ends after 2 steps, run A goes on with the",
    ),
    "A is shorter": (
        f"{steps(2)}\nB {STEP.format(2).splitlines()[0]}", {}, {}, 1, True,
        "The runs differ from step 2 on. Run A ends after 2 steps, run B goes on with the",
    ),
    "they do different things": (
        f'{steps(1)}\nA ["l",["aa"]]\n{STEP.format(1)}', {}, {}, 1, True,
        "Run A goes on with backward(), run B does not.",
    ),
    "both were cut as asked": (
        f'{steps(2)}\n{{"ended": "steps"}}', {}, {}, 0, True,
        "Nothing that is learned differs: steps 0 to 1 of 1 process",
    ),
    "one was cut as asked": (
        f'{steps(2)}\nA {{"ended": "steps"}}\nB {{"ended": "exit"}}', {}, {}, 0, True, "steps 0",
    ),
    "a launcher fails since a run was cut": (
        f'{steps(2)}\n{{"ended": "steps"}}', {"code": 1}, {"code": 1}, 0, True, "steps 0 to 1",
    ),
    "a launcher raises since a run was cut": (
        f'{steps(2)}\n{{"ended": "steps"}}', failed(launcher=True), failed(launcher=True), 0, True,
        "steps 0 to 1",
    ),
    "a launcher raises in runs that were not cut": (
        steps(2), failed(launcher=True), failed(launcher=True), 3, False, "Both runs ended",
    ),
    "a rank fails though others were cut": (
        f'{steps(2)}\n{{"ended": "steps"}}', failed(), failed(), 3, False, "Both runs ended",
    ),
    "one still runs": (
        f"{steps(2)}\nB killed", {}, {"code": None}, 3, False,
        "Run B was killed or is still running: it was compared up to there. What was compared",
    ),
    "one wrote no end": (
        f"{steps(2)}\nB killed", {}, {}, 3, False,
        "Run B ended with exit code 0, but rank 0 wrote no end",
    ),
    "the size limit": (
        f'{steps(2)}\n{{"ended": "size"}}', {}, {}, 3, False,
        "Run A and run B stopped recording at the size limit (--max-size). What was compared is",
    ),
    "the recorder failed": (
        steps(2), {}, {"fault": "AttributeError: layout"}, 3, False,
        "The recorder failed in run B (process 1: gradients: AttributeError: layout).",
    ),
    "the recorder failed in both": (
        steps(2), {"fault": "AttributeError: x"}, {"fault": "AttributeError: x"}, 3, False,
        "The recorder failed in run A and run B (process 1: gradients: AttributeError: x).",
    ),
    "a process is missing": (
        f"{steps(2)}\n--- r0-1\n{steps(2, 'A')}", {}, {}, 3, False,
        "Only run A has rank 0, process 1. What was compared is bitwise identical: 2 steps of 1",
    ),
    "one recorded nothing": (
        steps(2, "A"), {}, {"code": 1, "error": "ImportError: no"}, 1, False,
        "Run B ended with an error after 0 steps, run A goes on: ImportError: no (train.py:9).",
    ),
    "one recorded nothing and ended well": (
        steps(2, "A"), {}, {}, 1, True, "Run B ends after 0 steps, run A goes on.",
    ),
}  # fmt: skip
"""Name -> the streams, how A and B ended, exit code, `complete`, and what the headline says."""


WITHOUT = {
    "a process is missing": "r0-1.d9m",
    "one recorded nothing": "r0-0.d9m",
    "one recorded nothing and ended well": "r0-0.d9m",
}
"""Case -> the stream that run B lacks."""


@pytest.mark.parametrize("case", TABLE)
def test_exit_code_json_junit_and_headline_agree(case: str, tmp_path: Path) -> None:
    streams, a, b, code, complete, headline = TABLE[case]
    recordings(tmp_path, streams, level="step")
    for run, how in (("A", dict(a)), ("B", dict(b))):
        ended(tmp_path / run, how.pop("code", 0), **how)
    if case in WITHOUT:
        (tmp_path / "B" / WITHOUT[case]).unlink()
    answer = compare(tmp_path / "A", tmp_path / "B", "2026-11-22", Wanted())
    assert headline in verdict.sentences(answer)
    assert (exit_code(answer), answer.complete) == (code, complete)
    assert_formats_agree(answer)


def assert_formats_agree(answer: Findings) -> None:
    code = exit_code(answer)
    assert answer.same is (code != ExitCode.FINDINGS)
    assert answer.complete is (not answer.incomplete)
    view = FindingsView(answer, kb())
    suite = ElementTree.fromstring(junit.render(view))
    failures, errors = int(suite.attrib["failures"]), int(suite.attrib["errors"])
    assert suite.attrib["skipped"] == "0", "a CI server calls that a success"
    assert bool(failures) is (code == ExitCode.FINDINGS)
    if code == ExitCode.UNKNOWN:
        assert errors == len(answer.runs[0].processes)
    assert (failures + errors == 0) is (code == ExitCode.ANSWERED)
    style = {ExitCode.ANSWERED: "good", ExitCode.UNKNOWN: "doubt", ExitCode.FINDINGS: "bad"}[code]
    assert f'<h1 class="{style}">' in html.render(view)
    said = " ".join(verdict.sentences(answer).split())
    assert " ".join(text.render(view).plain().split()).startswith(said)
    assert markdown.render(view).startswith("## ")


ENDINGS: dict[str, tuple[str, dict[str, Any]]] = {
    "exit": ("", {}),
    "error": ("", {"code": 1, "error": ERROR}),
    "exit code": ("", {"code": 3}),
    "signal": ("killed", {"code": 137}),
    "stopped": ("killed", {"code": 143, "stopped": True}),
    "no end": ("killed", {}),
    "runs": ("killed", {"code": None}),
    "steps": ('{"ended": "steps"}', {}),
    "size": ('{"ended": "size"}', {}),
    "fault": ("", {"fault": "ValueError: x"}),
}  # fmt: skip
GREEN = {("exit", "exit"), ("exit", "steps"), ("steps", "steps")}
"""Ways to end after equal steps of which nothing is left to compare."""


@pytest.mark.parametrize("more", [0, 1])
@pytest.mark.parametrize(("a", "b"), list(itertools.product(ENDINGS, ENDINGS)))
def test_only_runs_that_ended_well_are_green(tmp_path: Path, a: str, b: str, more: int) -> None:
    lines = [steps(2)]
    if more:
        lines.append(f"B {STEP.format(2).splitlines()[0]}")
    for run, how in (("A", a), ("B", b)):
        lines.append(f"{run} {ENDINGS[how][0]}" if ENDINGS[how][0] else "")
    text_ = "\n".join(lines)
    answer = found(tmp_path, text_, dict(ENDINGS[a][1]), dict(ENDINGS[b][1]))
    assert_formats_agree(answer)
    names = tuple(sorted((a, b)))
    code = exit_code(answer)
    if more == 0:
        assert (code == 0) is (names in GREEN)
    elif code == 0:
        assert a == "steps", "only a cut of the shorter run was asked for"
        assert names in GREEN
    one_failed = {"error", "exit code", "signal"}
    known = not {"runs", "stopped"} & {a, b}
    if known and (a in one_failed) != (b in one_failed):
        assert code == 1


@pytest.mark.parametrize("statement", ["torch.use_deterministic_algorithms(True)"])
def test_a_setting_that_stops_both_runs_is_a_finding(tmp_path: Path, statement: str) -> None:
    error = "RuntimeError: no deterministic implementation, but you set 'torch.use_deterministic_"
    how: dict[str, Any] = {"code": 1, "error": f"{error}algorithms(True)'", "python": (statement,)}
    answer = found(tmp_path, steps(2), dict(how), dict(how))
    assert (exit_code(answer), answer.complete) == (1, False)
    (cause,) = answer.causes
    assert (cause.kind, cause.argument) == ("error", "torch.use_deterministic_algorithms")
    assert "with it, the program does not run" in verdict.sentences(answer)
    assert_formats_agree(answer)
    other: dict[str, Any] = {**how, "python": ("torch.backends.cudnn.benchmark = False",)}
    plain = found(tmp_path / "other", steps(2), dict(other), dict(other))
    assert exit_code(plain) == 3


def test_a_variable_that_stops_both_runs_is_a_finding(tmp_path: Path) -> None:
    how: dict[str, Any] = {
        "code": 1,
        "error": "RuntimeError: bad CUBLAS_WORKSPACE_CONFIG",
        "env": {},
    }
    assert exit_code(found(tmp_path / "not set", steps(2), dict(how), dict(how))) == 3
    how["env"] = {"CUBLAS_WORKSPACE_CONFIG": ":1:1"}
    assert exit_code(found(tmp_path / "set", steps(2), dict(how), dict(how))) == 1


def test_a_failed_recorder_is_in_the_headline_beside_a_difference(tmp_path: Path) -> None:
    text_ = 'A ["g","e1",[]]\nB ["g","e2",[]]\n["d",0,{},"optimizer"]'
    answer = found(tmp_path, text_, {"fault": "ValueError: x"}, {})
    assert exit_code(answer) == 1
    assert "The recorder failed in run A" in verdict.sentences(answer)


@pytest.mark.parametrize(
    ("why", "text"),
    [
        ("interrupted", "The hunt was interrupted."),
        ("budget", "The time or the runs of this hunt are used up (--time, --runs)."),
    ],
)
def test_a_hunt_that_was_cut_short_says_so_first(tmp_path: Path, why: GapKind, text: str) -> None:
    answer = with_gaps(found(tmp_path, steps(2), {}, {}), [Gap(why)])
    assert exit_code(answer) == 3
    assert verdict.sentences(answer).startswith(text)
    assert_formats_agree(answer)


def test_two_runs_that_recorded_nothing_are_absent(tmp_path: Path) -> None:
    for run in "AB":
        write(tmp_path / run, {}, {})
        ended(tmp_path / run, 139)
    whole = sealed('{"process": 1, "imported": "torch"}')
    (tmp_path / "A" / folder.PROCESSES).write_bytes(whole + b'{"pro')
    with pytest.raises(AbsentError) as caught:
        compare(tmp_path / "A", tmp_path / "B", "", Wanted())
    assert "imported torch and was killed by SIGSEGV (signal 11), but called no" in str(
        caught.value
    )


def test_diff_of_runs_of_different_length_exits_1(tmp_path: Path) -> None:
    a, b = recordings(tmp_path, f"{steps(1)}\nA {STEP.format(1).splitlines()[0]}", level="step")
    done = d9m("diff", "--format", "json", str(a), str(b))
    answer = json.loads(done.stdout)
    assert (done.returncode, answer["same"], answer["complete"]) == (1, False, True)
    assert "seeds" not in str(answer["causes"][0]["records"]), "a shorter run is no missing seed"


def test_states_of_generators_explain_records_that_are_not_equal(tmp_path: Path) -> None:
    text_ = '["g","ee",[]]\nA ["d",0,{"python":"a1"}]\nB ["d",0,{"python":"a2"}]'
    answer = found(tmp_path, text_, {}, {})
    assert (exit_code(answer), answer.compared.records, answer.compared.equal) == (0, 2, 1)
    (note,) = answer.notes
    assert note.startswith("The state of Python's random generator differs at the end of 1 step;")


@pytest.mark.parametrize(
    ("rule", "said"),
    [
        ("forward", "Each step ended with a forward pass."),
        ("backward", "Each step ended with back"),
    ],
)
def test_the_answer_says_what_ended_a_step(tmp_path: Path, rule: str, said: str) -> None:
    answer = found(tmp_path, f'["M",0,"Net"]\n["m",0,["aa"]]\n["d",0,{{}},"{rule}"]', {}, {})
    assert answer.step_rule == rule
    out = text.render(FindingsView(answer, kb())).plain()
    assert said in " ".join(out.split())
