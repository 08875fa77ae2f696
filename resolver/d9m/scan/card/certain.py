"""Which code of a program certainly runs: a line of the card is green for nothing else."""

from __future__ import annotations

from collections.abc import Iterator

from d9m.scan.facts import Arms, CodeScope, FileFacts
from d9m.scan.project.modules import Modules
from d9m.scan.project.programs import Program
from d9m.scan.vocabulary import Vocabulary

OWN = ":"
"""Begins the qualified name of what a file defines."""


class CertainCode:
    """Module code of the entry and of what it imports, and the functions that such code calls by
    name outside of any condition.
    """

    def __init__(self, program: Program) -> None:
        self._program = program
        self._modules = Modules(program.files)
        self._places: set[tuple[str, int]] = set()
        todo = [(program.path, 0)] if program.path in program.files else []
        while todo:
            place = todo.pop()
            if place not in self._places and place[0] in program.files:
                self._places.add(place)
                todo += self._imports(*place)
                todo += self._calls(*place)

    def packages(self, vocabulary: Vocabulary) -> set[str]:
        """Return the packages of the records that it imports, unless a test or ``try`` decides."""
        found: set[str] = set()
        for path, facts in self._program.files.items():
            for each in facts.imports:
                package = vocabulary.package(each.module)
                if package is None or each.guarded or (path, each.scope) not in self._places:
                    continue
                if self._modules.importable(path, each.module) is None:
                    found.add(package)
        return found

    def doubt(
        self, path: str, scope: int, line: int, arms: Arms = (), guarded: bool = False
    ) -> str:
        """Return why code may not run, as half a sentence; empty where it certainly does."""
        if self.is_foreign(path, line):
            return f"only where {path} itself is run"
        if (path, scope) not in self._places:
            name = self._program.files[path].scopes[scope].name
            where = f"{name}()" if name else path
            return f"in {where}, which may never run"
        return "only under a condition" if arms or guarded else ""

    def is_foreign(self, path: str, line: int) -> bool:
        """Whether code belongs to another program: under the ``__main__`` of an imported file."""
        facts = self._program.files[path]
        return path != self._program.path and any(
            first <= line <= last for first, last in facts.main
        )

    def _imports(self, path: str, scope: int) -> Iterator[tuple[str, int]]:
        facts = self._program.files[path]
        for each in facts.imports:
            if each.scope == scope and not each.guarded and not self.is_foreign(path, each.line):
                one = FileFacts(path=path, kind=facts.kind, imports=(each,))
                yield from ((other, 0) for other in self._modules.imported(one))

    def _calls(self, path: str, scope: int) -> Iterator[tuple[str, int]]:
        facts = self._program.files[path]
        for caller, line, name in facts.sure_calls:
            if caller != scope or self.is_foreign(path, line):
                continue
            if name.startswith(OWN):
                found = self._find(path, name.removeprefix(OWN))
            else:
                module, _dot, last = name.rpartition(".")
                found = self._find(self._modules.importable(path, module or "."), last)
            if found is not None:
                yield found

    def _find(self, path: str | None, name: str, depth: int = 3) -> tuple[str, int] | None:
        """Return the function that a name of a module means, perhaps one that it imports."""
        facts = self._program.files.get(path or "")
        if path is None or facts is None or not depth:
            return None
        own = _defined(facts.scopes, name)
        if own is not None:
            return path, own
        for each in facts.imports:
            if each.scope == 0 and each.name == name:
                return self._find(self._modules.importable(path, each.module), name, depth - 1)
        return None


def _defined(scopes: tuple[CodeScope, ...], name: str) -> int | None:
    """Return the only function of this name, or the constructor of such a class."""
    found = [
        number
        for number, scope in enumerate(scopes)
        if scope.kind == "function" and scope.name in (name, f"{name}.__init__")
    ]
    return found[0] if len(found) == 1 else None
