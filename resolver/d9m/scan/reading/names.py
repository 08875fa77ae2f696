"""Which qualified name an expression has: imports, aliases, scopes, shadowing.

The module knows Python and nothing else. A name of this file begins with `LOCAL`, one of a
relative import with its dots.
"""

from __future__ import annotations

import ast
import builtins
from bisect import bisect_right
from collections.abc import Mapping, Sequence

import msgspec

from d9m.scan.facts import CodeScope, Import
from d9m.scan.reading.expressions import nodes

LOCAL = ":"
"""Begins the name of something that the file itself defines: ``:Model.forward``."""

BUILTINS = "builtins."

_BUILTIN_NAMES = frozenset(dir(builtins))


class Bound(msgspec.Struct, frozen=True):
    """One place that gives a name a meaning. Without a name or a value it means something else."""

    line: int
    name: str = ""
    """Qualified name."""
    value: ast.expr | None = None
    neutral: bool = False
    """Nothing yet, or no more: ``= None``, and what stands in for a failed import."""
    annotation: ast.expr | None = None
    scope: int = 0


class _Together(msgspec.Struct, frozen=True):
    """The joint meaning of several bindings of one name."""

    known: list[Bound]
    """In the order of the file."""
    meanings: tuple[str | None, ...]
    """Each once."""
    imported: str | None
    """The first of them, where each comes from an import."""


