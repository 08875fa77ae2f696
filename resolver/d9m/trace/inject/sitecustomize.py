# pyright: basic
"""Python imports this at its start, because `d9m trace` puts its folder first on PYTHONPATH.

It begins the recorder, then lets the user's own sitecustomize run as if this one were not here.
"""

from __future__ import annotations

import importlib.util
import os
import sys
from importlib.machinery import PathFinder

HERE = os.path.dirname(os.path.abspath(__file__))


def leave_path() -> None:
    """The program must not see the folder; what it starts inherits PYTHONPATH."""
    sys.path[:] = [place for place in sys.path if os.path.abspath(place) != HERE]
    sys.path_importer_cache.pop(HERE, None)


def begin_recorder() -> None:
    folder = os.path.join(HERE, "_d9m_recorder")
    spec = importlib.util.spec_from_file_location(
        "_d9m_recorder",
        os.path.join(folder, "__init__.py"),
        submodule_search_locations=[folder],
    )
    assert spec is not None
    assert spec.loader is not None
    package = importlib.util.module_from_spec(spec)
    sys.modules["_d9m_recorder"] = package
    spec.loader.exec_module(package)
    importlib.import_module("_d9m_recorder.start").begin_from_environment()


def run_users_own() -> None:
    spec = PathFinder.find_spec("sitecustomize", sys.path)
    if spec is None or spec.loader is None:
        return
    module = importlib.util.module_from_spec(spec)
    sys.modules["sitecustomize"] = module
    spec.loader.exec_module(module)


leave_path()
try:
    begin_recorder()
except Exception as fault:
    sys.stderr.write(f"d9m: this process is not recorded: {type(fault).__name__}: {fault}\n")
run_users_own()
