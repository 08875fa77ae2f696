"""A Python that has imported a framework, and runs each worker in a fork of itself:

    python forked_workers.py SOCKET torch

A client (see `forked_interpreter`) sends its variables, folder and streams, and gets the exit code.
The worker reads its program from standard input, and ends when its client does. This ends with its
standard input.
"""

import fcntl
import gc
import importlib
import json
import os
import select
import signal
import site
import socket
import sys
import types

sys.path.insert(0, os.path.dirname(os.path.dirname(os.path.abspath(__file__))))
from forking import exit_code
from hiding import hide

del sys.path[0]

LONGEST = 1 << 17
"""Bytes of an order."""

F_SETSIG = 10
"""Of Linux; Python's fcntl does not name it."""


def attend(client, streams, order):
    """Run a worker to its end, and tell its client the exit code."""
    worker = os.fork()
    if not worker:
        os.setsid()
        # The kernel ends it when the client is gone, whatever it is doing.
        fcntl.fcntl(client, fcntl.F_SETOWN, os.getpid())
        fcntl.fcntl(client, F_SETSIG, signal.SIGKILL)
        fcntl.fcntl(client, fcntl.F_SETFL, os.O_ASYNC)
        os._exit(exit_code(lambda: work(streams, *order)))
    for stream in (0, 1, 2, *streams):
        os.close(stream)
    status = os.waitpid(worker, 0)[1]
    code = -os.WTERMSIG(status) if os.WIFSIGNALED(status) else os.WEXITSTATUS(status)
    client.send(str(code).encode())


def work(streams, variables, folder):
    """Be a fresh Python with the program that comes from standard input."""
    for number, stream in enumerate(streams):
        os.dup2(stream, number)
        os.close(stream)
    sys.stdin, sys.stdout, sys.stderr = (
        os.fdopen(number, "rw"[number > 0], encoding="utf-8", closefd=False) for number in range(3)
    )
    os.environ.clear()
    os.environ.update(variables)
    os.chdir(folder)
    path = variables.get("PYTHONPATH")
    sys.path[:0] = ["", *(path.split(os.pathsep) if path else [])]
    sys.argv = ["-"]
    sys.modules.pop("sitecustomize", None)
    site.execsitecustomize()
    main = sys.modules["__main__"] = types.ModuleType("__main__")
    exec(compile(sys.stdin.read(), "<stdin>", "exec"), vars(main))


def serve(address):
    """Answer clients until standard input ends."""
    with socket.socket(socket.AF_UNIX, socket.SOCK_SEQPACKET) as listener:
        listener.bind(address)
        listener.listen()
        print("ready", flush=True)
        running = 0
        while sys.stdin not in select.select([listener, sys.stdin], [], [])[0]:
            client, _address = listener.accept()
            order, streams, _flags, _sender = socket.recv_fds(client, LONGEST, 3)
            if not os.fork():
                listener.close()
                try:
                    attend(client, streams, json.loads(order))
                finally:
                    os._exit(0)
            running += 1
            client.close()
            for stream in streams:
                os.close(stream)
            while running and os.waitpid(-1, os.WNOHANG)[0]:
                running -= 1


importlib.import_module(sys.argv[2])
hide()
gc.freeze()
serve(sys.argv[1])
