# pyright: basic
"""Calls in the program's own files whose results differ between runs: clock, process id, entropy,
generators without a seed. Where they are is noted; those that are held return the same in each run.

Only calls from the program's own files count: libraries get the real values.
"""

from __future__ import annotations

import functools
import json
import os
import sys

from . import private
from .lines import callers, is_library

NOTES = "varying.txt"
CALLS = {
    "time": {"clock": ("time", "time_ns", "perf_counter", "perf_counter_ns", "monotonic",
                       "monotonic_ns", "process_time", "process_time_ns")},
    "os": {"pid": ("getpid", "getppid"), "entropy": ("urandom",)},
    "uuid": {"entropy": ("uuid1", "uuid4")},
    "torch": {"entropy": ("seed",), "seed": ("manual_seed",)},
    "random": {"entropy": ("_urandom",), "seed": ("seed",)},
    "numpy.random": {"entropy": ("default_rng",), "seed": ("seed",)},
}  # fmt: skip
"""Module -> what its functions return, or what they seed. `random._urandom` is what SystemRandom,
`secrets` and all generators of NumPy take their entropy from.
"""
GENERATORS = {"random": ("random", "_inst"), "numpy.random": ("numpy.random.mtrand", "_rand")}
"""Module -> where its generator is, of which some of its functions are methods."""
UNSEEDED = ("default_rng",)
"""Functions that take a seed: with one, they return the same in each run."""
OF_ENTROPY = ("random", "secrets")
"""Modules whose calls for entropy are their caller's."""
MOST = 200
"""Calls that are noted of each place."""


class Varying:
    """The functions that are replaced, by module."""

    def __init__(self, settings) -> None:
        self._path = os.path.join(settings.folder, NOTES)
        self._held = settings.held
        self._folder = os.getcwd() + os.sep
        self._counts: dict = {}
        self._ticks = 0
        self._is_inside = False
        """Whether a call goes on that is noted when it returns, with what it calls."""

    def begin(self, watcher) -> None:
        for name in CALLS:
            watcher.when_imported(name, functools.partial(self._replace, name))

    def _replace(self, name: str, module) -> None:
        kinds = {each: kind for kind, names in CALLS[name].items() for each in names}
        owner, attribute = GENERATORS.get(name, (name, ""))
        generator = getattr(sys.modules.get(owner), attribute, None)
        for each, value in list(vars(module).items()):
            is_method = generator is not None and getattr(value, "__self__", None) is generator
            if each in kinds:
                self._wrap(module, each, kinds[each])
            elif is_method and not each.startswith(("get", "set", "_")):
                self._wrap(module, each, f"draw {name}")

    def _wrap(self, module, name: str, kind: str) -> None:
        original = getattr(module, name)
        called = "os.urandom" if name == "_urandom" else f"{module.__name__}.{name}"
        if isinstance(original, type):
            return

        @functools.wraps(original)
        def call(*arguments, **named):
            frame = sys._getframe(1)
            if kind == "entropy":
                frame = _asking(frame)
            seeded = name in UNSEEDED and (named or arguments[:1] not in ((), (None,)))
            if seeded or self._is_inside or is_library(frame.f_code.co_filename):
                return original(*arguments, **named)
            self._is_inside = True
            try:
                if kind in self._held:
                    found = self._hold(original, kind, arguments, named)
                else:
                    found = original(*arguments, **named)
            finally:
                self._is_inside = False
            said = arguments[0] if kind == "seed" and arguments else found
            self._note(kind, called, said, frame)
            return found

        setattr(module, name, call)

    def _hold(self, original, kind: str, arguments, named):
        """Return what is the same in each run and still goes on, as a clock does."""
        self._ticks += 1
        name = original.__name__
        if kind == "pid":
            return 4242
        if kind == "clock":
            return 10**18 + self._ticks * 10**6 if name.endswith("_ns") else 1e9 + self._ticks / 1e3
        if name == "urandom":
            return bytes((self._ticks + place) % 256 for place in range(arguments[0]))
        if name == "default_rng":
            return original(self._ticks)
        if name == "seed":
            sys.modules["torch"].manual_seed(self._ticks)
            return self._ticks
        return sys.modules["uuid"].UUID(int=self._ticks)

    def _note(self, kind: str, called: str, value, frame) -> None:
        places = callers(frame, self._folder, 3)
        number = self._counts.get((called, *places), 0)
        if number < MOST:
            self._counts[(called, *places)] = number + 1
            shown = value if isinstance(value, (int, float)) else None
            line = json.dumps([kind, called, shown, places]) + "\n"
            with open(self._path, "a", encoding="utf-8", opener=private.open_file) as file:
                file.write(line)


def _asking(frame):
    """Return the frame that asks a module for entropy."""
    while frame.f_back is not None and frame.f_globals.get("__name__") in OF_ENTROPY:
        frame = frame.f_back
    return frame
