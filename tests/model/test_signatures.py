"""Arguments are bound to parameters as Python and the frameworks do it, and facts are read from
them.
"""

from __future__ import annotations

import pytest

from d9m.model.records import Existence, Fact
from d9m.model.signatures import Signature, arguments, bind, decide_facts, signature_in

EVER = (Existence(),)


def called(text: str, *overloads: str) -> dict[str, str]:
    given = arguments(text)
    return bind(Signature("f", EVER, overloads), given.positional, given.keywords)


MAX = ("input, *", "input, dim: int, keepdim: bool=False", "input, other: Tensor")
STD = (
    "input, dim: int=None, *, correction=None, keepdim=False",
    "input, unbiased: bool=True",
    "input, dim: int, unbiased: bool=True, keepdim: bool=False",
)


def test_positional_arguments_go_to_parameters_in_order_and_the_rest_has_its_default() -> None:
    assert called(
        "x, (2, 2)", "input, size=None, scale_factor=None, mode='nearest', antialias=False"
    ) == {
        "input": "?x",
        "size": "2,2",
        "scale_factor": "none",
        "mode": "nearest",
        "antialias": "false",
    }


def test_an_argument_that_is_needed_and_not_given_is_missing() -> None:
    assert called("mode='SUM'", "num_embeddings, embedding_dim, mode='mean'") == {"mode": "sum"}
    assert called("", "dim, *, dtype=None") == {"dtype": "none"}


@pytest.mark.parametrize(
    ("text", "value"),
    [
        ("True", "true"),
        ("None", "none"),
        ("-1", "-1"),
        ("007", "7"),
        ("1.50", "1.5"),
        ("1e-5", "1e-05"),
        ("'Area'", "area"),
        ('"a, b"', "a, b"),
        ("(1, None)", "1,none"),
        ("[ 'a' , 2 ]", "a,2"),
        ("(n, 2)", "?(n, 2)"),
        ("self.mode", "?self.mode"),
        ("f(1, 2)", "?f(1, 2)"),
        ("9" * 40, str(float("9" * 40))),
        ("1_000", "?1_000"),
        ("'a' + b", "?'a' + b"),
    ],
)
def test_values_are_words_of_conditions_and_an_expression_stays_one(text: str, value: str) -> None:
    assert called(text, "x") == {"x": value}


@pytest.mark.parametrize(
    ("text", "dim", "other"),
    [
        ("x", "none", "none"),
        ("x, 0", "0", "none"),
        ("x, dim=1", "1", "none"),
        ("x, other=y", "none", "?y"),
    ],
)
def test_the_overload_that_fits_is_called_and_what_others_have_is_none(
    text: str, dim: str, other: str
) -> None:
    bound = called(text, *MAX)
    assert (bound["dim"], bound["other"]) == (dim, other)


def test_an_expression_that_fits_two_overloads_decides_only_what_they_agree_on() -> None:
    assert called("x, y", *MAX) == {"input": "?x"}
    assert called("x, y, keepdim=True", *MAX)["dim"] == "?y"


def test_a_word_of_a_parameter_tells_overloads_from_each_other() -> None:
    assert called("x, False", *STD)["unbiased"] == "false"
    assert called("x, 0", *STD)["dim"] == "0"
    assert called("x, (0, 1), False", *STD)["unbiased"] == "false"
    assert called("x", *STD)["dim"] == "none"


def test_a_call_that_fits_no_overload_says_only_what_it_names() -> None:
    assert called("1, 2, mode='a'", "size, *, mode='b', other=1") == {"mode": "a"}
    assert called("x, 0.5, keepdim=True", *MAX) == {"keepdim": "true"}
    assert called("x, input=y", "input, dim=0") == {"input": "?y"}


def test_an_unknown_keyword_is_kept_and_the_overload_that_knows_it_is_preferred() -> None:
    assert called("x, device=d", "input, dim=0") == {"input": "?x", "device": "?d", "dim": "0"}
    assert called("x, b=1", "input, a=0", "input, b=0") == {"input": "?x", "b": "1", "a": "none"}
    assert called("x, b=1", "input, **kwargs") == {"input": "?x", "b": "1"}


def test_several_arguments_go_to_a_starred_parameter() -> None:
    zeros = ("size, *, dtype=None", "*size, dtype=None")
    assert called("2, 3", *zeros)["size"] == "2,3"
    assert called("(2, 3)", *zeros)["size"] == "2,3"
    assert called("n, 3, dtype=None", *zeros)["size"] == "?n,3"


