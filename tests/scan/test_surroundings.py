"""Which versions hold for which folder, and who says so."""

from __future__ import annotations

from collections.abc import Mapping

import pytest

from d9m.environment.environment import Setup
from d9m.errors import UsageError
from d9m.scan.file_kinds import kind_of
from d9m.scan.read_file import read_file
from d9m.scan.surroundings.statements import Contradiction
from d9m.scan.surroundings.surrounding import ScanEnvironment, StatedVersion
from d9m.scan.surroundings.surroundings import surroundings
from d9m.scan.versions.project_files import poetry_range
from d9m.scan.versions.read import read_versions
from golden import knowledge_base
from scan.projects import vocabulary


def around(
    files: Mapping[str, str], given: Setup | None = None
) -> tuple[dict[str, ScanEnvironment], list[Contradiction]]:
    stated = [
        (path, read_versions(path, kind_of(path, "") or "packages", text))
        for path, text in files.items()
    ]
    code = [path for path in files if path.endswith(".py")] or ["train.py"]
    return surroundings(knowledge_base(), stated, code, given)


def torch(files: Mapping[str, str], folder: str = "") -> StatedVersion | None:
    return around(files)[0][folder].packages.get("torch")


@pytest.mark.parametrize(
    ("file", "text", "expected"),
    [
        ("requirements.txt", "numpy\n# torch\ntorch==2.4.1\n", ("2.4.1", "pinned", 3, None)),
        ("requirements/base.txt", "torch==2.4.1+cu121\n", ("2.4.1+cu121", "pinned", 1, None)),
        ("requirements.txt", "torch>=2.4,<2.6\n", ("2.5.1", "range", 1, "2.4.0")),
        ("pyproject.toml", '[project]\ndependencies = [\n "torch==2.4.1"]\n',
         ("2.4.1", "pinned", 3, None)),
        ("pyproject.toml", '[tool.poetry.dependencies]\ntorch = "~2.4"\n',
         ("2.4.1", "range", 2, "2.4.0")),
        ("pyproject.toml", '[dependency-groups]\ntrain = ["torch==2.4.1"]\n',
         ("2.4.1", "pinned", 2, None)),
        ("setup.cfg", "[options]\ninstall_requires =\n  torch==2.4.1\n",
         ("2.4.1", "pinned", 3, None)),
        ("setup.py", "from setuptools import setup\nsetup(install_requires=['torch==2.4.1'])\n",
         ("2.4.1", "pinned", 2, None)),
        ("Pipfile", '[packages]\ntorch = "==2.4.1"\n', ("2.4.1", "pinned", 2, None)),
        ("Pipfile.lock", '{"default": {\n"torch": {"version": "==2.4.1"}}}',
         ("2.4.1", "pinned", 2, None)),
        ("uv.lock", '[[package]]\nname = "torch"\nversion = "2.4.1"\n',
         ("2.4.1", "pinned", 2, None)),
        ("pylock.toml", '[[packages]]\nname = "torch"\nversion = "2.4.1"\n',
         ("2.4.1", "pinned", 2, None)),
        ("conda-lock.yml", "package:\n- name: pytorch\n  version: 2.4.1\n",
         ("2.4.1", "pinned", 2, None)),
        ("environment.yml", "dependencies:\n  - pytorch=2.4.1\n", ("2.4.1", "pinned", 2, None)),
        ("Dockerfile", "FROM pytorch/pytorch:2.4.1-cuda12.1-cudnn9-runtime\n",
         ("2.4.1", "pinned", 1, None)),
        ("Dockerfile", "FROM ubuntu\nRUN pip install torch==2.4.1\n", ("2.4.1", "pinned", 2, None)),
        ("job.yaml", "spec:\n  image: pytorch/pytorch:2.4.1-cuda12.1-cudnn9-runtime\n",
         ("2.4.1", "pinned", 2, None)),
        ("run.sh", "pip install -q torch==2.4.1\npython train.py\n", ("2.4.1", "pinned", 1, None)),
        ("a.ipynb", '{"cells": [{"source": [\n"!pip install torch==2.4.1\\n"]}]}',
         ("2.4.1", "pinned", 2, None)),
    ],
)  # fmt: skip
def test_a_file_states_a_version(
    file: str, text: str, expected: tuple[str, str, int, str | None]
) -> None:
    version, how, line, oldest = expected
    assert torch({file: text}) == StatedVersion(version, how, f"{file}:{line}", oldest)  # type: ignore[arg-type]


