"""Which primitives each public function of JAX ends in, forward and backward.

Runs in a Python that has JAX, and needs nothing else:

    python tests/dispatch/jax_ops.py traced.json
    d9m kb collect traced.json --dispatch kb/evidence/dispatch-jax.json

Every function is called as jax_calls.txt says and is only traced, never run: `jax.make_jaxpr` of
the call, and of its gradient (`jax.vjp`), with what is not needed for a result left out, as XLA
does. Loops, branches and functions that are called are looked into. Views and constants do not
count.

A primitive that adds where indices meet says so if they do not (``duplicate_indices=false``), and
has the type of its first operand where that is no floating point number.

What this cannot see: what XLA makes of a primitive, on which GPU and with which library;
functions that choose by the device that they run on take the way of the CPU, but for
`jax.lax.platform_dependent`, of which every way counts.
"""

from __future__ import annotations

import contextlib
import importlib
import sys
import types
import warnings
from collections.abc import Iterator
from pathlib import Path
from typing import Any

from samples import called_lines, guesses, traced, used_names, ways, write_trace

SPACES = (
    "jax.numpy",
    "jax.numpy.linalg",
    "jax.numpy.fft",
    "jax.lax",
    "jax.lax.linalg",
    "jax.nn",
    "jax.nn.initializers",
    "jax.ops",
    "jax.random",
    "jax.image",
    "jax.scipy.cluster.vq",
    "jax.scipy.fft",
    "jax.scipy.integrate",
    "jax.scipy.interpolate",
    "jax.scipy.linalg",
    "jax.scipy.ndimage",
    "jax.scipy.optimize",
    "jax.scipy.signal",
    "jax.scipy.sparse.linalg",
    "jax.scipy.spatial.transform",
    "jax.scipy.special",
    "jax.scipy.stats",
    "jax.experimental.sparse",
)
FILES = ("fromfile", "load", "save", "savez")
"""Functions that read or write files."""
VIEWS = frozenset(
    (
        "broadcast_in_dim",
        "copy",
        "copy_p",
        "device_put",
        "empty",
        "empty2",
        "iota",
        "pvary",
        "random_unwrap",
        "random_wrap",
        "reshape",
        "slice",
        "split",
        "squeeze",
        "stop_gradient",
        "transpose",
    )
)
SMALL = ("argm", "reduce", "scatter", "select_and_", "sort")
"""What primitives begin with whose inner function only joins two elements."""
CALLS = Path(__file__).with_name("jax_calls.txt")


def inner(value: Any) -> Iterator[Any]:
    """The functions in a parameter of a primitive."""
    if hasattr(value, "eqns"):
        yield value
    elif hasattr(value, "jaxpr"):
        yield value.jaxpr
    elif isinstance(value, (list, tuple)):
        for part in value:
            yield from inner(part)


def primitive_name(equation: Any) -> str:
    """``scatter-add[duplicate_indices=false]``: with what decides whether it varies."""
    from jax import numpy as jnp

    name = equation.primitive.name
    said: list[str] = []
    if name.startswith("scatter") and equation.params.get("unique_indices"):
        said.append("duplicate_indices=false")
    dtype = getattr(equation.invars[0].aval, "dtype", None) if equation.invars else None
    if dtype is not None and any(jnp.issubdtype(dtype, kind) for kind in (jnp.integer, jnp.bool_)):
        said.append(f"dtype={dtype}")
    return name + (f"[{','.join(said)}]" if said else "")


def is_squeeze(equation: Any) -> bool:
    """A sum along axes of length one, as the gradient of a new axis has it."""
    if equation.primitive.name != "reduce_sum":
        return False
    shape = equation.invars[0].aval.shape
    return all(shape[axis] == 1 for axis in equation.params["axes"])


def primitives(jaxpr: Any) -> set[str]:
    found: set[str] = set()
    for equation in jaxpr.eqns:
        functions = [each for value in equation.params.values() for each in inner(value)]
        if functions and not equation.primitive.name.startswith(SMALL):
            for function in functions:
                found |= primitives(function)
        elif equation.primitive.name not in VIEWS and not is_squeeze(equation):
            found.add(primitive_name(equation))
    return found


def needed(closed: Any) -> set[str]:
    """Primitives of a function whose result somebody needs."""
    from jax._src.interpreters.partial_eval import dce_jaxpr

    jaxpr, _used = dce_jaxpr(closed.jaxpr, [True] * len(closed.jaxpr.outvars))
    return primitives(jaxpr)


