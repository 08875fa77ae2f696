"""Laws of the two grammars that people type: ops and versions."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from packaging.version import Version

from d9m.errors import UsageError
from d9m.model import op_syntax
from d9m.model.versions import candidates, covers, in_order, key

RELEASED = ("1.0.0", "1.15.0", "2.0.0", "2.0.1", "2.1.0", "2.10.0", "2.10.1")
NUMBERS = st.lists(st.integers(0, 30), min_size=1, max_size=4).map(
    lambda parts: ".".join(map(str, parts))
)
OPS = st.text(alphabet="ab.:=,()[]{} '\"\t_1x\u00a0é", max_size=40)
VERSIONS = st.text(alphabet="0123456789.+-abcdevrpost!v_ *", max_size=20)


def answer(call: Callable[..., Any], *arguments: object) -> Any:
    """What a call returns, or its usage error. Any other error fails the test."""
    try:
        return call(*arguments)
    except UsageError as error:
        return error


@given(st.one_of(st.text(), OPS))
@settings(max_examples=500)
def test_no_op_makes_the_parser_raise_anything_but_a_usage_error(text: str) -> None:
    item = answer(op_syntax.parse, text)
    if isinstance(item, UsageError):
        assert item.what.replace("\n", "").isprintable()
    else:
        assert item.name
        assert item.directions


@given(st.one_of(st.text(), OPS))
def test_splitting_a_list_loses_nothing_but_blanks_and_separating_commas(text: str) -> None:
    kept = "".join("".join(op_syntax.split(text)).split())
    assert kept.replace(",", "") == "".join(text.split()).replace(",", "")


@given(
    st.sampled_from(["tf.nn.bias_add", "interpolate", "aten::index_put_"]),
    st.dictionaries(
        st.sampled_from(["mode", "dtype", "reduce"]), st.sampled_from(["linear", "sum", "1"])
    ),
    st.sampled_from(["", ":forward", ":backward"]),
)
def test_equal_spellings_of_one_op_are_read_alike(
    name: str, arguments: dict[str, str], direction: str
) -> None:
    pairs = [f"{each}={value}" for each, value in arguments.items()]
    by_colons = op_syntax.parse(":".join([name, *pairs]) + direction)
    by_brackets = op_syntax.parse(f"{name}[{', '.join(pairs)}]{direction}")
    assert by_colons.arguments == by_brackets.arguments == arguments
    assert by_colons.directions == by_brackets.directions
    assert by_colons.name == by_brackets.name == name


@given(st.one_of(st.text(), VERSIONS, NUMBERS), st.sampled_from([RELEASED, ()]))
@settings(max_examples=500)
def test_no_version_makes_candidates_raise_anything_but_a_usage_error(
    text: str, released: tuple[str, ...]
) -> None:
    found = answer(candidates, "tensorflow", text, released)
    if isinstance(found, UsageError):
        assert found.what.isprintable()
    else:
        assert found.releases or not released
        assert not released or set(found.releases) <= set(released)


@given(NUMBERS, NUMBERS)
def test_the_order_of_final_releases_is_that_of_packaging(first: str, second: str) -> None:
    assert (key(first) < key(second)) == (Version(first) < Version(second))
    assert (key(first) == key(second)) == (Version(first) == Version(second))


@given(st.lists(NUMBERS, unique=True))
def test_releases_are_listed_in_the_order_of_packaging(names: list[str]) -> None:
    assert list(in_order(dict.fromkeys(names))) == sorted(names, key=Version)


@given(
    st.sampled_from(RELEASED), st.sampled_from(["", "+cu121", "+nv"]), st.sampled_from(["", "v"])
)
def test_a_release_means_itself_whatever_its_local_part(
    release: str, local: str, prefix: str
) -> None:
    found = candidates("tensorflow", f"{prefix}{release}{local}", RELEASED)
    assert found.releases == (release,)
    assert found.how == "exactly"


@given(st.sampled_from(RELEASED))
def test_a_prefix_means_every_release_that_it_covers(release: str) -> None:
    prefix = release.rpartition(".")[0]
    found = candidates("tensorflow", prefix, RELEASED)
    assert set(found.releases) == {each for each in RELEASED if covers(prefix, each)}


@given(
    st.sampled_from(RELEASED[1:]),
    st.sampled_from(["a0+32f93b1", "rc1", ".dev20200428", "-dev20200428"]),
)
def test_a_pre_release_lies_between_its_base_and_the_release_below(
    release: str, suffix: str
) -> None:
    found = candidates("tensorflow", release + suffix, RELEASED)
    place = RELEASED.index(release)
    assert found.releases == RELEASED[place - 1 : place + 1]
    assert found.how == "between"


@pytest.mark.parametrize("text", ["9" * 40, "1." * 32, "2.0.0" + "+x" * 60, "9" * 5000])
def test_an_absurd_version_gets_one_short_error_or_an_answer(text: str) -> None:
    found = answer(candidates, "tensorflow", text, RELEASED)
    assert len(found.text()) < 400 if isinstance(found, UsageError) else found.how == "newer"
