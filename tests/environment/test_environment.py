"""What an environment holds beside what was named."""

from __future__ import annotations

import pytest

from d9m.api import understand
from d9m.environment.environment import Setup, describe
from golden import knowledge_base


def test_a_newer_release_is_answered_like_the_newest_with_what_it_ships() -> None:
    kb = knowledge_base()
    newest = describe(kb, Setup((("torch", kb.releases("torch")[-1]),)))
    newer = describe(kb, Setup((("torch", "99.0"),)))
    assert newer.packages.keys() == newest.packages.keys() > {"torch"}
    assert {**newer.packages, "torch": None} == {**newest.packages, "torch": None}


def test_any_release_ships_nothing_for_certain() -> None:
    assert describe(knowledge_base(), Setup((("torch", None),))).packages.keys() == {"torch"}


@pytest.mark.parametrize(
    ("torch", "expected"),
    [
        ("2.8.0", ("0.23.0",)),
        ("2.4", ("0.19.0", "0.19.1")),
        ("2.15", ("0.29.1", "0.29.2")),
        ("1.0", None),
    ],
)
def test_a_package_that_an_op_brings_along_is_the_release_made_for_the_framework(
    torch: str, expected: tuple[str, ...] | None
) -> None:
    held = understand(knowledge_base(), Setup((("torch", torch),)), ["roi_align"]).environment
    found = held.packages["torchvision"]
    if expected is None:
        assert found.version is None
    else:
        assert (found.candidates.releases, found.origin) == (expected, "partner")


def test_a_package_named_without_a_version_is_any_release() -> None:
    setup = Setup((("torch", "2.4"), ("torchvision", None)))
    held = understand(knowledge_base(), setup, ["roi_align"]).environment
    assert held.packages["torchvision"].version is None
