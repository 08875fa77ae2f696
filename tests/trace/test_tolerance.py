"""`d9m diff --tolerance` on recordings that were written by hand: the rule, and how it ends."""

from __future__ import annotations

import json
from collections.abc import Sequence
from pathlib import Path
from typing import Any

import pytest
from written import recordings

from process import d9m

TWO = '"float32[4, 4]","float32[4, 4]"'
SITES = f"""
["S",1,"aten::mm","","fwd","","Net.up",["train.py",6,"forward"],[{TWO}],"cpu"]
["S",2,"aten::relu","","fwd","","Net.act",["train.py",7,"forward"],["float32[4, 4]"],"cpu"]
["S",3,"aten::sub","","fwd","","Net",["train.py",8,"forward"],[{TWO}],"cpu"]
["S",4,"aten::gt","","fwd","","Net",["train.py",9,"forward"],["float32[4, 4]"],"cpu"]
["S",5,"aten::addmm","","fwd","","Net.half",["train.py",5,"forward"],["float32[4, 4]"],"cpu"]
["S",6,"aten::addmm","","fwd","","Net.half",["train.py",5,"forward"],["bfloat16[4, 4]"],"cpu"]
"""


def z(digest: str, values: Sequence[float | None], about: str = "float32[4, 4]") -> str:
    """The record of a tensor whose elements these are."""
    known = [value for value in values if value is not None]
    norm, mean = sum(value * value for value in known) ** 0.5, sum(known) / max(1, len(known))
    odd = [len(values) - len(known), 0, 0]
    most = max(map(abs, known), default=0.0)
    return json.dumps(["z", digest, about, len(values), norm, most, mean, odd, values])


def tensor(digest: str, by: float = 0.0, size: float = 1.0) -> str:
    return z(digest, [size * (1 + place / 16) * (1 + by) for place in range(16)])


def diff(path: Path, text: str, **header: object) -> tuple[int, dict[str, Any], str]:
    a, b = recordings(path, text, **{"samples": True, **header})
    done = d9m("diff", str(a), str(b), "--tolerance", "--format", "json")
    assert done.stderr == ""
    shown = d9m("diff", str(a), str(b), "--tolerance")
    assert shown.returncode == done.returncode
    return done.returncode, json.loads(done.stdout)["tolerance"], shown.stdout


def product(by: float) -> str:
    """A product of equal matrices, `by` apart."""
    return f"""{SITES}
    {tensor("aa")}
    A {tensor("c1")}
    B {tensor("c2", by)}
    A ["o",1,"",["aa.1","aa.1"],["c1.2"]]
    B ["o",1,"",["aa.1","aa.1"],["c2.2"]]
    ["d",0,{{}}]
    """


@pytest.mark.parametrize(("by", "code"), [(2e-7, 0), (1e-6, 0), (1e-4, 1), (1e-2, 1)])
def test_an_op_is_above_rounding_where_it_differs_by_more(
    tmp_path: Path, by: float, code: int
) -> None:
    ended, found, shown = diff(tmp_path, product(by))
    assert ended == code
    assert found["verdict"] == ("above" if code else "rounding")
    assert ("Above rounding since step 0. mm " in shown) == bool(code)
    assert ("Within rounding" in shown) != bool(code)
    assert found["modules"][0]["module"] == "Net.up"
    assert by / 5 < found["modules"][0]["samples"] <= by


def test_equal_digests_are_called_identical(tmp_path: Path) -> None:
    code, found, shown = diff(tmp_path, f'{SITES}\n{tensor("aa")}\n["o",2,"",["aa.1"],["aa.2"]]')
    assert (code, found["verdict"]) == (0, "equal")
    assert "Bitwise identical" in shown


def test_recordings_without_samples_end_with_3_and_how_to_record_them(tmp_path: Path) -> None:
    code, found, shown = diff(tmp_path, product(1e-2), samples=False)
    assert (code, found["verdict"]) == (3, "unknown")
    assert "d9m trace --samples" in " ".join(shown.split())


def test_other_frameworks_have_no_samples(tmp_path: Path) -> None:
    code, found, _shown = diff(tmp_path, product(1e-2), packages={"jax": "0.10.0"})
    assert (code, found["why"]) == (3, "samples are recorded of PyTorch programs only")


def test_cancellation_is_no_fault(tmp_path: Path) -> None:
    text = f"""{SITES}
    {tensor("aa")}
    A {tensor("b1", 1e-7)}
    B {tensor("b2", 2e-7)}
    A {tensor("c1", size=1e-7)}
    B {tensor("c2", size=2e-7)}
    A ["o",2,"",["aa.1"],["b1.2"]]
    B ["o",2,"",["aa.1"],["b2.2"]]
    A ["o",3,"",["aa.1","b1.2"],["c1.3"]]
    B ["o",3,"",["aa.1","b2.2"],["c2.3"]]
    """
    code, found, _shown = diff(tmp_path, text)
    assert (code, found["verdict"]) == (0, "rounding")


