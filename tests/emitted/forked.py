"""Runs programs on request, each in a fork of this process, to which importing costs nothing:

    python forked.py torch

What is imported here is hidden again (see `hiding`). Reads an order a line, as JSON, and answers
each with the exit code. The frameworks of the tests come with Pythons as old as 3.6.
"""

import importlib
import os
import runpy
import sys

sys.path.insert(0, os.path.dirname(os.path.dirname(os.path.abspath(__file__))))
from forking import enter, exit_code, serve
from hiding import hide

del sys.path[0]


def run(order):
    """Be a fresh Python with the order's program. Returns the exit code."""
    enter(order, order["folder"])
    sys.path[0], sys.argv = order["folder"], order["command"]
    return exit_code(lambda: runpy.run_path(sys.argv[0], run_name="__main__"))


for name in sys.argv[1:]:
    importlib.import_module(name)
hide()
serve(run)
