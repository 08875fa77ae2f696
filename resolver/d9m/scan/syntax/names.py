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

from d9m.scan.facts import CodeScope, Import, Opening
from d9m.scan.syntax.expressions import nodes

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
    """What several bindings of one name mean together."""

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
        """What gives a name its meaning in a scope, and whether that scope itself does."""
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
        """What several bindings mean together."""
        together = self._together.get(id(bound)) or self._all_meanings(bound)
        known = together.known
        if len(together.meanings) == 1:
            return together.meanings[0]
        if same:
            before = bisect_right(known, line, key=lambda one: one.line)
            return self._meaning(known[before - 1]) if before else None
        return together.imported

    def _all_meanings(self, bound: Sequence[Bound]) -> _Together:
        """What bindings mean, worked out once: a file may bind a name thousands of times."""
        known = [one for one in bound if not one.neutral] or list(bound)
        first = known[0].name
        imported = all(one.name for one in known) and not first.startswith(LOCAL)
        meanings = tuple(dict.fromkeys(map(self._meaning, known)))
        found = _Together(known, meanings, first if imported else None)
        if self._in_work.isdisjoint(map(id, known)):
            self._together[id(bound)] = found
        return found

    def _meaning(self, bound: Bound) -> str | None:
        """Of an alias, what its value means where it stands."""
        if bound.name or not isinstance(bound.value, ast.Name | ast.Attribute | ast.Call):
            return bound.name or None
        if id(bound) not in self._meant:
            self._meant[id(bound)] = None  # an alias of itself means nothing
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
            kind = type(statement)
            if kind is ast.Expr:
                continue
            if kind in (ast.Assign, ast.AnnAssign, ast.AugAssign):
                self._assign(statement, scope)
            elif kind in (ast.FunctionDef, ast.AsyncFunctionDef):
                self._function(statement, scope)  # type: ignore[arg-type]
            elif kind is ast.ClassDef:
                self._class(statement, scope)  # type: ignore[arg-type]
            elif kind is ast.Import:
                self._import(statement, scope)  # type: ignore[arg-type]
            elif kind is ast.ImportFrom:
                self._import_from(statement, scope)  # type: ignore[arg-type]
            else:
                self._compound(statement, scope)

    def _compound(self, statement: ast.stmt, scope: int) -> None:
        if isinstance(statement, ast.If | ast.While):
            self._guarded(statement.body, scope)
            self._guarded(statement.orelse, scope)
        elif isinstance(statement, ast.For | ast.AsyncFor):
            self._targets(statement.target, scope, statement.lineno)
            self._guarded(statement.body, scope)
            self._guarded(statement.orelse, scope)
        elif isinstance(statement, ast.With | ast.AsyncWith):
            for item in statement.items:
                if item.optional_vars is not None:
                    self._targets(item.optional_vars, scope, statement.lineno)
            self._statements(statement.body, scope)
        elif isinstance(statement, ast.Try) or type(statement).__name__ == "TryStar":
            self._try(statement, scope)  # type: ignore[arg-type]
        elif isinstance(statement, ast.Match):
            for case in statement.cases:
                for node in nodes(case.pattern):
                    name = getattr(node, "name", None) or getattr(node, "rest", None)
                    if isinstance(name, str):
                        self._bind(scope, name, Bound(statement.lineno))
                self._guarded(case.body, scope)
        elif isinstance(statement, ast.Global):
            for name in statement.names:
                self.tables[scope][name] = self.tables[0].setdefault(name, [])
        elif isinstance(statement, ast.Nonlocal):
            for name in statement.names:
                outer, _here = self.bindings(self.scopes[scope].parent, name)
                if isinstance(outer, list):
                    self.tables[scope][name] = outer

    def _guarded(self, body: Sequence[ast.stmt], scope: int) -> None:
        self._guards += 1
        self._statements(body, scope)
        self._guards -= 1

    def _try(self, statement: ast.Try, scope: int) -> None:
        self._guarded(statement.body, scope)
        self._handlers += 1
        for handler in statement.handlers:
            if handler.name:
                self._bind(scope, handler.name, Bound(handler.lineno))
            self._guarded(handler.body, scope)
        self._handlers -= 1
        self._guarded(statement.orelse, scope)
        self._statements(statement.finalbody, scope)

    def _assign(self, statement: ast.stmt, scope: int) -> None:
        if isinstance(statement, ast.Assign):
            value, annotation, targets = statement.value, None, statement.targets
        elif isinstance(statement, ast.AnnAssign):
            value, annotation, targets = statement.value, statement.annotation, [statement.target]
        else:
            assert isinstance(statement, ast.AugAssign)
            if isinstance(statement.target, ast.Name):
                self._bind(scope, statement.target.id, Bound(statement.lineno))
            return
        neutral = isinstance(value, ast.Constant) and value.value is None
        if self._handlers and not isinstance(value, ast.Attribute):
            neutral = True
        for target in targets:
            if isinstance(target, ast.Name):
                bound = Bound(statement.lineno, "", value, neutral, annotation, scope)
                self._bind(scope, target.id, bound)
            else:
                self._targets(target, scope, statement.lineno)

    def _targets(self, target: ast.expr, scope: int, line: int) -> None:
        if isinstance(target, ast.Name):
            self._bind(scope, target.id, Bound(line))
        elif isinstance(target, ast.Tuple | ast.List):
            for part in target.elts:
                self._targets(part, scope, line)
        elif isinstance(target, ast.Starred):
            self._targets(target.value, scope, line)

    def _function(self, node: ast.FunctionDef | ast.AsyncFunctionDef, scope: int) -> None:
        outer = self.scopes[scope]
        name = f"{outer.name}.{node.name}" if outer.name else node.name
        neutral = self._handlers > 0
        self._bind(scope, node.name, Bound(node.lineno, LOCAL + name, None, neutral))
        parameters = _parameters(node.args)
        end = node.end_lineno or node.lineno
        found = CodeScope(
            "function",
            name,
            scope,
            node.lineno,
            end,
            parameters=parameters,
            opened_by=_opened_by(node),
        )
        number = self._open(found)
        self.numbers[node] = number
        bind_parameters(node.args, self.tables[number], node.lineno)
        guards, handlers = self._guards, self._handlers
        self._guards = self._handlers = 0
        self._statements(node.body, number)
        self._guards, self._handlers = guards, handlers

    def _class(self, node: ast.ClassDef, scope: int) -> None:
        outer = self.scopes[scope]
        name = f"{outer.name}.{node.name}" if outer.name else node.name
        neutral = self._handlers > 0
        self._bind(scope, node.name, Bound(node.lineno, LOCAL + name, None, neutral))
        number = self._open(CodeScope("class", name, scope, node.lineno, node.end_lineno or 0))
        self.numbers[node] = number
        self._statements(node.body, number)

    def _import(self, node: ast.Import, scope: int) -> None:
        for alias in node.names:
            guarded = self._guards > 0
            self.imports.append(Import(alias.name, "", node.lineno, scope, guarded))
            root = alias.name.partition(".")[0]
            self._bind_import(
                scope, alias.asname or root, alias.name if alias.asname else root, node
            )

    def _import_from(self, node: ast.ImportFrom, scope: int) -> None:
        module = "." * node.level + (node.module or "")
        for alias in node.names:
            self.imports.append(Import(module, alias.name, node.lineno, scope, self._guards > 0))
            if alias.name == "*":
                self.stars.append(module)
                continue
            between = "" if module.endswith(".") else "."
            full = f"{module}{between}{alias.name}"
            self._bind_import(scope, alias.asname or alias.name, full, node)

    def _bind_import(self, scope: int, name: str, full: str, node: ast.stmt) -> None:
        stands_in = self._handlers > 0 and name in self.tables[scope]
        self._bind(scope, name, Bound(node.lineno, full, None, stands_in))


