"""A program, started so that it is recorded: its environment, its end.

Nothing of d9m is imported in the program: `inject/` lies first on its PYTHONPATH, with a
`sitecustomize` that begins the recorder.
"""

from __future__ import annotations

import contextlib
import importlib.util
import os
import shutil
import signal
import subprocess
import sys
import time
from collections.abc import Callable, Generator, Mapping, Sequence
from pathlib import Path
from types import FrameType
from typing import Any

import msgspec

from d9m.errors import UsageError, quote
from d9m.trace import folder

INJECT = Path(__file__).with_name("inject")

LEVELS = ("step", "module", "op")
INPUTS = ("cached", "exact")
COMPILED = ("as-is", "eager")
STEP_RULES = ("auto", "optimizer", "backward", "forward", "explicit")

GRACE = 10.0
"""Seconds that a program has to end after it was asked to."""
PARENT_DEATH_SIGNAL = 1
"""Linux's number of it."""
SAME_ADDRESSES = 0x0040000
"""Linux's number of ADDR_NO_RANDOMIZE."""
TICK = 0.2
"""Seconds between two looks at a run that is watched."""


class ZoomCall(msgspec.Struct, frozen=True):
    """A call that is saved with its values: the nth of an op at a place, from 0."""

    rank: int
    op: str
    overload: str
    phase: str
    node: str
    module: str
    nth: int


class RecordingRequest(msgspec.Struct, frozen=True, kw_only=True):
    """A request to record. The recorder's `settings.py` has the same names."""

    level: str = "step"
    first: int = 0
    last: int | None = None
    """Both included; None: to the end."""
    stop: int | None = None
    """The program is ended after so many steps."""
    every: int = 1
    """One step in so many is recorded."""
    inputs: str = "cached"
    step_by: str = "auto"
    compiled: str = "as-is"
    """eager: what torch.compile makes is run op by op."""
    max_size: int = 2 << 30
    """Bytes of one stream."""
    python: tuple[str, ...] = ()
    """Statements that run right after the framework's import."""
    modules: tuple[str, ...] = ()
    """At level op: only ops in these, and in what encloses them, are recorded; empty: all."""
    zoom: tuple[ZoomCall, ...] = ()
    """At level op: what is saved with its values, in the folder `zoom` of the recording."""
    variables: tuple[str, ...] = ()
    """Environment variables whose values are stored."""
    env: dict[str, str] = {}
    """Set before the program starts."""
    varying: bool = False
    """Calls of the program's own files whose results differ between runs are noted."""
    held: tuple[str, ...] = ()
    """Those that return the same in each run: clock, pid, entropy, addresses."""
    samples: bool = False
    """At level op: sizes and samples of each tensor are recorded beside its digest."""
    keep: str = ""
    """A module: what its ops get and return is saved whole."""


class RunExit(msgspec.Struct, frozen=True):
    """The end of a recorded program."""

    code: int
    """As a shell reports it: 128 and the signal's number, if one ended it."""
    stopped: bool
    """Whether `watch` ended it."""
    processes: int
    """That were recorded."""


def variables(path: Path, request: RecordingRequest, own: Mapping[str, str]) -> dict[str, str]:
    """Return what the program must find in its environment, given that it would find `own`."""
    found = importlib.util.find_spec("xxhash")
    settings = msgspec.to_builtins(request) | {
        "folder": str(path.absolute()),
        "xxhash": found and found.origin and str(Path(found.origin).parent),
    }
    return {
        "PYTHONPATH": python_path(INJECT, own),
        "D9M_TRACE": msgspec.json.encode(settings).decode(),
    }


def start(
    command: Sequence[str],
    path: Path,
    request: RecordingRequest,
    *,
    env: Mapping[str, str] | None = None,
    force: bool = False,
    watch: Callable[[], bool] | None = None,
    stdout_to_stderr: bool = False,
) -> RunExit:
    """Run a command to its end, recorded in the folder `path`, which is made.

    Its streams and its working directory are those of this process; with `stdout_to_stderr` what it
    prints goes to stderr, since a report for machines goes to stdout. `env` is set on top of the
    environment. With `watch`, the program reads nothing, has its own process group, and is
    ended with all that it started as soon as `watch()` is true. Raises UsageError where the command
    cannot be run, DataError where the folder cannot be written.
    """
    env = {**(env or {}), **request.env}
    own = os.environ | env
    require_program(command, own)
    about = folder.begun(command, request.level, env, request.python)
    folder.make(path, about, force)
    child = launch(
        command,
        own | variables(path, request, own),
        stdin=subprocess.DEVNULL if watch else None,
        stdout=2 if stdout_to_stderr else None,
        start_new_session=watch is not None,
        preexec_fn=_ends_with_d9m("addresses" in request.held) if watch else None,
    )
    stopped = False
    try:
        if watch is None:
            code = wait_for(child)
        else:
            code, stopped = _watched(child, watch)
    finally:
        _end(child, watch is not None)
    code = as_in_a_shell(code)
    done = msgspec.structs.replace(about, ended=folder.now(), exit_code=code, stopped=stopped)
    with contextlib.suppress(OSError):  # the program may have deleted the folder
        folder.write_about(path, done)
    return RunExit(code, stopped, len(folder.streams(path)))


