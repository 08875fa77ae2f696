"""What files list, in every form that people have."""

from __future__ import annotations

import re
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from d9m.environment.environment import Environment, Setup, describe
from d9m.environment.package_files import ListedPackages, merged, read, requirement, with_file
from d9m.errors import DataError, UsageError
from golden import knowledge_base
from growth import LINEAR, growth

REQUIREMENTS = """\
# what we train with
torch==2.4.0+cu121
transformers[torch] >=4.40, <5 ; python_version > "3.8"
lightning
flash-attn @ https://example.org/flash_attn-2.6.3%2Bcu123torch2.4-cp310-cp310-linux_x86_64.whl
nvidia-cudnn-cu12==9.1.0.70 \\
    --hash=sha256:0123
-e git+https://github.com/some/thing.git#egg=thing
--extra-index-url https://download.pytorch.org/whl/cu121
"""

CONDA = """\
name: training
channels: [pytorch, conda-forge]
dependencies:
  - python=3.10
  - pytorch::pytorch=2.4.0=py3.10_cuda12.1_cudnn9.1.0_0
  - pytorch-cuda=12.1.*
  - pip:
      - lightning==2.4.0
prefix: /opt/conda
"""

DOCKERFILE = """\
ARG TAG=23.12-py3
# the base
FROM nvcr.io/nvidia/pytorch:${TAG} AS base
RUN apt-get update && pip install --no-cache-dir "transformers==4.40.0" horovod \\
    && python -m pip install -r requirements.txt --index-url https://example.org lightning
FROM base
"""

UV = """\
version = 1
requires-python = ">=3.11"

[[package]]
name = "torch"
version = "2.4.0"
source = { registry = "https://pypi.org/simple" }
dependencies = [
    { name = "filelock" },
]

[[package]]
name = "filelock"
version = "3.15.4"
"""

COLLECTED = """\
Collecting environment information...
PyTorch version: 2.1.0+cu121
CUDA used to build PyTorch: 12.1
ROCM used to build PyTorch: N/A

OS: Microsoft Windows 11 Pro
Python version: 3.10.12 (main, Jun 11 2023, 05:26:28) [GCC 11.4.0] (64-bit runtime)
GPU models and configuration:
GPU 0: NVIDIA A100-SXM4-40GB
GPU 1: NVIDIA A100-SXM4-40GB

Versions of relevant libraries:
[pip3] numpy==1.26.0
[pip3] torch==2.1.0+cu121
[conda] numpy                     1.26.0                   pypi_0    pypi
"""

READ = [
    (
        REQUIREMENTS,
        {
            "torch": "2.4.0+cu121",
            "transformers": ">=4.40,<5",
            "lightning": None,
            "flash-attn": "2.6.3+cu123torch2.4",
            "nvidia-cudnn-cu12": "9.1.0.70",
        },
    ),
    (
        ("Package    Version\n---------- -----------\ntorch      2.4.0+cu121\n"),
        {"torch": "2.4.0+cu121"},
    ),
    (
        ("# packages in environment at /opt/conda:\npytorch  2.4.0  py3.10_cuda12.1  pytorch\n"),
        {"pytorch": "2.4.0"},
    ),
    (
        "pytorch=2.4.0=py3.10_cuda12.1_0\nnumpy=1.26.4=py310h\n",
        {"pytorch": "2.4.0", "numpy": "1.26.4"},
    ),
    (CONDA, {"python": "3.10", "pytorch": "2.4.0", "pytorch-cuda": "12.1", "lightning": "2.4.0"}),
    (DOCKERFILE, {"transformers": "4.40.0", "horovod": None, "lightning": None}),
    (UV, {"torch": "2.4.0", "filelock": "3.15.4"}),
    (UV.replace("[[package]]", "[[packages]]"), {"torch": "2.4.0", "filelock": "3.15.4"}),
    (COLLECTED, {"torch": "2.1.0+cu121", "cuda": "12.1", "python": "3.10.12", "numpy": "1.26.0"}),
]


@pytest.mark.parametrize(("text", "packages"), READ)
def test_every_package_is_read_with_its_version(text: str, packages: dict[str, str | None]) -> None:
    found = dict(read(text, "file").packages)
    found.pop("Package", None)  # the head of pip's table
    assert found == packages


def test_a_dockerfile_has_the_image_of_its_last_stage() -> None:
    assert read(DOCKERFILE, "Dockerfile").container == "nvcr.io/nvidia/pytorch:23.12-py3"


def test_a_report_of_collect_env_names_the_gpu_and_the_system() -> None:
    found = read(COLLECTED, "file")
    assert (found.gpu, found.device, found.facts) == (
        "NVIDIA A100-SXM4-40GB",
        None,
        {"os": "windows"},
    )
    on_amd = COLLECTED.replace("ROCM used to build PyTorch: N/A", "ROCM used to build PyTorch: 6.1")
    assert read(on_amd, "file").device == "rocm"