def test_a_bare_name_is_an_assumption() -> None:
    stated = torch({"requirements.txt": "torch\n"})
    assert stated is not None
    assert (stated.how, stated.said_in) == ("assumed", "requirements.txt:1")
    assert stated.version == knowledge_base().releases("torch")[-1]


@pytest.mark.parametrize(
    ("file", "text"),
    [
        ("requirements.txt", "torch==99999.x.y.z\n"),
        ("requirements.txt", ""),
        ("pyproject.toml", "[project\n"),
        ("Pipfile.lock", "[1, 2"),
        ("setup.py", "def (:\n"),
        ("setup.cfg", "no section\n"),
        ("Dockerfile", "FROM pytorch/pytorch:unheard-of\n"),
        ("Dockerfile", "FROM pytorch/pytorch:0.4_cuda9_cudnn7\n"),
        ("Dockerfile", "FROM pytorch/pytorch:2.x-cuda12.1-cudnn9-runtime\n"),
        (".github/workflows/ci.yml", "run: pip install torch==1.0.0\n"),
        (".circleci/docker/Dockerfile", "FROM pytorch/pytorch:1.8.1-cuda10.2-cudnn7-devel\n"),
        ("run.sh", "pip install torch==$VERSION\n"),
    ],
)
def test_a_file_that_says_nothing(file: str, text: str) -> None:
    assert torch({file: text}) is None


def test_the_strongest_statement_wins_and_what_contradicts_it_is_kept() -> None:
    found, contradictions = around(
        {
            "requirements.txt": "torch==2.3.0\n",
            "uv.lock": '[[package]]\nname = "torch"\nversion = "2.4.1"\n',
            "pyproject.toml": '[project]\ndependencies = ["torch>=2"]\n',
        }
    )
    assert found[""].packages["torch"].said_in == "uv.lock:2"
    assert contradictions == [
        Contradiction("torch", "2.4.1 (uv.lock:2)", "2.3.0 (requirements.txt:1)")
    ]


def test_a_file_belongs_to_the_nearest_folder_that_states_versions() -> None:
    files = {
        "train.py": "",
        "sub/train.py": "",
        "requirements.txt": "torch==2.4.1\ntransformers==4.40.0\n",
        "sub/requirements.txt": "torch==2.6.0\n",
        "docker/Dockerfile": "FROM tensorflow/tensorflow:2.15.0-gpu\n",
    }
    found, _contradictions = around(files)
    assert sorted(found) == ["", "sub"]
    assert found["sub"].packages["torch"].version == "2.6.0"
    assert found["sub"].packages["transformers"].version == "4.40.0"
    assert found[""].packages["tensorflow"].said_in == "docker/Dockerfile:1"


def test_an_image_counts_while_its_packages_do() -> None:
    image = "FROM nvcr.io/nvidia/pytorch:24.05-py3\n"
    alone = around({"Dockerfile": image})[0][""]
    assert alone.container == "nvcr.io/nvidia/pytorch:24.05-py3"
    locked = {"Dockerfile": image, "uv.lock": '[[package]]\nname = "torch"\nversion = "2.4.1"\n'}
    assert around(locked)[0][""].container is None


