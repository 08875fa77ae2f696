# pyright: basic
"""Something to do when the program imports a module. Nothing is imported on its own account."""

from __future__ import annotations

import sys


class Watcher:
    """First in `sys.meta_path`. It finds what the other finders find, and sees the import end."""

    def __init__(self) -> None:
        self._wanted: dict = {}
        self._ahead: dict = {}

    def when_imported(self, name: str, act, before=None) -> None:
        """Call `act(module)` after the import of `name`: now, if the program has it already. Just
        ahead of the import, `before()` is called.

        A module that is being imported this very moment counts as imported.
        """
        module = sys.modules.get(name)
        if module is not None:
            act(module)
        else:
            self._wanted.setdefault(name, []).append(act)
            if before is not None:
                self._ahead.setdefault(name, []).append(before)

    def find_spec(self, name, path=None, target=None):
        if name not in self._wanted:
            return None
        spec = self._found(name, path, target)
        if spec is not None and hasattr(spec.loader, "exec_module"):
            self._watch(spec.loader, name)
        return spec

    def _found(self, name, path, target):
        for finder in list(sys.meta_path):
            if finder is self or not hasattr(finder, "find_spec"):
                continue
            spec = finder.find_spec(name, path, target)
            if spec is not None:
                return spec
        return None

    def _watch(self, loader, name: str) -> None:
        execute = loader.exec_module

        def exec_module(module):
            vars(loader).pop("exec_module", None)  # the module's loader is as it was
            for act in self._ahead.pop(name, ()):
                act()
            execute(module)
            for act in self._wanted.pop(name, ()):
                act(module)

        loader.exec_module = exec_module

    def begin(self) -> None:
        sys.meta_path.insert(0, self)

    def end(self) -> None:
        self._wanted.clear()
        self._ahead.clear()
        if self in sys.meta_path:
            sys.meta_path.remove(self)
