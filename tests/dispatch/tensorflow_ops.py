"""Which operations each public function of TensorFlow and layer of Keras ends in, forward and
backward.

Runs in a Python that has TensorFlow 2, and needs nothing else:

    python tests/dispatch/tensorflow_ops.py traced.json
    d9m kb collect traced.json --dispatch kb/evidence/dispatch-tensorflow.json

With tf_keras installed and TF_USE_LEGACY_KERAS=1 it lists what Keras 2 makes of tf.keras, for
kb/evidence/dispatch-tf-keras.json.

Every function is called as tensorflow_calls.txt says, in a `tf.function` that is traced and never
run. Its graph holds the forward operations; what a `tf.GradientTape` adds to it is the gradient.
Functions that a graph calls are looked into. Constants, arguments and views do not count.

Gradients are made dense, as an optimizer does that adds momentum. An operation has the type that
it computes in where that is no floating point number.

What this cannot see: the kernel that a device chooses, what Grappler and XLA rewrite, ops that run
in Python (`tf.py_function`), and the fused implementations that Keras chooses on a GPU.
"""

from __future__ import annotations

import ast
import contextlib
import inspect
import os
import sys
import types
import warnings
from collections.abc import Iterator
from pathlib import Path
from typing import Any

from samples import (
    called_lines,
    catalogue_names,
    guesses,
    traced,
    used_names,
    ways,
    write_trace,
)

SPACES = (
    "tf",
    "tf.image",
    "tf.keras.layers",
    "tf.keras.losses",
    "tf.linalg",
    "tf.math",
    "tf.nn",
    "tf.quantization",
    "tf.ragged",
    "tf.random",
    "tf.signal",
    "tf.sparse",
)
VIEWS = frozenset(
    (
        "Arg",
        "BroadcastGradientArgs",
        "Const",
        "ExpandDims",
        "Identity",
        "IdentityN",
        "NoOp",
        "Placeholder",
        "PlaceholderWithDefault",
        "PreventGradient",
        "Rank",
        "ReadVariableOp",
        "Reshape",
        "Retval",
        "Shape",
        "ShapeN",
        "Size",
        "Squeeze",
        "StopGradient",
        "VariableShape",
        "VarHandleOp",
    )
)
CALLERS = ("Call", "PartitionedCall", "If", "While", "Case", "SymbolicGradient")
"""What operations are called that call a function."""
CALLS = Path(__file__).with_name("tensorflow_calls.txt")
CATALOGUE = Path(__file__).parents[2] / "kb/evidence/catalogue-tensorflow.json"


def arguments() -> dict[str, Any]:
    """What the lines of tensorflow_calls.txt name."""
    import numpy
    import tensorflow as tf

    x = tf.constant(numpy.full((3, 4), 0.5, numpy.float32))
    return {
        "tf": tf,
        "x": x,
        "y": tf.constant(numpy.full((3, 4), 0.25, numpy.float32)),
        "v": tf.constant([0.5, 0.25, 0.75, 0.5]),
        "w": tf.constant([0.25, 0.5, 0.5, 0.75]),
        "m": tf.eye(3),
        "n": tf.eye(3) * 2,
        "t": tf.ones((2, 3, 4)),
        "u": tf.ones((1, 8, 8, 3)),
        "q": tf.ones((1, 8, 8, 8, 3)),
        "f": tf.ones((3, 3, 3, 5)),
        "s": tf.constant(0.5),
        "i": tf.constant([0, 1, 1, 2]),
        "j": tf.ones((3, 4), tf.int32),
        "b": x > 0,
        "z": tf.cast(x, tf.complex64),
        "p": tf.Variable(x),
        "e": tf.sparse.from_dense(x),
        "g": tf.random.Generator.from_seed(1),
        "r": tf.RaggedTensor.from_row_splits(tf.constant([0.5, 0.25, 0.75]), [0, 2, 3]),
        "h": tf.constant(["a", "b"]),
    }


def operation_name(definition: Any) -> str:
    """``SegmentSum[dtype=int32]``."""
    import tensorflow as tf

    kind = next(
        (definition.attr[name].type for name in ("T", "dtype") if name in definition.attr), 0
    )
    dtype = tf.dtypes.as_dtype(kind) if kind else tf.float32
    if dtype.is_integer or dtype.is_bool:
        return f"{definition.op}[dtype={dtype.name}]"
    return definition.op


def graph_definitions(graph: Any) -> list[Any]:
    """The operations of a graph, and of the functions that it calls."""
    definition = graph.as_graph_def()
    library = {
        function.signature.name: function.node_def for function in definition.library.function
    }
    found: list[Any] = []
    seen: set[str] = set()
    todo = [definition.node]
    while todo:
        for node in todo.pop():
            if node.op not in library:
                found.append(node)
            called = {node.op}
            for value in node.attr.values():
                called.update((value.func.name, *(each.name for each in value.list.func)))
            for name in (called & library.keys()) - seen:
                seen.add(name)
                todo.append(library[name])
    return found


def operations(graph: Any) -> list[str]:
    return [
        operation_name(node)
        for node in graph_definitions(graph)
        if node.op not in VIEWS and not node.op.endswith(CALLERS)
    ]


def tensors(value: Any) -> list[Any]:
    import tensorflow as tf

    leaves = tf.nest.flatten(value, expand_composites=True)
    return [leaf for leaf in leaves if tf.is_tensor(leaf)]


