"""Which records are compared with which, when the programs do not do the same."""

from __future__ import annotations

from pathlib import Path

from written import recordings

from d9m.trace import align as aligning
from d9m.trace.align import Alike, Fork, Matched, align
from d9m.trace.reading import RecordStream

SITES = """
["S",1,"aten::add","","fwd","","",["train.py",1,"main"],["float32[4]"],"cpu"]
["S",2,"aten::mul","","fwd","","",["train.py",2,"main"],["float32[4]"],"cpu"]
["S",3,"aten::exp","","fwd","","",["train.py",3,"main"],["float32[4]"],"cpu"]
"""


def seen(path: Path, text: str, quiet: bool = False) -> list[str]:
    """What comes out: pairs by the site, forks by both sides."""
    a, b = recordings(path, SITES + text)
    mine, its = RecordStream(a / "r0-0.d9m"), RecordStream(b / "r0-0.d9m")
    found: list[str] = []
    for event in align(mine, its, lambda: quiet, None):
        match event:
            case Matched():
                found.append(f"{event.a.record} {event.b.number}".partition("(")[0])
            case Fork():
                sides = [str(side.number) if side else "end" for side in (event.a, event.b)]
                found.append("fork " + " ".join(sides))
            case Alike():
                found.append(f"alike {event.count}")
    return found


OP = '["o",{},"",["aa.1"],["bb.2"]]'


def test_equal_ops_are_passed_over_undecoded(tmp_path: Path) -> None:
    text = "\n".join([OP.format(1), OP.format(2), OP.format(1), '["d",0,{}]', OP.format(1)])
    assert seen(tmp_path, text, quiet=True) == ["CalledOp", "alike 2", "StepEnd", "alike 1"]


def test_a_damaged_line_is_not_passed_over_as_equal(tmp_path: Path) -> None:
    a, b = recordings(tmp_path, SITES + "\n".join([OP.format(1), OP.format(1)]) + "\nkilled")
    for run in (a, b):
        with open(run / "r0-0.d9m", "a") as file:
            file.write('["o",1,"",["aa.1"]')
    streams = [RecordStream(run / "r0-0.d9m") for run in (a, b)]
    events = list(align(*streams, lambda: True, None))
    assert [type(event).__name__ for event in events] == ["Matched", "Alike"]
    assert streams[0].ended == "killed"


def test_one_more_op_is_one_fork(tmp_path: Path) -> None:
    text = "\n".join([OP.format(1), f"B {OP.format(3)}", OP.format(2), '["d",0,{}]'])
    assert seen(tmp_path, text) == ["CalledOp", "fork 5 5", "CalledOp", "StepEnd"]


def test_ops_that_changed_places_are_paired_once(tmp_path: Path) -> None:
    lines = [f"A {OP.format(1)}", f"A {OP.format(2)}", f"B {OP.format(2)}", f"B {OP.format(1)}"]
    found = seen(tmp_path, "\n".join([*lines, '["d",0,{}]']))
    assert found.count("CalledOp") == 1
    assert found[-1] == "StepEnd"


def test_an_edited_line_number_still_aligns(tmp_path: Path) -> None:
    edited = SITES.replace('"train.py",1', '"train.py",9')
    sides = [f"A {line}" for line in SITES.split("\n") if line]
    sides += [f"B {line}" for line in edited.split("\n") if line]
    a, b = recordings(tmp_path, "\n".join([*sides, OP.format(1), OP.format(2)]))
    streams = [RecordStream(run / "r0-0.d9m") for run in (a, b)]
    events = list(align(*streams, lambda: True, None))
    assert [type(event).__name__ for event in events] == ["Matched", "Matched"]


def test_a_run_that_ends_early_by_itself_is_a_fork(tmp_path: Path) -> None:
    text = "\n".join([OP.format(1), f"A {OP.format(2)}"])
    assert seen(tmp_path, text) == ["CalledOp", "fork 5 end"]


def test_a_run_that_was_killed_is_only_shorter(tmp_path: Path) -> None:
    text = "\n".join([OP.format(1), f"A {OP.format(2)}", "B killed"])
    assert seen(tmp_path, text) == ["CalledOp"]


def test_a_step_of_one_op_repeated_does_not_take_minutes(
    tmp_path: Path, monkeypatch: object
) -> None:
    many = "\n".join([OP.format(1)] * 6000)
    text = f"{many}\nB {OP.format(3)}\n{many}\nA {OP.format(2)}\n{OP.format(1)}\n" + '["d",0,{}]'
    found = seen(tmp_path, text)
    assert found[-2:] == ["CalledOp", "StepEnd"]
    assert aligning.MOST_PAIRS < 6000 * 6000