def bind_parameters(arguments: ast.arguments, table: dict[str, list[Bound]], line: int) -> None:
    """Parameters mean something of their own."""
    for part in (*arguments.posonlyargs, *arguments.args, *arguments.kwonlyargs):
        table[part.arg] = [Bound(line, annotation=part.annotation)]
    for part in (arguments.vararg, arguments.kwarg):
        if part is not None:
            table[part.arg] = [Bound(line)]


_PLAIN = ("staticmethod", "classmethod")
"""Decorators that leave the arguments of a function alone."""


def _opened_by(node: ast.FunctionDef | ast.AsyncFunctionDef) -> Opening:
    for decorator in node.decorator_list:
        if not isinstance(decorator, ast.Name) or decorator.id not in _PLAIN:
            return "decorator"
    return "rest" if node.args.vararg is not None or node.args.kwarg is not None else ""


def _parameters(arguments: ast.arguments) -> tuple[tuple[str, str], ...]:
    positional = [*arguments.posonlyargs, *arguments.args]
    defaults = [None] * (len(positional) - len(arguments.defaults)) + list(arguments.defaults)
    pairs = [*zip(positional, defaults, strict=True)]
    pairs += [*zip(arguments.kwonlyargs, arguments.kw_defaults, strict=True)]
    return tuple((part.arg, _default(default)) for part, default in pairs)


def _default(node: ast.expr | None) -> str:
    if node is None:
        return ""
    return repr(node.value) if isinstance(node, ast.Constant) else "?"