def with_layer(line: str, known: dict[str, Any]) -> tuple[str, dict[str, Any]]:
    """A line that makes a layer and calls it, with the layer made and built: variables cannot be
    made while a function is traced.
    """
    tree = ast.parse(line, mode="eval")
    call = tree.body
    if not isinstance(call, ast.Call) or not isinstance(call.func, ast.Call):
        return line, known
    layer = eval(ast.unparse(call.func), known)
    call.func = ast.Name("layer", ast.Load())
    known = {**known, "layer": layer}
    line = ast.unparse(tree)
    eval(line, known)
    return line, known


def reached(line: str, known: dict[str, Any], hold: bool) -> dict[str, set[str]]:
    """Direction -> operations of one call. `hold`: whole numbers, truth values and texts are known
    when it is traced. Its own errors pass through.
    """
    import tensorflow as tf

    line, known = with_layer(line, known)
    code = compile(line, line, "eval")
    used = {name: known[name] for name in used_names(line) if name in known}
    given = {name: value for name, value in used.items() if isinstance(value, tf.Tensor)}
    if hold:
        given = {name: value for name, value in given.items() if is_smooth(value)}
    names = list(given)

    def graph_of(with_gradient: bool) -> Any:
        made = used.get("p")

        def call(*values: Any) -> Any:
            watched = [value for value in values if is_smooth(value)]
            watched += [made] if made is not None else []
            with tf.GradientTape() as tape:
                tape.watch([value for value in watched if value is not made])
                results = tensors(eval(code, {**known, **dict(zip(names, values))}))
                smooth = [result for result in results if is_smooth(result)]
            watched += tape.watched_variables()
            if not with_gradient:
                return results
            if not smooth or not watched:
                raise NotImplementedError(line)
            found = [each for each in tape.gradient(smooth, watched) if each is not None]
            return results, [tf.convert_to_tensor(gradient) for gradient in found]

        specs = [tf.TensorSpec(value.shape, value.dtype) for value in given.values()]
        traced = tf.function(call, autograph=False)
        return traced.get_concrete_function(*specs).graph

    forward = operations(graph_of(False))
    found = {"forward": set(forward)}
    with contextlib.suppress(Exception):  # a function that has no gradient
        found["backward"] = added(forward, operations(graph_of(True)))
    return found


def added(before: list[str], after: list[str]) -> set[str]:
    """Operations of which there are more."""
    return {name for name in set(after) if after.count(name) > before.count(name)}


def is_smooth(value: Any) -> bool:
    return value.dtype.is_floating or value.dtype.is_complex


def public_names() -> Iterator[tuple[str, Any]]:
    import tensorflow as tf

    for space in SPACES:
        module: Any = tf
        for part in space.split(".")[1:]:
            module = getattr(module, part, None)
        for name in dir(module):
            value = getattr(module, name, None)
            if not name.startswith("_") and not isinstance(value, types.ModuleType):
                yield f"{space}.{name}", value


def is_layer(value: Any) -> bool:
    import tensorflow as tf

    bases = (tf.keras.layers.Layer, tf.keras.losses.Loss)
    return inspect.isclass(value) and issubclass(value, bases) and value not in bases


def in_catalogue(release: str) -> dict[str, Any]:
    """Every public name of the release -> what it stands for; None where only another build has
    it.
    """
    import tensorflow as tf

    found: dict[str, Any] = {}
    for name in catalogue_names(CATALOGUE, release):
        value: Any = tf
        for part in name.split(".")[1:]:
            value = getattr(value, part, None)
        found[name] = value
    return found


def computes(value: Any) -> bool:
    """Whether something can be called to compute: a function, a layer or an optimizer."""
    import tensorflow as tf

    if inspect.isclass(value):
        return is_layer(value) or issubclass(value, tf.keras.optimizers.Optimizer)
    return callable(value)


def main(file: Path) -> None:
    os.environ["TF_CPP_MIN_LOG_LEVEL"] = "3"
    os.environ["CUDA_VISIBLE_DEVICES"] = "-1"
    import tensorflow as tf

    warnings.simplefilter("ignore")
    tf.get_logger().setLevel("ERROR")
    tf.keras.utils.set_random_seed(0)  # some layers choose what to do while they are traced
    known = arguments()
    text = CALLS.read_text(encoding="utf-8")
    written, guessed = called_lines(text, "tf"), guesses(text)
    public = dict(public_names())
    ops: dict[str, object] = {}
    for name in sorted({*public, *written}):
        value = public.get(name)
        lines = written.get(name, [])
        if lines or is_layer(value) or (callable(value) and not inspect.isclass(value)):
            call = f"{name}()" if is_layer(value) else name
            samples = traced(call, lines, guessed, known, reached)
            print(name, "" if samples else "did not run", flush=True)
            if samples:
                ops[name] = ways(samples)
    traced_as = {id(public[name]): name for name in ops if name in public}
    all_ = in_catalogue(tf.__version__)
    aliases = {
        name: traced_as[id(value)]
        for name, value in all_.items()
        if name not in ops and id(value) in traced_as
    }
    idle = [name for name, value in all_.items() if name not in ops and not computes(value)]
    package, version = "tensorflow", tf.__version__
    if os.environ.get("TF_USE_LEGACY_KERAS") == "1":
        package, version = "tf-keras", sys.modules["tf_keras"].__version__
        ops, aliases = (
            {name: value for name, value in each.items() if name.startswith("tf.keras.")}
            for each in (ops, aliases)
        )
        idle = [name for name in idle if name.startswith("tf.keras.")]
    write_trace(file, package, version, ops, idle, aliases)


if __name__ == "__main__":
    main(Path(sys.argv[1]))
