"""Signatures of the public callables of a framework, from the Python files of its wheel."""

from __future__ import annotations

import sys
from collections.abc import Callable, Iterable, Mapping
from pathlib import Path

import msgspec

from d9m.authoring.collect import modules
from d9m.authoring.collect.definitions import Definitions
from d9m.authoring.collect.overloads import Overloads
from d9m.authoring.collect.parameters import Parameter, ParameterList, reduce_overloads
from d9m.authoring.collect.wheel import Wheel
from d9m.errors import DataError, UsageError
from d9m.model.signatures import drop_first
from d9m.model.wheel_facts import AS_FUNCTION, OR, SignatureCatalogue, opened

_TORCH_MODULES = {
    "torch.nn": "torch.nn.modules",
    **{
        f"torch.{space}": f"torch.{path}".replace("/", ".")
        for space, path in modules.TORCH_SPACES.items()
    },
}
"""Namespace -> the module that has its names, where it is called otherwise."""

_TENSORS = (
    ("torch._tensor", "Tensor"),
    ("torch.tensor", "Tensor"),
    ("torch._C", "TensorBase"),
    ("torch._C", "_TensorBase"),
    ("torch", "Tensor"),
)
"""Modules and classes with the methods of a tensor, by release; those written in Python first."""

_TENSORFLOW_SPACES = {
    *("tf", "tf.nn", "tf.math", "tf.linalg", "tf.image", "tf.random", "tf.signal", "tf.sparse"),
    *("tf.data", "tf.keras.layers"),
}
_TENSORFLOW_CLASSES = {"tf.data.Dataset", "tf.Variable"}
"""Classes whose methods are collected, too."""

_JAX_SPACES = (
    *(
        "numpy",
        "numpy.linalg",
        "numpy.fft",
        "lax",
        "nn",
        "nn.initializers",
        "random",
        "ops",
        "image",
    ),
    *("scipy.linalg", "scipy.ndimage", "scipy.signal", "scipy.special"),
)

_PLACED = {
    *("out", "layout", "device", "pin_memory", "requires_grad", "names", "memory_format"),
    "out_sharding",
}
"""Parameters that say where a result goes and how it lies there."""


class SignatureReader(msgspec.Struct, frozen=True):
    """How the signatures in a distribution's wheels are read."""

    package: str
    stated: Callable[[Wheel], dict[str, str]]
    """Name -> overloads."""
    part: bool = False
    """Whether a release of the package has more than this wheel's."""


def add_signatures(catalogue: Path, path: Path, release: str | None = None) -> SignatureCatalogue:
    """The catalogue in a file, or a new one, with what a wheel says; what a wheel of a part says
    belongs to `release`.

    Raises DataError for a damaged wheel, and for one whose signatures cannot be read.
    """
    if not path.is_file():
        raise DataError(f"{path}: no such file")
    with Wheel(path) as wheel:
        reader = READERS.get(wheel.distribution)
        if reader is None:
            raise DataError(f"{path.name}: not a wheel with signatures", allowed=list(READERS))
        if reader.part != (release is not None):
            raise UsageError("a wheel of keras needs --tensorflow RELEASE; no other takes it")
        known = opened(catalogue, SignatureCatalogue, reader.package)
        if release is not None and release not in known.releases:
            raise DataError(
                f"{catalogue.name}: does not list release {release}", allowed=known.releases
            )
        needed = wheel.oldest_python()
        if needed > sys.version_info[:3]:
            version = ".".join(map(str, needed))
            tip = "an older Python cannot read the syntax of its files"
            raise DataError(f"{path.name}: made for Python {version} and newer", tip=tip)
        file = (path.name, wheel.checksum())
        if release is not None:
            return known.with_part(release, file, reader.stated(wheel))
        return known.with_release(wheel.version.partition("+")[0], file, reader.stated(wheel))


def torch_signatures(wheel: Wheel) -> dict[str, str]:
    """Name -> overloads of what PyTorch's catalogue lists, and of ``torch.utils.data``."""
    definitions = Definitions(wheel, {"torch": "torch._C._VariableFunctions"})
    found: dict[str, Overloads] = {}
    for module, name in _TENSORS:
        for method, overloads in definitions.methods(module, name).items():
            found.setdefault(f"torch.Tensor.{method}", overloads)
    names = modules.torch_names(wheel)
    data = modules.imported(wheel.text("torch/utils/data/__init__.py"))
    for full in [*names, *(f"torch.utils.data.{name}" for name in data)]:
        space, _dot, name = full.rpartition(".")
        if space != "torch.Tensor":
            found[full] = definitions.overloads(_TORCH_MODULES.get(space, space), name)
    texts = _texts(found, _as_called)
    stated: dict[str, str] = {}
    for name, text in texts.items():
        if name in names or not name.startswith("torch.Tensor."):
            stated[name] = AS_FUNCTION if _is_like_its_function(name, texts) else text
    return stated


