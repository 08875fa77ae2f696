# pyright: basic
"""Lines of the user's code, as a recording names them."""

from __future__ import annotations

import os
import sys
import sysconfig

OURS = os.path.dirname(os.path.dirname(os.path.abspath(__file__))) + os.sep
"""The recorder's own files."""

_PATHS = sysconfig.get_paths()
_LIBRARIES = (
    OURS, "<frozen", *(_PATHS[name] + os.sep for name in ("stdlib", "purelib", "platlib"))
)  # fmt: skip


def callers(frame, folder: str, most: int) -> tuple:
    """File, line, function of the program's own frames, the innermost first."""
    found: list = []
    while frame is not None and len(found) < most:
        code = frame.f_code
        if not is_library(code.co_filename):
            found.append((short(code.co_filename, folder), frame.f_lineno, code.co_name))
        frame = frame.f_back
    return tuple(found)


def is_library(file: str) -> bool:
    return file.startswith(_LIBRARIES) or "site-packages" in file


def short(file: str, folder: str) -> str:
    """A file's name without what differs between machines and runs. `folder` is where the program
    began to work.
    """
    if "ipykernel_" in file:
        return _cell(file)
    if file.startswith(folder):
        return file[len(folder) :]
    for mark in ("site-packages", "dist-packages"):
        _before, found, after = file.rpartition(os.sep + mark + os.sep)
        if found:
            return after
    return os.path.basename(file)


def _cell(file: str) -> str:
    """A cell of a notebook as IPython names it in a traceback."""
    try:
        numbers = sys.modules["IPython"].get_ipython().compile._filename_map
        return f"In[{numbers[file]}]"
    except (KeyError, AttributeError):
        return "cell"
