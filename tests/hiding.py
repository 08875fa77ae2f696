"""Hides what a process has imported: a program that runs in a fork of it finds it not imported yet,
and its own import brings it back. Pythons as old as 3.6 run this, too.
"""

import importlib.util
import os
import sys
import sysconfig


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


def hide():
    """Hide all packages that are installed and imported."""
    sys.meta_path.insert(0, HiddenPackages())