def _ends_with_d9m(fixed_addresses: bool) -> Callable[[], None] | None:
    """On Linux: what has the system send SIGTERM to the program if d9m is killed and cannot end it.
    That reaches the program alone, not what it has started. With `fixed_addresses`, its memory lies
    at the same addresses in each run, where the system allows that.
    """
    if sys.platform != "linux":
        return None
    try:
        import ctypes

        library = ctypes.CDLL(None)
        control, personality = library.prctl, library.personality
    except (ImportError, OSError, AttributeError):
        return None
    parent = os.getpid()

    def act() -> None:
        control(PARENT_DEATH_SIGNAL, int(signal.SIGTERM))
        if os.getppid() != parent:
            os._exit(128 + signal.SIGTERM)
        if fixed_addresses:
            personality(SAME_ADDRESSES)

    return act


def python_path(first: Path, own: Mapping[str, str]) -> str:
    """Return PYTHONPATH with a folder before what it holds in `own`."""
    places = [str(first), own.get("PYTHONPATH", "")]
    return os.pathsep.join(place for place in places if place)


def require_program(command: Sequence[str], environment: Mapping[str, str]) -> None:
    """Raises UsageError where the command's program is not found."""
    if shutil.which(command[0], path=environment.get("PATH")) is not None:
        return
    here = os.path.dirname(command[0]) and os.path.exists(command[0])
    raise _cannot_run(command, "it is not executable" if here else "there is no such program")


def launch(
    command: Sequence[str], environment: Mapping[str, str], **options: Any
) -> subprocess.Popen[bytes]:
    """Start a command, with `options` of Popen. Raises UsageError where it cannot be run."""
    try:
        return subprocess.Popen[bytes](list(command), env=environment, **options)
    except (OSError, ValueError) as error:
        why = (error.strerror if isinstance(error, OSError) else None) or error
        raise _cannot_run(command, str(why)) from None


def as_in_a_shell(code: int) -> int:
    """Return Popen's exit code as a shell has it: 128 and the number of the signal."""
    return code if code >= 0 else 128 - code


def _cannot_run(command: Sequence[str], why: str) -> UsageError:
    return UsageError(
        f"{quote(command[0])} cannot be run: {why}",
        tip="write the command after -- as you start it: -- python train.py",
    )


def wait_for(child: subprocess.Popen[bytes], *, ends: bool = False) -> int:
    """Its exit code. A signal to this process is the program's: it decides what comes of it. With
    `ends`, the signal is this process's, too, once the program has ended.
    """
    with _passed_on(child) as received:
        code = child.wait()
    for number in received[:1] if ends else ():
        signal.raise_signal(number)
    return code


@contextlib.contextmanager
def _passed_on(child: subprocess.Popen[bytes]) -> Generator[list[int], None, None]:
    """Send signals on, and list them. Those of a terminal's keys reach the program without that."""
    received: list[int] = []
    keys = (signal.SIGINT, getattr(signal, "SIGQUIT", signal.SIGINT))

    def send(number: int, _frame: FrameType | None) -> None:
        received.append(number)
        if not (number in keys and os.isatty(0)):
            child.send_signal(number)

    names = ("SIGINT", "SIGTERM", "SIGHUP", "SIGQUIT")
    numbers = [getattr(signal, name) for name in names if hasattr(signal, name)]
    before = {number: signal.getsignal(number) for number in numbers}
    for number, handler in before.items():
        if handler is not signal.SIG_IGN:
            signal.signal(number, send)
    try:
        yield received
    finally:
        for number, handler in before.items():
            signal.signal(number, handler)


def _watched(child: subprocess.Popen[bytes], watch: Callable[[], bool]) -> tuple[int, bool]:
    """Its exit code, and whether `watch` ended it."""
    while True:
        with contextlib.suppress(subprocess.TimeoutExpired):
            return child.wait(TICK), False
        if watch():
            _end(child, True)
            return child.wait(), True


def _end(child: subprocess.Popen[bytes], group: bool) -> None:
    """End it, if it still runs, and with `group` everything that it started."""
    if child.poll() is not None and not group:
        return
    try:
        _send(child, signal.SIGTERM, group)
        until = time.monotonic() + GRACE
        while child.poll() is None and time.monotonic() < until:
            time.sleep(TICK / 4)
    finally:  # a second Ctrl-C waits no longer
        if group or child.poll() is None:
            _send(child, getattr(signal, "SIGKILL", signal.SIGTERM), group)
    child.wait()


def _send(child: subprocess.Popen[bytes], number: int, group: bool) -> None:
    with contextlib.suppress(ProcessLookupError, PermissionError):
        if group and hasattr(os, "killpg"):
            os.killpg(child.pid, number)
        else:
            child.send_signal(number)
