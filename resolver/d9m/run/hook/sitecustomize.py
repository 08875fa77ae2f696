# pyright: basic
# ruff: noqa: UP032, E402, F401
"""Python imports this at its start, because `d9m run` puts its folder first on PYTHONPATH.

It begins the hook, then hands over to the program's own sitecustomize, or to none. Every Python
must be able to read this file, 2.7 included: below 3.5 a process counts as not reached.
"""

import os
import sys

HERE = os.path.dirname(os.path.abspath(__file__))

try:
    sys.path[:] = [place for place in sys.path if os.path.abspath(place) != HERE]
    sys.path_importer_cache.pop(HERE, None)
    if sys.version_info >= (3, 5) and os.path.isdir(os.environ.get("D9M_RUN", "")):
        import importlib.util

        spec = importlib.util.spec_from_file_location(
            "_d9m_hook", os.path.join(HERE, "_d9m_hook.py")
        )
        hook = importlib.util.module_from_spec(spec)  # pyright: ignore[reportArgumentType]
        sys.modules["_d9m_hook"] = hook
        spec.loader.exec_module(hook)  # pyright: ignore[reportOptionalMemberAccess]
        hook.begin(os.environ["D9M_RUN"])
except Exception as fault:
    if sys.stderr is not None:
        what = "{}: {}".format(type(fault).__name__, fault)
        sys.stderr.write("d9m: nothing is set in this process: " + what + "\n")

# The program's own. If it has none, Python forgets this module as if it had not been found.
del sys.modules["sitecustomize"]
import sitecustomize
