# pyright: basic
"""Records of JAX's primitives, where functions are run op by op."""

from __future__ import annotations

import enum
import re
from contextlib import nullcontext

from .records import shape

NAMES = re.compile(r"([^/()]+)(\(?)")
"""Parts of a stack of names such as `transpose(jvp(Net))/Dense_0`."""

RECOMPUTED = "rematted_computation"
"""The scope of what `jax.checkpoint` computes again."""

NUMBERS = bool, int, float


class Place:
    """The place of a traced operation: phase, path of functions and scopes, line of the program."""

    __slots__ = ("module", "phase", "source")

    def __init__(self, phase: str, module: str, source) -> None:
        self.phase = phase
        self.module = module
        self.source = source

    @property
    def key(self):
        return self.phase, self.module, self.source

    def of(self, info, records) -> Place:
        """The place of an operation that is traced here. One without a line is a part of
        a function of JAX, and has the line that calls it.
        """
        stack = str(getattr(info, "name_stack", ""))
        scopes = [name for name, opens in NAMES.findall(stack) if not opens]
        phase = "bwd" if "transpose(" in stack else self.phase
        if RECOMPUTED in scopes:
            scopes.remove(RECOMPUTED)
            phase = "recompute"
        module = ".".join([self.module, *scopes]) if self.module else ".".join(scopes)
        return Place(phase, module, records.traced(info) or self.source)

    def within(self, name: str) -> Place:
        """Inside a function that is called here."""
        module = f"{self.module}.{name}" if self.module else name
        return Place(self.phase, module, self.source)


class Operation:
    """An equation of a jaxpr, at a place."""

    __slots__ = ("arguments", "eqn", "frees", "place", "site")

    def __init__(self, eqn, place: Place, frees: list) -> None:
        self.eqn = eqn
        self.place = place
        self.frees = frees
        """Variables that nothing reads after it."""
        self.arguments = _arguments(eqn.params)
        self.site: int | None = None

    @property
    def name(self) -> str:
        return self.eqn.primitive.name

    def call(self, inputs: list) -> list:
        """Have JAX run it as it does outside of jitted functions."""
        eqn = self.eqn
        params = eqn.primitive.get_bind_params(eqn.params)
        functions, params = params if isinstance(params, tuple) else ((), params)
        with getattr(getattr(eqn, "ctx", None), "manager", None) or nullcontext():
            found = eqn.primitive.bind(*functions, *inputs, **params)
        return list(found) if eqn.primitive.multiple_results else [found]


class Ops:
    """Calls operations, and writes a record of each."""

    def __init__(self, session, arrays, records) -> None:
        self._session = session
        self._arrays = arrays
        self._records = records

    def call(self, operation: Operation, inputs: list) -> list:
        """The outputs. It is called once, whatever becomes of its record."""
        session = self._session
        if not session.on:
            return operation.call(inputs)
        about, _done = session.guarded("a primitive", self._before, operation, inputs)
        outputs = operation.call(inputs)
        if about is not None:
            session.guarded("a primitive", self._after, operation, about, outputs)
        return outputs

    def _before(self, operation: Operation, inputs: list):
        read, shapes, numbers = [], [], []
        for at, (atom, value) in enumerate(zip(operation.eqn.invars, inputs)):
            if hasattr(atom, "val") and not self._arrays.is_array(value):
                numbers.append(f"operand_{at}={value!s}")
            else:
                read.append(self._arrays.read(value))
                shapes.append(value)
        return ", ".join([*operation.arguments, *numbers]), read, shapes

    def _after(self, operation: Operation, about, outputs: list) -> None:
        arguments, read, values = about
        made = [self._arrays.wrote(value) for value in outputs]
        if operation.site is None:
            operation.site = self._site(operation, [shape(value) for value in values])
        self._session.record("o", operation.site, self._session.digester.cut(arguments), read, made)

    def moved(self, operation: Operation, inputs: list, outputs: list) -> None:
        """A loop took a part of its inputs, or put together what it made."""
        if self._session.on:
            self._session.guarded("a loop", self._moved, operation, inputs, outputs)

    def _moved(self, operation: Operation, inputs: list, outputs: list) -> None:
        read = [self._arrays.read(value) for value in inputs]
        made = [self._arrays.wrote(value) for value in outputs]
        self._session.record("o", self._site(operation, []), "", read, made)

    def chose(self, operation: Operation, value, choice) -> None:
        """A value decided what runs next."""
        if self._session.on and self._arrays.is_array(value):
            self._session.guarded("a choice", self._chose, operation, value, choice)

    def _chose(self, operation: Operation, value, choice) -> None:
        site = self._site(operation, [shape(value)])
        self._session.record("o", site, "", [self._arrays.read(value)], [])
        self._session.record("v", site, repr(choice))

    def _site(self, operation: Operation, shapes: list) -> int:
        place = operation.place
        op = f"jax::{operation.name}"
        return self._records.site(op, place.phase, place.module, place.source, shapes)


def _arguments(params: dict) -> list:
    """`name=value` of those parameters that are plain, or name something of the program."""
    found = []
    for name, value in params.items():
        text = _shown(value)
        if text is not None:
            found.append(f"{name}={text}")
    return found


def _shown(value) -> str | None:
    """None of what is a part of the program itself, or has another text in each run."""
    if isinstance(value, enum.Enum):
        return value.name
    if isinstance(value, NUMBERS):
        return repr(value)
    if isinstance(value, (tuple, list)):
        plain = all(isinstance(one, NUMBERS) for one in value)
        return repr(list(value)) if value and plain else None
    function = getattr(value, "callback_func", None)
    if function is not None:
        return getattr(function, "__name__", type(function).__name__)
    return str(value) if type(value).__module__ == "numpy.dtypes" else None
