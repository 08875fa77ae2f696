"""An interpreter whose workers need not import their framework."""

from __future__ import annotations

import atexit
import functools
import os
import shutil
import subprocess
import sys
import tempfile
from pathlib import Path

from machines import python_with

CLIENT = """#!{python} -IS
import json, os, socket
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


@functools.cache
def forked_python(name: str) -> str:
    """An interpreter that has this release, as `python_with` gives it, for programs that come from
    standard input: each runs in a fork of a process that has imported the framework.

    To a worker it is a fresh interpreter, but for what C libraries read of the environment when
    they are loaded, for the seed of hashes, and for who started it.
    """
    python, package = python_with(name), name.partition("-")[0]
    folder = Path(tempfile.mkdtemp(prefix="d9m-forked-"))
    atexit.register(shutil.rmtree, folder)
    address, client = str(folder / "socket"), folder / "python"
    client.write_text(CLIENT.format(python=sys.executable, address=address))
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
