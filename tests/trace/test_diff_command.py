"""`d9m diff` on recordings that were written by hand: what it says, and how it ends."""

from __future__ import annotations

import json
import sys
from pathlib import Path
from xml.etree import ElementTree

import msgspec
import pytest
from written import recordings, write

from d9m.kb.locate import open_knowledge_base
from d9m.model.advice import Tool
from d9m.trace import folder
from d9m.trace.cause_advice import with_advice
from d9m.trace.findings import Cause, Counts, Findings, First, RecordedRun, Replay
from d9m.trace.report import html, markdown, text
from d9m.trace.report.text import FindingsView
from process import d9m

SITES = """
["S",1,"aten::index_put","","bwd","IndexBackward0","Tagger.lookup",["train.py",6,"forward"],["float32[4]"],"cpu"]
["S",2,"aten::mul","","bwd","MulBackward0","Tagger",["train.py",7,"forward"],["float32[4]"],"cpu"]
["S",3,"aten::exp","","fwd","","Net",["train.py",9,"forward"],["float32[4]"],"cpu"]
["S",4,"mylib::<fold>","","fwd","","",["train.py",11,"main"],["float32[4]"],"cpu"]
"""

ONE_OP = f"""{SITES}
A ["o",1,"accumulate=True",["aa.1","bb.2"],["c1.3"]]
B ["o",1,"accumulate=True",["aa.1","bb.2"],["c2.3"]]
A ["o",2,"",["c1.3"],["d1.4"]]
B ["o",2,"",["c2.3"],["d2.4"]]
A ["o",3,"",["a1n9"],["b1.8"]]
B ["o",3,"",["a2n9"],["b2.8"]]
A ["g","e1",["d1.4"]]
B ["g","e2",["d2.4"]]
["d",0,{{}}]
"""

TWO = (
    ONE_OP
    + """
A ["x",0,"f1"]
B ["x",0,"f2"]
["d",1,{}]
"""
)

SAME = """
["g","ee",[]]
["d",0,{}]
"""


def diff(path: Path, text: str, *options: str, **header: object) -> tuple[int, str, str]:
    a, b = recordings(path, text, **header)
    done = d9m("diff", *options, str(a), str(b))
    return done.returncode, done.stdout, done.stderr


def test_an_op_is_named_with_its_place_and_its_fix(tmp_path: Path) -> None:
    code, out, err = diff(tmp_path, ONE_OP)
    assert (code, err) == (1, "")
    lines = out.splitlines()
    headline = "The runs differ from step 0 on. index_put returned different results for equal"
    assert lines[:2] == [headline, "inputs."]
    assert "  where    Tagger.lookup · train.py:6 in forward" in lines
    assert "  reaches  the gradients in step 0; 1 later op differs" in lines
    assert "  Fix      torch.use_deterministic_algorithms(True)" in lines
    assert "d9m show pytorch/getitem-backward" in out
    assert "1 other difference reaches nothing that is learned: --all" in lines
    assert [line for line in lines[:-1] if len(line) > 80] == []


SWITCH = "torch.use_deterministic_algorithms"
ON_ALREADY = f"  Fix      {SWITCH}(True) was set in both runs, and the"


def test_a_setting_that_both_runs_had_is_not_offered_as_the_fix(tmp_path: Path) -> None:
    _code, out, _err = diff(tmp_path, ONE_OP, deterministic={SWITCH: True})
    assert ON_ALREADY in out.splitlines()
    assert "d9m hunt --set" not in out


@pytest.mark.parametrize(
    ("place", "already"), [("first", True), ("last", False), ("one run", False)]
)
def test_a_setting_counts_from_where_both_runs_make_it(
    tmp_path: Path, place: str, already: bool
) -> None:
    switched = f'["t",{{"{SWITCH}":true}},8]'
    if place == "first":
        text = f"{switched}\n{ONE_OP}"
    elif place == "last":
        text = f"{ONE_OP}\n{switched}"
    else:
        text = f'A {switched}\nB ["t",{{"{SWITCH}":false}},8]\n{ONE_OP}'
    _code, out, _err = diff(tmp_path, text)
    assert (ON_ALREADY in out.splitlines()) is already


