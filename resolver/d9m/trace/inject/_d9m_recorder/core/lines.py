# pyright: basic
"""Lines of the user's code, as a recording names them."""

from __future__ import annotations

import os

OURS = os.path.dirname(os.path.dirname(os.path.abspath(__file__))) + os.sep
"""The recorder's own files."""


def short(file: str, folder: str) -> str:
    """A file's name without what differs between machines and runs. `folder` is where the program
    began to work.
    """
    if "ipykernel_" in file:
        return "cell"
    if file.startswith(folder):
        return file[len(folder) :]
    for mark in ("site-packages", "dist-packages"):
        _before, found, after = file.rpartition(os.sep + mark + os.sep)
        if found:
            return after
    return os.path.basename(file)
