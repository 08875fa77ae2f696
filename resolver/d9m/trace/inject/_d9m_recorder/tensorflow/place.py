# pyright: basic
"""The place of an op's call: the layer, the line of the user's code, the phase of the step."""

from __future__ import annotations

import os
import sys

from ..core.lines import OURS, short

LAYERS = (
    "keras/src/layers/layer.py", "keras/src/engine/base_layer.py", "keras/engine/base_layer.py",
    "tensorflow/python/keras/engine/base_layer.py",
)  # fmt: skip
"""Files with the call of all layers."""

INTERNAL, CALL, USER = range(3)


class Places:
    """`here` says where, of the op that has just been executed."""

    def __init__(self, tensorflow, steps) -> None:
        self._steps = steps
        site = os.path.dirname(os.path.dirname(os.path.abspath(tensorflow.__file__))) + os.sep
        self._packages = tuple(site + name + os.sep for name in ("tensorflow", "keras", "tf_keras"))
        self._codes: dict = {}
        self._folder = os.getcwd() + os.sep

    def here(self):
        """Phase, layer, source as (file, line, function)."""
        layer, source = self._walk(sys._getframe(2))
        if self._steps.optimizers:
            return "opt", type(self._steps.optimizers[0]).__name__, source
        return "bwd" if self._steps.tapes else "fwd", layer, source

    def _walk(self, frame):
        layer = source = None
        while frame is not None and (layer is None or source is None):
            kind, shown = self._kind(frame.f_code)
            if kind == USER and source is None:
                source = [shown, frame.f_lineno, frame.f_code.co_name]
            elif kind == CALL and layer is None:
                found = frame.f_locals.get("self")
                layer = getattr(found, "path", None) or getattr(found, "name", None)
            frame = frame.f_back
        return layer or "", source

    def _kind(self, code):
        known = self._codes.get(id(code))
        if known is None:
            known = self._codes[id(code)] = (*self._classified(code), code)
        return known[:2]

    def _classified(self, code):
        file = code.co_filename
        if file.startswith(self._packages):
            call = code.co_name == "__call__" and file.replace(os.sep, "/").endswith(LAYERS)
            return (CALL if call else INTERNAL), None
        if file.startswith((OURS, "<frozen")):
            return INTERNAL, None
        return USER, short(file, self._folder)
