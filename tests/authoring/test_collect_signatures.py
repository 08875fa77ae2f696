"""Signatures are read from sources, stubs and docstrings of a wheel, and kept by release."""

from __future__ import annotations

import hashlib
import json
import subprocess
import sys
from pathlib import Path

import pytest
from shipped_files import wheel

from d9m.authoring.collect.signatures import add_signatures
from d9m.errors import DataError, UsageError
from d9m.model.wheel_facts import SignatureCatalogue, read

STUB = b"""
from typing import overload
def conv1d(input: Tensor, weight: Tensor, padding: _int = 0) -> Tensor: ...
@overload
def max(self: Tensor, *, out: Optional[Tensor] = None) -> Tensor: ...
@overload
def max(self: Tensor, other: Tensor) -> Tensor: ...
@overload
def max(self: Tensor, dim: _int, keepdim: _bool = False) -> Tensor: ...
@overload
def max(self: Tensor, dim: Union[str, ellipsis, None], keepdim: _bool = False) -> Tensor: ...
@overload
def cumsum(input: Tensor, dim: _int, *, dtype: _dtype, out: Tensor) -> Tensor: ...
@overload
def cumsum(input: Tensor, dim: _int) -> Tensor: ...
def abs(input: Tensor, *, out: Optional[Tensor] = None) -> Tensor: ...
def abs_(input: Tensor) -> Tensor: ...
@overload
def rand(size: _size, *, names: Any) -> Tensor: ...
@overload
def rand(*size: _int) -> Tensor: ...
def put_(input: Tensor, index: Tensor, accumulate: _bool = False) -> Tensor: ...
def put(input: Tensor, index: Tensor, accumulate: _bool = False) -> Tensor: ...
"""

CLASS = b"""
class TensorBase:
    def cumsum(self, dim: _int, *, dtype: Optional[_dtype] = None) -> Tensor: ...
    def abs(self) -> Tensor: ...
    def view(self, dtype: _dtype) -> Tensor: ...
    def norm(self, p: Number) -> Tensor: ...
    @property
    def data(self, x): ...
"""

TORCH: dict[str, bytes] = {
    "torch/__init__.py": b"from .functional import *\nif True:\n    def compile(model=None, *, mode=None): ...\n",
    "torch/functional.py": (
        b"__all__ = ['norm', 'split']\n"
        b"def norm(input, p='fro', dim=None, eps=1e-5, fn=abs): ...\n"
        b"def split(tensor, size, *, out=None): ...\n"
    ),
    "torch/_tensor.py": (
        b"class Tensor(torch._C.TensorBase):\n  def norm(self, p='fro', dim=None): ...\n  def _x(self, a): ...\n"
    ),
    "torch/_C/__init__.pyi": CLASS,
    "torch/_C/_VariableFunctions.pyi": STUB,
    "torch/_C/_nn.pyi": b"def gelu(input: Tensor, approximate: str = ...) -> Tensor: ...\n",
    "torch/nn/modules/__init__.py": b"from .conv import Conv1d, Sub, Net\nfrom .rnn import LSTM, AdaptivePool\n",
    "torch/nn/modules/conv.py": (
        b"from .module import Module\n"
        b"class _ConvNd(Module):\n  def __init__(self, size, bias=True): ...\n"
        b"class Conv1d(_ConvNd): ...\n"
        b"class Sub(Module): ...\n"
        b"class Net(Module):\n  def __new__(cls, depth=3): ...\n"
    ),
    "torch/nn/modules/module.py": b"class Module: ...\n",
    "torch/nn/modules/rnn.py": (
        b"from . import module\n"
        b"class RNNBase(module.Module):\n  def __init__(self, mode, size, layers=1): ...\n"
        b"class LSTM(RNNBase):\n"
        b"  def __init__(self, *args, **kwargs):\n    super(LSTM, self).__init__('LSTM', *args, **kwargs)\n"
        b"class AdaptivePool(module.Module):\n  def __init__(self, output_size): ...\n"
    ),
    "torch/nn/functional.py": (
        b"import torch\nfrom torch._jit_internal import boolean_dispatch, _overload\n"
        b"conv1d = _add_docstr(torch.conv1d, r'''conv1d(input, nothing) -> Tensor''')\n"
        b"gelu = _add_docstr(torch._C._nn.gelu, r'''\ngelu(input, approximate = 'none') -> Tensor\n''')\n"
        b"fold = _add_docstr(torch._C._nn.fold, r'''\nF.fold(x, dim=(-2, -1), *, out=None) -> Tensor\n''' + END)\n"
        b"def _pool(input, size, stride=None): ...\n"
        b"def pool_with_indices(input, size): ...\n"
        b"pool = boolean_dispatch(arg_name='i', if_true=pool_with_indices, if_false=_pool)\n"
        b"@_overload\ndef interpolate(input, size: int): pass\n"
        b"def interpolate(input, size=None, mode='nearest', *, align=None): ...\n"
    ),
    "torch/linalg/__init__.py": b"",
    "torch/utils/data/__init__.py": b"from .dataloader import DataLoader\n",
    "torch/utils/data/dataloader.py": b"class DataLoader:\n  def __init__(self, dataset, shuffle=None, **kw): ...\n",
}
LINUX = "torch-{}-cp310-none-macosx_11_0_arm64.whl"

