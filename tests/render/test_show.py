"""Every record as `d9m show` prints it: in words, and no wider than the page."""

from __future__ import annotations

import re
from typing import Any

import pytest

from d9m.browse.show import KINDS, show
from d9m.kb.kinds import ERRORS, PACKAGES, SETTINGS, SOLUTIONS, SOURCES, RecordKind
from d9m.render.browse.show import render
from golden import knowledge_base

LONG = [ERRORS, SOLUTIONS, SETTINGS, PACKAGES, SOURCES]
"""Kinds of records whose pages are long."""
WIDTHS = [40, 80, 120]

STRUCTURE = re.compile(r"^\w[\w ]*: (?:True|False)$", re.MULTILINE)
"""A field that is printed as Python holds it."""


def pages(kind: RecordKind[Any], width: int) -> dict[str, str]:
    kb = knowledge_base()
    return {key: render(kb, show(kb, [key]), width).plain() for key in kb.of(kind)}


@pytest.mark.parametrize("kind", KINDS, ids=lambda kind: kind.name)
def test_a_record_is_shown_in_words(kind: RecordKind[Any]) -> None:
    found = pages(kind, 80)
    assert [key for key, text in found.items() if STRUCTURE.search(text)] == []


@pytest.mark.parametrize("width", WIDTHS)
@pytest.mark.parametrize("kind", LONG, ids=lambda kind: kind.name)
def test_a_page_is_no_wider_than_asked(kind: RecordKind[Any], width: int) -> None:
    limit = max(60, min(width, 120))
    for key, text in pages(kind, width).items():
        wide = [line for line in text.splitlines() if len(line) > limit]
        prose = [line for line in wide if len(line.split()) > 1 and not line.startswith("  ")]
        assert prose == [], key


def test_what_is_to_copy_keeps_its_lines() -> None:
    kb = knowledge_base()
    text = render(kb, show(kb, ["confirm-it"]), 60).plain()
    examples = kb.ingredients["confirm-it"].examples
    assert len(examples) > 3
    for example in examples:
        assert "".join(f"  {line}".rstrip() + "\n" for line in example.code.splitlines()) in text


def test_a_solution_goes_by_its_real_name() -> None:
    kb = knowledge_base()
    first = render(kb, show(kb, ["UDA"])).plain().splitlines()[0]
    assert first.startswith("torch.use_deterministic_algorithms(True)")


def test_an_op_is_shown_once_and_its_other_names_in_a_line() -> None:
    kb = knowledge_base()
    text = render(kb, show(kb, ["cumsum"])).plain()
    assert text.count("cumsum on CUDA (pytorch/cumsum)") == 1
    same = "Same as torch.cumsum: torch.masked.cumsum."
    assert same in " ".join(text.split())
    assert "No known nondeterminism in jax.numpy.cumsum or tf.math.cumsum" in text


@pytest.mark.parametrize(
    ("ending", "first"),
    [
        ("use_deterministic_algorithms", "torch.use_deterministic_algorithms(True)  solution"),
        ("cudnn.benchmark", "torch.backends.cudnn.benchmark = False  solution"),
        ("seed_everything", "lightning/seed-everything  helper"),
        ("xla_gpu_deterministic_ops", "--xla_gpu_deterministic_ops  setting"),
        ("scatter-set", "jax/scatter-set  known difference"),
    ],
)
def test_a_setting_is_shown_by_the_end_of_its_name(ending: str, first: str) -> None:
    kb = knowledge_base()
    assert render(kb, show(kb, [ending])).plain().startswith(first)


def test_what_depends_on_the_batch_is_headed_so_and_comes_after_runs() -> None:
    """A table headed "run to run" would call a fixed batch nondeterministic."""
    kb = knowledge_base()
    page = render(kb, show(kb, ["tf.nn.conv2d"])).plain()
    assert page.index("run to run") < page.index("Predictions depend on the whole batch")
    assert "across batches" in page.partition("Predictions depend on the whole batch")[2]


def test_a_call_in_full_shows_that_call_alone() -> None:
    """Not the Trainer that switches determinism off, whose name is the same."""
    found = show(knowledge_base(), ["lightning.Trainer(deterministic=True)"]).found
    assert [shown.id for shown in found] == ["lightning/trainer-deterministic"]


def test_a_package_names_the_calls_that_make_settings() -> None:
    kb = knowledge_base()
    page = render(kb, show(kb, ["accelerate"])).plain()
    assert "accelerate.utils.set_seed(0, deterministic=True)" in page


def test_a_call_with_two_arguments_says_which_may_be_left_out() -> None:
    kb = knowledge_base()
    page = render(kb, show(kb, ["lightning/seed-everything-workers"])).plain()
    assert "Without the first argument, or None: the same with Lightning 2.2 or newer." in page
