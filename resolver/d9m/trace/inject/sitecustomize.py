# pyright: basic
"""Python imports this at its start, because `d9m trace` puts its folder first on PYTHONPATH.

It begins the recorder, then hands over to the program's own sitecustomize, or to none, as if this
one did not exist. Every Python must be able to read this file, 2.7 included: those that the
recorder does not run on only leave a line in the folder of the recording.
"""

import os
import sys

HERE = os.path.dirname(os.path.abspath(__file__))
OLDEST = 3, 8
"""Of the recorder."""


def leave_path():
    """The program must not see the folder; what it starts inherits PYTHONPATH."""
    sys.path[:] = [place for place in sys.path if os.path.abspath(place) != HERE]
    sys.path_importer_cache.pop(HERE, None)


def begin_recorder():
    import importlib.util

    folder = os.path.join(HERE, "_d9m_recorder")
    spec = importlib.util.spec_from_file_location(
        "_d9m_recorder",
        os.path.join(folder, "__init__.py"),
        submodule_search_locations=[folder],
    )
    package = importlib.util.module_from_spec(spec)  # pyright: ignore[reportArgumentType]
    sys.modules["_d9m_recorder"] = package
    spec.loader.exec_module(package)  # pyright: ignore[reportOptionalMemberAccess]
    importlib.import_module("_d9m_recorder.core.start").begin_from_environment()


def note_version():
    """Write down that a Python of this version was not recorded."""
    import json

    record = json.loads(os.environ["D9M_TRACE"])["folder"]
    if os.path.isdir(record):
        path = os.path.join(record, "too-old.txt")
        file = os.open(path, os.O_WRONLY | os.O_CREAT | os.O_APPEND, 0o600)
        os.write(file, "{}.{}\n".format(*sys.version_info[:2]).encode())
        os.close(file)


leave_path()
try:
    if sys.version_info < OLDEST:
        note_version()
    else:
        begin_recorder()
except Exception as fault:
    if sys.version_info >= OLDEST:
        what = "{}: {}".format(type(fault).__name__, fault)  # noqa: UP032  Python 2 reads this
        sys.stderr.write("d9m: this process is not recorded: " + what + "\n")

# The program's own. If it has none, Python forgets this module as if it had not been found.
del sys.modules["sitecustomize"]
import sitecustomize  # noqa: E402, F401  # pyright: ignore[reportMissingImports]
