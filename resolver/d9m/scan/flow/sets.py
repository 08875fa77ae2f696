"""What is made of a set, and what a set holds, as one function shows it."""

from __future__ import annotations

import ast

from d9m.scan.syntax.elements import is_numeric
from d9m.scan.syntax.expressions import dotted
from d9m.scan.syntax.tree import Tree

_OPERATORS = (ast.BitAnd, ast.BitOr, ast.BitXor, ast.Sub)
_METHODS = ("copy", "difference", "intersection", "symmetric_difference", "union")


class Sets:
    """Reads the sets of one file."""

    def __init__(self, tree: Tree) -> None:
        self._tree = tree

    def made_from(self, node: ast.expr) -> ast.expr | None:
        """The set that an operation makes of a set: ``names & others``,
        ``names.difference(others)``; none if the other one holds whole numbers, for then both do.
        """
        parent = self._tree.parents.get(node)
        if isinstance(parent, ast.BinOp) and isinstance(parent.op, _OPERATORS):
            other = parent.left if parent.right is node else parent.right
            return None if is_numeric(other) else parent
        if not isinstance(parent, ast.Attribute) or parent.attr not in _METHODS:
            return None
        call = self._tree.parents.get(parent)
        if not isinstance(call, ast.Call) or call.func is not parent:
            return None
        return None if any(map(is_numeric, call.args)) else call

    def holds_numbers(self, node: ast.expr) -> bool:
        """Whether ``set(table)``, or ``set(table.keys())``, is of keys that the function stores as
        whole numbers: ``table[len(word)] = word``.
        """
        if not isinstance(node, ast.Call) or not node.args:
            return False
        table = node.args[0]
        if isinstance(table, ast.Call) and isinstance(table.func, ast.Attribute):
            if table.func.attr != "keys":
                return False
            table = table.func.value
        written = dotted(table)
        keys = self._stored_keys(node, written) if written is not None else []
        return bool(keys) and all(map(self._is_number, keys))

    def _stored_keys(self, node: ast.expr, written: str) -> list[ast.expr]:
        """The keys under which the function around a node stores something in a table."""
        found: list[ast.expr] = []
        for place in self._tree.everywhere(self._tree.function(node), written):
            store = self._tree.parents.get(place)
            if not isinstance(store, ast.Subscript) or store.value is not place:
                continue
            if isinstance(store.ctx, ast.Store):
                found.append(store.slice)
        return found

    def _is_number(self, key: ast.expr) -> bool:
        given = self._tree.given(key) if isinstance(key, ast.Name) else [key]
        return bool(given) and all(map(_makes_number, given))


_NUMBERS = ("int", "len", "ord", "round")


def _makes_number(node: ast.expr) -> bool:
    if isinstance(node, ast.Call):
        return dotted(node.func) in _NUMBERS
    return isinstance(node, ast.Constant) and isinstance(node.value, int)
