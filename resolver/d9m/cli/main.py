"""The `d9m` process: run one command, end with an exit code of the table."""

from __future__ import annotations

import contextlib
import gc
import io
import os
import signal
import sys
import time
from types import FrameType

from d9m.cli import signals
from d9m.errors import D9mError, ExitCode, printable

GARBAGE = 100_000
"""Objects before the collector runs. An answer makes fewer; a long run is still collected.
With the collector's own 700, a quarter of a short run goes into looking for garbage."""


ONE_SIGNAL = 1.0
"""Seconds in which a second signal is the same wish: `timeout` sends two."""

RETRY_SECONDS = 0.05
"""Seconds until an interruption that got lost is repeated."""


def main() -> None:
    """Run the command line. An error goes to stderr as one clear text, and leaves stdout empty.

    Whatever a signal interrupts, the process ends with 128 and its number, as a shell reports it.
    """
    received: list[int] = []
    code: int = ExitCode.ANSWERED
    try:
        _listen(received)
        gc.set_threshold(GARBAGE)
        _open_streams()
        code = _run()
        signals.end_at_once()
    except KeyboardInterrupt:
        received = received or [signal.SIGINT]
    finally:
        gc.freeze()  # the process ends: a last collection would only cost time
    if received:
        _leave(128 + received[0])
    sys.exit(code)


def _listen(received: list[int]) -> None:
    """Take SIGTERM and SIGHUP for Ctrl-C; what is ignored stays ignored.

    Python drops an exception that a destructor or a callback of a weak reference raises. An
    interruption that ended there is repeated a moment later.
    """

    since: list[float] = []

    def interrupt(number: int, _frame: FrameType | None) -> None:
        if number != getattr(signal, "SIGALRM", None):
            now = time.monotonic()
            if since and now - since[0] < ONE_SIGNAL:
                return
            since[:] = [now]
            received.append(number)
        raise KeyboardInterrupt

    def report(dropped: sys.UnraisableHookArgs) -> None:
        if issubclass(dropped.exc_type, KeyboardInterrupt) and hasattr(signal, "setitimer"):
            signal.signal(signal.SIGALRM, interrupt)
            signal.setitimer(signal.ITIMER_REAL, RETRY_SECONDS)
        else:
            sys.__unraisablehook__(dropped)

    sys.unraisablehook = report
    for name in signals.NAMES:
        number = getattr(signal, name, None)
        if number is not None and signal.getsignal(number) in (
            signal.SIG_DFL,
            signal.default_int_handler,
            signals.end,
        ):
            signal.signal(number, interrupt)


def _leave(code: int) -> None:
    """End at once. Python's own exit would end with SIGINT, whatever the signal was, if the
    interruption came while a text was executed, as named tuples do.
    """
    for name in (*signals.NAMES, "SIGALRM"):
        if hasattr(signal, name):
            signal.signal(getattr(signal, name), signal.SIG_IGN)  # a second Ctrl-C
    _complain("interrupted")
    with contextlib.suppress(OSError):
        sys.stdout.flush()
    os._exit(code)


def _open_streams() -> None:
    """Streams that can be used, whatever the caller left of them.

    A closed stdin is an empty one, a closed stderr swallows, and writing to a closed stdout is an
    error. Their numbers are taken in any case: the next file that is opened must not become one of
    them."""
    for number, name, flags in (
        (0, "stdin", os.O_RDONLY),
        (1, "stdout", os.O_RDONLY),
        (2, "stderr", os.O_WRONLY),
    ):
        if getattr(sys, name) is None:
            opened = os.open(os.devnull, flags)
            if opened != number:
                os.dup2(opened, number)
            setattr(sys, name, os.fdopen(number, "r" if number == 0 else "w", closefd=False))
    for stream in (sys.stdin, sys.stdout, sys.stderr):
        if isinstance(stream, io.TextIOWrapper):
            stream.reconfigure(
                errors="replace"
            )  # a log or terminal without UTF-8 gets a ?, not a traceback


def _run() -> int:
    try:
        from d9m.cli.application import application

        return int(application(sys.argv[1:])(standalone_mode=False) or ExitCode.ANSWERED)
    except D9mError as error:
        _complain(error.text())
        return error.exit_code
    except OSError as error:
        _complain(f"the system refuses: {error.strerror or error}")
        with contextlib.suppress(OSError):
            os.dup2(os.open(os.devnull, os.O_WRONLY), 1)  # for what is left in the buffer
        return ExitCode.USAGE
    except Exception as error:
        return _refuse(error)


def _refuse(error: Exception) -> int:
    """A command line that cannot be read ends with its usage. Any other error is a fault of d9m,
    or of a compiled file that was named: its checksums do not say that its records make sense.
    """
    show = getattr(error, "show", None)
    named = os.environ.get("D9M_KB", "")
    if show is None and os.path.isfile(named) and not sys.flags.dev_mode:
        what = f"a fault of d9m, or of the records in {named}: {type(error).__name__}: {error}"
        _complain(f"{what}\n  to see where: python -X dev -m d9m")
        return ExitCode.DATA
    if show is None:
        import traceback

        _say(traceback.format_exc())
        _complain("internal error: please report it with the lines above")
        return ExitCode.DATA
    said = io.StringIO()
    show(file=said)
    if " " in getattr(error, "option_name", ""):
        said.write('A text that begins with dashes comes after --: d9m explain -- "--flag fails"\n')
    _say(said.getvalue())
    return int(getattr(error, "exit_code", ExitCode.USAGE))


def _complain(text: str) -> None:
    _say(f"d9m: {text}\n")


def _say(text: str) -> None:
    with contextlib.suppress(OSError):
        sys.stderr.write(printable(text))
        sys.stderr.flush()
