"""Recordings with flipped bits: each is refused, none is taken for a difference between runs."""

from __future__ import annotations

import json
import re
import shutil
from pathlib import Path
from random import Random

import pytest
from hypothesis import given
from hypothesis import strategies as st
from written import recordings, sealed

from d9m.errors import DataError
from d9m.trace import folder
from d9m.trace.comparison import Wanted, compare
from d9m.trace.contents import contents
from d9m.trace.inject._d9m_recorder.core import seals
from d9m.trace.whole_lines import WholeLines
from process import d9m

BY_DAY, NIGHTLY = 50, 300
"""Flipped bits of each kind of recording."""

STEPS = "\n".join(
    f"""["l",["{step:02x}aa"]]
    ["i","cb7661bd8cb9409e",[]]
    ["g","cb7661bd8cb9409{step:x}",[]]
    ["p","ab7661bd8cb9409{step:x}",[]]
    ["d",{step},{{"torch":"cb7661bd8cb940{step:02x}","python":"0a7661bd8cb94012"}},"optimizer"]"""
    for step in range(8)
)
OPS = """["S",1,"aten::mul","Tensor","fwd","","Net.block",["train.py",6,"f"],["float32[4]"],"cpu"]
    ["S",2,"aten::item","","fwd","","",["train.py",7,"f"],["float32[]"],"cpu"]
""" + "\n".join(
    f"""["o",1,"alpha=1",["{step:02x}aa.1"],["{step:02x}ab.{step + 2}"]]
    ["o",2,"",["{step:02x}ab.{step + 2}"],[]]
    ["v",2,"0.{step}25"]
    ["d",{step},{{"torch":"cb7661bd8cb940{step:02x}"}},"optimizer"]"""
    for step in range(8)
)
COMPLAINT = "process 7: a place: ValueError: a text (torch_ops.py:12)"


@pytest.fixture(params=[("step", STEPS), ("op", OPS)], ids=["step", "op"])
def pair(request: pytest.FixtureRequest, tmp_path: Path) -> tuple[Path, Path]:
    """Two equal recordings, the second with a complaint of the recorder."""
    level, text = request.param
    runs = recordings(tmp_path, text, level=level)
    for run in runs:
        (run / folder.ERRORS).write_bytes(sealed(COMPLAINT))
    assert compare(*runs, "", Wanted()).same
    return runs


def flip(run: Path, chance: Random) -> tuple[Path, bytes]:
    """Flip a bit of the folder's files, each byte as likely as any other; the file, and what was in
    it.
    """
    files = sorted(run.iterdir())
    file = chance.choices(files, [each.stat().st_size for each in files])[0]
    before = file.read_bytes()
    data = bytearray(before)
    data[chance.randrange(len(data))] ^= 1 << chance.randrange(8)
    file.write_bytes(data)
    return file, before


def refusals(pair: tuple[Path, Path], count: int) -> None:
    chance = Random(count)
    for _flip in range(count):
        file, before = flip(pair[1], chance)
        with pytest.raises(DataError, match=re.escape(file.name)):
            compare(*pair, "", Wanted())
        with pytest.raises(DataError, match=re.escape(file.name)):
            contents(pair[1])
        file.write_bytes(before)
    assert compare(*pair, "", Wanted()).same


def test_a_flipped_bit_is_damage(pair: tuple[Path, Path]) -> None:
    refusals(pair, BY_DAY)


@pytest.mark.nightly
def test_none_of_many_flipped_bits_is_missed(pair: tuple[Path, Path]) -> None:
    refusals(pair, NIGHTLY)


def test_two_copies_with_the_same_damage_are_not_equal(pair: tuple[Path, Path]) -> None:
    chance = Random(0)
    for _flip in range(10):
        file, before = flip(pair[1], chance)
        shutil.copy(file, pair[0] / file.name)
        with pytest.raises(DataError):
            compare(*pair, "", Wanted())
        file.write_bytes(before)
        (pair[0] / file.name).write_bytes(before)


def test_diff_exits_5_for_a_damaged_recording(pair: tuple[Path, Path]) -> None:
    file = pair[1] / "r0-0.d9m"
    file.write_bytes(file.read_bytes().replace(b"cb76", b"cb77", 1))
    done = d9m("diff", *map(str, pair))
    assert (done.returncode, done.stdout) == (5, "")
    (said,) = done.stderr.splitlines()
    assert f"{file.name}' is damaged at line" in said


@pytest.mark.parametrize("kept", range(0, 400, 7))
def test_a_recording_that_was_cut_is_no_damage(pair: tuple[Path, Path], kept: int) -> None:
    file = pair[1] / "r0-0.d9m"
    header = file.read_bytes().index(b"\n") + 1
    file.write_bytes(file.read_bytes()[: header + kept])
    lines = WholeLines(file)
    assert len(list(iter(lines.next, None))) == file.read_bytes().count(b"\n")


def test_a_cut_recording_with_damage_before_the_cut_is_refused(pair: tuple[Path, Path]) -> None:
    file = pair[1] / "r0-0.d9m"
    content = file.read_bytes()[:-60]
    file.write_bytes(content.replace(b'["d",3', b'["d",2'))
    with pytest.raises(DataError, match="damaged at line"):
        compare(*pair, "", Wanted())


def test_diff_exits_5_for_a_recording_of_an_older_format(pair: tuple[Path, Path]) -> None:
    (pair[1] / folder.ABOUT).write_text('{"d9m_run": 1, "command": [], "level": "op"}\n')
    done = d9m("diff", *map(str, pair))
    assert (done.returncode, done.stdout) == (5, "")
    assert done.stderr.endswith("was recorded by an older d9m; record it again\n")


TEXTS = st.text(st.characters(exclude_characters="\n", exclude_categories=["Cs"]))


@given(TEXTS)
def test_a_sealed_line_is_opened_as_it_was(text: str) -> None:
    sealed = seals.line(text)
    assert sealed.endswith(b"\n")
    assert seals.opened(sealed[:-1]) == text.encode()


@given(st.lists(TEXTS, min_size=1, max_size=4), st.data())
def test_any_byte_that_changed_is_refused(
    tmp_path_factory: pytest.TempPathFactory, texts: list[str], data: st.DataObject
) -> None:
    file = tmp_path_factory.getbasetemp() / "changed"
    whole = sealed(*texts)
    at = data.draw(st.integers(0, len(whole) - 1))
    byte = data.draw(st.integers(0, 255).filter(lambda value: value != whole[at]))
    file.write_bytes(whole[:at] + bytes([byte]) + whole[at + 1 :])
    lines = WholeLines(file)
    with pytest.raises(DataError, match="is damaged at line"):
        list(iter(lines.next, None))


@given(st.dictionaries(st.text(), st.text(), min_size=1), st.data())
def test_any_byte_that_changed_in_a_document_is_noticed(
    about: dict[str, str], data: st.DataObject
) -> None:
    about.pop("checksum", None)
    about["level"] = "op"
    whole = seals.document(json.dumps(about, indent=1))
    assert seals.is_whole(whole)
    assert json.loads(whole).items() > about.items()
    at = data.draw(st.integers(0, len(whole) - 1))
    byte = data.draw(st.integers(0, 255).filter(lambda value: value != whole[at]))
    assert not seals.is_whole(whole[:at] + bytes([byte]) + whole[at + 1 :])