@pytest.mark.parametrize(
    "text", ["", "# nothing\n", "--index-url https://example.org\n", "dependencies:\n"]
)
def test_a_file_that_lists_nothing_is_refused(text: str) -> None:
    with pytest.raises(DataError, match="no package is listed there"):
        read(text, "file")


@given(st.text())
def test_any_text_is_read_or_refused(text: str) -> None:
    try:
        found = read(text, "file")
    except DataError:
        return
    assert found.packages or found.container


def described(text: str, setup: Setup | None = None) -> Environment:
    kb = knowledge_base()
    return describe(kb, merged(kb, setup or Setup(), read(text, "file")))


def versions(environment: Environment) -> dict[str, str | None]:
    return {
        name: package.version
        for name, package in environment.packages.items()
        if package.origin != "wheel"
    }


def test_unknown_packages_are_counted() -> None:
    environment = described(UV)
    assert (versions(environment), environment.ignored) == ({"torch": "2.4.0"}, 1)


def test_what_is_typed_wins() -> None:
    environment = described(REQUIREMENTS, Setup((("pytorch", "2.6"), ("lightning", "2.5"))))
    assert versions(environment)["torch"] == "2.6"
    assert versions(environment)["lightning"] == "2.5"
    assert described(COLLECTED, Setup(gpu="H100")).facts["sm"] == "90"
    assert described(COLLECTED, Setup(device="cpu")).gpu is None


def test_a_typed_package_replaces_the_image_that_holds_another() -> None:
    assert described(DOCKERFILE).image is not None
    environment = described(DOCKERFILE, Setup((("torch", "2.6"),)))
    assert environment.image is None
    assert versions(environment)["transformers"] == "4.40.0"


def test_a_name_of_conda_is_the_package() -> None:
    assert versions(described(CONDA)) == {
        "python": "3.10",
        "torch": "2.4.0",
        "cuda": "12.1",
        "lightning": "2.4.0",
    }


def test_a_short_name_that_another_project_has_is_not_taken_for_ours() -> None:
    environment = described("torch==2.4.0\nwarp==1.0\npl==0.1\nyolo==3.0\n")
    assert (versions(environment), environment.ignored) == ({"torch": "2.4.0"}, 3)


def test_a_lock_with_two_versions_asks_which() -> None:
    both = UV + '\n[[package]]\nname = "torch"\nversion = "2.3.0"\n'
    with pytest.raises(
        UsageError, match=r"lists torch as 2\.4\.0 and 2\.3\.0\n  say which: --with torch=VERSION"
    ):
        described(both)
    builds = UV + '\n[[package]]\nname = "torch"\nversion = "2.4.0+cpu"\n'
    assert versions(described(builds))["torch"] == "2.4.0"


def test_a_part_of_a_file_does_not_lead_to_its_own_sources() -> None:
    environment = described(REQUIREMENTS)
    assert environment.packages["cudnn"].origin == "file"


def test_a_dockerfile_on_an_unknown_image_is_its_packages() -> None:
    found = read("FROM python:3.11\nRUN pip install torch==2.4.0\n", "Dockerfile")
    assert found == ListedPackages((("torch", "2.4.0"),), "python:3.11")
    assert described("FROM python:3.11\nRUN pip install torch==2.4.0\n").image is None


@pytest.mark.nightly
@pytest.mark.parametrize(
    ("start", "unit"), [("torch==", "orch=="), ("a", " "), ("a", "==1 "), ("a==1", ", <2")]
)
def test_a_line_that_is_nearly_a_requirement_costs_no_more_than_any_other(
    start: str, unit: str
) -> None:
    def work(size: int) -> None:
        assert requirement(start + unit * (size // len(unit)) + "?") is None

    assert growth(work, 100_000) < LINEAR


@pytest.mark.parametrize(
    ("text", "line"),
    [
        ("numpy\ntorch==2.5.9\n", 2),
        ("FROM python:3.11\nRUN pip install numpy\nRUN pip install torch==2.5.9\n", 3),
        ("dependencies:\n  - numpy\n  - pytorch=2.5.9\n", 3),
        ('[[package]]\nname = "torch"\nversion = "2.5.9"\n', 3),
        ("PyTorch version: 2.5.9\n", 1),
    ],
    ids=["requirements", "dockerfile", "conda", "lock", "collect-env"],
)
def test_an_error_about_a_version_in_a_file_names_its_line(
    text: str, line: int, tmp_path: Path
) -> None:
    file = tmp_path / "listed"
    file.write_text(text, encoding="utf-8")
    with pytest.raises(UsageError, match=re.escape(f"{file}:{line}: torch '2.5.9' was never")):
        with_file(knowledge_base(), Setup(), str(file))
    typed = Setup((("torch", "2.4"),))
    with_file(knowledge_base(), typed, str(file))
