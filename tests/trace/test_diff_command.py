"""`d9m diff` on recordings that were written by hand: what it says, and how it ends."""

from __future__ import annotations

import json
from pathlib import Path
from xml.etree import ElementTree

import msgspec
import pytest
from written import recordings, write

from d9m.trace.findings import Findings
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
    assert lines[0] == "The runs differ since step 0. index_put gave other bits for equal inputs."
    assert "  where    Tagger.lookup · train.py:6 in forward" in lines
    assert "  reaches  the gradients in step 0" in lines
    assert "  then     1 later op differs because of it" in lines
    assert "  Fix      torch.use_deterministic_algorithms(True)" in lines
    assert "d9m show pytorch/getitem-backward" in out
    assert "1 other difference reaches nothing that is learned: --all" in lines
    assert [line for line in lines[:-1] if len(line) > 80] == []


SWITCH = "torch.use_deterministic_algorithms"
ON_ALREADY = f"  Fix      {SWITCH}(True) was set in both runs, and the op"


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


def test_the_command_that_it_prints_answers(tmp_path: Path) -> None:
    _code, out, _err = diff(tmp_path, ONE_OP)
    (line,) = [line for line in out.splitlines() if "d9m advise" in line]
    done = d9m(*line.split()[1:])
    assert done.returncode == 0
    assert "torch.use_deterministic_algorithms(True)" in done.stdout


def test_all_shows_what_is_harmless(tmp_path: Path) -> None:
    _code, out, _err = diff(tmp_path, ONE_OP, "--all")
    assert "exp reads a tensor that came from outside the framework with other values." in out


def test_equal_runs_end_with_0(tmp_path: Path) -> None:
    code, out, err = diff(tmp_path, SAME, level="step")
    assert (code, err) == (0, "")
    first = "Nothing that is learned differs: 1 step of 1 process are equal bit for bit."
    assert out.splitlines()[0] == first


def test_equal_runs_without_an_optimizer_claim_no_more_than_the_loss(tmp_path: Path) -> None:
    code, out, _err = diff(tmp_path, '["l",["ee"]]\n["d",0,{}]', level="step")
    assert code == 0
    assert out.startswith("The loss is equal bit for bit in 1 step of 1 process.\n")
    assert "No torch optimizer stepped, so no parameters were compared." in out


def test_an_op_with_thousands_of_inputs_fits_the_screen(tmp_path: Path) -> None:
    site = SITES.replace('["float32[4]"],"cpu"]', json.dumps(["int64[7]"] * 3000) + ',"cpu"]', 1)
    text = site + 'A ["o",1,"",["aa.1"],["c1.3"]]\nB ["o",1,"",["aa.1"],["c2.3"]]'
    _code, out, _err = diff(tmp_path, text)
    assert "int64[7] and 2992 more" in " ".join(out.split())
    assert len(out.splitlines()) < 30


def test_what_python_decided_leads_to_the_seeds(tmp_path: Path) -> None:
    text = SITES + 'A ["o",3,"",["a1n9"],["b1.8"]]\nB ["o",3,"",["a2n9"],["b2.8"]]\n["d",0,{}]'
    _code, out, _err = diff(tmp_path, text)
    assert "PYTHONHASHSEED is not set" in " ".join(out.split())
    assert "d9m show seeds" in out


def test_a_generator_that_is_seeded_too_late_is_named(tmp_path: Path) -> None:
    text = f"""
    A {{"generators": {{"numpy": "aa", "python": "cc"}}}}
    B {{"generators": {{"numpy": "bb", "python": "cc"}}}}
    {SITES}
    A ["o",3,"",["a1n9"],["b1.8"]]
    B ["o",3,"",["a2n9"],["b2.8"]]
    ["d",0,{{"numpy": "ee"}}]
    """
    _code, out, _err = diff(tmp_path, text)
    assert "NumPy's random generator started in a different state in each run." in out
    assert "Python's random generator" not in out


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
    assert out.startswith("The runs differ since step 0, for 2 reasons.")
    assert "\n2  The samples came in another order.\n" in out
    assert "d9m show seeds" in out


def test_an_op_that_nobody_knows_is_news(tmp_path: Path) -> None:
    text = SITES + 'A ["o",4,"",["aa.1"],["c1.3"]]\nB ["o",4,"",["aa.1"],["c2.3"]]'
    _code, out, _err = diff(tmp_path, text)
    assert "d9m does not know this op: please send us this answer" in out


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
    assert found.causes[1].records == ["seeds", "data-loader-workers"]


def test_junit_fails_the_process_for_each_cause(tmp_path: Path) -> None:
    _code, out, _err = diff(tmp_path, TWO, "--format", "junit")
    suite = ElementTree.fromstring(out)
    assert suite.attrib["failures"] == "1"
    failures = suite.findall("testcase[@name='rank 0']/failure")
    assert [failure.attrib["message"] for failure in failures] == [
        "index_put gave other bits for equal inputs.",
        "The samples came in another order.",
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
    found = [(heir.op, heir.module, heir.step, heir.count) for heir in cause.heirs]
    assert found == [("aten::mm", "Tagger.head.out", 0, 2), ("aten::mul", "Tagger", 0, 1)]
    assert cause.inherited == 3


def test_the_page_shows_what_inherits_a_difference_by_module(tmp_path: Path) -> None:
    code, out, err = diff(tmp_path, DEEP, "--format", "html")
    assert (code, err) == (1, "")
    page = ElementTree.fromstring(out.removeprefix("<!doctype html>"))
    title = page.findtext("head/title")
    assert title == "The runs differ since step 0. index_put gave other bits for equal inputs."
    assert "torch.use_deterministic_algorithms(True)" in (page.findtext(".//pre") or "")
    (tree,) = page.findall(".//ul[@class='tree']")
    modules = [code.text for code in tree.iter("code")]
    assert modules == ["Tagger", "aten::mul", "head", "out", "aten::mm"]
    assert page.findtext(".//h3") == "3 later ops differ because of it"


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
    assert out.startswith("## The runs differ since step 0. \\<fold\\> gave other bits")
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
    assert "or picked another part of it" in " ".join(out.split())


def test_an_answer_goes_into_a_file(tmp_path: Path) -> None:
    code, out, _err = diff(tmp_path, ONE_OP, "-o", str(tmp_path / "answer.txt"))
    assert (code, out) == (1, "")
    assert (tmp_path / "answer.txt").read_text().startswith("The runs differ since step 0.")


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
