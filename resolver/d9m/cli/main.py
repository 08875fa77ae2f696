"""The `d9m` process: run one command, end with an exit code of the table."""

from __future__ import annotations

import gc
import io
import sys

from d9m.errors import D9mError

GARBAGE = 100_000
"""Objects before the collector runs. An answer makes fewer; a long run is still collected.
With the collector's own 700, a quarter of a short run goes into looking for garbage."""

INTERRUPTED = 130
"""What a shell reports for Ctrl-C: 128 + SIGINT."""


def main() -> None:
    """Run the command line. An error goes to stderr as one clear text, and leaves stdout empty."""
    gc.set_threshold(GARBAGE)
    for stream in (sys.stdin, sys.stdout, sys.stderr):
        if isinstance(stream, io.TextIOWrapper):  # None where the caller closed it
            stream.reconfigure(errors="replace")  # a log or terminal without UTF-8 gets a ?, not a traceback
    try:
        from d9m.cli.application import application

        application(sys.argv[1:])()
    except D9mError as error:
        _complain(error.text())
        sys.exit(error.exit_code)
    except KeyboardInterrupt:
        _complain("interrupted")
        sys.exit(INTERRUPTED)
    finally:
        gc.freeze()  # the process ends: a last collection would only cost time


def _complain(text: str) -> None:
    if sys.stderr is not None:
        print(f"d9m: {text}", file=sys.stderr)  # noqa: T201
