"""What collectors read from a wheel, and what they say of a damaged one."""

from __future__ import annotations

import hashlib
import json
import os
import subprocess
import sys
import zipfile
from collections.abc import Callable
from pathlib import Path

import pytest
from shipped_files import elf, macho, wheel

from d9m import files
from d9m.authoring.collect import catalogued, collect, download, releases
from d9m.errors import DataError, UsageError
from d9m.model.wheel_facts import Catalogue, ListedOp, Published, Route, WheelFacts, catalogue, read

REFUSED = b" does not have a deterministic implementation, but you set 'torch.use_deterministic_algorithms(True)'."

SWITCH = b'''
def use_deterministic_algorithms(mode):
    r"""Sets the mode.

    The following normally-nondeterministic operations will act
    deterministically when ``mode=True``:

        * :class:`torch.nn.Conv1d` when called on CUDA tensor
        * :func:`torch.Tensor.__getitem__` when attempting to differentiate a CPU tensor
          and the index is a list of tensors

    The following normally-nondeterministic operations will throw a
    :class:`RuntimeError` when ``mode=True``:

        * :class:`torch.nn.MaxUnpool1d`
        * :func:`torch.nn.functional.interpolate` when attempting to differentiate a CUDA tensor
          and one of the following modes is used:

          - ``linear``
          - ``bilinear``

        * :func:`torch.histc` when called on a CUDA tensor

    Another list, of something else:

        * not an operation
    """
'''

FUNCTIONAL = b"""
import torch
def interpolate(input, mode):
    if input.dim() == 4 and mode == 'bilinear':
        if not torch.jit.is_scripting():
            if torch.are_deterministic_algorithms_enabled() and input.is_cuda:
                if torch.compiler.is_compiling():
                    return torch._dynamo.upsample(input)
                else:
                    return torch._decomp.upsample(input)
            else:
                return torch._C._nn.upsample(input)
        return torch._C._nn.upsample(input)
def relu(input): return input
conv1d = torch.conv1d
_private = None
"""

TORCH: dict[str, bytes] = {
    "torch/__init__.py": SWITCH,
    "torch/nn/functional.py": FUNCTIONAL,
    "torch/nn/modules/__init__.py": b"from .conv import Conv1d, _ConvNd\n",
    "torch/_C/_VariableFunctions.pyi": b"def abs(input): ...\ndef _hidden(input): ...\n",
    "torch/_C/__init__.pyi": b"class TensorBase:\n  def index_put_(self): ...\n  def __getitem__(self): ...\n",
    "torch/linalg/__init__.py": b"lstsq = _add_docstr(1)\n",
    "torch/nn/init.py": b"def zeros_(tensor): ...\n",
    "torch/optim/__init__.py": b"from .sgd import SGD\n",
    "torch/distributed/distributed_c10d.py": b"def all_reduce(tensor): ...\ndef _rank(): ...\n",
    "torch/utils/data.py": (
        b"import os, warnings\n"
        b"os.environ.get('TORCH_DETERMINISTIC_DEBUG')\n"
        b"def load(name):\n"
        b"    '''A docstring about deterministic loading is no message.'''\n"
        b"    warnings.warn(f'{name} is not deterministic '\n        'with in_order=False')\n"
    ),
    "torch/old.py": b"print 'deterministic, in the syntax of another Python'\n",
    "torch/testing/_internal/common.py": b"raise ValueError('a deterministic test of ours')\n",
    "torch/lib/libtorch_cuda.so": elf(
        [
            REFUSED,
            b"CUBLAS_WORKSPACE_CONFIG",
            b"CUBLAS_STATUS_SUCCESS",
            b"convolution(Tensor x, bool deterministic)",
        ],
        [b"index_add_cuda_", b"median CUDA with indices output"],
    ),
}
LINUX = "torch-9.8.7-cp310-cp310-manylinux1_x86_64.whl"


GENERATED = b"# This file is MACHINE GENERATED! Do not edit.\n"


