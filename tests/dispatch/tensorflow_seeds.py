"""Whether a global seed reaches the functions of TensorFlow and Keras that take a seed, and which
raise once ops must be deterministic.

Runs each call in two new processes, on the CPU and within minutes:

    python tests/dispatch/tensorflow_seeds.py build/frameworks/tensorflow-2.21.0/bin/python \\
        kb/evidence/seeds/tensorflow-2.21.0.json

The first argument is a Python that has TensorFlow, from 1.15 on. Where `TF_USE_LEGACY_KERAS=1` is
set and tf_keras is there, its names are asked about instead. A function counts if its seed has a
default of None or 0, and an operation of the registry if `seed` is an attribute of it. A name of
which no line of tensorflow_seeds.txt runs is unread.

What this cannot see: operations that run on a GPU alone (CudnnRNN).
"""

from __future__ import annotations

import contextlib
import hashlib
import inspect
import json
import os
import random
import re
import subprocess
import sys

CALLS = os.path.join(os.path.dirname(__file__), "tensorflow_seeds.txt")
MODES = {
    "plain": (),
    "own": ("own",),
    "global": ("global",),
    "all": ("global", "others"),
    "switch": ("global", "others", "switch"),
    "switch-own": ("global", "others", "switch", "own"),
}
"""Name -> what is set: TensorFlow's global seed, those of Python and NumPy, a seed of the call
itself, and `enable_op_determinism`, which stays on."""
PROCESSES, CALLS_EACH, ELEMENTS = 2, 2, 40


def lines():
    """Name -> the lines that call it."""
    found = {}
    with open(CALLS, encoding="utf-8") as file:
        for line in file:
            named = re.match(r"tf[.\w]+", line)
            if named:
                call = line.strip()
                prefix = named.group() + ": "
                call = call[len(prefix) :] if call.startswith(prefix) else call
                found.setdefault(named.group(), []).append(call)
    return found


def parent(python, file):
    runs = [child(python) for _ in range(PROCESSES)]
    told = runs[0]
    ops = {}
    for name, modes in told["results"].items():
        ops[name] = {}
        for mode in modes:
            results = {run["results"][name].get(mode, "") for run in runs}
            alike = "equal" if len(results) == 1 else "differs"
            ops[name][mode] = "raises" if "raises" in results else alike
    aliases, unread = {}, []
    for names in told["names"]:
        run = next((name for name in names if name in ops), None)
        aliases.update({name: run for name in names if run and name not in ops})
        unread += [] if run else names[:1]
    facts = {
        "package": "tensorflow",
        "version": told["version"],
        "ops": ops,
        "aliases": aliases,
        "unread": sorted(unread),
    }
    with open(file, "w", encoding="utf-8") as out:
        out.write(json.dumps(facts, indent=1, sort_keys=True) + "\n")


def child(python):
    command = [python, os.path.abspath(__file__)]
    done = subprocess.run(command, check=True, stdout=subprocess.PIPE)
    return json.loads(done.stdout.decode().splitlines()[-1])


def run():
    os.environ["TF_CPP_MIN_LOG_LEVEL"] = "3"
    os.environ["CUDA_VISIBLE_DEVICES"] = "-1"
    import tensorflow as tf

    tf.compat.v1.enable_eager_execution()
    tf.compat.v1.logging.set_verbosity("ERROR")
    known = arguments(tf)
    legacy = os.environ.get("TF_USE_LEGACY_KERAS") == "1"
    prefix = "tf_keras." if legacy else "tf.keras."
    names = [] if legacy else seeded(tf)
    results = {}
    for mode, set_ in MODES.items():
        if "switch" in set_:
            if not hasattr(tf.config.experimental, "enable_op_determinism"):
                continue
            tf.config.experimental.enable_op_determinism()
        for name, calls in lines().items():
            shown = name.replace("tf.keras.", prefix)
            if legacy and shown == name:
                continue
            found = first_outcome(tf, calls, known, set_)
            if found is not None:
                results.setdefault(shown, {})[mode] = found
    print(json.dumps({"version": tf.__version__, "results": results, "names": names}))


def first_outcome(tf, calls, known, set_):
    """What the first call gives that runs in this release; None where none does."""
    for call in calls:
        if "own" in set_ and "{seed" not in call:
            continue
        code = call.replace("{seed}", ", seed=7" if "own" in set_ else "")
        code = code.replace("{seed0}", "seed=7" if "own" in set_ else "")
        found = outcome(tf, code, known, set_)
        if found is not None:
            return found
    return None