def test_a_setting_that_one_run_changes_is_told_with_its_step(tmp_path: Path) -> None:
    later = ONE_OP.replace('["d",0,{}]', f'B ["t",{{"{SWITCH}":true}},8]\n["d",1,{{}}]')
    text = f'["d",0,{{}}]\n{later}'
    _code, out, _err = diff(tmp_path, text)
    said = " ".join(out.split())
    assert f"1 The settings differ between the runs: {SWITCH} False and True since step 1." in said
    assert "but it may be a consequence of 1" in said


def test_the_command_that_it_prints_answers(tmp_path: Path) -> None:
    _code, out, _err = diff(tmp_path, ONE_OP)
    (line,) = [line for line in out.splitlines() if "d9m advise" in line]
    done = d9m(*line.split()[1:])
    assert done.returncode == 0
    assert "torch.use_deterministic_algorithms(True)" in done.stdout


def test_all_shows_what_is_harmless(tmp_path: Path) -> None:
    _code, out, _err = diff(tmp_path, ONE_OP, "--all")
    assert "exp reads a tensor from outside the framework whose values differ." in out


def test_equal_runs_end_with_0(tmp_path: Path) -> None:
    code, out, err = diff(tmp_path, SAME, level="step")
    assert (code, err) == (0, "")
    first = "Nothing that is learned differs: 1 step of 1 process are bitwise identical."
    assert out.splitlines()[0] == first


def test_equal_runs_without_an_optimizer_claim_no_more_than_the_loss(tmp_path: Path) -> None:
    code, out, _err = diff(tmp_path, '["l",["ee"]]\n["d",0,{}]', level="step")
    assert code == 0
    assert out.startswith("The loss is bitwise identical in 1 step of 1 process.\n")
    assert "No optimizer stepped, so no parameters were compared." in out


def test_equal_runs_in_which_the_recorder_failed_end_with_3(tmp_path: Path) -> None:
    code, out, _err = diff(tmp_path, '["l",["ee"]]\n["u","fault"]\n["d",0,{}]', level="step")
    assert code == 3
    assert out.startswith("The recorder failed in run A and run B. What was compared")
    assert "No optimizer stepped" not in out


def test_equal_runs_with_a_tensor_that_cannot_be_read_end_with_3(tmp_path: Path) -> None:
    code, out, _err = diff(tmp_path, '["g","-",["-"]]\n["u","subclass"]\n["d",0,{}]')
    assert code == 3
    assert "Not seen: the content of tensors whose class has no memory" in out


def test_a_difference_is_not_called_harmless_where_the_recorder_failed(tmp_path: Path) -> None:
    timed = 'A ["o",3,"",["a1n9"],["b1.8"]]\nB ["o",3,"",["a2n9"],["b2.8"]]\n["u","fault"]'
    code, out, _err = diff(tmp_path, f'{SITES}\n{timed}\n{SAME}\n["d",1,{{}}]')
    assert code == 1
    assert "reaches nothing that is learned" not in out


def test_versions_of_python_that_were_not_recorded_are_named(tmp_path: Path) -> None:
    a, b = recordings(tmp_path, SAME, level="step")
    (a / folder.TOO_OLD).write_text("3.6\n2.7\n3.6\n\x1b[2J\n")
    done = d9m("diff", str(a), str(b))
    assert done.returncode == 3
    said = "A child of Python 3.6 was not recorded: the recorder needs 3.8 or newer."
    assert " ".join(done.stdout.split()).count(said) == 1
    assert "Python 2.7" in done.stdout
    assert "\x1b" not in done.stdout


def test_a_difference_that_reaches_nothing_ends_with_0_and_one_line(tmp_path: Path) -> None:
    timed = 'A ["o",3,"",["a1n9"],["b1.8"]]\nB ["o",3,"",["a2n9"],["b2.8"]]'
    code, out, err = diff(tmp_path, f"{SITES}\n{timed}\n{SAME}")
    assert (code, err) == (0, "")
    said = [line for line in out.splitlines() if "reaches nothing" in line]
    assert said == ["1 other difference reaches nothing that is learned: --all"]


