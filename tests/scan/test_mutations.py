"""Damaged files: no exception, and one reason for each that cannot be read.

D9M_MUTATIONS=10000 pytest tests/scan/test_mutations.py looks at more of them.
"""

from __future__ import annotations

import json
import os
import random
from collections.abc import Callable

import pytest

from d9m.scan.file_kinds import Kind
from d9m.scan.read_file import FileRead, read_file
from d9m.scan.run import judge
from d9m.scan.surroundings.surroundings import surroundings
from scan.projects import knowledge, vocabulary
from scan.test_rules import EVERY, JUDGED

COUNT = int(os.environ.get("D9M_MUTATIONS", "300"))
BATCH = 100

KINDS: dict[str, Kind] = {
    "a.py": "python",
    "a.ipynb": "notebook",
    "a.sh": "shell",
    "Dockerfile": "dockerfile",
    "a.yaml": "yaml",
    "requirements.txt": "packages",
    "uv.lock": "packages",
    ".env": "env",
}

ODD = ("\0", "\ufeff", "\r", "\r\n", "\x0c", "\\", "'''", '"', "{", "[", "(", "\t", "é", "𝛼", "%")
"""What breaks readers of text."""


def _texts() -> list[str]:
    found = [rule.bad for rule in JUDGED] + [rule.good for rule in JUDGED]
    for _code, case in EVERY:
        found += case.files.values()
    return found


def _cut(text: str, chance: random.Random) -> str:
    return text[: chance.randrange(len(text) + 1)]


def _drop(text: str, chance: random.Random) -> str:
    start = chance.randrange(len(text) + 1)
    return text[:start] + text[start + chance.randrange(1, 20) :]


def _insert(text: str, chance: random.Random) -> str:
    at = chance.randrange(len(text) + 1)
    return text[:at] + chance.choice(ODD) * chance.choice((1, 1, 3, 200)) + text[at:]


def _swap(text: str, chance: random.Random) -> str:
    lines = text.split("\n")
    chance.shuffle(lines)
    return "\n".join(lines)


def _repeat(text: str, chance: random.Random) -> str:
    lines = text.split("\n")
    at = chance.randrange(len(lines))
    return "\n".join([*lines[:at], *([lines[at]] * chance.randrange(2, 30)), *lines[at:]])


def _indent(text: str, chance: random.Random) -> str:
    lines = text.split("\n")
    at = chance.randrange(len(lines))
    return "\n".join([*lines[:at], *(" " * 4 + line for line in lines[at:])])


def _rename(text: str, chance: random.Random) -> str:
    words = sorted(set(text.split()))
    return text.replace(chance.choice(words), chance.choice(words)) if words else text


WAYS: tuple[Callable[[str, random.Random], str], ...] = (
    _cut, _drop, _insert, _swap, _repeat, _indent, _rename,
)  # fmt: skip


def _notebook(text: str, chance: random.Random) -> str:
    cells: list[object] = [{"cell_type": "code", "source": text.splitlines(keepends=True)}]
    cells.append(chance.choice((None, 7, [], {"cell_type": "code"}, {"source": 3})))
    whole: object = {"cells": cells, "nbformat": 4}
    return json.dumps(chance.choice((whole, whole, whole, cells, text)))


def damaged(number: int, texts: list[str]) -> tuple[str, Kind, bytes]:
    """The file with this number: the same in every run."""
    chance = random.Random(number)
    text = chance.choice(texts)
    name = chance.choice((*KINDS, "a.py", "a.py", "a.py"))
    if name == "a.ipynb":
        text = _notebook(text, chance)
    for _turn in range(chance.randrange(1, 5)):
        text = chance.choice(WAYS)(text, chance)
    data = text.encode(chance.choice(("utf-8", "utf-8", "utf-8", "utf-16")), "replace")
    if chance.random() < 0.1:
        at = chance.randrange(len(data) + 1)
        data = data[:at] + chance.randbytes(3) + data[at:]
    return f"{number}/{name}", KINDS[name], data


@pytest.mark.parametrize("start", range(0, COUNT, BATCH))
def test_no_damaged_file_stops_a_scan(start: int) -> None:
    texts = _texts()
    reads: list[FileRead] = []
    for number in range(start, min(start + BATCH, COUNT)):
        path, kind, data = damaged(number, texts)
        read = read_file(vocabulary(), path, kind, data)
        assert read.facts.path == path
        assert "\n" not in read.facts.unreadable
        reads.append(read)
    facts = [read.facts for read in reads]
    code = [one.path for one in facts if one.kind in ("python", "notebook")]
    versions = [(read.facts.path, read.versions) for read in reads]
    around, _contradictions = surroundings(knowledge(), versions, code)
    answer = judge(knowledge(), ".", facts, around)
    unread = [one.path for one in facts if one.unreadable]
    assert [file.path for file in answer.files.unreadable] == sorted(unread)
    assert 0 < len(unread) < len(facts)
