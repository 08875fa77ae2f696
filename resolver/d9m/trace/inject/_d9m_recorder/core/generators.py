# pyright: basic
"""Digests of the states of generators that live outside of a framework."""

from __future__ import annotations

import sys
from array import array

MODULES = ("random", "numpy.random")
"""Those whose generators are followed."""


_python: list = [None, None]
"""The last state of Python's, and its digest: most steps draw nothing from it."""


def states(digester) -> dict[str, str]:
    """Of Python's and NumPy's, if the program has imported them."""
    found = {}
    random = sys.modules.get("random")
    if random is not None and hasattr(random, "getstate"):
        _version, words, left = state = random.getstate()
        if _python[0] != state:
            digest = digester.of(array("Q", words).tobytes() + repr(left).encode())
            _python[:] = state, digest
        found["python"] = _python[1]
    numpy = sys.modules.get("numpy.random")
    if numpy is not None and hasattr(numpy, "get_state"):
        state = numpy.get_state(legacy=False)
        words = state["state"].pop("key", None)
        data = b"" if words is None else words.tobytes()
        found["numpy"] = digester.of(data + repr(sorted(state.items())).encode())
    return found
