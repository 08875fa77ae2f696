# pyright: basic
"""Shared by JAX's records: the sites of calls, names of functions, and lines of the program."""

from __future__ import annotations

import os
import re
import sys

from ..core.lines import OURS, short

SIMPLE = re.compile(r"[\w.+-]{0,40}\Z")
"""Strings that are recorded as they are; of others, the digest is."""


class Records:
    """Writes sites and names, each before the first record that has its number."""

    def __init__(self, jax, session, arrays) -> None:
        self._session = session
        self._arrays = arrays
        self._sites: dict = {}
        self._modules: dict = {}
        self._folder = os.getcwd() + os.sep
        self._jax_folder = os.path.dirname(jax.__file__) + os.sep

    def hide(self) -> None:
        """Have JAX take a line of the program, not one of ours, for where a function is called."""
        info = sys.modules.get("jax._src.source_info_util")
        register = getattr(info, "register_exclusion", None)
        if register is not None:
            register(OURS)

    def site(self, op: str, phase: str, module: str, source, shapes: list) -> int:
        known = op, phase, module, source, tuple(shapes)
        number = self._sites.get(known)
        if number is None:
            number = self._sites[known] = len(self._sites)
            device = self._arrays.device
            self._session.record("S", number, op, "", phase, "", module, source, shapes, device)
        return number

    def module(self, name: str) -> int:
        number = self._modules.get(name)
        if number is None:
            number = self._modules[name] = len(self._modules)
            self._session.record("M", number, name)
        return number

    def caller(self):
        """The innermost line of the program itself, or of a library that is not JAX."""
        frame = sys._getframe(1)
        while frame is not None:
            code = frame.f_code
            if self._is_users(code.co_filename):
                return short(code.co_filename, self._folder), frame.f_lineno, code.co_name
            frame = frame.f_back
        return None

    def traced(self, info):
        """The same of an operation that JAX has traced; None where its line was not kept."""
        frames = getattr(getattr(info, "traceback", None), "frames", ())
        for frame in frames:
            if self._is_users(frame.file_name):
                name = frame.function_name.rpartition(".")[2]
                return short(frame.file_name, self._folder), frame.line_num, name
        return None

    def _is_users(self, file: str) -> bool:
        return not file.startswith((OURS, self._jax_folder, "<frozen"))

    def plain(self, value) -> str:
        if isinstance(value, str) and not SIMPLE.match(value):
            return self._session.digester.of(value.encode("utf-8", "backslashreplace"))
        return repr(value)


def shape(value) -> str:
    kind = getattr(value, "dtype", None)
    if kind is None:
        return type(value).__name__
    return f"{kind}{list(getattr(value, 'shape', ()))}"
