"""The page of an image says what the resolver says of it."""

from __future__ import annotations

import functools
import itertools
import random
import re

import pytest
from site_build import built, generator, real

from d9m.api import advise
from d9m.environment.environment import Setup
from d9m.errors import UsageError
from d9m.model.advice import OpAnswer

IMAGES = [name for name in real().packages if real().packages[name].image and real().releases(name)]
"""Packages that are images of which releases are listed."""


@functools.cache
def chosen() -> list[tuple[str, str]]:
    """The first and the newest image of each kind, and some between."""
    dice = random.Random(20)
    every = {name: real().releases(name) for name in IMAGES}
    return [
        (name, each)
        for name, all_ in every.items()
        for each in {all_[0], all_[-1], *dice.sample(all_, 4)}
    ]


@functools.cache
def made() -> dict[str, str]:
    """The pages of all images."""
    generator()
    from pages import containers

    return dict(containers.pages(real()))


def page(package: str, release: str) -> str:
    from pages.containers import path

    return made()[path(real(), package, release)]


def section(text: str, head: str) -> str:
    """A part of a page, from its heading to the next one; empty where it has none."""
    return text.partition(f"\n## {head}")[2].partition("\n## ")[0]


@pytest.mark.parametrize("package", IMAGES)
def test_every_image_has_a_page_that_is_found_by_its_full_name(package: str) -> None:
    made()
    from pages.containers import path

    for release in real().releases(package):
        title = page(package, release).split('title: "')[1].partition('"')[0]
        answered = advise(
            real(),
            Setup((), title),
            ["tf.nn.bias_add" if "tensorflow" in title else "torch.cumsum"],
        )
        assert answered.environment.packages[package] == release
        assert title.startswith(f"nvcr.io/{real().packages[package].repository}:")
        assert path(real(), package, release).removesuffix(".md").endswith(title.rpartition(":")[2])


@pytest.mark.parametrize("package", IMAGES)
def test_the_page_of_the_package_leads_to_every_image(package: str) -> None:
    generator()
    from pages import versions
    from pages.containers import path

    releases = dict(versions.pages(real()))[f"versions/{package}.md"]
    index = made()["containers/index.md"]
    for release in real().releases(package):
        address = path(real(), package, release)
        assert f"(../{address})" in releases
        assert f"({address.removeprefix('containers/')})" in index


def test_a_page_tells_what_the_image_ships() -> None:
    for package, release in chosen():
        shipped = section(page(package, release), "What it ships")
        for name, version in real().packages[package].releases[release].with_.items():
            assert f"[{name}](../../versions/{name}.md) | {version} |" in shipped


def test_an_undocumented_part_is_given_as_the_images_around_it_have_it() -> None:
    """20.06 holds CUDA 11.0.167 and 20.10 holds 11.1.0; of the images between them nobody wrote it
    (tests/facts).
    """
    shipped = section(page("ngc-tensorflow-tf2", "20.08"), "What it ships")
    assert "| 11.0.167 to 11.1.0, going by the images around it |" in shipped


def test_a_page_tells_what_to_set_and_what_that_leaves() -> None:
    for package, release in chosen():
        text = page(package, release)
        asked = text.split("d9m advise --container ")[1].partition("\n")[0]
        advice = advise(real(), Setup((), asked))
        wanted = section(text, "What to set")
        for step in advice.steps:
            assert step.name in wanted or (step.text or "").splitlines()[0] in wanted
        for head, outcomes in (
            ("Ops without a fix", ("unsolved", "raises")),
            ("Ops not verified", ("unknown",)),
        ):
            wanted = {op.query for op in advice.ops if op.outcome in outcomes} - {"*"}
            assert (f"## {head}" in text) == bool(wanted), (package, release)
            left = section(text, head) if wanted else ""
            found = {op.query for op in advice.ops if f"`{op.query}`" in left}
            assert found == wanted, (package, release)


@pytest.mark.parametrize("path", ["containers/ngc-pytorch/24.12-py3", "releases/torch/2.6"])
def test_what_depends_on_the_call_is_not_among_what_nothing_solves(path: str) -> None:
    """cross_entropy raises for inputs of three dimensions and more, and repeats for others."""
    html = (built() / path / "index.html").read_text("utf-8")
    sections = {part.partition('"')[0]: part for part in re.split(r"<h2 [^>]*id=\"", html)[1:]}
    op = "cross_<wbr>entropy<"
    assert op in sections["ops-that-depend-on-their-arguments"]
    assert op not in sections["ops-without-a-fix"]


def test_contents_that_are_not_verified_are_marked() -> None:
    doubted = 0
    for package in IMAGES:
        for release in real().releases(package):
            known = real().packages[package].releases[release]
            missing = real().packages[package].stock not in known.with_
            boxed = "!!! question" in section(page(package, release), "What it ships")
            assert boxed == (missing or known.confidence != "confirmed"), (package, release)
            doubted += boxed
    assert doubted


@pytest.mark.parametrize("package", IMAGES)
def test_what_changed_since_the_image_before_is_what_the_two_answers_differ_in(
    package: str,
) -> None:
    generator()
    from pages.containers import answer

    changes = 0
    for earlier, later in itertools.pairwise(real().releases(package)):
        head, told = section(page(package, later), "Since ").split("\n", 1)
        assert head.startswith(f"{earlier}-")
        plain = told.replace("<wbr>", "").replace("\\", "")
        named = set(re.findall(r"\[(?:<code>|`)(.*?)(?:</code>|`)\]", plain))
        before, after = (
            {op.query: _shown(op) for op in answer(real(), package, each).ops if op.sources}
            for each in (earlier, later)
        )
        for op in {*before, *after} - {"*"}:
            differs = before.get(op) != after.get(op)
            assert (op in named) == differs, (later, op)
            changes += differs
    assert changes


def test_a_call_whose_answer_changed_is_named_where_its_op_is_answered_as_before() -> None:
    """23.04 ships a PyTorch after pull request 101115: bilinear interpolation."""
    told = section(page("ngc-pytorch", "23.04"), "Since ")
    assert "mode=bilinear" in told.replace("<wbr>", "")


def _shown(op: OpAnswer) -> tuple[object, ...]:
    """What has a part in an answer: settings where they solve it, conditions where they decide."""
    if op.outcome == "solved":
        return op.outcome, op.solutions
    depending = [source for source in op.sources if op.outcome == source.outcome == "depends"]
    decides = {(each.outcome, str(each.when)) for one in depending for each in one.possible}
    return op.outcome, decides


def test_there_is_no_page_of_an_image_that_was_never_released() -> None:
    for package in IMAGES:
        for release in real().packages[package].never_released:
            with pytest.raises(UsageError):
                advise(real(), Setup((), f"{real().packages[package].image}:{release}"))
            assert not [path for path in made() if release in path]