SIGNATURES = {
    "torch.Tensor.cumsum": "=",
    "torch.Tensor.norm": "p='fro', dim=None",
    "torch.Tensor.view": "dtype",
    "torch.compile": "model=None, *, mode=None",
    "torch.conv1d": "input, weight, padding=0",
    "torch.cumsum": "input, dim, *, dtype=None",
    "torch.max": "input | input, other: Tensor | input, dim: int, keepdim: bool=False",
    "torch.nn.AdaptivePool": "output_size",
    "torch.nn.Conv1d": "size, bias=True",
    "torch.nn.LSTM": "size, layers=1",
    "torch.nn.Net": "depth=3",
    "torch.nn.functional.conv1d": "input, weight, padding=0",
    "torch.nn.functional.fold": "x, dim=(-2, -1)",
    "torch.nn.functional.gelu": "input, approximate='none'",
    "torch.nn.functional.interpolate": "input, size=None, mode='nearest', *, align=None",
    "torch.nn.functional.pool": "input, size, stride=None",
    "torch.nn.functional.pool_with_indices": "input, size",
    "torch.norm": "input, p='fro', dim=None, eps=1e-05, fn=...",
    "torch.put": "input, index, accumulate=False",
    "torch.split": "tensor, size",
    "torch.utils.data.DataLoader": "dataset, shuffle=None, **kw",
}


def torch(folder: Path, version: str = "2.0.0", **changed: bytes) -> Path:
    members = {**TORCH, **{name.replace("__", "/") + ".py": text for name, text in changed.items()}}
    return wheel(folder / LINUX.format(version), members)


def test_signatures_of_torch_come_from_stubs_sources_and_docstrings(tmp_path: Path) -> None:
    path = torch(tmp_path)
    found = add_signatures(tmp_path / "signatures-torch.json", path)
    assert found.at("2.0.0") == SIGNATURES
    assert found.wheels == {"2.0.0": {path.name: hashlib.sha256(path.read_bytes()).hexdigest()}}


def test_a_signature_has_the_releases_in_which_it_held(tmp_path: Path) -> None:
    file = tmp_path / "signatures-torch.json"
    rnn = TORCH["torch/nn/modules/rnn.py"].replace(b"layers=1", b"layers=1, bias=True")
    for path in (
        torch(tmp_path, "2.0.0"),
        torch(tmp_path, "1.13.1", torch__nn__modules__rnn=rnn),
        torch(tmp_path, "2.1.0+cpu", torch__functional=b"__all__ = []"),
    ):
        file.write_bytes(add_signatures(file, path).encoded())
    found: SignatureCatalogue = read(file, SignatureCatalogue)
    assert found.releases == ["1.13.1", "2.0.0", "2.1.0"]
    assert found.signatures["1.13.1..2.0.0"] == {"torch.nn.LSTM": "size, layers=1, bias=True"}
    assert found.signatures["2.0.0.."] == {"torch.nn.LSTM": "size, layers=1"}
    assert set(found.signatures["1.13.1..2.1.0"]) == {"torch.norm", "torch.split"}
    assert found.at("2.0.0") == SIGNATURES


def test_a_release_that_is_read_again_gives_the_same_bytes(tmp_path: Path) -> None:
    file = tmp_path / "signatures-torch.json"
    first = add_signatures(file, torch(tmp_path)).encoded()
    file.write_bytes(first)
    assert add_signatures(file, torch(tmp_path)).encoded() == first


TENSORFLOW: dict[str, bytes] = {
    "tensorflow/__init__.py": b"",
    "tensorflow/_api/v2/__init__.py": b"from tensorflow.python.data import Dataset\n",
    "tensorflow/_api/v2/math/__init__.py": b"from tensorflow.python.ops import bincount as bincount, add\n",
    "tensorflow/_api/v2/data/__init__.py": b"from tensorflow.python.data import DatasetV2 as Dataset\n",
    "tensorflow/_api/v2/strings/__init__.py": b"from tensorflow.python.ops import bincount as join\n",
    "tensorflow/_api/v2/keras/layers/__init__.py": b"from tensorflow.python.data import Dense\n",
    "tensorflow/python/ops.py": (
        b"from tensorflow.python.platform import tf_export\n"
        b"@tf_export('math.bincount')\ndef bincount(arr, weights=None, name=None): ...\n"
        b"def add(x, y, name=None): ...\n"
    ),
    "tensorflow/python/data.py": (
        b"from tensorflow.python import base\n"
        b"class DatasetV2(base.Base):\n  @staticmethod\n  def range(*args, **kwargs): ...\n"
        b"  def map(self, f, parallel=None, kind=ops.Kind.FIRST): ...\n"
        b"class Dense(base.Base):\n  def __init__(self, units, **kwargs): ...\n"
    ),
    "tensorflow/python/base.py": b"class Base:\n  def batch(self, size, drop=False, name=None): ...\n",
}


