"""Runs programs on request, each in a fork of this process, to which importing costs nothing:

    python forked.py torch

What is imported here is hidden again: a program finds it not imported yet, and its own import
brings it back. Reads an order a line, as JSON, and answers each with the exit code. The frameworks
of the tests come with Pythons as old as 3.6.
"""

import importlib
import importlib.util
import json
import os
import runpy
import signal
import sys
import sysconfig
import traceback


class HiddenPackage:
    """A package that this process has imported. Importing it puts all its modules back."""

    def __init__(self, name):
        names = [each for each in sys.modules if each.partition(".")[0] == name]
        self.modules = {each: sys.modules.pop(each) for each in names}
        self.spec = self.modules[name].__spec__

    def create_module(self, spec):
        sys.modules.update(self.modules)
        return self.modules[spec.name]

    def exec_module(self, module):
        module.__spec__ = self.spec


class HiddenPackages:
    """Finds what is hidden before Python looks for files."""

    def __init__(self):
        installed = {name.partition(".")[0] for name in os.listdir(sysconfig.get_path("purelib"))}
        names = {name.partition(".")[0] for name in sys.modules}
        self.packages = {name: HiddenPackage(name) for name in installed & names}

    def find_spec(self, name, path=None, target=None):
        hidden = self.packages.get(name)
        return hidden and importlib.util.spec_from_loader(name, hidden)


def run(order):
    """Be a fresh Python: its streams, place, variables and program. Returns the exit code."""
    for number, path in enumerate(order["streams"], 1):
        os.dup2(os.open(path, os.O_WRONLY), number)
    sys.stdout, sys.stderr = (
        os.fdopen(number, "w", encoding="utf-8", closefd=False) for number in (1, 2)
    )
    os.environ.clear()
    os.environ.update(order["environment"])
    os.chdir(order["folder"])
    sys.path[0], sys.argv = order["folder"], order["command"]
    signal.alarm(order["longest"])
    try:
        runpy.run_path(sys.argv[0], run_name="__main__")
        code = 0
    except SystemExit as end:
        code = end.code if isinstance(end.code, int) else int(end.code is not None)
    except BaseException:
        traceback.print_exc()
        code = 1
    sys.stdout.flush()
    sys.stderr.flush()
    return code


for name in sys.argv[1:]:
    importlib.import_module(name)
sys.meta_path.insert(0, HiddenPackages())
for line in sys.stdin:
    child = os.fork()
    if not child:
        code = 70  # of a fault in this file
        try:
            code = run(json.loads(line))
        finally:
            os._exit(code)
    status = os.waitpid(child, 0)[1]
    print(-os.WTERMSIG(status) if os.WIFSIGNALED(status) else os.WEXITSTATUS(status), flush=True)
