"""Handle signals before a command listens to it, and after its answer.

Nothing is imported here that Python does not load anyway: `signal` and what it imports take
longer than all the rest of the way to `d9m.cli.main`."""

import os
import sys

NAMES = ("SIGHUP", "SIGINT", "SIGQUIT", "SIGTERM")
"""Signals that end a command: a closed terminal, Ctrl-C, Ctrl-\\, a scheduler."""

_system = sys.modules["_signal"]
"""The part of `signal` that is there from the start."""


def end_at_once() -> None:
    """From now on each of the signals ends the process; what is ignored stays ignored."""
    for name in NAMES:
        number = getattr(_system, name, None)
        if number is not None and _system.getsignal(number) != _system.SIG_IGN:
            _system.signal(number, end)


def end(number: int, _frame: object) -> None:
    """End as a shell reports it, with 128 and the number of the signal."""
    try:
        os.write(2, b"d9m: interrupted\n")
    finally:
        os._exit(128 + number)
