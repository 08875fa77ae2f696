"""Public names of Python modules, read from their source and stubs; nothing is imported."""

from __future__ import annotations

import ast
import re
from collections.abc import Iterator
from typing import TypeGuard

from d9m.authoring.collect.wheel import Wheel
from d9m.authoring.collect.words import parsed


def defined(source: str) -> set[str]:
    """Functions, classes and lower-case values that a module defines itself."""
    found: set[str] = set()
    for node in _statements(parsed(source)):
        if isinstance(node, (ast.FunctionDef, ast.ClassDef)):
            found.add(node.name)
        elif isinstance(node, ast.Assign):
            for target in node.targets:
                if isinstance(target, ast.Name) and target.id.islower():
                    found.add(target.id)
    return {name for name in found if not name.startswith("_")}


def imported(source: str, of: str = "") -> set[str]:
    """Names that a module takes from others to offer them; `of`: start of the modules taken
    from.
    """
    found: set[str] = set()
    for node in _statements(parsed(source)):
        if not isinstance(node, ast.ImportFrom) or node.module == "__future__":
            continue
        if ("." * node.level + (node.module or "")).startswith(of):
            found.update(alias.asname or alias.name for alias in node.names)
    return {name for name in found if not name.startswith("_") and name != "*"}


def listed(source: str) -> set[str]:
    """Names of ``__all__``, where it is written out."""
    found: set[str] = set()
    for node in _statements(parsed(source)):
        target = node.targets[0] if isinstance(node, ast.Assign) else getattr(node, "target", None)
        value = getattr(node, "value", None)
        if (
            isinstance(target, ast.Name)
            and target.id == "__all__"
            and isinstance(value, (ast.List, ast.Tuple))
        ):
            found.update(str(each.value) for each in value.elts if isinstance(each, ast.Constant))
    return found


def methods(source: str, of: str) -> set[str]:
    """Public methods of the classes whose name matches."""
    found: set[str] = set()
    for node in _statements(parsed(source)):
        if isinstance(node, ast.ClassDef) and re.fullmatch(of, node.name):
            found.update(member.name for member in node.body if _is_public_method(member))
    return found


def _is_public_method(node: ast.stmt) -> TypeGuard[ast.FunctionDef]:
    return isinstance(node, ast.FunctionDef) and (
        not node.name.startswith("_") or node.name.endswith("__")
    )


def _statements(module: ast.Module | None) -> Iterator[ast.stmt]:
    """Statements of a module, those under a top-level ``if`` and ``try`` included."""
    waiting: list[ast.stmt] = list(module.body) if module else []
    while waiting:
        node = waiting.pop(0)
        yield node
        if isinstance(node, (ast.If, ast.Try)):
            waiting.extend([*node.body, *node.orelse])


TORCH_SPACES = {
    **{space: f"{space}/__init__" for space in ("fft", "linalg", "nested", "sparse", "special")},
    "distributed": "distributed/distributed_c10d",
    "nn.attention": "nn/attention/__init__",
    "nn.init": "nn/init",
    "random": "random",
    "utils.checkpoint": "utils/checkpoint",
}
"""Namespace -> the module that defines its functions."""


