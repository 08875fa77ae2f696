# pyright: basic, reportUndefinedVariable=false, reportMissingImports=false, reportMissingModuleSource=false
# ruff: noqa: UP032
"""The worker's interface to TensorFlow. Sent as text: standard library, numpy and tensorflow only,
Python 3.6.
"""

import os

os.environ.setdefault("TF_CPP_MIN_LOG_LEVEL", "2")

import numpy as np
import tensorflow as tf


class Framework(Arrays):  # noqa: F821  its text comes first
    def __init__(self, device, threads):
        if not hasattr(tf, "GradientTape"):
            raise RuntimeError(
                "tensorflow {} is too old to be probed: no eager mode".format(tf.__version__)
            )
        if not tf.executing_eagerly():
            tf.compat.v1.enable_eager_execution()
        self.device = device
        self.spot = "/CPU:0" if device == "cpu" else "/GPU:0"
        if device != "cpu":
            seen = tf.config.experimental.list_physical_devices("GPU")
            if not seen:
                raise RuntimeError("tensorflow {} sees no {} device".format(tf.__version__, device))
            for each in seen:
                tf.config.experimental.set_memory_growth(each, True)
        self.threads = threads
        if threads and hasattr(tf.config, "threading"):
            tf.config.threading.set_intra_op_parallelism_threads(threads)
        self.names = {"tf": tf, "np": np}

    def facts(self):
        """Return what this build is and where it runs, as far as it says."""
        found = {"framework": "tensorflow", "version": str(tf.__version__), "threads": self.threads}
        build = getattr(getattr(tf, "sysconfig", None), "get_build_info", dict)()
        for name in ("cuda", "cudnn"):
            if name + "_version" in build:
                found[name] = str(build[name + "_version"])
        if self.device != "cpu":
            told = getattr(
                tf.config.experimental,
                "get_device_details",
                lambda device: {"device_name": device.name},
            )
            details = told(tf.config.experimental.list_physical_devices("GPU")[0])
            found["device"] = details.get("device_name")
            found["compute_capability"] = ".".join(
                map(str, details.get("compute_capability") or ())
            )
        return found

    def placed(self, value, dtype):
        return self._made(value, dtype, self.spot)

    def exactly(self, value, dtype):
        """The same value, computed with at double precision on the CPU."""
        value = self._made(value, dtype, "/CPU:0")
        return tf.cast(value, tf.float64) if value.dtype.is_floating else value

    def _made(self, value, dtype, spot):
        with tf.device(spot):
            if isinstance(value, np.ndarray) and value.dtype == np.float64:
                return tf.cast(tf.constant(value), getattr(tf, dtype))
            return (
                tf.constant(value)
                if isinstance(value, np.ndarray)
                else tf.cast(value, getattr(tf, dtype))
            )

    def take(self, value, order, dim):
        return tf.gather(value, tf.constant(np.ascontiguousarray(order)), axis=dim)

    def parts(self, value):
        if value is None:
            return []
        if not isinstance(value, (tuple, list)):
            return [tf.convert_to_tensor(value)]
        found = []
        for item in value:
            found += self.parts(item)
        return found

    def shapes(self, value):
        return [tuple(each.shape.as_list()) for each in self.parts(value) if each.dtype.is_floating]

    def _spot(self, values):
        exact = any(each.dtype == tf.float64 for each in values.values() if tf.is_tensor(each))
        return tf.device("/CPU:0" if exact else self.spot)

    def untracked(self, call, values):
        with self._spot(values):
            return call(values)

    def gradients(self, call, values, names, upstream):
        leaves = [values[name] for name in names]
        with self._spot(values), tf.GradientTape() as tape:
            tape.watch(leaves)
            found = [each for each in self.parts(call(values)) if each.dtype.is_floating]
        with self._spot(values):
            return self.parts(tape.gradient(found, leaves, output_gradients=upstream))

    def wait(self, value):
        for each in self.parts(value):
            each.numpy()

    def raw(self, value):
        """Type and bytes of every tensor in the result."""
        return [(each.dtype.name, each.numpy().tobytes()) for each in self.parts(value)]

    def stir(self, turn):
        """Leave other leftovers in freed memory: who reads what was never written reads something
        else.
        """
        with tf.device(self.spot):
            held = [tf.fill([1 << size], turn + 1.5) for size in (8, 10, 12, 14) for _ in range(4)]
        del held

    def doubles(self, part):
        return np.asarray(tf.cast(part, tf.float64))