def test_an_op_with_thousands_of_inputs_fits_the_screen(tmp_path: Path) -> None:
    shapes = ["int64[7]"] * 3000 + ["int64[7]", "int64[8]"] * 10
    site = SITES.replace('["float32[4]"],"cpu"]', json.dumps(shapes) + ',"cpu"]', 1)
    text = site + 'A ["o",1,"",["aa.1"],["c1.3"]]\nB ["o",1,"",["aa.1"],["c2.3"]]'
    _code, out, _err = diff(tmp_path, text)
    said = " ".join(out.split())
    assert "3001 x int64[7], int64[8], int64[7]" in said
    assert "int64[8] and 12 more" in said


@pytest.mark.parametrize("begin", ["", '{"numpy": "bb"}'])
def test_diff_prints_no_hint_that_no_run_has_tested(tmp_path: Path, begin: str) -> None:
    text = f"""
    A {{"generators": {{"numpy": "aa"}}}}
    B {{"generators": {begin or '{"numpy": "aa"}'}}}
    {SITES}
    A ["o",3,"",["a1n9"],["b1.8"]]
    B ["o",3,"",["a2n9"],["b2.8"]]
    ["d",0,{{"numpy": "ee"}}]
    """
    _code, out, _err = diff(tmp_path, text)
    assert "PYTHONHASHSEED" not in out
    assert "seed" not in out
    assert "To find out where these values come from:\n  d9m hunt -- python train.py" in out


def test_runs_that_were_cut_off_end_with_3(tmp_path: Path) -> None:
    code, out, _err = diff(tmp_path, SAME + "B killed", level="step")
    assert code == 3
    assert "Run B was killed" in out


def test_a_step_that_differs_says_how_to_see_more(tmp_path: Path) -> None:
    text = SAME + '\nA ["g","e1",[]]\nB ["g","e2",[]]\n["d",1,{}]'
    code, out, _err = diff(tmp_path, text, level="step")
    assert code == 1
    assert "The first difference is in the gradients." in out
    assert "d9m trace --level op --steps 1:1 " in out


def test_several_causes_are_numbered(tmp_path: Path) -> None:
    _code, out, _err = diff(tmp_path, TWO)
    assert out.startswith("The runs differ from step 0 on, for 2 reasons.")
    assert "\n2  The order of the samples differs.\n" in out


def test_an_unknown_op_is_news(tmp_path: Path) -> None:
    text = SITES + 'A ["o",4,"",["aa.1"],["c1.3"]]\nB ["o",4,"",["aa.1"],["c2.3"]]'
    _code, out, _err = diff(tmp_path, text)
    assert "not verified: no record of this op; please send us this answer" in out


def test_the_json_is_the_findings(tmp_path: Path) -> None:
    code, out, _err = diff(tmp_path, TWO, "--format", "json")
    assert code == 1
    found = msgspec.json.decode(out, type=Findings)
    assert not found.same
    assert found.compared.inherited == 1
    advice = found.causes[0].advice
    assert advice is not None
    assert (advice.query, advice.outcome, advice.solutions) == ("IndexBackward0", "solved", ["UDA"])
    assert "torch.use_deterministic_algorithms(True)" in advice.settings.python
    assert found.causes[1].records == []


def test_junit_fails_the_process_for_each_cause(tmp_path: Path) -> None:
    _code, out, _err = diff(tmp_path, TWO, "--format", "junit")
    suite = ElementTree.fromstring(out)
    assert suite.attrib["failures"] == "1"
    failures = suite.findall("testcase[@name='rank 0']/failure")
    assert [failure.attrib["message"] for failure in failures] == [
        "index_put returned different results for equal inputs.",
        "The order of the samples differs.",
    ]


DEEP = f"""{SITES}
["S",5,"aten::mm","","bwd","MmBackward0","Tagger.head.out",["train.py",8,"forward"],["float32[4]"],"cpu"]
A ["o",1,"accumulate=True",["aa.1","bb.2"],["c1.3"]]
B ["o",1,"accumulate=True",["aa.1","bb.2"],["c2.3"]]
A ["o",5,"",["c1.3"],["d1.4"]]
B ["o",5,"",["c2.3"],["d2.4"]]
A ["o",2,"",["d1.4"],["e1.5"]]
B ["o",2,"",["d2.4"],["e2.5"]]
["d",0,{{}}]
A ["o",5,"",["e1.5"],["f1.6"]]
B ["o",5,"",["e2.5"],["f2.6"]]
["d",1,{{}}]
"""


