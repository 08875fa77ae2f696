"""A PyTorch with faults of its own: Python reads this first wherever it is on the path.

``FAULT`` lists what goes wrong, separated by blanks: ``cumsum:sometimes:50`` changes one unit in
the last place in one of 50 calls, at random. See `FAULTS` for the other kinds; ``cumsum`` is an
attribute of torch."""

import os
import random
import signal
import time

try:
    import torch
except ImportError:
    torch = None


def nudged(value):
    return torch.nextafter(value, torch.tensor(9e9, dtype=value.dtype))


def sometimes(right, often, given, named):
    value = right(*given, **named)
    return nudged(value) if random.SystemRandom().random() < 1 / often else value


def unswitched(right, often, given, named, calls=[0]):  # noqa: B006  it counts
    """Every so many calls, while deterministic algorithms are off: what chance looks like at its
    worst.
    """
    value = right(*given, **named)
    calls[0] += not torch.are_deterministic_algorithms_enabled()
    return nudged(value) if calls[0] and calls[0] % often == 0 else value


def started(right, often, given, named):
    """The same in every call of a process, and something else in the next process."""
    value = right(*given, **named)
    for _ in range(os.getpid() % often):
        value = nudged(value)
    return value


def ulp(right, _often, given, named):
    return nudged(right(*given, **named))


def nan(right, _often, given, named):
    return right(*given, **named) * float("nan")


def advised_nan(right, _often, given, named):
    """While deterministic algorithms are on, and not in double precision, which gives the
    reference.
    """
    value = right(*given, **named)
    switched = torch.are_deterministic_algorithms_enabled() and value.dtype == torch.float32
    return value * float("nan") if switched else value


def kill(_right, _often, _given, _named):
    os.kill(os.getpid(), signal.SIGKILL)


def hang(_right, seconds, _given, _named):
    time.sleep(seconds)


def raises(_right, _often, _given, _named):
    raise RuntimeError("\x1b[2Jfaulty\u202e")


FAULTS = {
    each.__name__: each
    for each in (sometimes, unswitched, started, ulp, nan, advised_nan, kill, hang, raises)
}


def break_(name, kind, number):
    right = getattr(torch, name)
    setattr(torch, name, lambda *given, **named: FAULTS[kind](right, number, given, named))


for fault in os.environ.get("FAULT", "").split() if torch is not None else ():
    name, kind, *number = fault.split(":")
    break_(name, kind, int(number[0]) if number else 0)
