# pyright: basic
"""Settings of TensorFlow that decide bits, and what it runs on. Asking initialises nothing."""

from __future__ import annotations

import os
import sys

NOT_SET = "not set"


def switches(tensorflow) -> dict:
    """A release that lacks one has no entry."""
    asked = {
        "tf.config.experimental.enable_op_determinism": _determinism,
        "tf.config.experimental.enable_tensor_float_32_execution": lambda: (
            tensorflow.config.experimental.tensor_float_32_execution_enabled()
        ),
        "tf.config.optimizer.set_jit": lambda: str(tensorflow.config.optimizer.get_jit()),
        "tf.config.run_functions_eagerly": lambda: tensorflow.config.functions_run_eagerly(),
        "tf.config.threading.set_inter_op_parallelism_threads": lambda: (
            tensorflow.config.threading.get_inter_op_parallelism_threads()
        ),
        "tf.random.set_seed": _seed,
    }
    found = {}
    for name, ask in asked.items():
        try:
            found[name] = ask()
        except (AttributeError, ImportError):
            continue
    return found


def _determinism() -> bool:
    from tensorflow.python.framework import config  # pyright: ignore

    return bool(config.is_op_determinism_enabled())


def _seed():
    from tensorflow.python.eager import context  # pyright: ignore[reportMissingImports]

    seed = context.global_seed()
    return NOT_SET if seed is None else int(seed)


def packages(tensorflow) -> dict:
    found = {"tensorflow": str(tensorflow.__version__)}
    keras = getattr(sys.modules.get("keras"), "__version__", None)
    if keras is not None:
        found["keras"] = str(keras)
    return found


def threads(tensorflow) -> int:
    """Of one op. TensorFlow takes 0 for as many as there are processors for the process."""
    asked = tensorflow.config.threading.get_intra_op_parallelism_threads()
    if asked:
        return asked
    if hasattr(os, "sched_getaffinity"):
        return len(os.sched_getaffinity(0))
    return os.cpu_count() or 1


def device(tensorflow) -> str:
    if not tensorflow.config.list_physical_devices("GPU"):
        return "cpu"
    return "rocm" if tensorflow.test.is_built_with_rocm() else "cuda"


def gpu(tensorflow) -> str | None:
    """Its model; of the first one, where there are several."""
    for found in tensorflow.config.list_physical_devices("GPU"):
        try:
            return tensorflow.config.experimental.get_device_details(found).get("device_name")
        except (AttributeError, ValueError):
            return None
    return None
