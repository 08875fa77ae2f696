"""Whoever pastes an error message, an op, a call or an image into the search box gets the page that
answers.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

import pytest
from browser import opened
from search_questions import CUBLAS, INDEX_ADD, OURS, READERS
from site_build import real

from d9m.model.versions import minor

if TYPE_CHECKING:
    from playwright.sync_api import Locator, Page

WANTED = {
    INDEX_ADD: "errors/pytorch/index-add-cuda/",
    (
        "RuntimeError: cumsum_cuda_kernel does not have a deterministic implementation"
    ): "errors/pytorch/cumsum/",
    CUBLAS: "errors/pytorch/cublas-config/",
    (
        "A deterministic GPU implementation of DepthwiseConvBackpropFilter is not currently "
        "available."
    ): ("errors/tensorflow/depthwise-conv/"),
    (
        "Random ops require a seed to be set when determinism is enabled."
    ): "errors/tensorflow/random-seed/",
    "nvcr.io/nvidia/tensorflow:20.03-tf2-py3": "containers/ngc-tensorflow/20.03-tf2-py3/",
    "ngc-pytorch:24.12": "containers/ngc-pytorch/24.12-py3/",
    "pl.seed_everything": "helpers/lightning/seed-everything",
    "TF_DETERMINISTIC_OPS": "settings/tensorflow/tf-deterministic-ops/",
    "CUBLAS_WORKSPACE_CONFIG": "settings/pytorch/cublas-workspace-config/",
    "PyTorch 2.6": "releases/torch/2.6/",
    "torch 2.4.1": "releases/torch/2.4/",
    "tensorflow 2.9": "releases/tensorflow/2.9/",
    "jax 0.4.30": "releases/jax/0.4/",
    "tf.nn.bias_add": "sources/tensorflow/bias-add/",
    "torch.cumsum": "sources/pytorch/cumsum/",
}
"""What is typed -> a page that must be among the first three, and for a message the first."""


ASKED = {
    "random results lstm": "sources/pytorch/cudnn-rnn/",
    "temperature 0 not deterministic": "symptoms/temperature-zero/",
    "is bilinear interpolate deterministic in 2.1": "sources/pytorch/interpolate-bilinear-backward",
    "install": "install/",
    "rss feed": "reference/data/",
    "different results every run with the same seed": (
        "symptoms/all-seeds-set/",
        "symptoms/runs-differ/",
    ),
    "why does training differ between two runs": "symptoms/runs-differ/",
    "what is determinism": "why/",
    "flash attention 2 backward": (
        "solutions/flash-attn/deterministic/",
        "sources/flash-attn/attention-backward/",
    ),
    "seed dataloader workers": "ingredients/data-loader-workers/",
    "horovod different results": ("sources/horovod/tensor-fusion/", "symptoms/tensor-fusion/"),
    "tf.data order of examples": "sources/clara/data-workers/",
    "how do I set CUBLAS_WORKSPACE_CONFIG": "settings/pytorch/cublas-workspace-config/",
    "upgrade pytorch": "upgrade/torch/",
    "compare pytorch and tensorflow": "compare/",
    "batch size changes the result": "symptoms/other-batch-size/",
    "cudnn benchmark": "settings/pytorch/torch-backends-cudnn-benchmark/",
    "jax deterministic on gpu": "symptoms/jax-on-a-gpu/",
    "json api": "reference/data/",
    "has this been measured on a gpu": "about/",
    "resume from checkpoint gives other loss": "symptoms/resume-differs/",
    "index_add different results on gpu": ("errors/pytorch/index-add", "sources/pytorch/index-add"),
    "scatter_add nondeterministic backward": (
        "errors/pytorch/scatter-add",
        "sources/pytorch/scatter-add",
    ),
    "max_pool3d nondeterministic": "errors/pytorch/max-pool3d/",
    "is grid_sample backward deterministic": "sources/pytorch/grid-sample-backward/",
    "why is my loss different on A100 and V100": "symptoms/differs-between-machines/",
    "embedding backward": "sources/pytorch/embedding-backward/",
    "set seed in lightning": "helpers/lightning/seed-everything/",
    "nccl all reduce order": (
        "sources/nccl/algorithm-choice/",
        "sources/megatron/all-reduce-algorithm/",
    ),
    "huggingface trainer reproducible": (
        "ingredients/transformers-trainer/",
        "helpers/transformers/enable-full-determinism/",
    ),
}
"""What people ask in their own words -> a page, or one of two, that must be among the first
three.
"""


TYPED = {
    "does not have a deterministic implementation, but you set": "errors/",
    "CUBLAS_WORKSPACE_CONFIG": "CUBLAS_WORKSPACE_CONFIG",
    "bias_add": "bias",
    "scatter_add_": "scatter",
}
"""What is typed letter by letter -> what an address or a title among the first three has."""


@pytest.fixture(scope="module")
def page() -> Page:
    """One window for all: the search reads its index, megabytes of it, once."""
    opened_page = opened()
    opened_page.locator(".md-search__input").click()  # the index comes when somebody asks
    return opened_page


def _emptied(page: Page, box: Locator) -> None:
    box.fill("")
    box.press("End")
    results(page).first.wait_for(state="detached", timeout=120_000)


def results(page: Page) -> Locator:
    return page.locator(".md-search-result__item > a.md-search-result__link")


@pytest.fixture
def box(page: Page) -> Locator:
    """The search box, emptied."""
    found = page.locator(".md-search__input")
    found.fill("")
    found.press("End")  # the theme listens to keys
    # What was typed letter by letter before is searched first.
    results(page).first.wait_for(state="detached", timeout=120_000)
    return found


@pytest.mark.parametrize(("typed", "wanted"), TYPED.items())
def test_the_search_box_finds_what_people_type(
    page: Page, box: Locator, typed: str, wanted: str
) -> None:
    box.click()
    box.press_sequentially(typed, delay=5)
    results(page).first.wait_for(timeout=20_000)
    page.wait_for_timeout(500)
    links: list[str] = results(page).evaluate_all(
        "links => links.slice(0, 3).map((link) => link.getAttribute('href') + ' ' + "
        "link.textContent)"
    )
    assert any(wanted.lower() in each.lower() for each in links), links


@pytest.mark.parametrize("asked", ASKED)
def test_a_question_finds_the_page_that_answers(page: Page, box: Locator, asked: str) -> None:
    first = found(page, box, asked)[:3]
    assert any(each.startswith(ASKED[asked]) for each in first), first


def test_words_that_tell_nothing_do_not_hide_the_page_that_answers(
    page: Page, box: Locator
) -> None:
    """A page with "everything" in its title is not about every run."""
    asked = "different results every run with the same seed"
    first = found(page, box, asked)[0]
    assert first.startswith(ASKED[asked]), first


def found(page: Page, box: Locator, asked: str) -> list[str]:
    """Pages by their places in the list of results."""
    box.fill(asked)
    box.press("End")
    results(page).first.wait_for(timeout=20_000)
    page.wait_for_timeout(300)
    addresses: list[str] = results(page).evaluate_all(
        "all => all.map(each => new URL(each.href).pathname)"
    )
    return [each.removeprefix("/d9m/") for each in dict.fromkeys(addresses)]


@pytest.mark.parametrize("asked", [READERS, OURS], ids=["readers", "ours"])
def test_the_right_page_is_first_for_most_questions(
    page: Page, box: Locator, asked: dict[str, tuple[str, ...]]
) -> None:
    places: dict[str, int] = {}
    for question, wanted in asked.items():
        _emptied(page, box)
        pages = found(page, box, question)
        right = (place for place, each in enumerate(pages) if each.startswith(wanted))
        places[question] = next(right, 99)
    late = {question: place for question, place in places.items() if place}
    assert len(late) <= 0.2 * len(asked), late
    assert sum(place > 2 for place in late.values()) <= 0.05 * len(asked), late


def test_a_result_shows_what_its_page_says_first(page: Page, box: Locator) -> None:
    found(page, box, "cumsum")
    shown = page.locator(".md-search-result__item > a[href*='/sources/pytorch/cumsum/']").first
    said = opened("sources/pytorch/cumsum/")
    outcome = said.locator(".admonition p:not(.admonition-title)").first.inner_text()
    said.close()
    assert outcome.partition(".")[0] in shown.inner_text()


def test_threads_of_other_projects_come_after_pages_that_answer(page: Page, box: Locator) -> None:
    for asked in ("cumsum", "is index_add deterministic", "deterministic interpolate"):
        _emptied(page, box)
        pages = found(page, box, asked)[:8]
        assert not [each for each in pages if each.startswith(("pull-requests/", "issues/"))]


def test_a_link_can_search_the_symptoms_alone() -> None:
    page = opened("?q=all%20seeds%20set%2C%20still%20different%20results&in=symptoms")
    results(page).first.wait_for(timeout=60_000)
    addresses: list[str] = results(page).evaluate_all("all => all.map(each => each.pathname)")
    page.close()
    assert addresses[0] == "/d9m/symptoms/all-seeds-set/"
    assert all(each.startswith("/d9m/symptoms/") for each in addresses)


@pytest.mark.parametrize("typed", WANTED, ids=lambda typed: typed[:40])
def test_a_search_finds_the_page_that_answers(page: Page, box: Locator, typed: str) -> None:
    box.fill(typed)
    box.press("End")
    results(page).first.wait_for()
    page.wait_for_load_state("networkidle")
    addresses: list[str] = results(page).evaluate_all(
        "all => all.map(each => new URL(each.href).pathname)"
    )
    first = [each.removeprefix("/d9m/") for each in dict.fromkeys(addresses)][
        : 1 if "errors/" in WANTED[typed] else 3
    ]
    assert any(each.startswith(WANTED[typed]) for each in first), first


def test_every_line_of_releases_is_found(page: Page, box: Locator) -> None:
    """By number: an index full of releases once made lunr fail for some of them."""
    from playwright.sync_api import Error

    lines = [
        (title, package, line)
        for package, title in (("torch", "PyTorch"), ("tensorflow", "TensorFlow"))
        for line in dict.fromkeys(map(minor, real().releases(package)))
    ]
    missing: list[str] = []
    for title, package, line in lines:
        box.fill("")
        box.press("End")
        results(page).first.wait_for(state="detached")
        box.fill(f"{title} {line}")
        box.press("End")
        wanted = results(page).locator(
            f"xpath=self::*[contains(@href, '/releases/{package}/{line}/')]"
        )
        try:
            wanted.first.wait_for()
        except Error:
            missing.append(f"{title} {line}")
            continue
        shown: list[str] = results(page).evaluate_all("all => all.map(each => each.href)")
        pages = list(dict.fromkeys(each.partition("?")[0] for each in shown))
        place = next(at for at, each in enumerate(pages) if f"/{package}/{line}/" in each)
        if place > 3:
            missing.append(f"{title} {line}: at {place}")
    assert len(lines) > 25
    assert not missing
