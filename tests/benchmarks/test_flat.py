"""The size of the knowledge base costs a question nothing: told by what it reads, which no busy
machine changes.
"""

from __future__ import annotations

from pathlib import Path

import pytest
from synthetic import FRAMEWORK, op, synthetic

from d9m.api import advise
from d9m.environment.environment import Setup
from d9m.kb import build, compiled
from d9m.kb.store import KnowledgeBase


def _read_for_a_question(size: int, folder: Path, monkeypatch: pytest.MonkeyPatch) -> int:
    """Bytes that two ops of a knowledge base of `size` records take to answer."""
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
        advise(kb, Setup(((FRAMEWORK, "2.0"),)), [op(1), op(2)])
    return sum(taken)


def test_a_question_reads_as_much_of_many_records_as_of_few(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    few = _read_for_a_question(1_500, tmp_path, monkeypatch)  # in fewer, shards are not yet full
    many = _read_for_a_question(15_000, tmp_path, monkeypatch)
    assert 0 < many <= 1.2 * few
