"""Lines that two recordings have alike: compared in blocks, and counted like one by one."""

from __future__ import annotations

from itertools import takewhile
from pathlib import Path
from random import Random

import pytest
from written import sealed

from d9m.trace import whole_lines
from d9m.trace.whole_lines import WholeLines, starting

OPS = [b'["o",1,"",[],["aa.1"]]', b'["o",1,"",[],["ab.1"]]', b'["o",22,"x=1",["aa.1"],[]]', b'["o"']
OTHERS = [b"", b'["d",0,{}]', b'["op"]', b'["O"', b'["v",1,"x"]', b"x" * 70]


def files(path: Path, mine: list[bytes], its: list[bytes]) -> tuple[WholeLines, WholeLines]:
    for name, lines in (("a", mine), ("b", its)):
        (path / name).write_bytes(sealed(*(line.decode() for line in lines)))
    return WholeLines(path / "a"), WholeLines(path / "b")


def passed(mine: list[bytes], its: list[bytes]) -> int:
    """How many ops both begin with: line by line."""
    pairs = zip(mine, its)
    alike = takewhile(lambda pair: pair[0] == pair[1] and pair[0].startswith(b'["o"'), pairs)
    return len(list(alike))


@pytest.mark.parametrize("seed", range(40))
def test_blocks_are_compared_as_lines_would_be(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, seed: int
) -> None:
    chance = Random(seed)
    monkeypatch.setattr(whole_lines, "BLOCK", chance.randint(1, 300))
    monkeypatch.setattr(whole_lines, "FIRST_LOOK", chance.randint(1, 60))
    lines = chance.choices(OPS, k=60)
    for _other in range(chance.randint(0, 4)):
        lines[chance.randrange(60)] = chance.choice(OTHERS)
    changed = list(lines)
    for _change in range(chance.randint(0, 4)):
        changed[chance.randrange(60)] = chance.choice(OPS + OTHERS)
    header = b"{" + b"x" * chance.randint(0, 90)
    mine, its = [b"{", *lines], [header, *changed][: chance.randint(1, 61)]
    a, b = files(tmp_path, mine, its)
    at = 0
    while at < 61:
        assert a.next() == mine[at]
        assert b.next() == (its[at] if at < len(its) else None)
        at += 1
        expected = passed(mine[at:], its[at:])
        assert a.pass_equal_ops(b) == expected
        at += expected
    assert a.next() is None


def test_an_end_that_is_cut_off_is_no_line(tmp_path: Path) -> None:
    file = tmp_path / "a"
    file.write_bytes(sealed('["o",1]', '["o",2]') + b'["o",3')
    a, b = WholeLines(file), WholeLines(file)
    assert a.pass_equal_ops(b) == 2
    assert (a.next(), b.next()) == (None, None)


def test_lines_of_some_letters_are_found_wherever_they_are(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(whole_lines, "BLOCK", 16)
    lines = [b'["i",1]', b'["o","[\\"p\\"]"]', b'["p",1]', b' ["p",2]', b'["p",3]', b'["d",0,{}]']
    file = tmp_path / "a"
    file.write_bytes(sealed(*(line.decode() for line in lines)) + b'["i",2]')
    assert list(starting(file, "ip")) == [b'["i",1]', b'["p",1]', b'["p",3]']
