"""A signal ends every command with 128 and its number, wherever Python is at that moment."""

from __future__ import annotations

import signal
import subprocess
import sys
import time

import pytest

PROGRAM = """
import os, sys, time, types
from d9m.cli.main import main

def interrupt():
    os.kill(os.getpid(), {number})
    time.sleep(0.1)

class Dying:
    def __del__(self):
        interrupt()

def application(_arguments):
    {moment}
    time.sleep(30)

sys.modules["d9m.cli.application"] = types.SimpleNamespace(application=application)
main()
"""

MOMENTS = ("interrupt()", "Dying()", "exec('interrupt()')")
"""In plain code; where Python drops exceptions; where it takes each for Ctrl-C."""


@pytest.mark.parametrize("moment", MOMENTS)
@pytest.mark.parametrize(
    ("number", "code"), [(signal.SIGINT, 130), (signal.SIGTERM, 143), (signal.SIGHUP, 129)]
)
def test_the_number_of_the_signal_is_the_exit_code(
    moment: str, number: signal.Signals, code: int
) -> None:
    program = PROGRAM.format(moment=moment, number=int(number))
    began = time.monotonic()
    ended = subprocess.run(
        [sys.executable, "-c", program], capture_output=True, text=True, check=False
    )
    assert (ended.returncode, ended.stdout, ended.stderr) == (code, "", "d9m: interrupted\n")
    assert time.monotonic() - began < 15


def test_a_signal_that_the_caller_ignores_stays_ignored() -> None:
    program = (
        "import os, signal, sys; signal.signal(signal.SIGHUP, signal.SIG_IGN);"
        "from d9m.cli.main import main; sys.argv = ['d9m', '--version'];"
        "import d9m.cli.application; os.kill(os.getpid(), signal.SIGHUP); main()"
    )
    assert subprocess.run([sys.executable, "-c", program], check=False).returncode == 0