def test_a_comparison_may_turn_out_differently_after_rounding(tmp_path: Path) -> None:
    text = f"""{SITES}
    {tensor("aa")}
    A {tensor("b1", 1e-7)}
    B {tensor("b2", 2e-7)}
    A {z("c1", [0.0] * 16, "bool[4, 4]")}
    B {z("c2", [1.0] + [0.0] * 15, "bool[4, 4]")}
    A ["o",2,"",["aa.1"],["b1.2"]]
    B ["o",2,"",["aa.1"],["b2.2"]]
    A ["o",4,"",["b1.2"],["c1.3"]]
    B ["o",4,"",["b2.2"],["c2.3"]]
    """
    assert diff(tmp_path / "follows", text)[0] == 0
    begins = text.replace('"b2.2"],["c2', '"b1.2"],["c2').replace('["b2.2"]]', '["b1.2"]]')
    assert diff(tmp_path / "begins", begins)[0] == 1


def test_nan_in_one_run_is_named(tmp_path: Path) -> None:
    text = product(0.0).replace(tensor("c2", 0.0), z("c2", [None] * 2 + [1.0] * 14))
    code, found, shown = diff(tmp_path, text)
    assert (code, found["first"]["a"], found["first"]["b"]) == (1, "0 of 16", "2 of 16")
    assert "NaN" in shown


def test_values_from_outside_that_differ_are_no_rounding(tmp_path: Path) -> None:
    text = f"""{SITES}
    A {tensor("a1")}
    B {tensor("a2", 0.1)}
    A ["o",2,"",["a1n1"],["a1.2"]]
    B ["o",2,"",["a2n1"],["a2.2"]]
    """
    code, found, _shown = diff(tmp_path, text)
    assert (code, found["first"]["kind"]) == (1, "outside-value")


def other_ops(by: float, site: int, values: int = 16) -> str:
    """The runs call another op each, and then the same one on what came of it."""
    shape = "float32[4, 4]" if values == 16 else "float32[2]"
    return f"""{SITES}
    {tensor("aa")}
    A {tensor("c1")}
    B {tensor("c2", by) if values == 16 else z("c2", [1.0] * values, shape)}
    A ["o",5,"",["aa.1"],["c1.2"]]
    B ["o",{site},"",["aa.1"],["c2.2"]]
    A ["o",2,"",["c1.2"],["c1.3"]]
    B ["o",2,"",["c2.2"],["c2.3"]]
    ["d",0,{{}}]
    """


def test_another_dtype_is_named_where_the_ops_differ(tmp_path: Path) -> None:
    code, found, shown = diff(tmp_path, other_ops(3e-3, 6))
    assert (code, found["first"]["argument"], found["first"]["a"]) == (1, "bfloat16", "B")
    assert "Only run B computes in bfloat16." in shown
    assert found["first"]["module"] == "Net.half"


@pytest.mark.parametrize(("by", "code"), [(1e-6, 0), (3e-3, 1)])
def test_other_ops_are_judged_by_what_comes_of_them(tmp_path: Path, by: float, code: int) -> None:
    ended, found, _shown = diff(tmp_path, other_ops(by, 2))
    assert ended == code
    assert [found["first"]["kind"]] == ["structure"] if code else found["first"] is None


def test_tensors_of_different_shapes_are_not_compared(tmp_path: Path) -> None:
    code, found, _shown = diff(tmp_path, other_ops(0.0, 2, values=2))
    assert (code, found["verdict"]) == (3, "unknown")
    assert "different shapes" in found["why"]


def test_what_was_cut_short_is_not_within_rounding(tmp_path: Path) -> None:
    code, found, shown = diff(tmp_path, product(2e-7) + "\nB killed")
    assert (code, found["verdict"]) == (3, "unknown")
    assert "killed" in shown


def test_versions_of_packages_come_first(tmp_path: Path) -> None:
    for version in ("2.12.0", "2.13.0"):
        packages = {"torch": version}
        recordings(tmp_path / version, product(1e-2), samples=True, packages=packages)
    done = d9m(
        "diff", str(tmp_path / "2.12.0" / "A"), str(tmp_path / "2.13.0" / "B"), "--tolerance"
    )
    assert done.returncode == 1
    assert done.stdout.startswith("The packages differ: torch 2.12.0 and 2.13.0.")


@pytest.mark.parametrize(
    ("words", "said"),
    [
        (["trace", "--samples", "--level", "step", "--", "python"], "--samples records ops"),
        (["trace", "--keep", "encoder", "--", "python"], "name both"),
        (["diff", "a", "b", "--tolerance", "--format", "html"], "text or json"),
    ],
)
def test_options_that_do_not_fit_are_refused(words: list[str], said: str) -> None:
    done = d9m(*words)
    assert done.returncode == 2
    assert said in done.stderr
