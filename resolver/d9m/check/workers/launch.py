"""One worker process: started, listened to, restarted where it died, ended when its time is up."""

from __future__ import annotations

import contextlib
import os
import queue
import shlex
import signal
import subprocess
import threading
import time
from collections.abc import Iterator
from importlib import resources

import msgspec

from d9m.check import messages
from d9m.check.messages import (
    ProbeDeath,
    ProbeJob,
    ProbeReading,
    ProbeStart,
    Survey,
    WorkerEnd,
    WorkerEvent,
    WorkerFault,
    WorkerJob,
)
from d9m.check.workers import worker
from d9m.errors import AbsentError, UsageError, quote

GRACE = 10.0
"""Seconds that a worker gets beyond a probe's own limit, in which it ends itself."""
START = 180.0
"""Seconds until a worker has imported its framework: on a cold network disk that is long."""
LONGEST = 1 << 26
"""Bytes of one answer; the reports of many ranks are the longest."""
TAIL = 4000
"""Bytes of a worker's stderr that are kept for the reason of its death."""


class Launcher(msgspec.Struct, frozen=True):
    """A way to start workers: an interpreter here, or any command."""

    command: tuple[str, ...]
    local: bool
    """Whether the command's environment is the worker's own."""
    variables: dict[str, str] | None = None
    """The environment to start from; None: this process's own."""


def interpreter(path: str, variables: dict[str, str] | None = None) -> Launcher:
    return Launcher((path,), local=True, variables=variables)


def runner(text: str) -> Launcher:
    """`docker run --rm -i IMAGE python`: any command that ends in a Python which reads its program
    from stdin.
    """
    try:
        command = tuple(shlex.split(text))
    except ValueError as error:
        raise UsageError(f"--runner {quote(text)}: {error}") from None
    if not command:
        raise UsageError(
            "--runner is empty",
            tip="for example: --runner 'docker run --rm --gpus all -i IMAGE python'",
        )
    return Launcher(command, local=False)


def program(job: WorkerJob) -> str:
    """Return the worker and its job as one program for stdin."""
    text = (resources.files("d9m.check") / "workers" / "worker.py").read_text("utf-8")
    return worker.program(text, msgspec.json.encode(job).decode())


class Worker:
    """A running worker. Raises AbsentError where it cannot be started."""

    def __init__(self, launcher: Launcher, job: WorkerJob) -> None:
        variables = None
        own = os.environ if launcher.variables is None else launcher.variables
        if launcher.local:
            job = msgspec.structs.replace(job, parent=os.getpid())
            kept = {name: value for name, value in own.items() if name not in job.unset}
            variables = kept | job.env
        self._token = job.token
        self._tail = b""
        try:
            self._child = subprocess.Popen(  # noqa: S603  the user's own interpreter
                [*launcher.command, "-"],
                stdin=subprocess.PIPE,
                stdout=subprocess.PIPE,
                stderr=subprocess.PIPE,
                env=variables,
                start_new_session=True,
            )
        except (OSError, ValueError) as error:  # ValueError: a variable with a NUL
            why = (error.strerror if isinstance(error, OSError) else None) or error
            raise AbsentError(f"{launcher.command[0]} cannot be run: {why}") from None
        self._events: queue.Queue[WorkerEvent | None] = queue.Queue()
        text = program(job).encode()
        self._threads = [
            threading.Thread(target=self._feed, args=(text,), daemon=True),
            threading.Thread(target=self._read, daemon=True),
            threading.Thread(target=self._keep, daemon=True),
        ]
        for thread in self._threads:
            thread.start()

    def _feed(self, text: bytes) -> None:
        assert self._child.stdin is not None
        with contextlib.suppress(OSError):  # it died first; its exit says how
            self._child.stdin.write(text)
            self._child.stdin.close()

    def _read(self) -> None:
        """Keep its answers, and nothing else that it prints: that may have no end."""
        assert self._child.stdout is not None
        with self._child.stdout as stream:
            while line := stream.readline(LONGEST):
                found = messages.read(line.decode("utf-8", "replace"), self._token)
                if found is not None:
                    self._events.put(found)
        self._events.put(None)

    def _keep(self) -> None:
        assert self._child.stderr is not None
        with self._child.stderr as stream:
            while line := stream.readline(TAIL):
                self._tail = (self._tail + line)[-TAIL:]

    def event(self, limit: float, stopped: threading.Event) -> WorkerEvent | None:
        """The next answer. None: its output ended. Raises TimeoutError, and KeyboardInterrupt once
        stopped.
        """
        until = time.monotonic() + limit
        while not stopped.is_set():
            try:
                left = until - time.monotonic()
                return self._events.get(timeout=max(0.0, min(0.2, left)))
            except queue.Empty:
                if time.monotonic() >= until:
                    raise TimeoutError from None
        raise KeyboardInterrupt

    def end(self) -> None:
        """End it and everything it started, politely first: a `docker run` takes its container
        along.
        """
        for wait, force in ((3.0, False), (3.0, True)):
            if self._signal(force):
                break
            with contextlib.suppress(subprocess.TimeoutExpired):
                self._child.wait(wait)
                break

    def _signal(self, force: bool) -> bool:
        """Whether there is nothing left to signal."""
        try:
            if hasattr(os, "killpg"):
                os.killpg(self._child.pid, signal.SIGKILL if force else signal.SIGTERM)
            elif self._child.poll() is None:
                self._child.kill() if force else self._child.terminate()
            return False
        except (ProcessLookupError, PermissionError):
            return True

    def death(self, hung: bool, limit: float) -> str:
        """Return why it ended, in words."""
        if hung:
            self.end()
        code = self._child.wait()
        self._threads[-1].join(1.0)
        tail = self._tail.decode("utf-8", "replace")
        if hung or "Timeout (" in tail:
            return f"hung: no answer within {limit:g} s"
        number = -code if code < 0 else code - 128
        if number == 9:
            return "its process was killed (out of memory?)"
        if number in {known.value for known in signal.Signals}:
            return f"its process crashed ({signal.Signals(number).name})"
        last = [line.strip() for line in tail.splitlines() if line.strip()][-1:]
        return f"its process ended with code {code}" + (f": {last[0][:200]}" if last else "")


def events(
    launcher: Launcher, job: WorkerJob, stopped: threading.Event, start: float = START
) -> Iterator[WorkerEvent]:
    """Everything that workers answer to a job. A probe that takes its process down is one
    `ProbeDeath`; the rest go on.

    `start`: seconds until a worker has to be ready.
    """
    while True:
        running = Worker(launcher, job)
        current: str | None = None
        answered = False
        try:
            while True:
                hung = False
                try:
                    event = running.event(job.limit + GRACE if answered else start, stopped)
                except TimeoutError:
                    event, hung = None, True
                if event is None:
                    break
                answered = True
                current = event.key if isinstance(event, ProbeStart) else None
                if isinstance(event, ProbeReading):
                    job = _without(job, event.key)
                yield event
                if isinstance(event, (WorkerEnd, Survey, WorkerFault)):
                    return
            why = running.death(hung, job.limit if answered else start)
        finally:
            running.end()
        if current is None:
            yield WorkerFault(why=why)
            return
        yield ProbeDeath(key=current, why=why)
        job = _without(job, current)
        if not isinstance(job, ProbeJob) or not job.probes:
            return


def _without(job: WorkerJob, key: str) -> WorkerJob:
    """The job without a probe that is done."""
    if not isinstance(job, ProbeJob):
        return job
    return msgspec.structs.replace(job, probes=[probe for probe in job.probes if probe.key != key])
