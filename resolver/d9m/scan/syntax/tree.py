"""Where a node stands in a file: what is around it, and what its names mean there."""

from __future__ import annotations

import ast
import functools
from collections.abc import Iterator, Mapping

from d9m.scan.syntax.expressions import children, dotted, is_main, nodes
from d9m.scan.syntax.names import Names

_SORTING = ("sort", "sorted")


class Tree:
    """The tree of one file, with ways up."""

    def __init__(self, module: ast.Module, names: Names) -> None:
        self._module = module
        self._names = names
        self._written: dict[ast.AST, dict[str, list[ast.Name | ast.Attribute]]] = {}

    @functools.cached_property
    def parents(self) -> dict[ast.AST, ast.AST]:
        found: dict[ast.AST, ast.AST] = {}
        todo: list[ast.AST] = [self._module]
        while todo:
            node = todo.pop()
            for child in children(node):
                found[child] = node
                todo.append(child)
        return found

    @property
    def definitions(self) -> Mapping[ast.AST, int]:
        """Functions and classes, each with the number of its scope."""
        return self._names.numbers

    def name(self, node: ast.expr) -> str | None:
        """The qualified name of an expression."""
        return self._names.resolve(self.scope(node), node, node.lineno)

    def scope(self, node: ast.AST) -> int:
        while node in self.parents:
            node = self.parents[node]
            if node in self.definitions:
                return self.definitions[node]
        return 0

    def class_name(self, node: ast.AST) -> str:
        """The name of the class around a node; empty outside of classes."""
        number = self.scope(node)
        while number > 0:
            scope = self._names.scopes[number]
            if scope.kind == "class":
                return scope.name.rpartition(".")[2]
            number = scope.parent
        return ""

    def is_in_main(self, node: ast.AST) -> bool:
        """Whether it runs only where the file itself is run."""
        while node in self.parents:
            node = self.parents[node]
            if isinstance(node, ast.If) and is_main(node.test):
                return True
        return False

    def is_in_handler(self, node: ast.AST) -> bool:
        """Whether it only runs where an exception is handled."""
        while node in self.parents and node not in self.definitions:
            node = self.parents[node]
            if isinstance(node, ast.ExceptHandler):
                return True
        return False

    def function(self, node: ast.AST) -> ast.AST:
        """The function or module around a node."""
        while node in self.parents:
            node = self.parents[node]
            if isinstance(node, ast.FunctionDef | ast.AsyncFunctionDef | ast.Module):
                break
        return node

    def loops_around(self, node: ast.AST) -> Iterator[ast.For | ast.comprehension]:
        while node in self.parents and node not in self.definitions:
            node = self.parents[node]
            if isinstance(node, ast.For):
                yield node
            else:
                yield from getattr(node, "generators", ())

    def meant(self, node: ast.expr) -> ast.expr:
        """An expression, or the only one that its name is given."""
        if isinstance(node, ast.Name):
            bound, _here = self._names.bindings(self.scope(node), node.id)
            if len(bound) == 1 and bound[0].value is not None:
                return bound[0].value
        return node

    def given(self, node: ast.expr) -> list[ast.expr]:
        """What a name, or an attribute in its class, is given; empty where that is not sure."""
        if isinstance(node, ast.Name):
            bound, _here = self._names.bindings(self.scope(node), node.id)
            values = [one.value for one in bound if one.value is not None]
            return values if len(values) == len(bound) else []
        around: ast.AST = node
        while around in self.parents and not isinstance(around, ast.ClassDef):
            around = self.parents[around]
        found: list[ast.expr] = []
        for place in self.everywhere(around, dotted(node) or ""):
            if isinstance(place.ctx, ast.Load):
                continue
            statement = self.parents[place]
            if not isinstance(statement, ast.Assign) or statement.targets != [place]:
                return []
            found.append(statement.value)
        return found

    def constant(self, node: ast.expr) -> object:
        """What an expression is, perhaps through a name; None where the text does not say it."""
        try:
            return ast.literal_eval(self.meant(node))
        except ValueError:
            return None

    def is_sorted_in_place(self, node: ast.expr) -> bool:
        parent = self.parents.get(node)
        return isinstance(parent, ast.Attribute) and parent.attr in _SORTING

    def everywhere(self, around: ast.AST, written: str) -> list[ast.Name | ast.Attribute]:
        """The places that write a name, line by line; all names of a function are looked for at
        once, for many of them may hold what has no order.
        """
        if around not in self._written:
            found: dict[str, list[ast.Name | ast.Attribute]] = {}
            for node in nodes(around):
                if isinstance(node, ast.Name | ast.Attribute):
                    name = dotted(node)
                    if name is not None:
                        found.setdefault(name, []).append(node)
            for places in found.values():
                places.sort(key=lambda node: node.lineno)
            self._written[around] = found
        return self._written[around].get(written, [])
