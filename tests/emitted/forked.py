"""Runs programs on request, each in a fork of this process, to which importing costs nothing:

    python forked.py torch

What is imported here is hidden again: a program finds it not imported yet, and its own import
brings it back. Reads an order a line, as JSON, and answers each with the exit code. The frameworks
of the tests come with Pythons as old as 3.6.
"""

import importlib
import importlib.util
import os
import runpy
import sys
import sysconfig

sys.path.insert(0, os.path.dirname(os.path.dirname(os.path.abspath(__file__))))
from forking import enter, exit_code, serve

del sys.path[0]


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
    """Be a fresh Python with the order's program. Returns the exit code."""
    enter(order, order["folder"])
    sys.path[0], sys.argv = order["folder"], order["command"]
    return exit_code(lambda: runpy.run_path(sys.argv[0], run_name="__main__"))


for name in sys.argv[1:]:
    importlib.import_module(name)
sys.meta_path.insert(0, HiddenPackages())
serve(run)
