"""How to ask about an operator that ops end in."""

from __future__ import annotations

from collections.abc import Callable, Iterator

import msgspec

from d9m.authoring.audit.shipped import Known
from d9m.environment.environment import Environment
from d9m.errors import UsageError
from d9m.model.op_syntax import parse, plain
from d9m.model.records import Outcome, Scope, Source
from d9m.resolve import op_lookup
from d9m.resolve.op_lookup import OpItem
from d9m.resolve.resolver import resolve

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
    "tf-keras": own_operation,
}
"""Package -> how to ask about an operator in its traces."""


def find_item(known: Known, environment: Environment, query: str) -> OpItem | None:
    """Return the op that a query asks about; None for an unknown name."""
    try:
        return op_lookup.find(known.kb, environment, parse(query))
    except UsageError:
        return None


def sources_of_name(known: Known, package: str, name: str) -> Iterator[Source]:
    """Return the sources of all ops that a name may mean, in any release and on any device."""
    for meant in known.kb.names.get(f"{package}:{plain(name)}") or ():
        for reached in known.kb.ops[f"{package}:{meant}"].reaches:
            for op_source in known.kb.sources_of(package, reached.op):
                yield op_source.source


def outcomes_of(
    known: Known, environment: Environment, item: OpItem, scope: Scope = "run"
) -> set[Outcome]:
    """Return every outcome that the sources of an op have there, whatever its arguments; none of
    an op without a source.
    """
    open_ = tuple(msgspec.structs.replace(op, defaults={}) for op in item.ops)
    item = msgspec.structs.replace(item, ops=open_)
    (answer,) = resolve(known.kb, environment, [item], scope).ops[:1]
    return {branch.outcome for source in answer.sources for branch in source.possible}
