"""Find what a name of a Python module stands for, across the modules of a wheel; nothing is
imported.
"""

from __future__ import annotations

import ast
from collections.abc import Iterator, Mapping
from typing import TypeAlias

from d9m.authoring.collect.overloads import (
    Overloads,
    class_methods,
    constructor_overloads,
    docstring_overloads,
    function_overloads,
    method_overloads,
)
from d9m.authoring.collect.parameters import UNSTATED
from d9m.authoring.collect.wheel import Wheel
from d9m.authoring.collect.words import parsed

Imported: TypeAlias = tuple[str, str]
"""Module and name; the name is empty for a module."""

_DOCUMENTED = {"_add_docstr", "add_docstr"}
"""Functions that give another one its docstring, and return it."""
_SAME = {"jit", "custom_jvp", "custom_vjp", "_make_deprecate"}
"""Functions that return what is called like their first argument."""
_BRANCHES = "boolean_dispatch"
"""Makes one function of two, which differ in what they return."""


class Definitions:
    """The modules of a wheel, each parsed when first needed."""

    def __init__(self, wheel: Wheel, also: Mapping[str, str] | None = None) -> None:
        """`also`: module -> where else its names, or those of modules in it, are."""
        self._wheel = wheel
        self._members = frozenset(wheel.members())
        self._also = also or {}
        self._modules: dict[str, dict[str, list[ast.stmt | Imported]]] = {}

    def overloads(self, module: str, name: str) -> Overloads:
        """How the function or the class of that name is called."""
        return self._overloads(module, name, frozenset())

    def methods(self, module: str, name: str) -> dict[str, Overloads]:
        """Public method -> how it is called on an object of the class."""
        found: dict[str, Overloads] = {}
        for _module, class_ in self._line(module, name, frozenset()):
            for method, nodes in class_methods(class_).items():
                if not method.startswith("_"):
                    found.setdefault(method, method_overloads(nodes))
        return found

    def _overloads(self, module: str, name: str, above: frozenset[Imported]) -> Overloads:
        if (module, name) in above:
            return []
        above |= {(module, name)}
        statements = self._module(module).get(name, [])
        functions = [each for each in statements if isinstance(each, ast.FunctionDef)]
        last = statements[-1] if statements else None
        if functions:
            return function_overloads(functions)
        if isinstance(last, ast.ClassDef):
            return self._constructor(module, name)
        if isinstance(last, ast.Assign):
            return self._value(module, name, last.value, above)
        if isinstance(last, tuple):
            return self._overloads(*last, above) if last[1] else []
        for other in self._elsewhere(module):
            if found := self._overloads(other, name, above):
                return found
        return []

    def _value(
        self, module: str, name: str, value: ast.expr, above: frozenset[Imported]
    ) -> Overloads:
        """How something that was assigned is called."""
        if isinstance(value, (ast.Name, ast.Attribute)):
            place = self._place(module, value)
            return self._overloads(*place, above) if place else []
        if not isinstance(value, ast.Call):
            return []
        function = ast.unparse(value.func).rpartition(".")[2]
        if function == _BRANCHES:
            branch = next((each.value for each in value.keywords if each.arg == "if_false"), None)
            return self._value(module, name, branch, above) if branch else []
        if function in _DOCUMENTED and len(value.args) > 1:
            stated = self._value(module, name, value.args[0], above)
            defaults = [parameter.default for form in stated for parameter in form.parameters]
            is_complete = stated and UNSTATED not in defaults
            return stated if is_complete else docstring_overloads(name, value.args[1]) or stated
        decorated = isinstance(value.func, ast.Call) or function in _SAME
        return self._value(module, name, value.args[0], above) if decorated and value.args else []

    def _constructor(self, module: str, name: str) -> Overloads:
        line = [class_ for _module, class_ in self._line(module, name, frozenset())]
        for method in ("__init__", "__new__"):
            own = [class_methods(class_).get(method, []) for class_ in line]
            found = constructor_overloads([nodes for nodes in own if nodes])
            if found:
                return found
        return []

    def _line(
        self, module: str, name: str, above: frozenset[Imported]
    ) -> Iterator[tuple[str, ast.ClassDef]]:
        """A class and those it inherits from, as far as the wheel has them."""
        if (module, name) in above:
            return
        above |= {(module, name)}
        statements = self._module(module).get(name, [])
        if not statements:
            for other in self._elsewhere(module):
                yield from self._line(other, name, above)
        for statement in statements[-1:]:
            if isinstance(statement, tuple):
                yield from self._line(*statement, above)
            elif isinstance(statement, ast.Assign):
                place = self._place(module, statement.value)
                yield from self._line(*place, above) if place else ()
            elif isinstance(statement, ast.ClassDef):
                yield module, statement
                for base in statement.bases:
                    place = self._place(module, base)
                    yield from self._line(*place, above) if place else ()

    def _place(self, module: str, value: ast.expr) -> Imported | None:
        """Module and name that an expression in `module` means."""
        if isinstance(value, ast.Name):
            return module, value.id
        if not isinstance(value, ast.Attribute):
            return None
        root, _dot, rest = ast.unparse(value.value).partition(".")
        for statement in self._module(module).get(root, [])[-1:]:
            if isinstance(statement, tuple):
                path = ".".join(filter(None, (*statement, rest)))
                return path, value.attr
        return None

    def _elsewhere(self, module: str) -> Iterator[str]:
        """Modules all of whose names are taken over."""
        for statement in self._module(module).get("*", []):
            if isinstance(statement, tuple):
                yield statement[0]
        for start, other in self._also.items():
            if f"{module}.".startswith(f"{start}.") and not module.startswith(other):
                yield other + module[len(start) :]

    def _module(self, module: str) -> dict[str, list[ast.stmt | Imported]]:
        """Name -> what the module says of it, in its source or else in its stub."""
        if module not in self._modules:
            self._modules[module] = {}
            path = module.replace(".", "/")
            for ending in (".pyi", ".py"):
                for member in (f"{path}{ending}", f"{path}/__init__{ending}"):
                    if member in self._members:
                        package = module if "/__init__" in member else module.rpartition(".")[0]
                        self._modules[module].update(_names(self._wheel.text(member), package))
        return self._modules[module]


