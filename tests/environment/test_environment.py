"""What an environment holds beside what was named."""

from __future__ import annotations

from d9m.environment.environment import Setup, describe
from golden import knowledge_base


def test_the_newest_release_stands_in_for_a_newer_one_with_what_it_ships() -> None:
    kb = knowledge_base()
    newest = describe(kb, Setup((("torch", kb.releases("torch")[-1]),)))
    newer = describe(kb, Setup((("torch", "99.0"),)))
    assert newer.packages.keys() == newest.packages.keys() > {"torch"}
    assert {**newer.packages, "torch": None} == {**newest.packages, "torch": None}


def test_any_release_ships_nothing_for_certain() -> None:
    assert describe(knowledge_base(), Setup((("torch", None),))).packages.keys() == {"torch"}
