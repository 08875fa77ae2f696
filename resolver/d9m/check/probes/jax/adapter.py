# pyright: basic, reportUndefinedVariable=false, reportMissingImports=false, reportMissingModuleSource=false
# ruff: noqa: UP032
"""The worker's interface to JAX. Sent as text: standard library, numpy and jax only, Python 3.6."""

import os

os.environ.setdefault("XLA_PYTHON_CLIENT_PREALLOCATE", "false")

import jax
import jax.numpy as jnp
import numpy as np

jax.config.update("jax_enable_x64", True)  # for the reference; every probe names its own type


class Framework(Arrays):  # noqa: F821  its text comes first
    def __init__(self, device, threads):
        kind = "gpu" if device in ("cuda", "rocm") else device
        try:
            self.spot = jax.devices(kind)[0]
        except RuntimeError:
            raise RuntimeError("jax {} sees no {} device".format(jax.__version__, device)) from None
        self.device = device
        self.names = {"jax": jax, "jnp": jnp, "lax": jax.lax, "np": np}
        self.made = {}

    def facts(self):
        """Return what this build is and where it runs, as far as it says."""
        found = {
            "framework": "jax",
            "version": str(jax.__version__),
            "platform": self.spot.platform,
        }
        if self.device != "cpu":
            found["device"] = getattr(self.spot, "device_kind", None)
            found["compute_capability"] = str(getattr(self.spot, "compute_capability", ""))
        return found

    def placed(self, value, dtype):
        return jax.device_put(self._typed(value, dtype), self.spot)

    def exactly(self, value, dtype):
        """The same value, computed with at double precision on the CPU."""
        value = self._typed(value, dtype)
        value = value.astype(np.float64) if jnp.issubdtype(value.dtype, jnp.floating) else value
        return jax.device_put(value, jax.devices("cpu")[0])

    @staticmethod
    def _typed(value, dtype):
        value = np.asarray(value)
        return (
            value.astype(jnp.dtype(dtype)) if jnp.issubdtype(value.dtype, jnp.floating) else value
        )

    def take(self, value, order, dim):
        return jnp.take(value, np.asarray(order), axis=dim)

    def parts(self, value):
        return [each for each in jax.tree_util.tree_leaves(value) if hasattr(each, "dtype")]

    def shapes(self, value):
        return [tuple(each.shape) for each in self._floats(value)]

    def _floats(self, value):
        return [each for each in self.parts(value) if jnp.issubdtype(each.dtype, jnp.floating)]

    def _compiled(self, call, key, make):
        """XLA is what users run, so it is what is probed. One program for each call and kind of
        use.
        """
        key = (call, key)
        if key not in self.made:
            self.made = {each: made for each, made in self.made.items() if each[0] == call}
            self.made[key] = jax.jit(make)
        return self.made[key]

    def untracked(self, call, values):
        return self._compiled(call, "call", call)(values)

    def gradients(self, call, values, names, upstream):
        def gradient(values, upstream):
            def part(leaves):
                return self._floats(call(dict(values, **leaves)))

            _found, back = jax.vjp(part, {name: values[name] for name in names})
            return back(upstream)[0]

        values = {name: each for name, each in values.items() if name != "g"}
        return self._compiled(call, "gradient", gradient)(values, upstream)

    def wait(self, value):
        for each in self.parts(value):
            each.block_until_ready()

    def raw(self, value):
        """Type and bytes of every array in the result."""
        return [(str(each.dtype), np.asarray(each).tobytes()) for each in self.parts(value)]

    def stir(self, turn):
        """Leave other leftovers in freed memory: who reads what was never written reads something
        else.
        """
        held = [jnp.full((1 << size,), turn + 1.5) for size in (8, 12, 14)]
        del held

    def doubles(self, part):
        return np.asarray(part).astype(np.float64)
