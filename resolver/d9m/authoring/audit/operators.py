"""How to ask about an operator that ops end in."""

from __future__ import annotations

from collections.abc import Callable

from d9m.authoring.audit.shipped import Known
from d9m.environment.environment import Environment
from d9m.errors import UsageError
from d9m.model.op_syntax import parse
from d9m.model.records import Outcome
from d9m.resolve import op_lookup
from d9m.resolve.op_lookup import OpItem

HARMLESS: frozenset[Outcome] = frozenset({"no-known-source", "deterministic"})
"""Outcomes of what never varies, whatever is set."""


def own_kernel(name: str) -> str:
    """The query for what its own kernel does: its gradient is another operator."""
    own = "" if name.partition("[")[0].endswith("_backward") else ":forward"
    return f"aten::{name}{own}"


def own_primitive(name: str) -> str:
    """The query for a primitive of JAX; kb/ops says which direction is its own."""
    plain, bracket, said = name.partition("[")
    return f"jax.extend.core.primitives.{plain.replace('-', '_')}_p{bracket}{said}"


def own_operation(name: str) -> str:
    """The query for what an operation of a TensorFlow graph does itself: its gradient is others."""
    plain = name.partition("[")[0]
    is_gradient = "Grad" in plain or "Backprop" in plain
    return f"tf.raw_ops.{name}" + ("" if is_gradient else ":forward")


OWN_QUERIES: dict[str, Callable[[str], str]] = {
    "torch": own_kernel,
    "jax": own_primitive,
    "tensorflow": own_operation,
}
"""Package -> how to ask about an operator in its traces."""


def find_item(known: Known, environment: Environment, query: str) -> OpItem | None:
    """Return the op that a query asks about; None for an unknown name."""
    try:
        return op_lookup.find(known.kb, environment, parse(query))
    except UsageError:
        return None
