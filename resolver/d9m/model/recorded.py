"""Which programs d9m can record: the recorder and the answers that point to it agree on this."""

from __future__ import annotations

BY_OP = ("torch", "tensorflow")
"""Packages whose ops are recorded as the program calls them. Those of JAX are inside of jitted
functions.
"""

EXPERIMENTAL = {"tensorflow": "TensorFlow", "jax": "JAX"}
"""Frameworks whose recordings were tried on few programs only, and their titles."""
