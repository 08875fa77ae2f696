# pyright: basic
"""Records of TensorFlow's eager ops, and of functions that run as compiled graphs.

An op's callback comes after it. Eager tensors never change, so its inputs are read then; of a
variable that it has written, what was known of it before is its input.
"""

from __future__ import annotations

import re

from ..core.stream import compact
from .settings import NOT_SET
from .values import variable_type

READERS = frozenset(
    [
        "ReadVariableOp", "ResourceGather", "ResourceGatherNd", "VariableShape",
        "VarIsInitializedOp",
    ]
)  # fmt: skip
"""Ops that get a variable and do not write it."""

OVERWRITES = "AssignVariableOp"
"""The op whose result does not depend on what the variable held before."""

UNTRACED = re.compile(r"(Delete|Destroy).*|.*IteratorGetNext.*|VarIsInitializedOp|VarHandleOp")
"""Ops that compute nothing, and those that hand over a batch, which has another record."""

UNSEEDED = "NonDeterministicInts"

PRIVATE = frozenset(
    [
        "allowed_devices", "config_proto", "container", "debug_name", "dtype", "executor_type",
        "seed", "seed2", "shared_name",
    ]
)  # fmt: skip
"""Attributes that vary by nature, or are recorded elsewhere."""

FUNCTION = re.compile(r"__(?:inference|forward|backward)_(_*backward_)?(.*?)(?:_\d+)*\Z")

FAULTY_OPS = 20
"""Ops whose recording may fail before none is recorded any more."""


def has_callbacks() -> bool:
    """Whether this release can say of each op that it ran."""
    try:
        from tensorflow.python.framework import op_callbacks  # pyright: ignore  # noqa: F401
    except ImportError:
        return False
    return True


