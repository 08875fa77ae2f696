"""An interpreter whose workers need not import their framework."""

from __future__ import annotations

import atexit
import functools
import os
import subprocess
import sys
import tempfile
from pathlib import Path

from machines import python_with

from conftest import SHARED

CLIENT = """#!{own} -IS
import json, os, socket, sys
loaded = [name for name in os.environ if name.startswith({loaded!r})]
if loaded or sys.argv[1:] != ["-"]:
    os.execv({python!r}, [{python!r}, *sys.argv[1:]])
server = socket.socket(socket.AF_UNIX, socket.SOCK_SEQPACKET)
server.connect({address!r})
order = json.dumps([dict(os.environ), os.getcwd()])
socket.send_fds(server, [order.encode()], [0, 1, 2])
code = int(server.recv(16) or 70)
if code < 0:
    os.kill(os.getpid(), -code)
os._exit(code)
"""
"""What stands for the interpreter; `forked_workers` is the server."""

LOADED = ("OMP_NUM", "OMP_PROC", "OMP_SCHEDULE", "GOMP_", "KMP_", "MKL_", "LD_")
"""How variables begin that C libraries read when they are loaded."""


@functools.cache
def forked_python(name: str) -> str:
    """An interpreter that has this release, as `python_with` gives it. A program that comes from
    standard input runs in a fork of a process that has imported the framework.

    To such a program it is a fresh interpreter, but for the seed of hashes and for who started it.
    Files, and programs with variables that C libraries read when they are loaded, are run by the
    interpreter itself.
    """
    python, package = python_with(name), name.partition("-")[0]
    folder = Path(tempfile.mkdtemp(prefix="forked-", dir=os.environ[SHARED]))
    address, client = str(folder / "socket"), folder / "python"
    text = CLIENT.format(own=sys.executable, python=python, loaded=LOADED, address=address)
    client.write_text(text)
    client.chmod(0o700)
    kept = {name: os.environ[name] for name in ("PATH", "HOME", "TMPDIR") if name in os.environ}
    server = subprocess.Popen(
        [python, str(Path(__file__).with_name("forked_workers.py")), address, package],
        stdin=subprocess.PIPE,
        stdout=subprocess.PIPE,
        env={**kept, "OMP_WAIT_POLICY": "passive", "PYTHONHASHSEED": "0"},
    )
    atexit.register(server.communicate)
    assert server.stdout is not None
    assert server.stdout.readline() == b"ready\n"
    return str(client)
