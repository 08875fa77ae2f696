"""The verdict and the environment: the first lines of an advice."""

from __future__ import annotations

import pytest

from process import d9m


def first_lines(*options: str) -> str:
    text = d9m("advise", *options, "--allow-unknown").stdout
    return " ".join(text.partition("\n\n")[0].split())


@pytest.mark.parametrize(("release", "is_assumed"), [("2.1", False), ("2.2", True)])
def test_what_a_release_does_not_have_is_not_assumed_of_it(release: str, is_assumed: bool) -> None:
    lines = first_lines("--torch", release)
    assert "without torch.compile" in lines
    assert ("with fill_uninitialized_memory on" in lines) == is_assumed


def test_a_library_is_never_called_deterministic() -> None:
    lines = first_lines("--with", "xgboost=1.0.2", "--fact", "boosting_device=cuda")
    assert lines.startswith("XGBoost has 3 known sources of nondeterminism: 2 absent here and 1")
    assert "the rest of it is unreviewed" in lines


def test_a_cause_in_the_framework_of_named_ops_is_a_sentence() -> None:
    lines = first_lines("--torch", "2.4", "--ops", "index_add", "--fact", "compile=true")
    assert "PyTorch also has 1 known source of nondeterminism that no setting fixes. " in lines
    assert "unreviewed" not in lines


@pytest.mark.parametrize(
    "options", ["--torch 1.6", "--torch 2.6", "--tf 2.15", "--torch 2.6 --fact distributed=true"]
)
def test_the_verdict_alone_counts_the_settings_that_the_answer_lists(options: str) -> None:
    words = ("advise", *options.split(), "--device", "cuda")
    listed = d9m(*words).stdout.partition("\nShell, ")[2].partition("\n\n  ✗")[0]
    lines = [line.strip() for line in listed.partition("\nNotes")[0].splitlines()]
    others = ("#", "import ", "before ", "Top of")
    count = sum(line != "" and not line.startswith(others) for line in lines)
    assert count > 3
    assert f"with {count} settings" in d9m(*words, "-q").stdout


@pytest.mark.parametrize(
    ("options", "is_assumed"),
    [
        ("--container pytorch/pytorch:latest", True),
        ("--container tensorflow/tensorflow:latest-gpu", True),
        ("--container vllm/vllm-openai:latest", True),
        ("--container pytorch/pytorch:2.4.1-cuda12.1-cudnn9-runtime", False),
        ("--torch latest", False),
    ],
)
def test_a_tag_that_names_no_release_is_assumed_to_mean_the_newest(
    options: str, is_assumed: bool
) -> None:
    assert ("(assumed: the tag names no release)" in first_lines(*options.split())) == is_assumed