def test_unpacked_arguments_may_give_everything_that_is_not_named() -> None:
    assert called("x, *rest, b=1", "input, a=0, b=0, c=0") == {"input": "?x", "b": "1"}
    assert called("x, **rest", "input, a=0") == {"input": "?x"}


@pytest.mark.parametrize(
    ("text", "positional", "keywords"),
    [
        ("", (), {}),
        ("'ij,jk->ik', a, b", ("'ij,jk->ik'", "a", "b"), {}),
        ("x == y, k=v == w", ("x == y",), {"k": "v == w"}),
        ("lambda a=1: a, f(b=2)", ("lambda a=1: a", "f(b=2)"), {}),
        ("x[:, 1], '(', c = ')'", ("x[:, 1]", "'('"), {"c": "')'"}),
        ("x)], y", ("x)]", "y"), {}),
    ],
)
def test_the_text_of_a_call_is_read_with_its_brackets_and_quotes(
    text: str, positional: tuple[str, ...], keywords: dict[str, str]
) -> None:
    found = arguments(text)
    assert (found.positional, found.keywords) == (positional, keywords)


def test_the_signature_of_a_release_is_that_of_exactly_this_name_if_there_is_one() -> None:
    plain = Signature("f.add", (Existence(from_="1.8"),), ("a",))
    spelled = Signature("f.add_", (Existence(until="1.8"), Existence(from_="2.0")), ("b",))
    both = (plain, spelled)
    assert signature_in(both, "f.add_", "1.7.0") is spelled
    assert signature_in(both, "f.add_", "1.9.0") is plain
    assert signature_in(both, "f.add_", "2.1.0") is spelled
    assert signature_in(both, "f.add", "2.1.0") is plain
    assert signature_in((plain,), "f.add", "1.7.0") is None


def fact(values: list[str] | None = None, **parameters: dict[str, str]) -> Fact:
    kind = "choice" if values else "int"
    return Fact(
        title="A fact", values=values or [], type=kind, argument=True, parameters=parameters
    )


MODE = fact(["bilinear", "area"], mode={})
SIZE = fact(output_size={}, size={})
GIVEN = fact(["true", "false"], weights={"none": "false", "?": "true", "*": "true"})
UNIQUE = fact(["true", "false"], unique_indices={"true": "false", "false": "?"})
LENGTH = fact(pad={"2 elements": "3", "4 elements": "4"})


@pytest.mark.parametrize(
    ("known", "bound", "said"),
    [
        (MODE, {"mode": "area"}, "area"),
        (MODE, {"mode": "?ResizeMethod.BILINEAR"}, "bilinear"),
        (MODE, {"mode": "?area"}, "area"),
        (MODE, {"mode": "?self.mode"}, None),
        (MODE, {"mode": "lanczos"}, None),
        (MODE, {"padding_mode": "area"}, None),
        (SIZE, {"output_size": "1"}, "1"),
        (SIZE, {"size": "1,1"}, "1"),
        (SIZE, {"output_size": "1,none"}, None),
        (SIZE, {"output_size": "none", "size": "2"}, "2"),
        (SIZE, {"size": "?n"}, None),
        (GIVEN, {"weights": "none"}, "false"),
        (GIVEN, {"weights": "?w"}, "true"),
        (GIVEN, {"weights": "1,2"}, "true"),
        (UNIQUE, {"unique_indices": "true"}, "false"),
        (UNIQUE, {"unique_indices": "false"}, None),
        (LENGTH, {"pad": "1,1"}, "3"),
        (LENGTH, {"pad": "0,1,2,3"}, "4"),
        (LENGTH, {"pad": "?(p, p)"}, "3"),
        (LENGTH, {"pad": "?[p, f(1, 2), 3, 4]"}, "4"),
        (LENGTH, {"pad": "?(*p, 1)"}, None),
        (LENGTH, {"pad": "?p"}, None),
        (LENGTH, {"pad": "3"}, None),
    ],
)
def test_a_fact_has_the_value_that_its_parameter_means(
    known: Fact, bound: dict[str, str], said: str | None
) -> None:
    assert decide_facts({"it": known}, bound) == ({} if said is None else {"it": said})