def torch_names(wheel: Wheel) -> set[str]:
    """Functions, layers and tensor methods of torch; empty for wheels without a stub, which alone
    names them all.
    """
    tensor = wheel.text("torch/_tensor.py") or wheel.text("torch/tensor.py")
    stub = wheel.text("torch/_C/__init__.pyi") or wheel.text("torch/__init__.pyi")
    if not stub:
        return set()
    spaces = {
        "torch": {
            *defined(wheel.text("torch/_C/_VariableFunctions.pyi")),
            *(defined(stub) if wheel.text("torch/__init__.pyi") else ()),
            *listed(wheel.text("torch/functional.py")),
            *(each for each in defined(wheel.text("torch/__init__.py")) if each.islower()),
            *re.findall(r"add_docstr\(\s*torch\.(\w+),", wheel.text("torch/_torch_docs.py")),
        },
        "torch.nn": imported(wheel.text("torch/nn/modules/__init__.py")),
        "torch.nn.functional": defined(wheel.text("torch/nn/functional.py")),
        "torch.Tensor": {
            *methods(stub, "_?TensorBase|Tensor"),
            *methods(tensor, "Tensor"),
            *re.findall(r"add_docstr_all\(\s*[\"'](\w+)[\"']", wheel.text("torch/_tensor_docs.py")),
        },
    }
    for space in ("nn.utils", "optim"):
        spaces[f"torch.{space}"] = imported(
            wheel.text(f"torch/{space.replace('.', '/')}/__init__.py")
        )
    for space, module in TORCH_SPACES.items():
        spaces[f"torch.{space}"] = defined(wheel.text(f"torch/{module}.py"))
    found: set[str] = set()
    for space, names in spaces.items():
        found.update(f"{space}.{name}" for name in names)
    return found


_TENSORFLOW_API = re.compile(
    r"tensorflow(?:_core)?/(?P<apart>_api/v[12]/|(?:python/)?tools/api/generator/api/)?(?P<space>.+/)?__init__\.py"
)
_OWN = re.compile(r"tensorflow(?:_core)?/(?:contrib|core|examples|python|tools)/")
"""Not the interface."""
_GENERATED = "MACHINE GENERATED"
"""Mark of generated modules, in 1.9 to 1.11 among other lines."""
_TENSORFLOW_TWICE = re.compile(r"compat/(v2/|v1/(compat|raw_ops)/)")
"""Views of the same names."""


def tensorflow_names(wheel: Wheel) -> set[str]:
    """Names of the generated modules; empty for releases that put their interface together while
    they start.
    """
    interface = tensorflow_modules(wheel)
    found: set[str] = set()
    for space, members in interface.items():
        for source in map(wheel.text, members):
            found.update(f"{space}{name}" for name in imported(source))
    return {f"tf.{name}" for name in found if f"{name}." not in interface}


def tensorflow_modules(wheel: Wheel) -> dict[str, list[str]]:
    """Namespace below ``tf.``, with a dot at its end -> the files that say what is in it."""
    found: dict[str, list[str]] = {}
    for member in wheel.members():
        place = _TENSORFLOW_API.fullmatch(member)
        space = (place["space"] or "") if place else ""
        if place is None or _TENSORFLOW_TWICE.match(space):
            continue
        if place["apart"] or (not _OWN.match(member) and _GENERATED in wheel.text(member)):
            found.setdefault(space.replace("/", "."), []).append(member)
    if found:
        roots = ("tensorflow_core/__init__.py", "tensorflow/__init__.py")
        found.setdefault("", []).append(next(filter(wheel.text, roots), roots[-1]))
    return found


_KERAS_API = re.compile(r"keras/(?:api/_v2/|(?:api/)?_tf_keras/)keras/(.+/)?__init__\.py")
"""Modules that ``tf.keras`` leads to, in Keras 2 and 3."""


def keras_names(wheel: Wheel) -> set[str]:
    """Names under ``tf.keras`` in the wheel of Keras that TensorFlow takes them from."""
    found: set[str] = set()
    for space, members in keras_modules(wheel).items():
        for source in map(wheel.text, members):
            names = (
                imported(source)
                - imported(source, "keras.api")
                - imported(source, "keras._tf_keras")
            )
            found.update(f"tf.{space}{name}" for name in names)
    return found


def keras_modules(wheel: Wheel) -> dict[str, list[str]]:
    """Namespace below ``tf.``, with a dot at its end -> the files that say what is in it."""
    found: dict[str, list[str]] = {}
    for member in wheel.members():
        place = _KERAS_API.fullmatch(member)
        if place is not None:
            found.setdefault(f"keras.{(place[1] or '').replace('/', '.')}", []).append(member)
    return found