def test_what_inherits_a_difference_is_listed_by_place(tmp_path: Path) -> None:
    _code, out, _err = diff(tmp_path, DEEP, "--format", "json")
    (cause,) = msgspec.json.decode(out, type=Findings).causes
    found = [
        (descendant.op, descendant.module, descendant.step, descendant.count)
        for descendant in cause.descendants
    ]
    assert found == [("aten::mm", "Tagger.head.out", 0, 2), ("aten::mul", "Tagger", 0, 1)]
    assert cause.inherited == 3


def test_the_page_shows_what_inherits_a_difference_by_module(tmp_path: Path) -> None:
    code, out, err = diff(tmp_path, DEEP, "--format", "html")
    assert (code, err) == (1, "")
    page = ElementTree.fromstring(out.removeprefix("<!doctype html>"))
    title = page.findtext("head/title")
    assert (
        title
        == "The runs differ from step 0 on. index_put returned different results for equal inputs."
    )
    assert "torch.use_deterministic_algorithms(True)" in (page.findtext(".//pre") or "")
    (tree,) = page.findall(".//ul[@class='tree']")
    modules = [code.text for code in tree.iter("code")]
    assert modules == ["Tagger", "aten::mul", "head", "out", "aten::mm"]
    assert page.find(".//main/details").get("open") is None  # type: ignore[union-attr]
    assert page.findtext(".//details/summary") == "3 later ops differ because of it"


def test_the_page_needs_nothing_else_and_keeps_foreign_names_as_text(tmp_path: Path) -> None:
    text = SITES + 'A ["o",4,"",["aa.1"],["c1.3"]]\nB ["o",4,"",["aa.1"],["c2.3"]]'
    _code, out, _err = diff(tmp_path, text, "--format", "html")
    assert "mylib::&lt;fold&gt;" in out
    assert "<fold>" not in out
    assert "http" not in out
    assert "src=" not in out


def test_markdown_keeps_foreign_names_as_text(tmp_path: Path) -> None:
    text = SITES + 'A ["o",4,"",["aa.1"],["c1.3"]]\nB ["o",4,"",["aa.1"],["c2.3"]]'
    _code, out, _err = diff(tmp_path, text, "--format", "markdown")
    assert out.startswith(
        "## The runs differ from step 0 on. \\<fold\\> returned different results"
    )
    assert "`mylib::<fold>() · forward pass`" in out


def test_another_part_of_a_tensor_is_not_called_a_write(tmp_path: Path) -> None:
    text = (
        SITES
        + """
    A ["o",3,"",["a1.1"],["c1.8"]]
    B ["o",3,"",["a2.1"],["c2.8"]]
    """
    )
    _code, out, _err = diff(tmp_path, text)
    assert "or selected another part of it" in " ".join(out.split())


def test_an_answer_goes_into_a_file(tmp_path: Path) -> None:
    code, out, _err = diff(tmp_path, ONE_OP, "-o", str(tmp_path / "answer.txt"))
    assert (code, out) == (1, "")
    assert (tmp_path / "answer.txt").read_text().startswith("The runs differ from step 0 on.")


def test_steps_can_be_aligned_by_hand(tmp_path: Path) -> None:
    text = 'A ["g","e0",[]]\nA ["d",0,{}]\n["g","e1",[]]\nA ["d",1,{}]\nB ["d",0,{}]'
    assert diff(tmp_path / "by-hand", text, "--align", "1=0", level="step")[0] == 0
    assert diff(tmp_path / "in-order", text, "--align", "none", level="step")[0] == 1


