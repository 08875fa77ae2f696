"""Images whose tags say what they hold."""

from __future__ import annotations

import pytest

from d9m.environment.environment import Environment, Setup, describe
from d9m.errors import UsageError
from golden import knowledge_base


def inside(reference: str, device: str | None = None) -> Environment:
    return describe(knowledge_base(), Setup(container=reference, device=device))


@pytest.mark.parametrize(
    ("reference", "packages"),
    [
        (
            "pytorch/pytorch:2.4.0-cuda12.4-cudnn9-runtime",
            {"torch": "2.4.0", "cuda": "12.4", "cudnn": "9.1.0.70"},
        ),
        (
            "docker.io/pytorch/pytorch:2.2.2-cuda12.1-cudnn8-devel",
            {"torch": "2.2.2", "cuda": "12.1"},
        ),
        (
            "pytorch/pytorch:1.0-cuda10.0-cudnn7-devel",
            {"torch": "1.0", "cuda": "10.0", "cudnn": "7"},
        ),
        ("tensorflow/tensorflow:2.16.1-gpu", {"tensorflow": "2.16.1"}),
        ("tensorflow/tensorflow:1.15.0-gpu-py3-jupyter", {"tensorflow": "1.15.0"}),
        ("vllm/vllm-openai:v0.11.0", {"vllm": "0.11.0"}),
    ],
)
def test_a_tag_says_what_is_inside(reference: str, packages: dict[str, str]) -> None:
    environment = inside(reference)
    assert environment.image is not None
    assert environment.image.reference == reference
    assert environment.device == "cuda"
    assert (
        packages.items()
        <= {name: package.version for name, package in environment.packages.items()}.items()
    )


def test_the_newest_release_is_what_latest_holds() -> None:
    newest = knowledge_base().releases("tensorflow")[-1]
    assert inside("tensorflow/tensorflow:latest-gpu").packages["tensorflow"].version == newest


def test_an_image_for_the_cpu_is_about_the_cpu_unless_the_user_says_otherwise() -> None:
    assert inside("tensorflow/tensorflow:2.16.1").device == "cpu"
    assert inside("tensorflow/tensorflow:2.16.1", "cuda").device == "cuda"


@pytest.mark.parametrize(
    ("reference", "says"),
    [
        ("pytorch/pytorch:2.4.7-cuda12.4-cudnn9-runtime", r"torch '2\.4\.7' was never released"),
        ("pytorch/pytorch:nightly-foo", "is not a tag that d9m can read"),
        ("pytorch/pytorch", "has no tag"),
    ],
)
def test_a_tag_that_never_was_is_refused(reference: str, says: str) -> None:
    with pytest.raises(UsageError, match=says):
        inside(reference)