def tensorflow(folder: Path) -> Path:
    members = {
        "tensorflow/__init__.py": b"import tensorflow_core\n",
        "tensorflow_core/__init__.py": (
            b"from tensorflow_core._api.v2 import nn\nfrom tensorflow.python.ops.a import gather_v2 as gather\n"
        ),
        "tensorflow_core/_api/v2/__init__.py": b"",
        "tensorflow_core/_api/v2/nn/__init__.py": GENERATED
        + b"from tensorflow.python.ops.nn import bias_add\n",
        "tensorflow_core/_api/v2/compat/v2/nn/__init__.py": GENERATED
        + b"from tensorflow.python.a import bias_add\n",
        "tensorflow_core/_api/v2/compat/v1/__init__.py": b"from tensorflow.python.a import scatter_add\n",
        "tensorflow_core/python/ops/__init__.py": GENERATED
        + b"from tensorflow.python.ops.a import inner\n",
        "tensorflow/libtensorflow.so.2": (
            b"?\0TF_DETERMINISTIC_OPS\0xla_gpu_deterministic_ops\0TF_OTHER\0no topic here\0"
            b'ReadBoolFromEnvVar("TF_CUDNN_DETERMINISTIC", false, &deterministic) is OK\0'
            b"Determinism is not yet supported for Svd.\0is deterministic \xff\0"
            b"A licence of a determinism " + b"as long as it is dull " * 100 + b"\0"
            b"TF_DETERMINISTIC_ORDER\0This one is as deterministic as the last\0"
        ),
    }
    moved = {
        f"tensorflow_gpu-1.15.0.data/purelib/{name}": content for name, content in members.items()
    }
    return wheel(folder / "tensorflow_gpu-1.15.0-cp36-cp36m-manylinux1_x86_64.whl", moved)


@pytest.fixture
def torch(tmp_path: Path) -> Path:
    return wheel(tmp_path / LINUX, TORCH)


def test_a_fact_file_says_which_wheel_it_was_read_from(torch: Path) -> None:
    facts = collect(torch).facts
    assert (facts.package, facts.version, facts.platform, facts.file) == (
        "torch",
        "9.8.7",
        "manylinux1_x86_64",
        LINUX,
    )
    assert facts.sha256 == hashlib.sha256(torch.read_bytes()).hexdigest()


def test_lists_of_the_docstring_become_lines_by_section(torch: Path) -> None:
    assert collect(torch).facts.lists == {
        "deterministic": [
            ListedOp("torch.nn.Conv1d", "when called on CUDA tensor"),
            ListedOp(
                "torch.Tensor.__getitem__",
                "when attempting to differentiate a CPU tensor and the index is a list of tensors",
            ),
        ],
        "throws": [
            ListedOp("torch.nn.MaxUnpool1d"),
            ListedOp(
                "torch.nn.functional.interpolate",
                "when attempting to differentiate a CUDA tensor and one of the following modes is "
                "used: "
                "- ``linear`` - ``bilinear``",
            ),
            ListedOp("torch.histc", "when called on a CUDA tensor"),
        ],
    }


@pytest.mark.parametrize(
    ("member", "library"), [("libtorch_cuda.so", elf), ("libtorch_cpu.dylib", macho)]
)
def test_alerts_are_what_is_handed_to_the_function_that_refuses(
    tmp_path: Path, member: str, library: Callable[[list[bytes], list[bytes]], bytes]
) -> None:
    content = library(
        [b"scatter_add_cuda_kernel", REFUSED],
        [b"index_add_cuda_", b"median CUDA with indices output"],
    )
    facts = collect(wheel(tmp_path / LINUX, {f"torch/lib/{member}": content})).facts
    assert facts.alerts == ["index_add_cuda_", "median CUDA with indices output"]
    assert facts.messages == [REFUSED.decode().strip()]


def test_a_library_without_calls_has_no_alerts(tmp_path: Path) -> None:
    content = elf([b"index_add_cuda_"], [])
    assert collect(wheel(tmp_path / LINUX, {"torch/lib/libtorch.so": content})).facts.alerts == []


