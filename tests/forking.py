"""A server that runs each order in a fork of itself, and answers with the exit code. Orders come as
JSON, one a line. Pythons as old as 3.6 run this, too.
"""

import json
import os
import signal
import sys
import traceback


def enter(order, folder):
    """Take the streams, the variables, the place and the time limit of an order.

    `streams` are files for the last of standard input, output and error.
    """
    first = 3 - len(order["streams"])
    for number, path in enumerate(order["streams"], first):
        os.dup2(os.open(path, os.O_RDWR), number)
        stream = os.fdopen(number, "rw"[number > 0], encoding="utf-8", closefd=False)
        setattr(sys, ("stdin", "stdout", "stderr")[number], stream)
    os.environ.clear()
    os.environ.update(order["environment"])
    os.chdir(folder)
    signal.alarm(order["longest"])


def exit_code(program):
    """What a process would end with that calls `program`."""
    try:
        program()
        code = 0
    except SystemExit as end:
        code = end.code if isinstance(end.code, int) else int(end.code is not None)
    except BaseException:
        traceback.print_exc()
        code = 1
    sys.stdout.flush()
    sys.stderr.flush()
    return code


def serve(run):
    """Answer orders until there are no more. `run` gets one in a fork, and returns its code."""
    for line in sys.stdin:
        child = os.fork()
        if not child:
            code = 70  # of a fault in the server
            try:
                code = run(json.loads(line))
            finally:
                os._exit(code)
        status = os.waitpid(child, 0)[1]
        killed = os.WIFSIGNALED(status)
        print(-os.WTERMSIG(status) if killed else os.WEXITSTATUS(status), flush=True)
