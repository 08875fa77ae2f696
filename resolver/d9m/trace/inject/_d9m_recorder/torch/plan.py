# pyright: basic
"""The facts about an op that are needed before its call, read from its schema once."""

from __future__ import annotations

OVERWRITTEN = frozenset(
    [
        "fill_", "zero_", "copy_", "normal_", "uniform_", "random_", "bernoulli_", "exponential_",
        "cauchy_", "log_normal_", "geometric_", "_foreach_copy_", "_foreach_zero_",
    ]
)  # fmt: skip
"""Ops whose first argument is overwritten, whatever it held: it is not an input."""

STATISTICS = frozenset(["running_mean", "running_var"])
UPDATING = frozenset(
    [
        "native_batch_norm", "cudnn_batch_norm", "miopen_batch_norm", "batch_norm_gather_stats",
        "batch_norm_gather_stats_with_counts", "batch_norm_update_stats",
    ]
)  # fmt: skip
"""Ops that write their running statistics, though their schemas do not say so."""

VALUES = frozenset(["_local_scalar_dense", "item", "equal", "is_nonzero", "allclose"])
"""Ops that hand a tensor's value to Python."""

UNTRACED = frozenset(["profiler", "prim"])
MOVES = frozenset(["set_", "resize_", "resize_as_", "_resize_output_", "record_stream"])
"""Ops that give a tensor other memory, or none; they compute nothing."""

FROM_PYTHON = "lift_fresh"
"""Op that `torch.tensor` calls with its filled tensor: a view, but values come in here."""

WAITS = frozenset(["wait_tensor", "_wrap_tensor_autograd"])
"""Ops that take what a collective may still be writing, and compute nothing."""

LENT = {"all_gather_copy_in": "all_gather_output"}
"""Argument of an op that it writes in part and returns; the part is another of its results."""

GROUPS = frozenset(["c10d", "_c10d_functional"])


class Plan:
    """`arguments` are (name, holds tensors, is read, is written, default) in their order."""

    __slots__ = (
        "arguments", "collective", "higher", "makes", "name", "overload", "passes", "random",
        "value",
    )  # fmt: skip

    def __init__(self, name: str, overload: str) -> None:
        self.name = name
        self.overload = overload
        self.arguments: list = []
        self.passes = False
        self.random = False
        self.makes = False
        """Whether it returns uninitialised memory."""
        self.value = False
        self.collective = False
        self.higher = False
        """Whether it has no schema: it is called with functions."""


def plan(torch, function) -> Plan:
    schema = getattr(function, "_schema", None)
    if schema is None:
        found = Plan("higher_order::" + str(function.name()), "")
        found.higher = True
        return found
    space, _colons, base = schema.name.partition("::")
    found = Plan(schema.name, schema.overload_name)
    found.collective = space in GROUPS
    for index, argument in enumerate(schema.arguments):
        tensors = "Tensor" in str(argument.type)
        read, written = _use(found, argument, base, index)
        found.arguments.append((argument.name, tensors, read, written, argument.default_value))
    tags = function.tags
    found.random = torch.Tag.nondeterministic_seeded in tags
    found.value = base in VALUES
    found.makes = base.startswith(("empty", "new_empty")) and not _writes(found)
    found.passes = not found.value and _passes(torch, found, schema, space, base, tags)
    return found


def _use(found: Plan, argument, base: str, index: int):
    """Whether the argument is read, and whether it is written."""
    if found.collective:
        return _use_of_collective(argument.name, base)
    if argument.name == LENT.get(base):
        return False, False
    alias = argument.alias_info
    written = alias is not None and alias.is_write
    written = written or (base in UPDATING and argument.name in STATISTICS)
    only = written and (argument.kwarg_only or (index == 0 and base in OVERWRITTEN))
    return not only and not _only_shape(base, index), written


def _only_shape(base: str, index: int) -> bool:
    """Whether an op asks the argument for its shape, not for its content."""
    return index == 0 and (base.endswith("_like") or base.startswith("new_"))


def _use_of_collective(name: str, base: str):
    """Their schemas say nothing of it; the names of their arguments do."""
    if name.startswith("output") or base.startswith("recv"):
        return False, True
    if name.startswith("input") or base.startswith("send") or not base.endswith("_"):
        return True, False
    return True, True


def _writes(found: Plan) -> bool:
    return any(written for _name, _tensors, _read, written, _default in found.arguments)


def _passes(torch, found: Plan, schema, space: str, base: str, tags) -> bool:
    """Whether it computes nothing: a view, a question about shapes, a mark of the profiler."""
    if space in UNTRACED or base in MOVES or base in WAITS:
        return True
    if getattr(torch.Tag, "inplace_view", None) in tags:
        return True
    if found.collective or _writes(found) or base == FROM_PYTHON:
        return False
    returned = [value for value in schema.returns if "Tensor" in str(value.type)]
    return all(value.alias_info is not None for value in returned)