def test_messages_are_sentences_of_libraries_and_of_python(torch: Path) -> None:
    assert collect(torch).facts.messages == [
        REFUSED.decode().strip(),
        "{…} is not deterministic with in_order=False",
    ]


def test_variables_are_names_that_bear_on_determinism(torch: Path) -> None:
    assert collect(torch).facts.variables == [
        "CUBLAS_WORKSPACE_CONFIG",
        "TORCH_DETERMINISTIC_DEBUG",
    ]


def test_routes_carry_every_condition_around_them(torch: Path) -> None:
    condition = (
        "input.dim() == 4 and mode == 'bilinear' and not torch.jit.is_scripting() and "
        "torch.are_deterministic_algorithms_enabled() and input.is_cuda"
    )
    assert collect(torch).facts.routes == [
        Route(
            "interpolate",
            f"{condition} and not torch.compiler.is_compiling()",
            "torch._decomp.upsample",
        ),
        Route(
            "interpolate",
            f"{condition} and torch.compiler.is_compiling()",
            "torch._dynamo.upsample",
        ),
    ]


def test_public_names_of_torch_are_read_without_importing_it(torch: Path) -> None:
    assert collect(torch).names == [
        "torch.Tensor.__getitem__",
        "torch.Tensor.index_put_",
        "torch.abs",
        "torch.distributed.all_reduce",
        "torch.linalg.lstsq",
        "torch.nn.Conv1d",
        "torch.nn.functional.conv1d",
        "torch.nn.functional.interpolate",
        "torch.nn.functional.relu",
        "torch.nn.init.zeros_",
        "torch.optim.SGD",
        "torch.use_deterministic_algorithms",
    ]


def test_a_wheel_of_tensorflow_is_read_where_an_installer_would_put_it(tmp_path: Path) -> None:
    found = collect(tensorflow(tmp_path))
    assert found.facts.package == "tensorflow"
    assert found.facts.variables == ["TF_DETERMINISTIC_OPS", "TF_DETERMINISTIC_ORDER"]
    assert found.facts.flags == ["xla_gpu_deterministic_ops"]
    assert found.facts.messages == [
        "Determinism is not yet supported for Svd.",
        "This one is as deterministic as the last",
    ]
    assert found.facts.alerts == []
    assert found.names == ["tf.compat.v1.scatter_add", "tf.gather", "tf.nn.bias_add"]


def test_a_wheel_that_does_not_list_its_names_adds_no_release_to_a_catalogue(
    tmp_path: Path,
) -> None:
    members = {name: content for name, content in TORCH.items() if not name.startswith("torch/_C/")}
    found = collect(wheel(tmp_path / LINUX, members))
    assert found.names == []
    assert catalogued(tmp_path / "names.json", found) == Catalogue("torch")


@pytest.mark.parametrize(
    "api", ["tensorflow/tools/api/generator/api", "tensorflow", "tensorflow/_api/v2"]
)
def test_names_of_tensorflow_are_those_of_its_generated_modules(tmp_path: Path, api: str) -> None:
    module = api.replace("/", ".").encode()
    members = {
        "tensorflow/__init__.py": b"from %b import *\nfrom . import nn\nfrom tensorflow.a import roll\n"
        % module,
        f"{api}/nn/__init__.py": GENERATED + b"from tensorflow.python.ops.nn import bias_add\n",
        "tensorflow/tools/nn/__init__.py": b"from tensorflow.tools.nn import another\n",
        "tensorflow/contrib/nn/__init__.py": b"from tensorflow.contrib.nn.a import other\n",
    }
    assert collect(
        wheel(tmp_path / "tensorflow-1.8.0-cp36-cp36m-manylinux1_x86_64.whl", members)
    ).names == [
        "tf.nn.bias_add",
        "tf.roll",
    ]


KERAS = {
    "2.10.0": {
        "keras/api/_v2/keras/layers/__init__.py": b"from keras.api._v2.keras import a\nfrom keras.b import C\n"
    },
    "3.0.0": {"keras/api/_tf_keras/keras/layers/__init__.py": b"from keras.src.b import C\n"},
    "3.9.0": {
        "keras/_tf_keras/keras/layers/__init__.py": b"from keras._tf_keras import a\nfrom keras.src.b import C\n"
    },
}


