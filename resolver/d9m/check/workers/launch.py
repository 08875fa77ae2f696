"""One worker process: started, listened to, restarted where it died, ended when its time is up."""

from __future__ import annotations

import json
import os
import queue
import shlex
import signal
import subprocess
import tempfile
import threading
import time
from collections.abc import Iterator, Mapping
from importlib import resources
from typing import IO, Any, TypeAlias

import msgspec

from d9m.errors import AbsentError, UsageError, quote

Event: TypeAlias = dict[str, Any]

GRACE = 10.0
"""Seconds that a worker gets beyond a probe's own limit, in which it ends itself."""
START = 180.0
"""Seconds until a worker has imported its framework: on a cold network disk that is long."""
TAIL = 4000
"""Bytes of a worker's stderr that are kept for the reason of its death."""


class Launcher(msgspec.Struct, frozen=True):
    """Where workers run: an interpreter here, or whatever a command leads to."""

    command: tuple[str, ...]
    local: bool
    """Whether the command's environment is the worker's own."""
    variables: dict[str, str] | None = None
    """The environment to start from; None: this process's own."""


def interpreter(path: str, variables: dict[str, str] | None = None) -> Launcher:
    return Launcher((path,), local=True, variables=variables)


def runner(text: str) -> Launcher:
    """`docker run --rm -i IMAGE python`: any command that ends in a Python which reads its program from stdin."""
    try:
        command = tuple(shlex.split(text))
    except ValueError as error:
        raise UsageError(f"--runner {quote(text)}: {error}") from None
    if not command:
        raise UsageError("--runner is empty", tip="for example: --runner 'docker run --rm --gpus all -i IMAGE python'")
    return Launcher(command, local=False)


def program(job: Mapping[str, Any]) -> str:
    """The worker and its job as one program for stdin."""
    worker = (resources.files("d9m.check") / "workers" / "worker.py").read_text("utf-8")
    return (
        "import sys\nsys.path[:] = [each for each in sys.path if each]\nimport json\n"
        f"WORKER = {json.dumps(worker)}\nJOB = {json.dumps(json.dumps(job))}\nscope = {{'__name__': 'worker'}}\n"
        "exec(compile(WORKER, 'worker', 'exec'), scope)\nscope['start'](WORKER, JOB)\n"
    )


class Process:
    """A running worker."""

    def __init__(self, launcher: Launcher, job: Mapping[str, Any]) -> None:
        variables = None
        own = os.environ if launcher.variables is None else launcher.variables
        if launcher.local:
            variables = {name: value for name, value in own.items() if name not in job["unset"]} | job["env"]
        self._stderr: IO[bytes] = tempfile.TemporaryFile()  # noqa: SIM115  it lives as long as the process
        try:
            self._child = subprocess.Popen(  # noqa: S603  the user's own interpreter
                [*launcher.command, "-"],
                stdin=subprocess.PIPE,
                stdout=subprocess.PIPE,
                stderr=self._stderr,
                env=variables,
                start_new_session=True,
            )
        except OSError as error:
            self._stderr.close()
            raise AbsentError(f"{launcher.command[0]} cannot be run: {error.strerror or error}") from None
        self._lines: queue.Queue[str | None] = queue.Queue()
        threading.Thread(target=self._feed, args=(program(job).encode(),), daemon=True).start()
        threading.Thread(target=self._read, daemon=True).start()

    def _feed(self, text: bytes) -> None:
        assert self._child.stdin is not None
        try:
            self._child.stdin.write(text)
            self._child.stdin.close()
        except OSError:
            pass  # it died first; how is told by its exit

    def _read(self) -> None:
        assert self._child.stdout is not None
        for line in self._child.stdout:
            self._lines.put(line.decode("utf-8", "replace"))
        self._lines.put(None)

    def event(self, limit: float, stopped: threading.Event) -> Event | None:
        """The next thing told. None: its output ended. Raises TimeoutError, and KeyboardInterrupt once stopped."""
        until = time.monotonic() + limit
        while True:
            if stopped.is_set():
                raise KeyboardInterrupt
            try:
                line = self._lines.get(timeout=max(0.0, min(0.2, until - time.monotonic())))
            except queue.Empty:
                if time.monotonic() >= until:
                    raise TimeoutError from None
                continue
            if line is None:
                return None
            if line.startswith("{"):
                return json.loads(line)

    def end(self) -> None:
        """End it and everything it started, politely first: a `docker run` takes its container along."""
        for sign in (signal.SIGTERM, signal.SIGKILL):
            try:
                os.killpg(self._child.pid, sign)
            except (ProcessLookupError, PermissionError):
                break
            try:
                self._child.wait(3.0)
                break
            except subprocess.TimeoutExpired:
                continue

    def death(self, hung: bool, limit: float) -> str:
        """Why it ended, in words."""
        if hung:
            self.end()
        code = self._child.wait()
        tail = self._tail()
        self._stderr.close()
        if hung or "Timeout (" in tail:
            return f"hung: no answer within {limit:g} s"
        if code == -signal.SIGKILL or code == 128 + signal.SIGKILL:
            return "its process was killed (out of memory?)"
        number = -code if code < 0 else code - 128
        if number in {each.value for each in signal.Signals}:
            return f"its process crashed ({signal.Signals(number).name})"
        last = [line.strip() for line in tail.splitlines() if line.strip()][-1:]
        return f"its process ended with code {code}" + (f": {last[0][:200]}" if last else "")

    def _tail(self) -> str:
        size = self._stderr.seek(0, os.SEEK_END)
        self._stderr.seek(max(0, size - TAIL))
        return self._stderr.read().decode("utf-8", "replace")


def events(launcher: Launcher, job: dict[str, Any], stopped: threading.Event, start: float = START) -> Iterator[Event]:
    """Everything workers tell of a job. A probe that takes its process down is one `dead` event; the rest go on.

    `start`: seconds until a worker has to be ready.
    """
    left: list[dict[str, Any]] = list(job.get("probes", ()))
    while True:
        process = Process(launcher, {**job, "probes": left})
        current: str | None = None
        ready = False
        try:
            while True:
                hung = False
                try:
                    event = process.event(job["limit"] + GRACE if ready else start, stopped)
                except TimeoutError:
                    event, hung = None, True
                if event is None:
                    break
                yield event
                if event["event"] in ("end", "look", "broken"):
                    return
                ready = True
                current = event["key"] if event["event"] == "start" else None
                if event["event"] == "result":
                    left = [each for each in left if each["key"] != event["key"]]
            why = process.death(hung, job["limit"])
        finally:
            process.end()
        if current is None:
            yield {"event": "broken", "why": why}
            return
        yield {"event": "dead", "key": current, "why": why}
        left = [each for each in left if each["key"] != current]
        if not left:
            return
