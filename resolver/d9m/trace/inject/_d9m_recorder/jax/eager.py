# pyright: basic
"""Runs a jitted function op by op: traced as JAX traces it, then each primitive alone.

What XLA makes of the whole function is another program, with fused ops: its results differ.
"""

from __future__ import annotations

import sys

from .ops import Operation, Ops, Place

ENTERED = {
    "jit": "jaxpr",
    "pjit": "jaxpr",
    "closed_call": "call_jaxpr",
    "core_call": "call_jaxpr",
    "custom_jvp_call": "call_jaxpr",
    "custom_vjp_call": "call_jaxpr",
    "custom_vjp_call_jaxpr": "fun_jaxpr",
    "checkpoint": "jaxpr",
    "remat2": "jaxpr",
}
"""Primitives that only call a function -> the parameter that has it."""

ON_DEVICES = ("shard_map", "xla_pmap")
"""Primitives that run a function on several devices, each with its part of the inputs."""

MOST_IN_LOOP = 20_000
"""Equations of a loop that are run one by one; a longer one is run as one op, or its rest is."""


class Eager:
    """Runs functions, and has each primitive recorded."""

    def __init__(self, jax, session, arrays, records) -> None:
        self._jax = jax
        self._session = session
        self._arrays = arrays
        self._records = records
        self._ops = Ops(session, arrays, records)
        self._operations: dict = {}
        """A jaxpr's identity, and the place that calls it -> its operations, and the jaxpr."""
        self._constants: dict = {}
        """A constant's identity -> the array that stands for it, and the constant."""
        self._numpy = sys.modules["numpy"]

    def trace(self, jitted, arguments, named):
        """The function as JAX traces it, for `run`; None where that fails, as it does in a function
        that is wrong.
        """
        try:
            return self._trace(jitted, arguments, named)
        except Exception:  # it is called as a whole then, and fails as it would alone
            return None

    def _trace(self, jitted, arguments, named):
        jax = self._jax
        leaves, tree = jax.tree_util.tree_flatten((arguments, named))
        places = [at for at, leaf in enumerate(leaves) if self._has_elements(leaf)]
        arrays = [self._array(leaves[at]) for at in places]

        def traced(*values):
            given = list(leaves)
            for at, value in zip(places, values):
                given[at] = value
            again, again_named = jax.tree_util.tree_unflatten(tree, given)
            return jitted(*again, **again_named)

        closed, shapes = jax.make_jaxpr(traced, return_shape=True)(*arrays)
        made = [array for at, array in zip(places, arrays) if array is not leaves[at]]
        return closed, jax.tree_util.tree_structure(shapes), arrays, made

    def run(self, traced, call):
        """Return what the function returns."""
        closed, tree, arrays, made = traced
        numbers = {}
        for eqn in closed.jaxpr.eqns:
            for atom in eqn.invars:
                if hasattr(atom, "val") and not self._arrays.is_array(atom.val):
                    numbers[id(atom)] = self._number(atom)
        self._begins(call, [*made, *numbers.values()])
        place = Place("fwd", "", call.source)
        found = self._evaluate(closed.jaxpr, closed.consts, arrays, place, numbers)
        outputs = [
            value if self._arrays.is_array(value) else self._number(atom, value)
            for atom, value in zip(closed.jaxpr.outvars, found)
        ]
        return self._jax.tree_util.tree_unflatten(tree, outputs)

    def _begins(self, call, made: list) -> None:
        """Record the call itself: what it got, and the arrays that were made of numbers and of
        NumPy's arrays.
        """
        texts = [self._arrays.wrote(array) for array in made]
        site = self._records.site(call.name, "jit", "", call.source, call.shapes)
        self._session.record("o", site, call.plain, call.inputs, texts)

    def _has_elements(self, leaf) -> bool:
        """Whether it is an array. A static argument must have a hash, so it is none."""
        return self._arrays.is_array(leaf) or isinstance(leaf, self._numpy.ndarray)

    def _array(self, leaf):
        return leaf if self._arrays.is_array(leaf) else self._jax.numpy.array(leaf)

    def _number(self, atom, value=None):
        """A number that a function is called with (`value`: that it returns), as an array."""
        value = atom.val if value is None else value
        if atom.aval.weak_type:
            return self._jax.numpy.asarray(value)
        return self._jax.numpy.asarray(value, dtype=atom.aval.dtype)

    def _constant(self, value):
        """Return what a function has from where it was made, as an array that can be followed."""
        if not self._has_elements(value):
            return value
        found = self._constants.get(id(value))
        if found is None:
            found = self._constants[id(value)] = self._array(value), value
        return found[0]

    def _evaluate(self, jaxpr, consts, arguments, place: Place, numbers: dict | None = None):
        values = dict(zip(jaxpr.constvars, map(self._constant, consts)))
        values.update(zip(jaxpr.invars, arguments))

        def read(atom):
            if not hasattr(atom, "val"):
                return values[atom]
            return numbers.get(id(atom), atom.val) if numbers else atom.val

        for operation in self._operations_of(jaxpr, place):
            inputs = [read(atom) for atom in operation.eqn.invars]
            values.update(zip(operation.eqn.outvars, self._call(operation, inputs)))
            for variable in operation.frees:
                del values[variable]
        return [read(atom) for atom in jaxpr.outvars]

    def _operations_of(self, jaxpr, place: Place) -> list:
        known = id(jaxpr), place.key
        found = self._operations.get(known)
        if found is None:
            operations = []
            used = {atom for atom in jaxpr.outvars if not hasattr(atom, "val")}
            for eqn in reversed(jaxpr.eqns):
                frees = []
                for atom in [*eqn.outvars, *eqn.invars]:
                    if not hasattr(atom, "val") and atom not in used:
                        used.add(atom)
                        frees.append(atom)
                operations.append(Operation(eqn, place.of(eqn.source_info, self._records), frees))
            found = self._operations[known] = operations[::-1], jaxpr
        return found[0]

    def _call(self, operation: Operation, inputs: list) -> list:
        place, params = operation.place, operation.eqn.params
        inner = params.get(ENTERED.get(operation.name, ""))
        if inner is not None:
            name = params.get("name") if operation.name in ("jit", "pjit") else None
            return self._enter(inner, inputs, place.within(name) if name else place)
        if operation.name == "cond":
            return self._cond(operation, inputs)
        if operation.name == "while":
            return self._while(operation, inputs)
        if operation.name == "scan":
            return self._scan(operation, inputs)
        if operation.name in ON_DEVICES:
            self._session.unseen("devices")
        return self._ops.call(operation, inputs)

    def _enter(self, function, inputs: list, place: Place) -> list:
        """`function` has its constants with it, or has none."""
        jaxpr = getattr(function, "jaxpr", function)
        return self._evaluate(jaxpr, getattr(function, "consts", ()), inputs, place)

    def _cond(self, operation: Operation, inputs: list) -> list:
        branches = operation.eqn.params["branches"]
        chosen = min(max(int(inputs[0]), 0), len(branches) - 1)
        self._ops.chose(operation, inputs[0], chosen)
        return self._enter(branches[chosen], inputs[1:], operation.place)

    def _while(self, operation: Operation, inputs: list) -> list:
        params = operation.eqn.params
        first, second = params["cond_nconsts"], params["body_nconsts"]
        fixed, own = inputs[:first], inputs[first : first + second]
        carried = inputs[first + second :]
        condition, body = params["cond_jaxpr"], params["body_jaxpr"]
        turns = MOST_IN_LOOP // (_weight(condition) + _weight(body))
        if condition.out_avals[0].shape:  # `vmap` made one loop of many, which end one by one
            turns = 0
        for _turn in range(turns):
            (goes_on,) = self._enter(condition, [*fixed, *carried], operation.place)
            self._ops.chose(operation, goes_on, bool(goes_on))
            if not goes_on:
                return carried
            carried = self._enter(body, [*own, *carried], operation.place)
        self._session.unseen("loop")
        return self._ops.call(operation, [*fixed, *own, *carried])

    def _scan(self, operation: Operation, inputs: list) -> list:
        params, place = operation.eqn.params, operation.place
        length, function = params["length"], params["jaxpr"]
        if not 0 < length <= MOST_IN_LOOP // _weight(function):
            if length:
                self._session.unseen("loop")
            return self._ops.call(operation, inputs)
        fixed = inputs[: params["num_consts"]]
        carried = inputs[len(fixed) : len(fixed) + params["num_carry"]]
        count = len(carried)
        over = inputs[len(fixed) + count :]
        made: list = []
        turns = range(length)
        for turn in reversed(turns) if params["reverse"] else turns:
            parts = [self._part(array, turn) for array in over]
            self._ops.moved(operation, over, parts)
            found = self._enter(function, [*fixed, *carried, *parts], place)
            carried = found[:count]
            made.append(found[count:])
        if params["reverse"]:
            made.reverse()
        whole = []
        for pieces in zip(*made):
            whole.append(self._jax.numpy.stack(pieces))
            self._ops.moved(operation, list(pieces), whole[-1:])
        return [*carried, *whole]

    def _part(self, array, turn: int):
        return self._jax.lax.dynamic_index_in_dim(array, turn, keepdims=False)


def _weight(function) -> int:
    """Equations of a function, those of what it calls included."""
    jaxpr = getattr(function, "jaxpr", function)
    count = 1
    for eqn in jaxpr.eqns:
        count += 1
        for value in eqn.params.values():
            for inner in value if isinstance(value, (tuple, list)) else (value,):
                if hasattr(getattr(inner, "jaxpr", inner), "eqns"):
                    count += _weight(inner) * eqn.params.get("length", 1)
    return count