@pytest.mark.parametrize("version", KERAS)
def test_names_of_keras_join_those_of_a_release_of_tensorflow(tmp_path: Path, version: str) -> None:
    names, out = tmp_path / "names.json", tmp_path / "facts.json"
    names.write_bytes(Catalogue("tensorflow").with_release("2.10.1", ["tf.gather"]).encoded())
    keras = wheel(tmp_path / f"keras-{version}-py3-none-any.whl", KERAS[version])
    done = command(str(keras), "--tensorflow", "2.10.1", "--catalogue", str(names), "-o", str(out))
    assert (done.returncode, done.stdout, done.stderr) == (0, "", "")
    assert read(names, Catalogue).at("2.10.1") == {"tf.gather", "tf.keras.layers.C"}
    assert not out.exists()
    done = command(str(keras), "--tensorflow", "2.9.0", "--catalogue", str(names))
    assert (done.returncode, "does not list release 2.9.0" in done.stderr) == (5, True)


def test_only_a_wheel_of_keras_belongs_to_a_release(tmp_path: Path, torch: Path) -> None:
    keras = wheel(tmp_path / "keras-3.0.0-py3-none-any.whl", KERAS["3.0.0"])
    names = tmp_path / "names.json"
    for arguments in (
        [keras],
        [keras, "--tensorflow", "2.10.1"],
        [torch, "--tensorflow", "9.8.7", "--catalogue", names],
    ):
        done = command(*map(str, arguments))
        assert (done.returncode, done.stdout, names.exists()) == (2, "", False)
        assert "a wheel of keras needs --tensorflow RELEASE and --catalogue FILE" in done.stderr


def test_the_same_wheel_gives_the_same_bytes_and_they_can_be_read_back(
    torch: Path, tmp_path: Path
) -> None:
    written = collect(torch).facts.encoded()
    assert written == collect(torch).facts.encoded()
    assert list(json.loads(written)) == sorted(json.loads(written))
    (tmp_path / "facts.json").write_bytes(written)
    assert read(tmp_path / "facts.json", WheelFacts) == collect(torch).facts


@pytest.mark.parametrize("kept", [0.0, 0.01, 0.5, 0.999])
def test_a_truncated_wheel_is_refused(torch: Path, kept: float) -> None:
    data = torch.read_bytes()
    torch.write_bytes(data[: int(kept * len(data))])
    with pytest.raises(DataError, match="cannot be read as a wheel"):
        collect(torch)


@pytest.mark.parametrize("member", ["torch/__init__.py", "torch/lib/libtorch_cuda.so"])
def test_a_damaged_member_is_refused_and_named(torch: Path, member: str) -> None:
    data = bytearray(torch.read_bytes())
    start = data.index(member.encode()) + len(member) + 20
    data[start : start + 20] = bytes(20)
    torch.write_bytes(bytes(data))
    with pytest.raises(DataError, match=member):
        collect(torch)


