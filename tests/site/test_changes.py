"""Release pages, feeds, upgrade pages and `advise --diff` name the same changes."""

from __future__ import annotations

import itertools
import os
import re
from typing import Any

import pytest
from browser import opened
from site_build import SITE, built, generator, real

from d9m.api import advise
from d9m.browse.changes import compare, deciding_calls
from d9m.environment.environment import Setup

FRAMEWORKS = ("torch", "tensorflow", "jax")
NIGHTLY = os.environ.get("D9M_TEST_NIGHTLY") == "1"


def pairs(package: str) -> list[tuple[str, str]]:
    generator()
    from pages import grid

    every = [(each.name, each.newest) for each in grid.lines(real(), package)]
    return [(one[1], two[1]) for one, two in itertools.pairwise(every)]


SAMPLE = (("torch", "2.8", "2.9"), ("torch", "2.0", "2.1"), ("tensorflow", "2.6.5", "2.7.4"))


def neighbours() -> list[Any]:
    if not NIGHTLY:
        return list(SAMPLE)
    return [(name, *each) for name in FRAMEWORKS for each in pairs(name)]


def calls(ops: tuple[str, ...]) -> set[str]:
    """The calls that a page names as ``op(mode=a or mode=b)``."""
    found: set[str] = set()
    for op in ops:
        name, bracket, arguments = op.removesuffix(")").partition("(")
        found |= {f"{name}[{each}]" for each in arguments.split(" or ")} if bracket else {name}
    return found


def on_the_page(package: str, before: str, after: str) -> set[str]:
    generator()
    from pages import grid, releases

    lines = {each.name: each for each in grid.lines(real(), package)}
    by_release = {release: each for each in lines.values() for release in each.releases}
    sides = [lines.get(each) or by_release[each] for each in (before, after)]
    found = releases.changes(real(), package, *sides)
    return {call for each in found for call in calls(each.ops)}


def on_the_command_line(package: str, before: str, after: str) -> set[str]:
    setup = Setup(packages=((package, None),))
    change = compare(real(), setup, None, f"{before}..{after}", "run")
    return {op.query for op in change.ops if op.query != "*"}


@pytest.mark.parametrize(("package", "before", "after"), neighbours())
def test_a_release_page_names_the_changes_of_the_command_line(
    package: str, before: str, after: str
) -> None:
    assert on_the_page(package, before, after) == on_the_command_line(package, before, after)


def test_an_argument_variant_is_a_change() -> None:
    trilinear = {"torch.nn.functional.interpolate[mode=trilinear]"}
    assert on_the_command_line("torch", "2.8", "2.9") == trilinear
    assert on_the_page("torch", "2.8", "2.9") == trilinear
    feed = (built() / "feeds/torch.xml").read_text(encoding="utf-8")
    entry = feed.partition("<title>PyTorch 2.9</title>")[2].partition("</entry>")[0]
    assert "interpolate(mode=trilinear)" in entry


@pytest.mark.parametrize(("package", "before", "after"), neighbours())
def test_a_comparison_is_the_difference_of_two_answers(
    package: str, before: str, after: str
) -> None:
    """Asked for one by one, every named call differs, and every other is as before."""
    sides = [Setup(packages=((package, version),)) for version in (before, after)]
    ops = [{op.query: op for op in advise(real(), side).ops} for side in sides]
    wanted = {call for side in ops for op in side.values() for call in deciding_calls(op)}
    both = [call for call in sorted(wanted) if all(call.partition("[")[0] in side for side in ops)]
    called = [{op.query: op for op in advise(real(), side, both).ops} for side in sides]
    named = on_the_command_line(package, before, after)
    for one, two in (ops, called):
        for query in one.keys() & two.keys() - {"*"}:
            same = one[query].outcome == two[query].outcome and (
                one[query].outcome != "solved" or one[query].solutions == two[query].solutions
            )
            plain = query.partition("[")[0]
            if query in named or plain in named:
                continue
            assert same or one[query].outcome == two[query].outcome == "depends", query


def test_an_upgrade_page_names_the_changes_of_the_release_page() -> None:
    page = opened("upgrade/torch/?from=2.8&to=2.9")
    errors: list[str] = []
    page.on("pageerror", lambda error: errors.append(str(error)))
    page.on("console", lambda each: errors.append(each.text) if each.type == "error" else None)
    page.reload()
    for before, after in pairs("torch") if NIGHTLY else (("2.8", "2.9"), ("2.0", "2.1")):
        one, two = (re.sub(r"^(\d+\.\d+).*", r"\1", each) for each in (before, after))
        page.select_option("[name=from]", one)
        page.select_option("[name=to]", two)
        shown = page.locator(".d9m-upgraded tbody td:first-child").all_inner_texts()
        assert calls(tuple(shown)) == on_the_page("torch", before, after), (before, after)
        assert page.locator(".d9m-command code").inner_text().endswith(f"--diff {one}..{two}")
    assert not errors
    page.close()


def test_at_most_five_names_are_suggested() -> None:
    page = opened("")
    field = page.locator("[role=combobox][name=ops], .d9m-advisor [role=combobox]").first
    field.click()
    field.press_sequentially("index_add,cum", delay=20)
    options = page.locator(".d9m-advisor [role=option]")
    options.first.wait_for()
    assert 1 < options.count() <= 5
    page.close()


def test_the_recipe_begins_with_pytorch_and_ends_with_tensorflow_1() -> None:
    text = (SITE / "docs/recipe.md").read_text(encoding="utf-8")
    heads = re.findall(r"(?m)^## (.+)$", text)
    assert (heads[:3], heads[-1]) == (["PyTorch", "JAX", "TensorFlow 2"], "TensorFlow 1")