class Names:
    """The scopes of a file, and what its names mean there."""

    def __init__(self, tree: ast.Module, usual: Mapping[str, str] | None = None) -> None:
        """`usual`: what a name mostly means that may come from ``from … import *``."""
        self._usual: Mapping[str, str] = usual or {}
        self.scopes: list[CodeScope] = []
        self.tables: list[dict[str, list[Bound]]] = []
        self.imports: list[Import] = []
        self.numbers: dict[ast.AST, int] = {}
        """Definition -> number of its scope."""
        self.stars: list[str] = []
        self._guards = 0
        self._handlers = 0
        self._known: dict[tuple[int, str], str | None] = {}
        self._meant: dict[int, str | None] = {}
        self._together: dict[int, _Together] = {}
        self._in_work: set[int] = set()
        self._open(CodeScope("module", "", -1))
        self._statements(tree.body, 0)

    # --- resolving ---------------------------------------------------------------------

    def find(self, scope: int, name: str, line: int) -> str | None:
        """The qualified name of a plain name as read in a scope; None for something else."""
        if (scope, name) in self._known:
            return self._known[scope, name]
        bound, here = self.bindings(scope, name)
        if not bound:
            found = BUILTINS + name if name in _BUILTIN_NAMES else None
            if found is None and self.stars:
                found = self._usual.get(name)
        else:
            found = self._chosen(bound, here, line)
            if len(bound) > 1:
                return found
        self._known[scope, name] = found
        return found

    def bindings(self, scope: int, name: str) -> tuple[Sequence[Bound], bool]:
        """Return the bindings of a name in a scope, and whether they are in that scope."""
        start = scope
        while scope >= 0:
            bound = self.tables[scope].get(name)
            if bound and (scope == start or self.scopes[scope].kind != "class"):
                return bound, scope == start
            scope = self.scopes[scope].parent
        return (), False

    def resolve(self, scope: int, node: ast.expr, line: int) -> str | None:
        """The qualified name of an expression: ``torch.nn.functional`` of ``F``."""
        if isinstance(node, ast.Attribute):
            head = self.resolve(scope, node.value, line)
            if head is None:
                return None
            return f"{head}{node.attr}" if head == LOCAL else f"{head}.{node.attr}"
        if isinstance(node, ast.Name):
            return self.find(scope, node.id, line)
        if isinstance(node, ast.Call):
            return self._called(scope, node, line)
        return None

    def _called(self, scope: int, node: ast.Call, line: int) -> str | None:
        """``__import__("m")``, ``importlib.import_module("m")``, ``getattr(x, "name")``."""
        last = node.args[-1] if node.args else None
        if not isinstance(last, ast.Constant) or not isinstance(last.value, str):
            return None
        name = self.resolve(scope, node.func, line)
        if name == "builtins.getattr" and len(node.args) == 2:
            owner = self.resolve(scope, node.args[0], line)
            return f"{owner}.{last.value}" if owner else None
        if name in ("builtins.__import__", "importlib.import_module") and len(node.args) == 1:
            return last.value
        return None

    def _chosen(self, bound: Sequence[Bound], same: bool, line: int) -> str | None:
        """Return the joint meaning of several bindings."""
        together = self._together.get(id(bound)) or self._all_meanings(bound)
        known = together.known
        if len(together.meanings) == 1:
            return together.meanings[0]
        if same:
            before = bisect_right(known, line, key=lambda one: one.line)
            return self._meaning(known[before - 1]) if before else None
        return together.imported

    def _all_meanings(self, bound: Sequence[Bound]) -> _Together:
        """Return the meaning of bindings, worked out once: a file may bind a name thousands of
        times.
        """
        known = [one for one in bound if not one.neutral] or list(bound)
        first = known[0].name
        imported = all(one.name for one in known) and not first.startswith(LOCAL)
        meanings = tuple(dict.fromkeys(map(self._meaning, known)))
        found = _Together(known, meanings, first if imported else None)
        if self._in_work.isdisjoint(map(id, known)):
            self._together[id(bound)] = found
        return found

    def _meaning(self, bound: Bound) -> str | None:
        """Return the meaning of an alias: that of its value, at its place."""
        if bound.name or not isinstance(bound.value, ast.Name | ast.Attribute | ast.Call):
            return bound.name or None
        if id(bound) not in self._meant:
            self._meant[id(bound)] = None  # a cyclic alias means nothing
            self._in_work.add(id(bound))
            self._meant[id(bound)] = self.resolve(bound.scope, bound.value, bound.line)
            self._in_work.remove(id(bound))
        return self._meant[id(bound)]

    # --- binding -----------------------------------------------------------------------

    def _open(self, scope: CodeScope) -> int:
        self.scopes.append(scope)
        self.tables.append({})
        return len(self.scopes) - 1

    def _bind(self, scope: int, name: str, bound: Bound) -> None:
        self.tables[scope].setdefault(name, []).append(bound)

    def _statements(self, body: Sequence[ast.stmt], scope: int) -> None:
        for statement in body:
            if isinstance(statement, ast.Expr):
                continue
            if isinstance(statement, ast.Assign | ast.AnnAssign | ast.AugAssign):
                self._assign(statement, scope)
            elif isinstance(statement, _DEFINITIONS):
                self._define(statement, scope)
            elif isinstance(statement, ast.Import | ast.ImportFrom):
                self._import(statement, scope)
            elif isinstance(statement, ast.Global):
                for name in statement.names:
                    self.tables[scope][name] = self.tables[0].setdefault(name, [])
            elif isinstance(statement, ast.Nonlocal):
                for name in statement.names:
                    outer, _here = self.bindings(self.scopes[scope].parent, name)
                    if isinstance(outer, list):
                        self.tables[scope][name] = outer
            else:
                self._compound(statement, scope)

    def _compound(self, statement: ast.stmt, scope: int) -> None:
        """Bind what a loop, a ``with`` or a ``match`` binds, and what its blocks do."""
        for part in _targets(statement):
            self._bind_all(part, scope, statement.lineno)
        plain = isinstance(statement, ast.With | ast.AsyncWith)
        for field in ("body", "handlers", "orelse", "cases", "finalbody"):
            for block in getattr(statement, field, ()):
                guarded = not plain and field != "finalbody"
                handled = isinstance(block, ast.ExceptHandler)
                if isinstance(block, ast.ExceptHandler) and block.name:
                    self._bind(scope, block.name, Bound(block.lineno))
                self._guards += guarded
                self._handlers += handled
                body = [block] if isinstance(block, ast.stmt) else block.body
                self._statements(body, scope)
                self._handlers -= handled
                self._guards -= guarded

    def _bind_all(self, target: ast.AST, scope: int, line: int) -> None:
        for node in nodes(target):
            if isinstance(node, ast.Name) and isinstance(node.ctx, ast.Store):
                self._bind(scope, node.id, Bound(line))
            elif isinstance(node, ast.MatchAs | ast.MatchStar) and node.name:
                self._bind(scope, node.name, Bound(line))
            elif isinstance(node, ast.MatchMapping) and node.rest:
                self._bind(scope, node.rest, Bound(line))

    def _assign(self, statement: ast.Assign | ast.AnnAssign | ast.AugAssign, scope: int) -> None:
        targets = statement.targets if isinstance(statement, ast.Assign) else [statement.target]
        value = None if isinstance(statement, ast.AugAssign) else statement.value
        annotation = statement.annotation if isinstance(statement, ast.AnnAssign) else None
        neutral = isinstance(value, ast.Constant) and value.value is None
        neutral = neutral or (self._handlers > 0 and not isinstance(value, ast.Attribute))
        for target in targets:
            if isinstance(target, ast.Name):
                bound = Bound(statement.lineno, "", value, neutral, annotation, scope)
                self._bind(scope, target.id, bound)
            else:
                self._bind_all(target, scope, statement.lineno)

    def _define(
        self, node: ast.FunctionDef | ast.AsyncFunctionDef | ast.ClassDef, scope: int
    ) -> None:
        outer = self.scopes[scope]
        name = f"{outer.name}.{node.name}" if outer.name else node.name
        self._bind(scope, node.name, Bound(node.lineno, LOCAL + name, None, self._handlers > 0))
        is_class = isinstance(node, ast.ClassDef)
        number = self._open(CodeScope("class" if is_class else "function", name, scope))
        self.numbers[node] = number
        guards, handlers = self._guards, self._handlers
        if not isinstance(node, ast.ClassDef):
            bind_parameters(node.args, self.tables[number], node.lineno)
            self._guards = self._handlers = 0
        self._statements(node.body, number)
        self._guards, self._handlers = guards, handlers

    def _import(self, node: ast.Import | ast.ImportFrom, scope: int) -> None:
        module = ""
        if isinstance(node, ast.ImportFrom):
            module = "." * node.level + (node.module or "")
        for alias in node.names:
            taken = alias.name if module else ""
            guarded = self._guards > 0
            self.imports.append(Import(module or alias.name, taken, node.lineno, scope, guarded))
            if alias.name == "*":
                self.stars.append(module)
                continue
            between = "" if module.endswith(".") or not module else "."
            full = f"{module}{between}{alias.name}"
            name = alias.asname or alias.name
            if not module and not alias.asname:
                full = name = alias.name.partition(".")[0]
            stands_in = self._handlers > 0 and name in self.tables[scope]
            self._bind(scope, name, Bound(node.lineno, full, None, stands_in))


_DEFINITIONS = (ast.FunctionDef, ast.AsyncFunctionDef, ast.ClassDef)


def _targets(statement: ast.stmt) -> list[ast.AST]:
    """Return the targets that a compound statement binds."""
    if isinstance(statement, ast.For | ast.AsyncFor):
        return [statement.target]
    if isinstance(statement, ast.With | ast.AsyncWith):
        return [item.optional_vars for item in statement.items if item.optional_vars is not None]
    return [case.pattern for case in statement.cases] if isinstance(statement, ast.Match) else []


def bind_parameters(arguments: ast.arguments, table: dict[str, list[Bound]], line: int) -> None:
    """Bind parameters, which hide outer names."""
    for part in (*arguments.posonlyargs, *arguments.args, *arguments.kwonlyargs):
        table[part.arg] = [Bound(line, annotation=part.annotation)]
    for part in (arguments.vararg, arguments.kwarg):
        if part is not None:
            table[part.arg] = [Bound(line)]