def test_a_wheel_that_unpacks_to_a_thousand_times_its_size_is_refused_unread(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    path = wheel(tmp_path / LINUX, {"torch/lib/libtorch_cuda.so": bytes((64 << 20) + 1)})
    monkeypatch.setattr(zipfile.ZipFile, "open", None)
    assert path.stat().st_size < 100_000
    with pytest.raises(DataError, match=r"libtorch_cuda\.so unpacks to 67108865 bytes"):
        collect(path)


def test_a_wheel_of_many_members_that_each_may_be_so_large_is_refused_unread(
    torch: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(zipfile.ZipFile, "open", None)
    monkeypatch.setattr("d9m.authoring.collect.wheel._MOST", 2_000)
    with pytest.raises(DataError, match="in all: no wheel does"):
        collect(torch)


def test_a_text_of_a_wheel_is_no_longer_than_any_file_that_is_read(
    torch: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(files, "LARGEST", 1 << 9)
    with pytest.raises(DataError, match=r"torch/__init__\.py is larger"):
        collect(torch)


@pytest.mark.parametrize("library", [elf, macho])
def test_a_library_that_is_cut_off_is_refused_and_named(
    tmp_path: Path, library: Callable[..., bytes]
) -> None:
    content = library([b"text"], [b"index_add_cuda_"])
    path = wheel(tmp_path / LINUX, {"torch/lib/libtorch_cuda.so": content[: len(content) // 3]})
    with pytest.raises(DataError, match=r"libtorch_cuda\.so: a damaged library"):
        collect(path)


@pytest.mark.parametrize(
    ("name", "says"),
    [
        ("torch.zip", "not the name of a wheel"),
        ("numpy-1.0-cp310-cp310-linux_x86_64.whl", "not a wheel of a framework"),
        ("absent-1.0-py3-none-any.whl", "no such file"),
    ],
)
def test_a_file_that_is_no_wheel_of_a_framework_is_refused(
    tmp_path: Path, name: str, says: str
) -> None:
    if not name.startswith("absent"):
        wheel(tmp_path / name, {"a.py": b""})
    with pytest.raises(DataError, match=says):
        collect(tmp_path / name)


def test_a_release_without_a_wheel_is_a_usage_error_with_what_pip_said(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    def pip(command: list[str], **_options: object) -> subprocess.CompletedProcess[str]:
        return subprocess.CompletedProcess(command, 1, "", "ERROR: No matching distribution\n")

    monkeypatch.setattr(subprocess, "run", pip)
    with pytest.raises(UsageError, match="No matching distribution"):
        download.download("torch", "99", "linux", tmp_path)


def command(*arguments: str) -> subprocess.CompletedProcess[str]:
    return subprocess.run(
        [sys.executable, "-m", "d9m", "kb", "collect", *arguments], capture_output=True, text=True
    )


def test_the_command_writes_a_fact_file_and_adds_the_names_to_a_catalogue(
    torch: Path, tmp_path: Path
) -> None:
    out, names = tmp_path / "facts.json", tmp_path / "names.json"
    done = command(str(torch), "-o", str(out), "--catalogue", str(names))
    assert (done.returncode, done.stdout, done.stderr) == (0, "", "")
    assert read(out, WheelFacts) == collect(torch).facts
    assert read(names, Catalogue).at("9.8.7") == set(collect(torch).names)
    other = command(str(tensorflow(tmp_path)), "-o", str(out), "--catalogue", str(names))
    assert (other.returncode, other.stdout) == (5, "")
    assert "a catalogue of torch, not of tensorflow" in other.stderr
    assert read(out, WheelFacts).package == "torch"


@pytest.mark.parametrize(
    ("arguments", "code"),
    [(["broken.whl"], 5), (["numpy", "1.0"], 2), (["torch", "1.0", "--platform", "amiga"], 2)],
)
def test_the_command_refuses_with_one_clear_error(arguments: list[str], code: int) -> None:
    done = command(*arguments)
    assert (done.returncode, done.stdout) == (code, "")
    assert done.stderr.startswith("d9m: ")


def index_file(name: str, day: str, *, yanked: bool | str = False) -> dict[str, object]:
    return {
        "filename": name,
        "url": f"https://i/{name}",
        "upload-time": day,
        "yanked": yanked,
        "core-metadata": {"sha256": "0"} if name.endswith(".whl") else False,
    }


INDEX = {
    "name": "some-tool",
    "files": [
        index_file("some_tool-1.0.tar.gz", "2020-01-01T00:00:00Z"),
        index_file("some-tool-1.1.tar.gz", "2020-02-02T00:00:00Z", yanked="broken"),
        index_file("some_tool-1.2-py3-none-any.whl", "2020-03-04T00:00:00Z"),
        index_file("some_tool-1.2.tar.gz", "2020-03-03T00:00:00Z"),
        index_file("some_tool-1.2.post1.tar.gz", "2020-03-09T00:00:00Z"),
        index_file("some_tool-1.3.post2-py3-none-any.whl", "2020-04-04T00:00:00Z"),
        index_file("some_tool-2.0rc1-py3-none-any.whl", "2020-05-05T00:00:00Z"),
    ],
}
METADATA = "Name: some-tool\nRequires-Dist: torch==2.1.0\nRequires-Dist: numpy (>=1.0)\n"


def test_releases_of_the_index_are_final_ones_with_their_first_day_and_builds(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(releases, "_get", lambda url: json.dumps(INDEX).encode())
    found = releases.from_index(tmp_path / "tool.json", ["some-tool"])
    assert found == Published(
        {"1.0": "2020-01-01", "1.1": "2020-02-02", "1.2": "2020-03-03", "1.3": "2020-04-04"},
        {
            "1.1": "withdrawn from PyPI",
            "1.2": "1.2.post1 counts as 1.2",
            "1.3": "on PyPI as 1.3.post2",
        },
    )


def test_releases_that_a_list_has_stay_and_only_newer_ones_are_added(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    replies = {True: METADATA.encode(), False: json.dumps(INDEX).encode()}
    monkeypatch.setattr(releases, "_get", lambda url: replies[url.endswith(".metadata")])
    known = Published({"1.1": "2020-02-01", "1.2": ""}, pins={"1.2": {"torch": "2.0.0"}})
    (tmp_path / "tool.json").write_bytes(known.encoded())
    found = releases.from_index(tmp_path / "tool.json", ["some-tool"])
    assert found.releases == {"1.1": "2020-02-01", "1.2": "", "1.3": "2020-04-04"}
    assert found.notes == {"1.1": "withdrawn from PyPI", "1.3": "on PyPI as 1.3.post2"}
    assert found.pins == {"1.2": {"torch": "2.0.0"}, "1.3": {"torch": "2.1.0"}}


def test_releases_of_a_clone_are_its_tags(tmp_path: Path) -> None:
    def git(*arguments: str) -> None:
        environment = {**os.environ, "GIT_COMMITTER_DATE": "2020-03-03T12:00:00Z"}
        named = ["-c", "user.name=n", "-c", "user.email=e@example.org"]
        command = ["git", "-C", str(tmp_path), *named, *arguments]
        subprocess.run(command, check=True, capture_output=True, env=environment)

    git("init")
    git("commit", "--allow-empty", "-m", "first")
    git("tag", "v2.3.5-5")
    git("tag", "-a", "v2.10.0", "-m", "later")
    git("tag", "nightly")
    found = releases.from_tags(tmp_path / "tool.json", tmp_path)
    assert found == Published({"2.3.5": "2020-03-03", "2.10.0": "2020-03-03"})
    assert list(json.loads(found.encoded())["releases"]) == ["2.3.5", "2.10.0"]


def test_a_package_that_no_index_lists_and_an_index_that_answers_nonsense_are_usage_errors(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    with pytest.raises(UsageError, match="not on the package index"):
        releases.from_index(tmp_path / "nccl.json", [])
    monkeypatch.setattr(releases, "_get", lambda url: b"<html>")
    with pytest.raises(UsageError, match="gives no list of tool"):
        releases.from_index(tmp_path / "tool.json", ["tool"])


def test_a_catalogue_knows_when_a_name_came_went_and_came_back() -> None:
    known = {"1.9.0": {"a", "b", "d"}, "1.10.0": {"a", "c"}, "2.0.0": {"a", "b", "c"}}
    made = catalogue("torch", known)
    assert made.releases == ["1.9.0", "1.10.0", "2.0.0"]
    assert made.names == {
        "1.9.0..": ["a"],
        "1.9.0..1.10.0,2.0.0..": ["b"],
        "1.10.0..": ["c"],
        "1.9.0..1.10.0": ["d"],
    }
    assert {release: made.at(release) for release in made.releases} == known


def test_a_release_that_is_read_again_replaces_what_was_known() -> None:
    made = (
        Catalogue("torch")
        .with_release("2.0.0", ["a"])
        .with_release("1.9.0", ["a", "b"])
        .with_release("2.0.0", ["c"])
    )
    assert (made.at("1.9.0"), made.at("2.0.0")) == ({"a", "b"}, {"c"})