@pytest.mark.parametrize("folder", ["tensorflow", "tensorflow_core"])
def test_signatures_of_tensorflow_are_those_of_its_public_interface(
    tmp_path: Path, folder: str
) -> None:
    members = {
        name.replace("tensorflow/", f"{folder}/", 1): text for name, text in TENSORFLOW.items()
    }
    path = wheel(tmp_path / "tensorflow-2.0.1-cp310-cp310-macosx_11_0_arm64.whl", members)
    assert add_signatures(tmp_path / "none.json", path).at("2.0.1") == {
        "tf.data.Dataset.batch": "size, drop=False",
        "tf.data.Dataset.map": "f, parallel=None, kind=Kind.FIRST",
        "tf.math.bincount": "arr, weights=None",
    }


def test_signatures_of_keras_join_those_of_a_release_of_tensorflow(tmp_path: Path) -> None:
    file = tmp_path / "signatures-tensorflow.json"
    path = wheel(tmp_path / "tensorflow-2.16.1-cp310-cp310-macosx_11_0_arm64.whl", TENSORFLOW)
    file.write_bytes(add_signatures(file, path).encoded())
    members = {
        "keras/_tf_keras/keras/layers/__init__.py": b"from keras.src.layers import Up\n",
        "keras/src/layers.py": b"class Up:\n  def __init__(self, size=2, interpolation='nearest', **kwargs): ...\n",
    }
    keras = wheel(tmp_path / "keras-3.1.0-py3-none-any.whl", members)
    found = add_signatures(file, keras, "2.16.1")
    assert found.at("2.16.1")["tf.keras.layers.Up"] == "size=2, interpolation='nearest', **kwargs"
    assert found.at("2.16.1")["tf.math.bincount"] == "arr, weights=None"
    assert list(found.wheels["2.16.1"]) == [path.name, keras.name]
    with pytest.raises(UsageError, match="--tensorflow"):
        add_signatures(file, keras)
    with pytest.raises(DataError, match="does not list release"):
        add_signatures(file, keras, "2.15.0")


def test_signatures_of_jax_have_the_methods_of_an_indexed_update(tmp_path: Path) -> None:
    members = {
        "jax/numpy/__init__.py": b"from jax._src.numpy import sin, sum as sum\n",
        "jax/numpy/__init__.pyi": b"def sum(a: Array, axis: int = ...) -> Array: ...\n",
        "jax/_src/numpy/__init__.py": b"@jit\ndef sum(a, axis=None, *, out_sharding=None): ...\nsin = jit(cos)\n",
        "jax/_src/numpy/array_methods.py": (
            b"class _IndexUpdateRef:\n  def add(self, values, *, mode=None): ...\n  def __init__(self, x): ...\n"
        ),
    }
    path = wheel(tmp_path / "jax-0.5.0-py3-none-any.whl", members)
    assert add_signatures(tmp_path / "none.json", path).at("0.5.0") == {
        "jax.numpy.ndarray.at.add": "values, *, mode=None",
        "jax.numpy.sum": "a, axis=None",
    }


@pytest.mark.parametrize(("needs", "said"), [("4.1", r"4\.1"), ("9" * 5000, "999999999")])
def test_a_wheel_for_a_newer_python_is_refused_since_its_syntax_may_be_unknown(
    tmp_path: Path, needs: str, said: str
) -> None:
    metadata = f"Name: jax\nRequires-Python: >={needs}\n".encode()
    members = {"jax-0.5.0.dist-info/METADATA": metadata}
    path = wheel(tmp_path / "jax-0.5.0-py3-none-any.whl", members)
    with pytest.raises(DataError, match=f"made for Python {said} and newer"):
        add_signatures(tmp_path / "none.json", path)


def test_a_wheel_of_something_else_is_refused(tmp_path: Path) -> None:
    with pytest.raises(DataError, match="not a wheel with signatures"):
        add_signatures(tmp_path / "none.json", wheel(tmp_path / "numpy-1.0-py3-none-any.whl", {}))
    with pytest.raises(DataError, match="no such file"):
        add_signatures(tmp_path / "none.json", tmp_path / "torch-2.0.0-py3-none-any.whl")
    file = tmp_path / "signatures-jax.json"
    file.write_bytes(SignatureCatalogue("jax").encoded())
    with pytest.raises(DataError, match="a catalogue of jax, not of torch"):
        add_signatures(file, torch(tmp_path))


def test_the_command_adds_a_release_to_a_file_of_signatures(tmp_path: Path) -> None:
    file = tmp_path / "signatures-torch.json"
    command = [
        sys.executable,
        "-m",
        "d9m",
        "kb",
        "collect",
        str(torch(tmp_path)),
        "--signatures",
        str(file),
    ]
    done = subprocess.run(command, capture_output=True, text=True, check=True)
    assert done.stdout == ""
    assert json.loads(file.read_text())["releases"] == ["2.0.0"]