def _names(source: str, package: str) -> dict[str, list[ast.stmt | Imported]]:
    """Name -> its definitions in a source; ``*`` -> modules whose names are all taken."""
    found: dict[str, list[ast.stmt | Imported]] = {}
    tree = parsed(source)
    waiting: list[ast.stmt] = list(tree.body) if tree else []
    while waiting:
        node = waiting.pop(0)
        if isinstance(node, (ast.If, ast.Try)):
            waiting = [*node.body, *node.orelse, *waiting]
        elif isinstance(node, (ast.FunctionDef, ast.ClassDef)):
            found.setdefault(node.name, []).append(node)
        elif isinstance(node, ast.Assign):
            for target in node.targets:
                if isinstance(target, ast.Name):
                    found.setdefault(target.id, []).append(node)
        elif isinstance(node, (ast.Import, ast.ImportFrom)):
            for name, place in _imported(node, package):
                found.setdefault(name, []).append(place)
    return found


def _imported(node: ast.Import | ast.ImportFrom, package: str) -> Iterator[tuple[str, Imported]]:
    for alias in node.names:
        if isinstance(node, ast.ImportFrom):
            module = node.module or ""
            if node.level:
                parts = package.split(".")
                module = ".".join([*parts[: len(parts) - node.level + 1], *filter(None, [module])])
            yield alias.asname or alias.name, (module, alias.name if alias.name != "*" else "")
        elif alias.asname:
            yield alias.asname, (alias.name, "")
        else:
            root = alias.name.partition(".")[0]
            yield root, (root, "")
