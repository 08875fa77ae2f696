"""What an environment holds beside what was named."""

from __future__ import annotations

import pytest

from d9m.api import understand
from d9m.environment.environment import Setup, describe
from d9m.environment.releases import installed
from d9m.errors import UsageError
from d9m.kb.store import KnowledgeBase
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


@pytest.mark.parametrize(("package", "version"), [("mindspore", "2.2.13"), ("clara-train", "3.2")])
def test_a_release_that_an_incomplete_list_lacks_is_only_not_on_record(
    package: str, version: str
) -> None:
    with pytest.raises(UsageError, match="is not on record; the releases on record are"):
        understand(knowledge_base(), Setup(((package, version),)))


def test_never_released_is_said_only_from_complete_lists() -> None:
    kb = knowledge_base()
    for name in kb.packages:
        released = kb.releases(name)
        if len(released) > 1 and not kb.packages[name].lists_every_release:
            said = _refused(kb, name, f"{released[-2]}.99999")
            assert "never released" not in said


def _refused(kb: KnowledgeBase, package: str, version: str) -> str:
    """What an error says of a version; empty where it is taken."""
    try:
        installed(kb, package, version)
    except UsageError as error:
        return error.text()
    return ""