def outcome(tf, code, names, set_):
    """A digest of what calls return; None for a call that does not run in this release."""
    tf.compat.v1.set_random_seed(0 if "global" in set_ else None)
    random.seed(0 if "others" in set_ else None)
    names["np"].random.seed(0 if "others" in set_ else None)
    with contextlib.suppress(ImportError):  # Keras 3 seeds this once a process, from `random`
        from keras.src.backend.common import global_state

        global_state.set_global_attribute("global_seed_generator", None)
    digest = hashlib.sha256()
    try:
        for _ in range(CALLS_EACH):
            value = eval(code, dict(names))
            for leaf in leaves(tf, value):
                array = names["np"].ascontiguousarray(leaf)
                digest.update(
                    str(array.tolist()).encode() if array.dtype == object else array.tobytes()
                )
    except Exception as error:
        if "switch" in set_ and "determin" in str(error).lower():
            return "raises"
        print(code, repr(error)[:300], file=sys.stderr)
        return None
    return digest.hexdigest()


def leaves(tf, value):
    if isinstance(value, tf.data.Dataset):
        value = list(value.take(ELEMENTS))
    with contextlib.suppress(AttributeError):
        value = value.numpy()
    if isinstance(value, (tuple, list)):
        return [leaf for each in value for leaf in leaves(tf, each)]
    return [value]


def seeded(tf):
    """The names of each function and operation that takes a seed, the shortest first."""
    from tensorflow.python.framework import op_def_registry

    get = getattr(op_def_registry, "get", None)
    registered = None if get else op_def_registry.get_registered_ops()
    found = []
    for name in dir(tf.raw_ops):
        definition = get(name) if get else registered.get(name)
        if definition is not None and any(each.name == "seed" for each in definition.attr):
            found.append(["tf.raw_ops." + name])
    by_id = {}
    for name, value in public(tf, "tf", 5):
        if inspect.isclass(value) or callable(value):
            by_id.setdefault(id(value), [value]).append(name)
    for value, *names in by_id.values():
        with contextlib.suppress(Exception):
            taken = inspect.signature(value.__init__ if inspect.isclass(value) else value)
            seed = taken.parameters.get("seed")
            if seed is not None and (seed.default is None or seed.default == 0):
                found.append(sorted(names, key=lambda name: ("compat" in name, len(name), name)))
    return found


def public(value, name, depth):
    """Public names under a module, those of other versions left out."""
    held = []
    with contextlib.suppress(Exception):  # a lazy module that another Keras takes the place of
        held = dir(value)
    for each in held if depth else ():
        if each.startswith("_") or each in (
            "raw_ops",
            "v2",
            "python",
            "core",
            "contrib",
            "tools",
            "estimator",
        ):
            continue
        held = None
        with contextlib.suppress(Exception):
            held = getattr(value, each)
        if inspect.ismodule(held):
            if "_v2" not in str(held):
                yield from public(held, name + "." + each, depth - 1)
        elif held is not None:
            yield name + "." + each, held


def arguments(tf):
    """What the lines of tensorflow_seeds.txt name."""
    import tempfile

    import numpy as np

    draw = np.random.RandomState(1)
    os.chdir(tempfile.mkdtemp())
    folder = "files"  # results hold the path
    for place in range(20):
        os.makedirs(os.path.join(folder, "ab"[place % 2]), exist_ok=True)
        with open(os.path.join(folder, "ab"[place % 2], f"{place:02}.txt"), "w") as file:
            file.write(str(place))
    return {
        "tf": tf,
        "np": np,
        "img": tf.constant(draw.rand(4, 16, 16, 3).astype("float32")),
        "one": tf.constant(draw.rand(16, 16, 3).astype("float32")),
        "x": tf.constant(draw.rand(8, 6).astype("float32") + 0.1),
        "t": tf.constant(draw.rand(4, 5, 6).astype("float32")),
        "v": tf.constant(draw.rand(4, 3, 8, 8, 8, 3).astype("float32")),
        "c": tf.constant([[1], [2]], tf.int64),
        "box": tf.constant([[[0.1, 0.1, 0.9, 0.9]]]),
        "seq": list(range(1, 30)),
        "folder": folder,
    }


if __name__ == "__main__":
    if len(sys.argv) > 2:
        parent(*sys.argv[1:])
    else:
        run()
