# pyright: basic
"""Digests of the states of generators that live outside of a framework."""

from __future__ import annotations

import sys
from array import array

MODULES = ("random", "numpy.random")
"""Those whose generators are followed."""


def states(digester) -> dict[str, str]:
    """Of Python's and NumPy's, if the program has imported them."""
    found = {}
    random = sys.modules.get("random")
    if random is not None and hasattr(random, "getstate"):
        _version, words, left = random.getstate()
        found["python"] = digester.of(array("Q", words).tobytes() + repr(left).encode())
    numpy = sys.modules.get("numpy.random")
    if numpy is not None and hasattr(numpy, "get_state"):
        state = numpy.get_state(legacy=False)
        words = state["state"].pop("key", None)
        data = b"" if words is None else words.tobytes()
        found["numpy"] = digester.of(data + repr(sorted(state.items())).encode())
    return found
