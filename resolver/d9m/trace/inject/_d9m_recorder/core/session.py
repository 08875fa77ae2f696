# pyright: basic
"""One recording of one process: its stream, its steps, and the rule that no fault leaves it."""

from __future__ import annotations

import contextlib
import os
import sys
import traceback

from . import generators, header, private, seals
from .digest import Digester
from .stream import Stream, compact
from .threads import Threads

LONGEST = 400
"""Characters of a fault's text."""

AUTOMATIC = {"forward": 1, "backward": 2, "optimizer": 3, "call": 3}
"""Rule that ends steps under `auto`: the highest of these that the program has shown so far."""


class Session:
    """The recording of one process. `on` says whether records are wanted right now."""

    def __init__(self, settings) -> None:
        self.settings = settings
        self.digester = Digester(settings.xxhash)
        self.step = 0
        self.on = settings.holds(0)
        self.explicit = False
        self.open: str | None = None
        """The rule by which the step that runs ends with the program, if there is one."""
        self._rule: str | None = None
        self.frameworks: list = []
        self.threads = Threads(self)
        self.fresh: dict = {}
        """States of the generators right after their import. One that still has it was not used."""
        self._faults: set = set()
        self._told: set = set()
        self._since_end = False
        self._ended = False
        self._waits = header.is_worker()
        self.quiet = contextlib.nullcontext
        """Makes contexts in which the program's own modes and overrides see no call of ours."""
        self.stream = self._new_stream()

    def _new_stream(self) -> Stream:
        settings = self.settings
        return Stream(
            settings.folder,
            header.rank,
            lambda number: header.header(self, number),
            settings.max_size,
        )

    # Methods that frameworks call.

    def add(self, line: str) -> None:
        """A line that was made by hand."""
        if self._waits:
            return
        self._since_end = True
        self.stream.add(line)
        if self.stream.over or self.stream.closed:
            self._stop()

    def _stop(self) -> None:
        """Nothing more can be written, or may be; the program goes on."""
        self.on = False
        if self.stream.failure is not None:
            self.fault("the stream", self.stream.failure)
        if not self.stream.closed:
            self.stream.add(compact(["u", "size"]) + "\n")
            self.stream.end({"ended": "size", "steps": self.step})

    def record(self, *items) -> None:
        self.add(compact(items) + "\n")

    def unseen(self, why: str) -> None:
        """From here on something cannot be seen; said once for each reason."""
        if self.on and why not in self._told:
            self._told.add(why)
            self.record("u", why)

    @property
    def waits(self) -> bool:
        """Whether this is a worker that has not trained so far."""
        return self._waits

    def train(self) -> None:
        """This process trains: a worker that only prepares data never calls this."""
        self._waits = False

    def guarded(self, place: str, act, *arguments):
        """Return what `act` returns, or None where it failed, which is written down, once for each
        place.

        The second value of the pair says whether it did.
        """
        try:
            with self.quiet():
                return act(*arguments), True
        except Exception as fault:
            self.fault(place, fault)
            return None, False

    def fault(self, place: str, fault: Exception) -> None:
        if place in self._faults:
            return
        self._faults.add(place)
        where = traceback.extract_tb(fault.__traceback__)[-1:]
        line = f"{os.path.basename(where[0].filename)}:{where[0].lineno}" if where else "?"
        text = f"{type(fault).__name__}: {fault}".replace("\n", " ")[:LONGEST]
        try:
            self.unseen("fault")
            path = os.path.join(self.settings.folder, "errors.txt")
            with open(path, "ab", opener=private.open_file) as file:
                file.write(seals.line(f"process {os.getpid()}: {place}: {text} ({line})"))
        except Exception:
            self.on = False

    def end_step(self, rule: str, fallback: bool = False) -> None:
        """A step ended by `rule`, if that is the rule that counts here.

        `fallback`: under `auto`, it counts as long as nothing higher has ended a step.
        """
        if self._ended or not self._counts(rule, fallback):
            return
        if self.on:
            self._write_end(rule)
        self.step += 1
        self.on = self.settings.holds(self.step) and not self.stream.closed
        for framework in self.frameworks:
            self.guarded("a step's end", framework.step_ended)
        if self.settings.stop is not None and self.step >= self.settings.stop:
            self._leave()

    def _counts(self, rule: str, fallback: bool = False) -> bool:
        wanted = self.settings.step_by
        if wanted == "auto" and self.explicit:
            wanted = "explicit"
        if wanted != "auto":
            return rule == wanted
        rank = AUTOMATIC.get(rule, 0)
        if not fallback and rank < AUTOMATIC["optimizer"]:
            return False
        if self._rule is None or rank > AUTOMATIC[self._rule]:
            self._rule = rule
        return rule == self._rule

    def _write_end(self, rule: str) -> None:
        for framework in self.frameworks:
            self.guarded("settings", framework.write_settings)
        self.guarded("threads", self.threads.look)
        self.record("d", self.step, self._generators(), rule)
        self._since_end = False
        if self.stream.over or self.stream.closed:
            self._stop()

    def _generators(self) -> dict:
        found: dict = {}
        for framework in self.frameworks:
            more, _done = self.guarded("a framework's generators", framework.generators)
            found.update(more or {})
        found.update(self.used_generators())
        return found

    def used_generators(self) -> dict:
        """States of Python's and NumPy's, if they were seeded or drawn from since their import."""
        states, _done = self.guarded("generators", generators.states, self.digester)
        found = states or {}
        return {name: found[name] for name in found if self.fresh.get(name) != found[name]}

    # How it ends.

    def _leave(self) -> None:
        """The last step that was wanted is over, and so is the program, unless others wait for this
        process: a pool that loses a worker hangs or raises.
        """
        self.close("steps")
        if _is_in_pool():
            return
        for stream in (sys.stdout, sys.stderr):
            try:
                stream.flush()
            except Exception:  # noqa: S112  a stream that is closed has nothing to flush
                continue
        os._exit(0)

    def close(self, how: str = "exit") -> None:
        """Write the end. What frameworks have hooked is taken off by `end` of each."""
        if self._ended:
            return
        self._ended = True
        if how == "exit":
            self._end_open_step()
        self.on = False
        self.guarded("threads", self.threads.end)
        for framework in self.frameworks:
            self.guarded("the end", framework.end)
        self.guarded("the tail", self.stream.end, {"ended": how, "steps": self.step})

    def _end_open_step(self) -> None:
        counts = self.open is not None and self._counts(self.open, fallback=True)
        rule = self.open if counts else "end"
        if self.on and self._since_end and not self._waits:
            self.guarded("the end", self._write_end, rule)
        self.step += rule != "end"

    def forked(self) -> None:
        """In the child of a fork: the parent's stream is not its own."""
        self._waits = True
        self._since_end = False
        self._told = set()
        self.stream = self._new_stream()
        for framework in self.frameworks:
            self.guarded("a fork", framework.forked)


def _is_in_pool() -> bool:
    """Whether this is a worker of multiprocessing.Pool, of an executor, or of joblib."""
    module = sys.modules.get("multiprocessing.process")
    if module is None:
        return False
    process = module.current_process()
    target = getattr(process, "_target", None)
    return bool(process.daemon) or getattr(target, "__name__", "") == "_process_worker"
