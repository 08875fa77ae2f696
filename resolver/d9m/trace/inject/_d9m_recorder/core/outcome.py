# pyright: basic
"""The end of a process that may have recorded nothing: the frameworks that it imported, and
the error that ended it.
"""

from __future__ import annotations

import json
import os
import sys

from . import private, seals
from .lines import OURS, short

FILE = "processes.txt"
LONGEST = 1000
"""Characters of an error's text."""


def imported(folder: str, module) -> None:
    _write(folder, {"imported": module.__name__})


def ended(folder: str) -> None:
    """Python keeps the exception that ends a program where debuggers look for it."""
    fault = getattr(sys, "last_exc", None) or getattr(sys, "last_value", None)
    if isinstance(fault, BaseException):
        file, line = _place(fault)
        _write(folder, {"error": _text(fault), "file": file, "line": line})


def _write(folder: str, found: dict) -> None:
    data = seals.line(json.dumps({"process": os.getpid(), **found}))
    try:
        flags = os.O_WRONLY | os.O_APPEND | os.O_CREAT | getattr(os, "O_BINARY", 0)
        file = os.open(os.path.join(folder, FILE), flags, private.FILE)
        try:
            os.write(file, data)
        finally:
            os.close(file)
    except OSError:
        return  # the folder is gone, or full: the run's exit code says the rest


def _text(fault: BaseException) -> str:
    try:
        said = " ".join(str(fault).split())
    except Exception:
        said = ""
    kind = type(fault).__name__
    text = f"{kind}: {said}" if said else kind
    return private.masked_text(text[:LONGEST])


def _place(fault: BaseException):
    """The innermost line of the program; of a library, where no line of the program ran."""
    found = None, None
    trace = fault.__traceback__
    folder = os.getcwd() + os.sep
    while trace is not None:
        file = trace.tb_frame.f_code.co_filename
        is_own = not (file.startswith((OURS, "<frozen")) or _is_library(file))
        if is_own or found[0] is None:
            found = short(file, folder), trace.tb_lineno
        trace = trace.tb_next
    if isinstance(fault, SyntaxError) and fault.filename:
        found = short(fault.filename, folder), fault.lineno
    return found


def _is_library(file: str) -> bool:
    parts = ("site-packages", "dist-packages")
    return any(os.sep + part + os.sep in file for part in parts) or file.startswith(LIBRARY)


LIBRARY = os.path.dirname(os.__file__) + os.sep
"""Python's own modules."""
