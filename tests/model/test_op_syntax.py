"""What people write for an op."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from d9m.errors import UsageError
from d9m.model import op_syntax
from d9m.model.signatures import Arguments

EQUAL = [
    ["interpolate:mode=bilinear:backward", "interpolate[mode=bilinear]:bwd"],
    [
        "scatter[reduce=sum,ndim=2]",
        "scatter:reduce=sum:ndim=2",
        "scatter:ndim=2:reduce=sum",
    ],
    ["F.pad(x, (1, 1))", "F.pad( x,(1, 1) )", "F.pad(x, (1, 1))[0]", "F.pad(x, (1, 1)).shape"],
    ["nn.Conv2d(3, 8, 1)", "nn.Conv2d(3, 8, 1)(x)"],
    ["x @ y", "x@y", "self.q(x) @ k.transpose(-2, -1)"],
    ["x.cumsum(0)", "h[mask].cumsum(0)", "h.view(-1).cumsum(0)", "f(x)[idx].cumsum(0)"],
    [
        "at::native::index_kernel",
        "void at::native::(anonymous namespace)::index_kernel<float, 4>(long, float*)",
    ],
    ["conv", " conv ", "conv:forward:backward"],
]


@pytest.mark.parametrize("spellings", EQUAL)
def test_equal_spellings_mean_the_same(spellings: list[str]) -> None:
    read = [op_syntax.parse(spelling) for spelling in spellings]
    first, *others = [(item.name, item.arguments, item.call, item.directions) for item in read]
    assert all(other == first for other in others)


def test_a_product_has_directions_and_arguments() -> None:
    read = op_syntax.parse("x @ y:dtype=float16:backward")
    assert (read.name, read.arguments, read.directions) == (
        "x @ y",
        {"dtype": "float16"},
        ("backward",),
    )


def test_an_update_of_jax_keeps_its_arguments() -> None:
    read = op_syntax.parse("x.at[i].add(y, unique_indices=True):dtype=float32")
    assert read.call == Arguments(("y",), {"unique_indices": "True"})
    assert read.arguments == {"dtype": "float32"}


def test_the_arguments_of_a_pasted_call_are_kept_as_they_are_written() -> None:
    query = op_syntax.parse("F.interpolate(x, (2, 2), mode='Area', align_corners=None):backward")
    assert query.call == Arguments(("x", "(2, 2)"), {"mode": "'Area'", "align_corners": "None"})
    assert (query.name, query.arguments, query.directions) == ("F.interpolate", {}, ("backward",))


@pytest.mark.parametrize(
    ("text", "items"),
    [
        ("conv,bias_add", ["conv", "bias_add"]),
        ("a[x=1,y=2],b", ["a[x=1,y=2]", "b"]),
        ("F.pad(x, (1, 2)), b", ["F.pad(x, (1, 2))", "b"]),
        (" , ,", []),
        (
            "void at::f<float, g<int, 4>>(float*, int), relu",
            ["void at::f<float, g<int, 4>>(float*, int)", "relu"],
        ),
        ("x[i < 3], relu", ["x[i < 3]", "relu"]),
        ("a->b, relu", ["a->b", "relu"]),
        ("x < 3, cumsum", ["x < 3", "cumsum"]),
        ("a <= b, relu", ["a <= b", "relu"]),
        ("a<b, relu", ["a<b", "relu"]),
    ],
)
def test_commas_inside_brackets_do_not_split(text: str, items: list[str]) -> None:
    assert op_syntax.split(text) == items


@pytest.mark.parametrize(
    "text", ["x.at[i].add", "x.at[idx[0]].add(y, mode='drop')", "p.w.at[i, j].add(v):backward"]
)
def test_an_update_of_jax_is_a_name(text: str) -> None:
    assert op_syntax.parse(text).name == "at.add"


@pytest.mark.parametrize("text", ["x[idx]", "h[:, edges[0]]", "x[a, b]:backward"])
def test_a_pasted_subscript_is_a_name(text: str) -> None:
    assert op_syntax.parse(text).name == "x[idx]"


@pytest.mark.parametrize(
    ("text", "name"),
    [
        ("x[idx] = v", "x[idx] = v"),
        ("x[idx]=0", "x[idx] = v"),
        ("h[:, edges[0]] = w[:, 1]", "x[idx] = v"),
        ("x[idx] += v", "x[idx] += v"),
        ("x[idx] -= v", "x[idx] += v"),
    ],
)
def test_a_pasted_assignment_is_a_name(text: str, name: str) -> None:
    assert op_syntax.parse(text).name == name


def test_a_comparison_of_a_subscript_is_no_assignment() -> None:
    with pytest.raises(UsageError):
        op_syntax.parse("x[idx] == v")


def test_a_double_colon_belongs_to_the_name() -> None:
    assert op_syntax.parse("aten::index_put_:backward") == op_syntax.Query(
        "aten::index_put_:backward", "aten::index_put_", {}, None, ("backward",)
    )


@pytest.mark.parametrize(
    ("text", "says"),
    [
        ("", "name is missing"),
        ("[x=1]", "name is missing"),
        ("conv[", "never closed"),
        ("conv:sideways", "expected forward, backward or name=value"),
        ("conv[x=]", "expected name=value"),
        ("conv:mode=a:mode=b", "given twice"),
        ("conv]x[", "never closed"),
        ("conv(x)y", "expected ':'"),
        ("x" * 501, "501 characters"),
        ("con\x1bv", "control characters"),
    ],
)
def test_a_fault_is_told_with_its_place(text: str, says: str) -> None:
    with pytest.raises(UsageError, match=says):
        op_syntax.parse(text)


def test_the_caret_is_under_the_fault() -> None:
    with pytest.raises(UsageError) as caught:
        op_syntax.parse("conv:sideways")
    _what, text, caret = caught.value.what.split("\n")
    assert text[caret.index("^")] == "s"


@given(st.text(max_size=600))
def test_any_text_is_read_or_refused(text: str) -> None:
    for item in op_syntax.split(text):
        try:
            found = op_syntax.parse(item)
        except UsageError as refusal:
            told = refusal.text()
        else:
            told = found.name
        assert "\x1b" not in told
