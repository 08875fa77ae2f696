"""The size of the knowledge base costs a question about an op nothing, and one about everything, or
lint, as many times more as there is more of it: counted in what it reads and calls, which no busy
machine changes.
"""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path

import pytest
from synthetic import FRAMEWORK, op, synthetic

from d9m.api import advise
from d9m.authoring.lint import RULES
from d9m.authoring.lint.index import RecordIndex
from d9m.environment.environment import Setup
from d9m.kb import build, compiled
from d9m.kb.store import KnowledgeBase
from growth import calls


def _needed(
    size: int, ops: Sequence[str] | None, folder: Path, monkeypatch: pytest.MonkeyPatch
) -> tuple[int, int]:
    """Bytes read and functions called for an answer from a knowledge base of `size` records."""
    path = folder / f"{size}.d9m"
    compiled.write(build.build(synthetic(size)), path)
    taken: list[int] = []
    decode = compiled._decode

    def counting(data: bytes, *others: object) -> object:
        taken.append(len(data))
        return decode(data, *others)

    with monkeypatch.context() as patched:
        patched.setattr(compiled, "_decode", counting)
        kb: KnowledgeBase = compiled.read(str(path))
        called = calls(lambda: advise(kb, Setup(((FRAMEWORK, "2.0"),)), ops))
    return sum(taken), called


def test_a_question_reads_as_much_of_many_records_as_of_few(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    two = [op(1), op(2)]
    few, _called = _needed(1_500, two, tmp_path, monkeypatch)  # in fewer, shards are not yet full
    many, _called = _needed(15_000, two, tmp_path, monkeypatch)
    assert 0 < many <= 1.2 * few


def test_everything_of_many_records_takes_as_much_for_each_as_of_few(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    few = _needed(500, None, tmp_path, monkeypatch)
    many = _needed(4_000, None, tmp_path, monkeypatch)
    assert 0 < many[0] <= 1.2 * 8 * few[0]
    assert 0 < many[1] <= 1.2 * 8 * few[1]


def _linted(size: int) -> dict[str, int]:
    """Functions that each rule calls, and that what they share does."""
    read: list[RecordIndex] = []
    needed = {"index": calls(lambda: read.append(RecordIndex(synthetic(size))))}
    for rule in RULES:
        needed[rule.code] = calls(lambda rule=rule: list(rule.faults(read[0])))
    return needed


def test_lint_takes_as_much_for_each_of_many_records_as_of_few() -> None:
    few, many = _linted(100), _linted(400)
    more = {code: many[code] / few[code] for code in few}
    assert {code: times for code, times in more.items() if times > 1.2 * 4} == {}
