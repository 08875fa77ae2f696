"""Definitions of a project that nothing in it names, so that none of its programs runs them."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

from d9m.scan.facts import DYNAMIC, FileFacts
from d9m.scan.programs import Program

_INSTALLERS = ("setup.py", "setup.cfg", "pyproject.toml")


class Unused:
    """Knows the lines of functions and classes that nothing calls."""

    def __init__(self, files: Mapping[str, FileFacts], programs: Sequence[Program]) -> None:
        """Only in files that a program imports. What a program defines itself may be a command of
        it; what can be installed is a library as well, and others call it; and where a name that
        the text does not show picks something, anything may be called.
        """
        self._lines: dict[str, list[range]] = {}
        if any(call.name == DYNAMIC for facts in files.values() for call in facts.called):
            return
        entries = {program.path for program in programs}
        imported = {path for program in programs for path in program.files} - entries
        names = {name for facts in files.values() for name in facts.mentioned}
        for path in imported:
            if _is_installed(path, files):
                continue
            for scope in files[path].scopes:
                if scope.parent == 0 and scope.name not in names:
                    lines = range(scope.line, scope.end_line + 1)
                    self._lines.setdefault(path, []).append(lines)

    def holds(self, path: str, line: int) -> bool:
        return any(line in lines for lines in self._lines.get(path, ()))


def _is_installed(path: str, files: Mapping[str, FileFacts]) -> bool:
    """Whether a file that says how to install something is next to a path, or above it."""
    folder = path
    while folder:
        folder = folder.rpartition("/")[0]
        for name in _INSTALLERS:
            if (f"{folder}/{name}" if folder else name) in files:
                return True
    return False
