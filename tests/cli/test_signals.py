"""A signal ends every command with 128 and its number, wherever Python is at that moment."""

from __future__ import annotations

import json
import signal
import subprocess
import sys

import pytest

from process import environment

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
    time.sleep(120)
    print("slept to its end")

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
    ended = subprocess.run(
        [sys.executable, "-c", program], capture_output=True, text=True, check=False
    )
    assert (ended.returncode, ended.stdout, ended.stderr) == (code, "", "d9m: interrupted\n")


def test_a_signal_that_the_caller_ignores_stays_ignored() -> None:
    program = (
        "import os, signal, sys; signal.signal(signal.SIGHUP, signal.SIG_IGN);"
        "from d9m.cli.main import main; sys.argv = ['d9m', '--version'];"
        "import d9m.cli.application; os.kill(os.getpid(), signal.SIGHUP); main()"
    )
    assert subprocess.run([sys.executable, "-c", program], check=False).returncode == 0


AT_IMPORT = """
import json, os, runpy, signal, sys

class Interrupting:
    left = 0

    def find_spec(self, name, path=None, target=None):
        Interrupting.left -= 1
        if not Interrupting.left:
            os.kill(os.getpid(), signal.SIGINT)

def ended(place):
    child = os.fork()
    if not child:
        os.dup2(os.open(os.devnull, os.O_WRONLY), 1)
        Interrupting.left = place
        sys.meta_path.insert(0, Interrupting())
        sys.argv = ["d9m", "advise", "--torch", "2.4", "--ops", "conv"]
        runpy.run_module("d9m", run_name="__main__", alter_sys=True)
    return os.waitstatus_to_exitcode(os.waitpid(child, 0)[1])

places = [*range(1, 30), *range(30, 400, 10)]
print(json.dumps([ended(place) for place in places]))
"""


def test_ctrl_c_ends_with_130_from_the_first_import_on() -> None:
    run = subprocess.run(
        [sys.executable, "-c", AT_IMPORT], capture_output=True, text=True, env=environment()
    )
    codes = json.loads(run.stdout)
    early, answered = codes.index(130), codes.index(0)
    assert early <= 7, "the package, and what sets the handlers: a shell calls that 130, too"
    assert answered > 35, "d9m imports more modules than that before it answers"
    assert codes[:early] == [-signal.SIGINT] * early
    assert codes[early:] == [130] * (answered - early) + [0] * (len(codes) - answered)
    assert run.stderr.count("d9m: interrupted\n") == answered - early
