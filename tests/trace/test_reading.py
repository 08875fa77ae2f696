"""Streams as they can be found: cut off, damaged, from elsewhere."""

from __future__ import annotations

import json
from pathlib import Path

import pytest
from written import HEADER, compared, recordings, sealed, write

from d9m.errors import AbsentError, DataError, UsageError
from d9m.trace.comparison import Wanted, compare
from d9m.trace.memory import Bits, bits
from d9m.trace.reading import RecordStream

LINES = ['["l",["aa.1"]]', '["d",0,{}]']


def stream(path: Path, *lines: str) -> RecordStream:
    file = path / "r0-0.d9m"
    whole, cut = lines[:-1], lines[-1]
    file.write_bytes(sealed(json.dumps(HEADER), *whole) + cut.encode())
    return RecordStream(file)


def test_a_last_line_without_an_end_does_not_count(tmp_path: Path) -> None:
    read = stream(tmp_path, *LINES, '["l",["aa')
    assert [placed.number for placed in iter(read.next, None)] == [1, 2]
    assert read.ended == "killed"


@pytest.mark.parametrize("digest", ["aa", "-u", "a1n", "aa."])
def test_a_storage_longer_than_any_number_is_part_of_the_content(digest: str) -> None:
    endless = digest + "9" * 5000
    assert bits(endless) == Bits(endless)


def test_a_step_that_ended_begins_the_next(tmp_path: Path) -> None:
    read = stream(tmp_path, *LINES, *LINES, "")
    assert [placed.step for placed in iter(read.next, None)] == [0, 0, 1, 1]


@pytest.mark.parametrize(
    "line",
    [
        "", "{}x", "[]", '["o"]', '["o",1,"",[1],[]]', '["z",1]', "\x00", "[" * 5000,
        '["o",99,"",[],[]]', '["l",["aa.1"]] ["l",[]]',
    ],
)  # fmt: skip
def test_a_line_that_is_damaged_is_named(tmp_path: Path, line: str) -> None:
    read = stream(tmp_path, *LINES, line, "")
    with pytest.raises(DataError, match="is damaged at line 4"):
        read.read_to_end()


@pytest.mark.parametrize("lost", [0, 1, 2])
def test_a_line_that_is_lost_is_noticed_at_the_end(tmp_path: Path, lost: int) -> None:
    whole = [*LINES, *LINES]
    end = json.dumps({"ended": "exit", "lines": 1 + len(whole)})
    stream(tmp_path, *whole, end, "").read_to_end()
    with pytest.raises(DataError, match="5 lines were written before its end"):
        stream(tmp_path, *whole[:lost], *whole[lost + 1 :], end, "").read_to_end()


@pytest.mark.parametrize("first", ["", "[]", "{}", '{"d9m_trace": "1"}', "\x00\xff", "x" * 100])
def test_a_file_that_is_no_recording_is_refused(tmp_path: Path, first: str) -> None:
    file = tmp_path / "r0-0.d9m"
    file.write_text(f"{first}\n", "latin-1")
    with pytest.raises(DataError, match="is not a recording of d9m"):
        RecordStream(file)


def test_a_newer_format_is_refused(tmp_path: Path) -> None:
    file = tmp_path / "r0-0.d9m"
    file.write_bytes(sealed(json.dumps({**HEADER, "d9m_trace": 3})))
    with pytest.raises(DataError, match="newer d9m"):
        RecordStream(file)


def test_an_older_format_is_refused(tmp_path: Path) -> None:
    file = tmp_path / "r0-0.d9m"
    file.write_text(json.dumps({**HEADER, "d9m_trace": 1}) + "\n")
    with pytest.raises(DataError, match="by an older d9m; record it again"):
        RecordStream(file)


def test_a_file_whose_lines_never_end_is_refused(tmp_path: Path) -> None:
    read = stream(tmp_path, *LINES, "x" * (17 << 20))
    with pytest.raises(DataError, match="no line ends"):
        read.read_to_end()


def test_a_run_that_was_killed_is_compared_up_to_there(tmp_path: Path) -> None:
    found = compared(tmp_path, '["l",["aa.1"]]\n["d",0,{}]\nB killed\nA ["l",["aa.2"]]')
    assert (found.same, found.complete) == (True, False)
    assert [run.ended for run in found.runs] == ["exit", "killed"]


def test_a_cause_in_the_step_that_was_cut_off_counts(tmp_path: Path) -> None:
    text = """
    ["S",1,"aten::mul","","fwd","","",null,["float32[4]"],"cpu"]
    ["g","aa",["bb.1"]]
    ["d",0,{}]
    A ["o",1,"",["aa.1"],["c1.3"]]
    B ["o",1,"",["aa.1"],["c2.3"]]
    killed
    """
    assert [cause.kind for cause in compared(tmp_path, text).causes] == ["op"]


def test_the_same_folder_twice_is_refused(tmp_path: Path) -> None:
    a, _b = recordings(tmp_path, '["d",0,{}]')
    with pytest.raises(UsageError, match="named twice"):
        compare(a, a / ".." / "A", "", Wanted())


def test_a_folder_without_a_process_is_absent(tmp_path: Path) -> None:
    a, b = recordings(tmp_path, '["d",0,{}]')
    (b / "r0-0.d9m").unlink()
    with pytest.raises(AbsentError, match="holds no process"):
        compare(a, b, "", Wanted())


@pytest.mark.parametrize(
    ("key", "values", "error"),
    [
        ("digest", ("xxh3-64", "crc32"), DataError),
        ("level", ("op", "step"), UsageError),
    ],
)
def test_recordings_of_different_ways_are_refused(
    tmp_path: Path, key: str, values: tuple[str, str], error: type[Exception]
) -> None:
    for run, value in zip("AB", values):
        write(tmp_path / run, {"r0-0": ['["d",0,{}]']}, {key: value})
    with pytest.raises(error, match="cannot be compared"):
        compare(tmp_path / "A", tmp_path / "B", "", Wanted())


def test_another_number_of_ranks_is_refused_unless_one_is_chosen(tmp_path: Path) -> None:
    write(tmp_path / "A", {"r0-0": ['["d",0,{}]']}, {})
    write(tmp_path / "B", {"r0-0": ['["d",0,{}]'], "r1-0": ['["d",0,{}]']}, {})
    with pytest.raises(UsageError, match="1 rank, the second 2 ranks"):
        compare(tmp_path / "A", tmp_path / "B", "", Wanted())
    assert compare(tmp_path / "A", tmp_path / "B", "", Wanted(rank=0)).same
    with pytest.raises(UsageError, match="not in both runs"):
        compare(tmp_path / "A", tmp_path / "B", "", Wanted(rank=1))


def test_runs_that_share_no_record_are_refused(tmp_path: Path) -> None:
    text = """
    A ["l",["aa.1"]]
    B ["g","aa",[]]
    """
    with pytest.raises(UsageError, match="nothing in common"):
        compared(tmp_path, text)


def test_a_process_of_one_run_alone_makes_the_comparison_partial(tmp_path: Path) -> None:
    write(tmp_path / "A", {"r0-0": ['["d",0,{}]'], "r0-1": ['["d",0,{}]']}, {})
    write(tmp_path / "B", {"r0-0": ['["d",0,{}]']}, {})
    found = compare(tmp_path / "A", tmp_path / "B", "", Wanted())
    assert not found.complete
    assert found.notes == ["There is only rank 0, process 1 of the first run."]