class Ops:
    """The callback, and the wrapper of what executes functions, while a step is recorded."""

    def __init__(self, framework, memories, places) -> None:
        self._framework = framework
        self._session = framework.session
        self._values = framework.values
        self._memories = memories
        self._places = places
        self._sites: dict = {}
        self._draws: dict = {}
        self._failed: set = set()
        self._original = None

    # The window.

    def fit(self) -> None:
        """Be there while a step is recorded, and at no other time."""
        if self._session.on and len(self._failed) < FAULTY_OPS:
            self._enter()
        else:
            self.leave()

    def _enter(self) -> None:
        if self._original is not None:
            return
        from tensorflow.python.eager import execute  # pyright: ignore
        from tensorflow.python.framework import op_callbacks  # pyright: ignore

        op_callbacks.add_op_callback(self._callback)
        self._original = execute.execute
        execute.execute = self._execute

    def leave(self) -> None:
        if self._original is None:
            return
        from tensorflow.python.eager import execute  # pyright: ignore
        from tensorflow.python.framework import op_callbacks  # pyright: ignore

        if execute.execute == self._execute:
            execute.execute = self._original
        self._original = None
        op_callbacks.remove_op_callback(self._callback)

    # Ops.

    def _callback(self, op_type, inputs, attrs, outputs, op_name=None, graph=None) -> None:
        if graph is not None or self._values.reading:
            return
        name = op_type.decode() if isinstance(op_type, bytes) else op_type
        if name.startswith("__") or name in self._failed or UNTRACED.fullmatch(name):
            return
        if not self._framework.wanted():
            return
        _none, done = self._session.guarded(name, self._record, name, inputs, attrs, outputs)
        if not done:
            self._failed.add(name)

    def _record(self, name: str, inputs, attrs, outputs) -> None:
        read, written, shapes = [], [], []
        for value in inputs:
            shapes.append(_shape(value))
            if variable_type(value) is None or name in READERS:
                read.append(self._memories.read(value))
                continue
            before = self._memories.before(value)
            if name != OVERWRITES and before is not None:
                read.append(before)
            if name == OVERWRITES or before is not None:
                written.append(self._memories.wrote(value))
        given = dict(zip(attrs[::2], attrs[1::2]))
        arguments = self._arguments(given)
        made = self._memories.all_made(outputs, f"{name}({arguments})", read)
        generator = self._generator(name, given, made)
        site = self._site(name, tuple(shapes), (*outputs, *inputs))
        items = ["o", site, arguments, read, made + written]
        self._session.add(compact(items + ([generator] if generator else [])) + "\n")

    def _generator(self, name: str, given: dict, made: list):
        """Seed and state that an op draws from; without a seed, its numbers stand for the state."""
        if name != UNSEEDED and not ("seed" in given and "seed2" in given):
            return None
        seed, own = given.get("seed", 0), given.get("seed2", 0)
        if not seed and not own:
            return [NOT_SET, " ".join(text.partition(".")[0] for text in made)]
        key = name, seed, own
        self._draws[key] = self._draws.get(key, 0) + 1
        return [str(seed), f"{own}.{self._draws[key]}"]

    def _arguments(self, given: dict) -> str:
        texts = []
        for name, value in given.items():
            plain = isinstance(value, (bool, int, float, str, list, tuple))
            if name in PRIVATE or name[0] in "T_" or not plain or value in ([], (), ""):
                continue
            texts.append(f"{name}={value!r}")
        return self._session.digester.cut(", ".join(texts))

    def _site(self, name: str, shapes: tuple, tensors) -> int:
        phase, layer, source = self._places.here()
        device = _device(tensors)
        key = name, phase, layer, tuple(source or ()), shapes, device
        found = self._sites.get(key)
        if found is None:
            found = self._sites[key] = len(self._sites)
            op = f"tf.raw_ops.{name}"
            items = ["S", found, op, "", phase, "", layer, source, list(shapes), device]
            self._session.add(compact(items) + "\n")
        return found

    # Functions.

    def _execute(self, op_name, num_outputs, inputs, attrs, ctx, name=None):
        """In the place of TensorFlow's own, which it calls."""
        original = self._original
        if original is None:  # the step ended while this was being called
            from tensorflow.python.eager import execute  # pyright: ignore

            original = execute.quick_execute
        title = op_name.decode() if isinstance(op_name, bytes) else str(op_name)
        if not title.startswith("__") or self._values.reading or not self._framework.wanted():
            return original(op_name, num_outputs, inputs, attrs, ctx, name)
        shown = function_name(title)
        _none, begun = self._session.guarded("a function", self._begins, shown, inputs)
        found = original(op_name, num_outputs, inputs, attrs, ctx, name)
        if begun:
            self._session.guarded("a function", self._ends, shown, inputs, found)
        return found

    def _begins(self, shown: str, inputs) -> None:
        self._session.record("c", shown, [self._memories.read(value) for value in inputs])

    def _ends(self, shown: str, inputs, outputs) -> None:
        handles = [value for value in inputs if variable_type(value) is not None]
        written = [self._memories.wrote(handle) for handle in handles]
        made = self._memories.all_made(outputs or (), shown, written)
        self._session.record("e", shown, made + written)


def function_name(title: str) -> str:
    """Without what TensorFlow puts around a function's name.

    >>> function_name("__inference_train_step_123")
    'function train_step'
    >>> function_name("__inference___backward_f_28_42")
    'function f (backward)'
    """
    found = FUNCTION.match(title)
    if found is None:
        return f"function {title}"
    return f"function {found.group(2)}" + (" (backward)" if found.group(1) else "")


def _shape(value) -> str:
    kind = getattr(value.dtype, "name", str(value.dtype))
    return f"{kind}{list(value.shape)}"


def _device(tensors) -> str:
    for tensor in tensors:
        place = str(getattr(tensor, "device", "")).lower().rpartition("/device:")[2]
        kind, _colon, number = place.partition(":")
        if kind == "gpu":
            return f"cuda:{number}"
        if kind:
            return kind
    return "cpu"