@pytest.mark.parametrize(
    ("arguments", "code", "says"),
    [
        (["A", "A"], 2, "named twice"),
        (["A"], 2, "RUN_B"),
        (["A", "B", "--align", "first"], 2, "expected auto, none or A=B"),
        (["A", "B", "--format", "yaml"], 2, "--format"),
        (["A", "B", "--rank", "7"], 2, "not in both runs"),
        (["A", "B", "-o", "no/such/file"], 2, "there is no folder"),
        (["A", "absent"], 5, "does not exist"),
        (["A", "file"], 5, "is not a folder"),
        (["A", "foreign"], 5, "is not a recording"),
        (["A", "damaged"], 5, "is damaged at line 2"),
        (["A", "crc"], 5, "cannot be compared"),
        (["A", "ops"], 2, "cannot be compared"),
        (["A", "ranks"], 2, "1 rank, the second 2 ranks"),
        (["A", "other"], 2, "nothing in common"),
        (["A", "empty"], 4, "holds no process"),
    ],
)
def test_bad_input_gets_one_error(
    tmp_path: Path, arguments: list[str], code: int, says: str
) -> None:
    recordings(tmp_path, SAME, level="step")
    lines = SAME.strip().splitlines()
    step = {"level": "step"}
    (tmp_path / "file").write_text("")
    (tmp_path / "foreign").mkdir()
    write(tmp_path / "damaged", {"r0-0": ["[1,", *lines]}, step)
    write(tmp_path / "crc", {"r0-0": lines}, {**step, "digest": "crc32"})
    write(tmp_path / "ops", {"r0-0": lines}, {"level": "op"})
    write(tmp_path / "ranks", {"r0-0": lines, "r1-0": lines}, step)
    write(tmp_path / "other", {"r0-0": ['["l",["aa"]]']}, step)
    write(tmp_path / "empty", {}, step)
    done = d9m("diff", *arguments, cwd=tmp_path)
    assert (done.returncode, done.stdout) == (code, "")
    assert says in done.stderr
    assert "Traceback" not in done.stderr


def test_what_a_recording_says_cannot_move_the_cursor(tmp_path: Path) -> None:
    site = json.dumps(["S", 1, "aten::\x1b[2J", "", "fwd", "", "", None, ["\x1b]0;x"], "cpu"])
    text = f'{site}\nA ["o",1,"",["aa.1"],["c1.3"]]\nB ["o",1,"",["aa.1"],["c2.3"]]'
    for format_ in ("text", "json", "markdown", "junit"):
        _code, out, _err = diff(tmp_path / format_, text, "--format", format_)
        assert "\x1b" not in out


def test_a_parameter_is_named_where_its_gradient_is_what_differs_first(tmp_path: Path) -> None:
    text = """
    ["P",["Net.table.rows"]]
    A ["g","e1",["b1"]]
    B ["g","e2",["b2"]]
    ["d",0,{}]
    """
    _code, out, _err = diff(tmp_path, text, level="module")
    assert "The first difference is in the gradient of Net.table.rows." in " ".join(out.split())


def test_threads_are_offered_where_something_else_wrote(tmp_path: Path) -> None:
    text = (
        SITES
        + """
    ["u","thread"]
    A ["o",3,"",["a1x9"],["b1.8"]]
    B ["o",3,"",["a2x9"],["b2.8"]]
    ["d",0,{}]
    """
    )
    _code, out, _err = diff(tmp_path, text)
    assert "The program computes in threads that it started itself." in out
    assert "Seed every generator" not in out


def test_what_python_put_into_a_tensor_is_named_by_its_line(tmp_path: Path) -> None:
    site = '["S",9,"aten::lift_fresh","","fwd","","",["data.py",8,"load"],["int64[4]"],"cpu"]'
    text = site + '\nA ["o",9,"",["a1n1"],["a1.1"]]\nB ["o",9,"",["a2n1"],["a2.1"]]\n["d",0,{}]'
    _code, out, _err = diff(tmp_path, text)
    assert out.startswith(
        "The runs differ from step 0 on. Python code puts different values into a tensor.\n"
    )
    assert "data.py:8 in load" in out
    assert "lift_fresh" not in out


def test_a_run_that_a_hunt_ended_was_not_killed(tmp_path: Path) -> None:
    a, b = recordings(tmp_path, SAME + '\nA ["g","e1",[]]\nB ["g","e2",[]]\nB killed', level="step")
    folder.write_about(b, msgspec.structs.replace(folder.about(b), stopped=True, exit_code=143))
    done = d9m("diff", "--format", "json", str(a), str(b))
    assert [run["ended"] for run in json.loads(done.stdout)["runs"]] == ["exit", "stopped"]
    assert "killed" not in d9m("diff", str(a), str(b)).stdout


def test_a_notebook_is_not_to_be_hunted(tmp_path: Path) -> None:
    a, b = recordings(tmp_path, ONE_OP)
    assert "d9m hunt " in d9m("diff", str(a), str(b)).stdout
    for run in (a, b):
        folder.write_about(run, msgspec.structs.replace(folder.about(run), command=()))
    out = d9m("diff", str(a), str(b)).stdout
    assert "torch.use_deterministic_algorithms(True)" in out
    assert "d9m hunt " not in out