def arguments() -> dict[str, Any]:
    """What the lines of jax_calls.txt name."""
    import jax
    from jax import lax
    from jax import numpy as jnp
    from jax.experimental import sparse

    x = jnp.full((3, 4), 0.5)
    return {
        "jax": jax,
        "jnp": jnp,
        "lax": lax,
        "sparse": sparse,
        "x": x,
        "y": jnp.full((3, 4), 0.25),
        "v": jnp.full(4, 0.5),
        "w": jnp.full(4, 0.25),
        "m": jnp.eye(3),
        "n": jnp.eye(3) * 2,
        "t": jnp.ones((2, 3, 4)),
        "u": jnp.ones((1, 8, 8, 4)),
        "f": jnp.ones((3, 3, 4, 5)),
        "s": jnp.float32(0.5),
        "i": jnp.array([0, 1, 1, 2], jnp.int32),
        "j": jnp.ones((3, 4), jnp.int32),
        "b": x > 0,
        "z": x + 0j,
        "k": jax.random.key(0),
        "c": sparse.BCOO.fromdense(x),
        "r": sparse.CSR.fromdense(x),
    }


def reached(line: str, known: dict[str, Any], hold: bool) -> dict[str, set[str]]:
    """Direction -> primitives of one call. `hold`: whole numbers, truth values and keys are known
    when it is traced. Its own errors pass through.
    """
    import jax

    code = compile(line, line, "eval")
    used = {name: known[name] for name in used_names(line) if name in known}
    arrays = {name: value for name, value in used.items() if isinstance(value, jax.Array)}
    smooth = {name: value for name, value in arrays.items() if is_smooth(value)}
    others = {name: value for name, value in arrays.items() if name not in smooth}

    def outputs(given: dict[str, Any], more: dict[str, Any]) -> list[Any]:
        leaves = jax.tree_util.tree_leaves(eval(code, {**known, **given, **more}))
        return [leaf for leaf in leaves if isinstance(leaf, jax.Array)]

    def call(given: dict[str, Any], more: dict[str, Any]) -> list[Any]:
        return outputs(given, {} if hold else more)

    def gradient(given: dict[str, Any], more: dict[str, Any]) -> Any:
        def smooth_outputs(given: dict[str, Any]) -> list[Any]:
            return [leaf for leaf in call(given, more) if is_smooth(leaf)]

        return jax.vjp(smooth_outputs, given)

    forward, shapes = jax.make_jaxpr(call, return_shape=True)(smooth, others)
    found = {"forward": needed(forward)}
    if smooth and any(map(is_smooth, shapes)):
        with contextlib.suppress(Exception):  # a function that has no gradient
            both, (results, back) = jax.make_jaxpr(gradient, return_shape=True)(smooth, others)
            backward = jax.make_jaxpr(lambda back, result: back(result))(back, results)
            found["backward"] = needed(backward) | (needed(both) - found["forward"])
    return found


def is_smooth(value: Any) -> bool:
    from jax import numpy as jnp

    return bool(jnp.issubdtype(value.dtype, jnp.inexact))


def public_names() -> Iterator[tuple[str, Any]]:
    for space in SPACES:
        try:
            module = importlib.import_module(space)
        except ImportError:  # of another release
            continue
        for name in dir(module):
            value = getattr(module, name, None)
            if not name.startswith("_") and not isinstance(value, types.ModuleType):
                yield f"{space}.{name}", value
        if space == "jax.scipy.stats":
            for distribution in vars(module).values():
                if isinstance(distribution, types.ModuleType):
                    for name in dir(distribution):
                        if not name.startswith("_"):
                            yield f"{distribution.__name__}.{name}", getattr(distribution, name)


def main(file: Path) -> None:
    import jax

    warnings.simplefilter("ignore")
    known = arguments()
    text = CALLS.read_text(encoding="utf-8")
    written, guessed = called_lines(text, "jax"), guesses(text)
    public = dict(public_names())
    ops: dict[str, object] = {}
    idle: list[str] = []
    for name in sorted({*public, *written}):
        lines = written.get(name, [])
        value = public.get(name)
        if not lines and (not callable(value) or isinstance(value, type)):
            idle.append(name)
        elif name.rpartition(".")[2] not in FILES:
            samples = traced(name, lines, guessed, known, reached)
            print(name, "" if samples else "did not run", flush=True)
            if samples:
                ops[name] = ways(samples)
    write_trace(file, "jax", jax.__version__, ops, idle)


if __name__ == "__main__":
    main(Path(sys.argv[1]))
