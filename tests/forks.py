"""Runs `d9m` on request, each time in a fork of this process, which has imported what a question
needs.

Reads an order a line, as JSON, and answers each with the exit code.
"""

from __future__ import annotations

import importlib
import sys
from typing import Any

from d9m.cli.application import application
from d9m.cli.main import main
from forking import enter, exit_code, serve

READY = (
    "api",
    "browse.explain",
    "browse.listing",
    "kb.build",
    "kb.compiled",
    "kb.yaml_files",
    "render.advice.text",
    "render.as_json",
    "render.page",
    "render.words",
)
"""Modules that commands import only when they need them."""


def run(order: dict[str, Any]) -> int:
    """Be a fresh `d9m` with the order's arguments. Returns the exit code."""
    enter(order, order["cwd"])
    sys.argv = ["d9m", *order["arguments"]]
    return exit_code(main)


application([])  # imports every command
for name in READY:
    importlib.import_module(f"d9m.{name}")
serve(run)
