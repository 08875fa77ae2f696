"""Which code of a program certainly runs: a line of the card is green for nothing else."""

from __future__ import annotations

from collections.abc import Iterator

from d9m.scan.facts import Arms, CodeScope, FileFacts, LocalCall
from d9m.scan.project.modules import Modules
from d9m.scan.project.programs import Program
from d9m.scan.vocabulary import Vocabulary


class CertainCode:
    """Module code of the entry and of what it imports, and the functions that such code calls by
    name outside of any condition.
    """

    def __init__(self, program: Program) -> None:
        self._program = program
        self._modules = Modules(program.files)
        self._places: set[tuple[str, int]] = set()
        todo = [(program.path, 0)]
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
        self, path: str, scope: int, arms: Arms = (), in_main: bool = False, guarded: bool = False
    ) -> str:
        """Return why code may not run, as half a sentence; empty where it certainly does."""
        if in_main and path != self._program.path:
            return f"only where {path} itself is run"
        if (path, scope) not in self._places:
            name = self._program.files[path].scopes[scope].name
            where = f"{name}()" if name else path
            return f"in {where}, which may never be called"
        return "only under a condition" if arms or guarded else ""

    def _imports(self, path: str, scope: int) -> Iterator[tuple[str, int]]:
        facts = self._program.files[path]
        for each in facts.imports:
            if each.scope == scope and not each.guarded:
                one = FileFacts(path=path, kind=facts.kind, imports=(each,))
                yield from ((other, 0) for other in self._modules.imported(one))

    def _calls(self, path: str, scope: int) -> Iterator[tuple[str, int]]:
        facts = self._program.files[path]
        for call in facts.called:
            if call.scope != scope or not call.is_call or call.is_optional or call.of_object:
                continue
            if call.in_main and path != self._program.path:
                continue
            found = self._function(path, call)
            if found is not None:
                yield found

    def _function(self, path: str, call: LocalCall) -> tuple[str, int] | None:
        """Return the function that a call means; None where the text leaves it open."""
        facts = self._program.files[path]
        if call.is_bare:
            own = _defined(facts.scopes, call.name, call.scope)
            if own is not None:
                return path, own
            imported = [each for each in facts.imports if each.name in (call.name, "*")]
        else:
            same_line = (each.name for each in facts.calls if each.place.line == call.line)
            if any(name.rpartition(".")[2] == call.name for name in same_line):
                return None
            imported = list(facts.imports)
        one = FileFacts(path=path, kind=facts.kind, imports=tuple(imported))
        found: list[tuple[str, int]] = []
        for other in self._modules.imported(one):
            scopes = self._program.files[other].scopes if other in self._program.files else ()
            place = _defined(scopes, call.name, 0)
            if place is not None:
                found.append((other, place))
        return found[0] if len(found) == 1 else None


def _defined(scopes: tuple[CodeScope, ...], name: str, around: int) -> int | None:
    """Return the function of this name that a scope sees, or the constructor of such a class."""
    found: list[int] = []
    for number, scope in enumerate(scopes):
        is_function = scope.kind == "function" and scope.name.rpartition(".")[2] == name
        if number and ((is_function and scope.parent in (0, around)) or _constructs(scope, name)):
            found.append(number)
    return found[0] if len(found) == 1 else None


def _constructs(scope: CodeScope, name: str) -> bool:
    return scope.name == f"{name}.__init__" and scope.parent > 0
