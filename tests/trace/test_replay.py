"""A call that is saved in one process gives the same bits when another process calls it again."""

from __future__ import annotations

import json
import subprocess
from pathlib import Path

import msgspec
import pytest
from recorded import LONGEST, PROGRAMS, torch_python
from written import compared, recordings

from d9m.trace.findings import Cause, Replay
from d9m.trace.replay import ReplayFailure, replayed, wanted
from d9m.trace.report.text import alone
from d9m.trace.start import INJECT, RecordingRequest, ZoomCall, start

CALLS = [
    ("aten::sort", "stable", 0),
    ("aten::sort", "stable", 1),
    ("aten::add_", "Tensor", 0),
    ("aten::cat", "", 0),
    ("aten::randn", "generator", 0),
    ("aten::full", "", 0),
    ("aten::clamp", "", 0),
    ("aten::index_put_", "", 0),
    ("aten::add", "Tensor", 0),
]
AGAIN = """
import hashlib, sys
sys.path.insert(0, sys.argv[1])
from call_again import SavedCall
for number in range(int(sys.argv[3])):
    call = SavedCall("%s/%d" % (sys.argv[2], number))
    for turn in range(2):
        found = hashlib.sha256()
        for result in call.call()[:1]:
            found.update(result.numpy().tobytes())
        print(found.hexdigest())
"""


@pytest.fixture(scope="module")
def saved(tmp_path_factory: pytest.TempPathFactory) -> tuple[Path, list[str]]:
    """The folder of saved calls, and the digests that the program printed."""
    python, path = torch_python(), tmp_path_factory.mktemp("zoom")
    calls = [ZoomCall(0, op, overload, "fwd", "", "", nth) for op, overload, nth in CALLS]
    out = path / "printed"
    start(
        ["sh", "-c", f"exec '{python}' '{PROGRAMS / 'zoomed.py'}' > '{out}'"],
        path / "run",
        RecordingRequest(level="op", zoom=tuple(calls)),
    )
    return path / "run" / "zoom", out.read_text().split()


def test_a_saved_call_gives_the_bits_that_it_gave(saved: tuple[Path, list[str]]) -> None:
    folder, printed = saved
    done = subprocess.run(
        [torch_python(), "-c", AGAIN, str(INJECT), str(folder), str(len(printed))],
        capture_output=True, text=True, check=True, timeout=LONGEST,
    )  # fmt: skip
    assert len(printed) == len(CALLS) - 1
    found = done.stdout.split()
    assert found[::2] == printed
    assert found[1::2] == printed, "the second call got what the first one had changed"


def test_a_deterministic_call_is_one_result(saved: tuple[Path, list[str]]) -> None:
    fix = {"D9M_UNUSED": "1"}, ["torch.use_deterministic_algorithms(True)"]
    assert replayed(saved[0] / "7", {}, fix) == Replay(32, 1, 0.0, None, 1)


def test_a_fix_that_the_op_refuses_is_no_fix(saved: tuple[Path, list[str]]) -> None:
    fix = {"D9M_UNUSED": "1"}, ["raise RuntimeError('not deterministic')"]
    found = replayed(saved[0] / "7", {}, fix)
    assert isinstance(found, Replay)
    assert (found.with_advice, found.advice_error) == (None, "RuntimeError: not deterministic")
    index = Cause(kind="op", process="rank 0", step=0, record=0, replay=found)
    assert "the same result in all 32 calls" in alone(index)
    changes = msgspec.structs.replace(found, distinct=3)
    index = Cause(kind="op", process="rank 0", step=0, record=0, replay=changes)
    assert alone(index).endswith("with the fix, the op fails: RuntimeError: not deterministic")


def test_a_replay_ends_with_its_time(saved: tuple[Path, list[str]]) -> None:
    assert replayed(saved[0] / "7", {}, None, 0.01) == ReplayFailure("it took too long")


def test_what_cannot_be_saved_says_why(saved: tuple[Path, list[str]]) -> None:
    found = replayed(saved[0] / "8", {}, None)
    assert found == ReplayFailure("one of its inputs is not a plain tensor in memory")


def test_a_call_that_never_came_is_said_to_be(tmp_path: Path) -> None:
    found = replayed(tmp_path, {}, None)
    assert isinstance(found, ReplayFailure)
    assert "did not come again" in found.why


@pytest.mark.parametrize(
    ("about", "says"),
    [
        ({"python": "/no/such/python"}, "cannot be run"),
        ({"python": "false"}, "ended with 1"),
    ],
)
def test_a_process_that_fails_says_why(tmp_path: Path, about: dict[str, str], says: str) -> None:
    (tmp_path / "call.json").write_text(json.dumps(about))
    found = replayed(tmp_path, {}, None)
    assert isinstance(found, ReplayFailure)
    assert says in found.why


DISTANCES = """
import sys, torch
sys.path.insert(0, sys.argv[1])
from call_again import furthest
for kind in (torch.float16, torch.bfloat16, torch.float32, torch.float64):
    one = torch.tensor([1.0, -1.0, 0.0, float("nan"), 2.0], dtype=kind)
    other = one.clone()
    for _ in range(3):
        other[0] = torch.nextafter(other[0].float(), torch.tensor(2.0)) if kind is torch.float32 \\
            else other[0] + torch.finfo(kind).eps
    print(furthest(one, other), furthest(one, one.clone()))
tiny = torch.finfo(torch.float32).tiny * torch.finfo(torch.float32).eps
print(furthest(torch.tensor([tiny]), torch.tensor([-tiny])))
print(furthest(torch.tensor([3]), torch.tensor([4])))
"""


def test_distances_are_counted_in_units_of_the_last_place() -> None:
    done = subprocess.run(
        [torch_python(), "-c", DISTANCES, str(INJECT)],
        capture_output=True, text=True, check=True, timeout=LONGEST,
    )  # fmt: skip
    assert done.stdout.splitlines() == 4 * ["3 None"] + ["2", "None"]


CALLED_TWICE = """
["S",1,"aten::index_put","","bwd","IndexBackward0","Net",["train.py",6,"forward"],["float32[4]"],"cpu"]
["S",2,"aten::index_put","","bwd","IndexBackward0","Net",["train.py",8,"forward"],["float32[9]"],"cpu"]
["o",1,"",["aa.1"],["c1.3"]]
A ["o",2,"",["aa.1"],["c3.5"]]
B ["o",2,"",["aa.1"],["c4.5"]]
A ["g","c3",["c3.5"]]
B ["g","c4",["c4.5"]]
["d",0,{}]
"""


def test_the_call_is_counted_among_those_of_its_op_and_place(tmp_path: Path) -> None:
    (cause,) = compared(tmp_path / "1", CALLED_TWICE).causes
    path, _other = recordings(tmp_path / "2", CALLED_TWICE)
    call = wanted(path, cause)
    assert call == ZoomCall(0, "aten::index_put", "", "bwd", "IndexBackward0", "Net", nth=1)