def test_possible_ops_are_listed_with_what_they_do_alone() -> None:
    kb = open_knowledge_base()
    alone = Replay(32, 7, 0.08, 80, 1)
    index = Cause(
        kind="op", process="rank 0", step=2, record=5, certain=False, op="aten::index_put",
        node="IndexBackward0", phase="bwd", arguments={"accumulate": "True"}, replay=alone,
    )  # fmt: skip
    relu = Cause(kind="op", process="rank 0", step=2, record=7, certain=False, op="aten::relu")
    state = Cause(kind="state", process="rank 0", step=2, record=3, argument="gradients")
    run = RecordedRun("a", ["rank 0"], 3, "step", "exact", "xxh3-64", "exit")
    found = Findings(
        d9m=Tool("", ""), same=False, complete=True, runs=[run, run], settings=[],
        packages={"torch": "2.13.0+cpu"}, device="cpu", threads=2, compared=Counts(),
        first=First("rank 0", 2, 3, 0), causes=[state], candidates=[index, relu], harmless=[],
        forks=[], unseen=[],
    )  # fmt: skip
    found = with_advice(kb, found)
    assert [cause.op for cause in found.candidates] == ["aten::index_put"], "relu never differs"
    out = text.render(FindingsView(found, kb)).plain()
    assert "One op of that step is nondeterministic, as our records say:\n" in out
    assert "7 different results in 32 calls" in out
    assert "torch.use_deterministic_algorithms(True)" in out
    assert "it could have differed before" not in out
    found = msgspec.structs.replace(found, inside=[index], candidates=[])
    for page in (markdown, html):
        assert "op by op, one op is nondeterministic" in page.render(FindingsView(found, kb))


def test_different_settings_leave_no_fix_for_what_they_explain(tmp_path: Path) -> None:
    text = f"""
    A {{"threads": 1}}
    B {{"threads": 8}}
    {SITES}
    A ["o",1,"accumulate=True",["aa.1"],["c1.3"],[0,"a1"]]
    B ["o",1,"accumulate=True",["aa.1"],["c2.3"],[0,"a1"]]
    """
    _code, out, _err = diff(tmp_path, text)
    assert "threads 1 and 8" in out
    assert "Fix" not in out


def test_a_seeded_draw_that_differs_is_not_to_be_seeded(tmp_path: Path) -> None:
    text = f"""
    {SITES}
    A ["o",3,"",["aa.1"],["c1.3"],[0,"a1"]]
    B ["o",3,"",["aa.1"],["c2.3"],[0,"a1"]]
    """
    _code, out, _err = diff(tmp_path, text)
    assert "returned different results for equal inputs" in " ".join(out.split())
    assert "manual_seed" not in out
    assert "Fix" not in out


def test_two_commands_are_hunted_together(tmp_path: Path) -> None:
    text = SITES + 'A ["o",3,"",["a1n9"],["b1.8"]]\nB ["o",3,"",["a2n9"],["b2.8"]]\n["d",0,{}]'
    a, b = recordings(tmp_path, text)
    about = msgspec.structs.replace(folder.about(b), command=("python", "train.py", "--new"))
    folder.write_about(b, about)
    done = d9m("diff", str(a), str(b))
    assert "d9m hunt --a 'python train.py' --b 'python train.py --new'" in done.stdout


@pytest.mark.parametrize(
    ("command", "code"),
    [([sys.executable, "-c", "print(1)"], 125), (["no-such-program"], 125), ([], 125)],
)
def test_git_bisect_passes_over_what_cannot_be_compared(
    tmp_path: Path, command: list[str], code: int
) -> None:
    a, _b = recordings(tmp_path, SITES + '["d",0,{}]', level="step")
    done = d9m("diff", "--bisect", str(a), "--", *command)
    assert done.returncode == code
    assert "Traceback" not in done.stderr


def test_resume_needs_a_run_that_goes_on(tmp_path: Path) -> None:
    a, b = recordings(tmp_path, SITES + '["d",0,{}]', level="step")
    done = d9m("diff", "--resume", str(a), str(b))
    assert done.returncode == 2
    assert "does not begin with parameters that the first one had" in done.stderr
