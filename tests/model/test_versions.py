"""Release order, and what a version stands for."""

import pytest
from hypothesis import given
from hypothesis import strategies as st
from packaging.version import Version

from d9m.errors import UsageError
from d9m.model.versions import candidates, in_order, key

RELEASED = ("1.9.0", "1.10.0", "1.13.1", "2.0.0", "2.0.1", "2.1.0", "2.10.0")

finals = st.lists(st.integers(0, 40), min_size=1, max_size=4).map(
    lambda numbers: ".".join(map(str, numbers))
)


@given(finals, finals)
def test_the_order_of_final_releases_is_that_of_packaging(first: str, second: str) -> None:
    assert (key(first) < key(second)) == (Version(first) < Version(second))
    assert (key(first) == key(second)) == (Version(first) == Version(second))


@pytest.mark.parametrize(
    ("text", "releases", "how"),
    [
        ("2.0", ("2.0.0", "2.0.1"), "exactly"),
        ("2.0.0", ("2.0.0",), "exactly"),
        ("v2.0", ("2.0.0", "2.0.1"), "exactly"),
        ("1.10", ("1.10.0",), "exactly"),
        ("2.1", ("2.1.0",), "exactly"),
        ("2.1.0+cu121", ("2.1.0",), "exactly"),
        ("2.1.0.post2", ("2.1.0",), "exactly"),
        ("2.1.0a0+32f93b1", ("2.0.1", "2.1.0"), "between"),
        ("2.0.0-dev20200428", ("1.13.1", "2.0.0"), "between"),
        ("1.14.0a0+44dac51", ("1.13.1", "2.0.0"), "between"),
        ("2.10.0rc1", ("2.1.0", "2.10.0"), "between"),
        ("1.9.0a0", ("1.9.0",), "between"),
        ("2.11", ("2.10.0",), "newer"),
        ("2.11.0a0+abc", ("2.10.0",), "newer"),
        ("3", ("2.10.0",), "newer"),
        ("any", RELEASED, "any"),
        ("latest", ("2.10.0",), "exactly"),
        (">=2.0,<2.10", ("2.0.0", "2.0.1", "2.1.0"), "exactly"),
        (">= 2.1", ("2.1.0", "2.10.0"), "exactly"),
        ("~=2.0.0", ("2.0.0", "2.0.1"), "exactly"),
        ("==2.0.1", ("2.0.1",), "exactly"),
        ("2.0.*", ("2.0.0", "2.0.1"), "exactly"),
        (">=3", ("2.10.0",), "newer"),
    ],
)
def test_a_version_means_releases(text: str, releases: tuple[str, ...], how: str) -> None:
    found = candidates("torch", text, RELEASED)
    assert (found.releases, found.how) == (releases, how)


@pytest.mark.parametrize(
    ("text", "says"),
    [
        ("1.14", "did you mean 1.13.1 or 2.0.0"),
        ("2.0.9", "did you mean 2.0.1 or 2.1.0"),
        ("0.1", "did you mean 1.9.0"),
        ("newest", "is not a version"),
        ("", "is not a version"),
        ("2.x", "is not a version"),
        (">=", "is not a version"),
        (">=2.0,<1.9", "no release of torch on record is '>=2.0,<1.9'"),
        ("<1.0", "known are 1.9.0 to 2.10.0"),
        ("2" * 70, "70 characters long"),
        ("2\x1b[31m", r"\?\[31m"),
    ],
)
def test_a_version_that_never_was_is_refused_with_the_nearest(text: str, says: str) -> None:
    with pytest.raises(UsageError, match=says):
        candidates("torch", text, RELEASED)


@given(st.text(max_size=70))
def test_any_text_is_a_version_or_refused(text: str) -> None:
    try:
        found = candidates("torch", text, RELEASED)
    except UsageError:
        return
    assert set(found.releases) <= set(RELEASED)


def test_lost_zeros_do_not_change_the_order() -> None:
    assert in_order(dict.fromkeys(["2.10.0", "2.1.0", "2.9.1", "2.2"])) == (
        "2.1.0",
        "2.2",
        "2.9.1",
        "2.10.0",
    )


def test_a_version_before_the_list_is_not_called_unreleased() -> None:
    with pytest.raises(UsageError, match=r"is older than 1\.9\.0, the first release") as caught:
        candidates("frame", "0.1", RELEASED)
    assert "never released" not in caught.value.text()


@pytest.mark.parametrize("text", ["2.0.9", ">=2.0.5,<2.0.9"])
def test_only_a_complete_list_says_that_a_release_never_was(text: str) -> None:
    with pytest.raises(UsageError, match="on record"):
        candidates("frame", text, RELEASED)
    with pytest.raises(UsageError, match=r"was never released|no release of frame is") as caught:
        candidates("frame", text, RELEASED, is_complete=True)
    assert "on record" not in caught.value.text()
