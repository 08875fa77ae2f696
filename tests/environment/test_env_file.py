"""Files of settings, NAME=value lines or JSON, are read as a shell and an editor read them."""

from __future__ import annotations

import subprocess
from pathlib import Path

import pytest

from d9m.environment import env_file
from d9m.errors import DataError

LINES = [
    'export X=":4096:8" # the workspace',
    'X=":4096:8"',
    "X=':4096:8'",
    "X=:4096:8 # the workspace",
    "X=:4096:8\t#",
    "X=a#b",
    "X='a # b' # c",
    "X=\"a 'b' # c\"",
    'X="a \\"b\\" \\\\ \\$HOME \\` \\n"',
    "X='a \\ b'",
    'X=""',
    "X=''   ",
    "X=",
    "X= # empty",
    "  export   X=1",
]


@pytest.mark.parametrize("line", LINES)
def test_a_line_has_the_value_that_a_shell_gives_it(line: str, tmp_path: Path) -> None:
    (tmp_path / "job.env").write_text(f"# first\n{line}\n")
    shell = 'set -a; . ./job.env; printf "%s|" "$X"'
    done = subprocess.run(["sh", "-c", shell], cwd=tmp_path, capture_output=True, text=True)
    found = env_file.read((tmp_path / "job.env").read_text(), "job.env")
    assert f"{found['X']}|" == done.stdout


def test_a_value_without_quotes_keeps_its_spaces() -> None:
    assert env_file.read("X=--a --b  # both\n", "job.env") == {"X": "--a --b"}


@pytest.mark.parametrize("text", ["X=1\n", '{"X": "1"}'])
def test_a_byte_order_mark_is_no_part_of_a_file(text: str) -> None:
    assert env_file.read(f"\ufeff{text}", "job.env") == {"X": "1"}


FAULTY = [
    ('X="a', "job.env:1:3: this quote is never closed"),
    ("X='", "job.env:1:3: this quote is never closed"),
    ('X="a\\"', "job.env:1:3: this quote is never closed"),
    ('X="a"b', "job.env:1:3: more text after the closing quote: 'b'"),
    ('X="a" b # c', "job.env:1:3: more text after the closing quote"),
]


@pytest.mark.parametrize(("line", "said"), FAULTY)
def test_a_value_that_is_only_in_part_in_quotes_is_refused(line: str, said: str) -> None:
    with pytest.raises(DataError) as raised:
        env_file.read(line, "job.env")
    assert said in raised.value.text()
