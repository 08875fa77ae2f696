"""Ranks that train together: where a difference that a collective brought began."""

from __future__ import annotations

from pathlib import Path

from written import compared, kinds

from d9m.trace.report import verdict

SITES = """
["S",1,"aten::index_put","","bwd","IndexBackward0","Net",["train.py",6,"forward"],["float32[4]"],"cpu"]
["S",2,"aten::mul","","opt","","SGD",["train.py",7,"main"],["float32[4]"],"cpu"]
"""

COPY = '["S",3,"aten::copy_","","bwd","","",["train.py",6,"f"],["float32[4]"],"cpu"]'

INHERITS = """
["k","c10d::allreduce_","0",0,["bb.3"],[3]]
A ["o",2,"",["e1r3"],["f1.9"]]
B ["o",2,"",["e2r3"],["f2.9"]]
A ["p","a1",["f1.9"]]
B ["p","a2",["f2.9"]]
["d",0,{}]
"""

BEGINS = """
A ["o",1,"",["aa.1"],["c1.3"]]
B ["o",1,"",["aa.1"],["c2.3"]]
A ["k","c10d::allreduce_","0",0,["c1.3"],[3]]
B ["k","c10d::allreduce_","0",0,["c2.3"],[3]]
A ["o",2,"",["e1r3"],["f1.9"]]
B ["o",2,"",["e2r3"],["f2.9"]]
A ["p","a1",["f1.9"]]
B ["p","a2",["f2.9"]]
["d",0,{}]
"""


def test_a_rank_inherits_through_the_collective(tmp_path: Path) -> None:
    found = compared(tmp_path, f"{SITES}{INHERITS}\n--- r1-0\n{SITES}{BEGINS}")
    (cause,) = found.causes
    assert (cause.kind, cause.op, cause.process) == ("op", "aten::index_put", "rank 1")
    assert cause.reaches.steps() == {"parameters": 0}


def test_what_a_backend_copies_to_where_a_collective_writes_came_by_that_collective(
    tmp_path: Path,
) -> None:
    copy = '["o",3,"",["e1n4"],["e1.3"]]'
    lines = [f"A {copy}", f"B {copy.replace('e1', 'e2')}", "A ["]
    copied = INHERITS.replace("r3", ".3").replace("A [", "\n".join(lines), 1)
    found = compared(tmp_path, f"{SITES}{COPY}{copied}\n--- r1-0\n{SITES}{BEGINS}")
    (cause,) = found.causes
    assert (cause.kind, cause.op, cause.process) == ("op", "aten::index_put", "rank 1")
    assert found.differs == {"rank 0": 0, "rank 1": 0}
    assert "2 of 2 processes differ, rank 1 first." in verdict.sentences(found)


def test_equal_inputs_on_every_rank_blame_the_collective(tmp_path: Path) -> None:
    found = compared(tmp_path, f"{SITES}{INHERITS}\n--- r1-0\n{SITES}{INHERITS}")
    (cause,) = found.causes
    assert (cause.kind, cause.op) == ("collective", "c10d::allreduce_")
    assert (cause.process, cause.also) == ("rank 0", ["rank 1"])


def test_alike_causes_of_ranks_are_one(tmp_path: Path) -> None:
    found = compared(tmp_path, f"{SITES}{BEGINS}\n--- r1-0\n{SITES}{BEGINS}")
    assert kinds(found) == ["op"]
    assert found.causes[0].also == ["rank 1"]
    assert found.causes[0].count == 2


def test_a_difference_travels_through_several_collectives(tmp_path: Path) -> None:
    middle = """
    ["k","c10d::broadcast_","left",0,["bb.3"],[3]]
    A ["k","c10d::broadcast_","right",0,["e1r3"],[4]]
    B ["k","c10d::broadcast_","right",0,["e2r3"],[4]]
    ["d",0,{}]
    """
    last = INHERITS.replace('"0",0', '"right",0')
    first = BEGINS.replace('"0",0', '"left",0')
    text = f"{SITES}{first}\n--- r1-0\n{SITES}{middle}\n--- r2-0\n{SITES}{last}"
    found = compared(tmp_path, text)
    (cause,) = found.causes
    assert (cause.op, cause.process) == ("aten::index_put", "rank 0")
