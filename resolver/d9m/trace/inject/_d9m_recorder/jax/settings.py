# pyright: basic
"""Settings of JAX that decide bits."""

from __future__ import annotations

NAMES = (
    "jax_allow_f16_reductions", "jax_default_matmul_precision", "jax_default_prng_impl",
    "jax_disable_jit", "jax_disable_most_optimizations", "jax_enable_x64",
    "jax_num_cpu_devices", "jax_numpy_dtype_promotion", "jax_optimization_level",
    "jax_platforms", "jax_random_seed_offset", "jax_softmax_custom_jvp",
    "jax_threefry_partitionable",
)  # fmt: skip
"""Those that are recorded. A release that lacks one has no entry in the stream."""


def settings(jax) -> dict:
    found = {}
    for name in NAMES:
        try:
            value = getattr(jax.config, name)
        except AttributeError:
            continue
        value = getattr(value, "value", value)  # of an enumeration
        if value is None or isinstance(value, (bool, int, float, str)):
            found[name] = value
    return found
