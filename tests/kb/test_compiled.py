"""The compiled file gives back every value, and nothing for a key that it does not have."""

from __future__ import annotations

import pytest

from d9m.kb import compiled
from d9m.kb.store import KnowledgeBase
from golden import knowledge_base


@pytest.fixture(scope="module")
def written(tmp_path_factory: pytest.TempPathFactory) -> KnowledgeBase:
    path = tmp_path_factory.mktemp("compiled") / compiled.FILE
    compiled.write(knowledge_base(), path)
    return compiled.read(str(path))


def test_every_key_gives_its_value(written: KnowledgeBase) -> None:
    for read, table in zip(written.tables(), knowledge_base().tables(), strict=True):
        assert sorted(read) == sorted(table)
        assert [key for key in table if read.get(key) != table.get(key)] == []


def test_keys_that_are_not_there_give_nothing(written: KnowledgeBase) -> None:
    for read, table in zip(written.tables(), knowledge_base().tables(), strict=True):
        near = {each for key in table for each in (key[:-1], f"{key}!", f"{key[:-1]}\U0010ffff")}
        others = {"", "!", "\U0010ffff", "\ud800", *near} - set(table)
        assert [key for key in others if read.get(key) is not None] == []
