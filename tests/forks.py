"""Runs `d9m` on request, each time in a fork of this process, which has imported what a question
needs.

Reads an order a line, as JSON, and answers each with the exit code.
"""

from __future__ import annotations

import importlib
import json
import os
import signal
import sys
import traceback
from typing import Any

from d9m.cli.application import application
from d9m.cli.main import main

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
    """Be a fresh `d9m`: its streams, place, variables and arguments. Returns the exit code."""
    for number, path in enumerate(order["streams"]):
        os.dup2(os.open(path, os.O_RDWR), number)
    sys.stdin, sys.stdout, sys.stderr = (
        os.fdopen(number, "rw"[number > 0], encoding="utf-8", closefd=False) for number in range(3)
    )
    os.environ.clear()
    os.environ.update(order["environment"])
    os.chdir(order["cwd"])
    sys.argv = ["d9m", *order["arguments"]]
    signal.alarm(order["longest"])
    try:
        main()
        code = 0
    except SystemExit as end:
        code = end.code if isinstance(end.code, int) else int(end.code is not None)
    except BaseException:
        traceback.print_exc()
        code = 1
    sys.stdout.flush()
    sys.stderr.flush()
    return code


application([])  # imports every command
for name in READY:
    importlib.import_module(f"d9m.{name}")
for line in sys.stdin:
    child = os.fork()
    if not child:
        code = 70  # of a fault in this file
        try:
            code = run(json.loads(line))
        finally:
            os._exit(code)
    print(os.waitstatus_to_exitcode(os.waitpid(child, 0)[1]), flush=True)