@pytest.mark.parametrize(
    ("text", "device"),
    [
        ("--index-url https://download.pytorch.org/whl/cpu\ntorch==2.4.1\n", "cpu"),
        ("torch==2.4.1+rocm6.1\n", "rocm"),
        ("torch==2.4.1\n", "cuda"),
        ("torch==2.4.1+cpu\njax==0.4.30+cu121\n", "cuda"),
        ("-f https://data.pyg.org/whl/torch-2.5.0+cpu.html\ntorch==2.5.0\n", "cuda"),
    ],
)
def test_the_device_that_wheels_are_built_for(text: str, device: str) -> None:
    assert around({"requirements.txt": text})[0][""].device == device


def test_what_is_given_wins_everywhere() -> None:
    files = {"sub/a.py": "", "sub/requirements.txt": "torch==2.6.0\njax==0.4.30\n"}
    given = Setup((("torch", "2.4"),), device="rocm", facts=(("xla", "true"),))
    found, _contradictions = around(files, given)
    assert found["sub"].packages["torch"] == StatedVersion("2.4", "given", "command line")
    assert found["sub"].packages["jax"].version == "0.4.30"
    assert (found["sub"].device, found[""].facts) == ("rocm", {"xla": "true"})
    with pytest.raises(UsageError, match="never released"):
        around({}, Setup((("torch", "2.4.77"),)))


def test_a_fact_alone_leaves_the_device_as_it_is() -> None:
    files = {"requirements.txt": "torch==2.4.1+rocm6.1\n"}
    assert around(files, Setup(facts=(("xla", "true"),)))[0][""].device == "rocm"


def test_a_version_that_is_none_is_passed_over_even_where_no_release_is_listed() -> None:
    found, _contradictions = around(
        {"Dockerfile": "FROM ubuntu\nRUN pip install mmcv-full==latest+torch1.6.0+cu101\n"}
    )
    assert "mmcv" not in found[""].packages


def test_a_number_longer_than_any_release_has_no_next_one() -> None:
    endless = "^" + "9" * 5000
    assert poetry_range(endless) == endless


TENSORFLOW_1 = b"import tensorflow as tf\n\nsession = tf.Session()\n"
EITHER = b"import tensorflow as tf\n\nif hasattr(tf, 'Session'):\n    session = tf.Session()\n"
COMPATIBLE = b"import tensorflow.compat.v1 as tf\n\nsession = tf.Session()\n"


def tensorflow(code: bytes, path: str, others: Mapping[str, str]) -> StatedVersion | None:
    """Which release holds for a Python file and what stands next to it."""
    stated = [(path, read_file(vocabulary(), path, "python", code).versions)]
    for other, text in others.items():
        stated.append((other, read_versions(other, "packages", text)))
    found = surroundings(knowledge_base(), stated, [path])[0]
    folder = path
    while folder not in found:
        folder = folder.rpartition("/")[0]
    return found[folder].packages.get("tensorflow")


@pytest.mark.parametrize("pins", ["requirements.txt", "src/requirements.txt"])
def test_a_stated_release_counts_more_than_calls(pins: str) -> None:
    found = tensorflow(TENSORFLOW_1, "src/main.py", {pins: "tensorflow==1.12.0\n"})
    assert found is not None
    assert found.version == "1.12.0"


def test_an_environment_of_conda_is_known_by_what_it_holds() -> None:
    text = "channels:\n- pytorch\ndependencies:\n- pytorch=2.4.1\n- pip:\n  - gym==0.21.0\n"
    packages = around({"environment/linux-gpu-env.yml": text})[0][""].packages
    assert packages["torch"].version == "2.4.1"
    assert packages["gym"].version == "0.21.0"


def test_the_other_releases_that_files_state_are_kept() -> None:
    images = "FROM pytorch/pytorch:{}-cuda12.1-cudnn9-runtime\n"
    files = {f"docker/{tag}.Dockerfile": images.format(tag) for tag in ("2.4.0", "2.4.1")}
    stated = torch(files)
    assert stated is not None
    assert (stated.version, stated.others) == ("2.4.0", ("2.4.1",))
