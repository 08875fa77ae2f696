"""The operators that ops end in, as a script in ``tests/dispatch/`` wrote them for one release."""

from __future__ import annotations

from pathlib import Path

from d9m.errors import DataError
from d9m.model.dispatch_facts import DispatchCatalogue, DispatchTrace
from d9m.model.wheel_facts import opened, read


def add_trace(catalogue: Path, path: Path) -> DispatchCatalogue:
    """The catalogue in a file, or a new one, with what one release was seen to do.

    Raises DataError for a file that is not a trace, and for a catalogue of another package.
    """
    if not path.is_file():
        raise DataError(f"{path}: no such file")
    trace = read(path, DispatchTrace)
    return opened(catalogue, DispatchCatalogue, trace.package).with_trace(trace)