def tensorflow_signatures(wheel: Wheel) -> dict[str, str]:
    """Name -> overloads of what a program's ops and layers are made with."""
    return _interface(wheel, modules.tensorflow_modules(wheel), {"tensorflow": "tensorflow_core"})


def keras_signatures(wheel: Wheel) -> dict[str, str]:
    """The same of what is under ``tf.keras``, from a wheel of Keras."""
    return _interface(wheel, modules.keras_modules(wheel), {})


def _interface(
    wheel: Wheel, spaces: Mapping[str, Iterable[str]], also: Mapping[str, str]
) -> dict[str, str]:
    """`spaces`: namespace below ``tf.`` -> the files that say what is in it.

    There are thousands of names; what has no default is left out.
    """
    definitions = Definitions(wheel, also)
    found: dict[str, Overloads] = {}
    for below, members in spaces.items():
        space = f"tf.{below}".rstrip(".")
        for member in members if space in _TENSORFLOW_SPACES else ():
            module = member.removesuffix("/__init__.py").replace("/", ".")
            for name in modules.imported(wheel.text(member)):
                full = f"{space}.{name}"
                found[full] = definitions.overloads(module, name) or found.get(full, [])
                if full in _TENSORFLOW_CLASSES:
                    for method, overloads in definitions.methods(module, name).items():
                        found[f"{full}.{method}"] = overloads
    texts = _texts(found, _without_name)
    return {name: text for name, text in texts.items() if "=" in text}


def jax_signatures(wheel: Wheel) -> dict[str, str]:
    """Name -> overloads of JAX's functions on arrays."""
    definitions = Definitions(wheel)
    found: dict[str, Overloads] = {}
    for space in _JAX_SPACES:
        path = f"jax/{space.replace('.', '/')}"
        source = wheel.text(f"{path}/__init__.py") or wheel.text(f"{path}.py")
        for name in modules.imported(source) | modules.defined(source):
            found[f"jax.{space}.{name}"] = definitions.overloads(f"jax.{space}", name)
    for method, overloads in definitions.methods(
        "jax._src.numpy.array_methods", "_IndexUpdateRef"
    ).items():
        found[f"jax.numpy.ndarray.at.{method}"] = overloads
    return _texts(found)


def _texts(
    found: Mapping[str, Overloads], changed: Callable[[ParameterList], ParameterList] | None = None
) -> dict[str, str]:
    """Each signature in one text. `changed` is done to every overload.

    What says nothing is left out: functions of one argument, constructors and methods of none.
    """
    texts: dict[str, str] = {}
    for name, overloads in found.items():
        forms = map(changed, overloads) if changed else overloads
        kept = reduce_overloads(_without(form, _PLACED) for form in forms)
        *_spaces, owner, last = name.split(".")
        enough = 1 if owner[:1].isupper() or owner == "at" or last[:1].isupper() else 2
        if kept and max(len(form.parameters) for form in kept) >= enough:
            texts[name] = OR.join(form.text() for form in kept)
    return {name: text for name, text in texts.items() if not _repeats(name, text, texts)}


def _repeats(name: str, text: str, texts: Mapping[str, str]) -> bool:
    """Whether an in-place variant is called like the other one."""
    return name.endswith("_") and texts.get(name.rstrip("_")) == text


def _is_like_its_function(name: str, texts: Mapping[str, str]) -> bool:
    space, _dot, last = name.rpartition(".")
    function = texts.get(f"torch.{last}", "")
    return space == "torch.Tensor" and texts[name] == OR.join(map(drop_first, function.split(OR)))


def _without(overload: ParameterList, names: Iterable[str]) -> ParameterList:
    """Without those parameters that an argument must name."""
    kept: list[Parameter] = []
    for parameter in overload.parameters:
        if parameter.kind != "keyword" or parameter.name not in names:
            kept.append(parameter)
    return ParameterList(tuple(kept))


def _as_called(overload: ParameterList) -> ParameterList:
    """PyTorch's stubs say ``self`` where its functions say ``input``."""
    parameters = list(overload.parameters)
    for place, parameter in enumerate(parameters):
        if parameter.name == "self":
            parameters[place] = msgspec.structs.replace(parameter, name="input")
    return ParameterList(tuple(parameters))


def _without_name(overload: ParameterList) -> ParameterList:
    """Without the name of an operation, which has no part in what it computes, where nothing comes
    after it.
    """
    named = _without(overload, ("name",))
    places = named.places()
    if places and places[-1].name == "name":
        return ParameterList(tuple(item for item in named.parameters if item != places[-1]))
    return named


READERS: dict[str, SignatureReader] = {
    "torch": SignatureReader("torch", torch_signatures),
    "tensorflow": SignatureReader("tensorflow", tensorflow_signatures),
    "keras": SignatureReader("tensorflow", keras_signatures, part=True),
    "jax": SignatureReader("jax", jax_signatures),
}
"""Distribution -> how its signatures are read."""
