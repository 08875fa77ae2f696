"""Where a name, or an attribute of a class, is read once it has been given something."""

from __future__ import annotations

import ast
from bisect import bisect_right
from collections.abc import Iterator

from d9m.scan.syntax.expressions import dotted
from d9m.scan.syntax.tree import Tree

_DISTINCT = ("set", "np.unique", "numpy.unique")
_ONE: dict[type[ast.cmpop], int] = {
    ast.Eq: 1,
    ast.NotEq: 1,
    ast.Gt: 1,
    ast.LtE: 1,
    ast.Lt: 2,
    ast.GtE: 2,
}
"""What a length is compared with where there is to be one element."""


class Reads:
    """Finds what reads a name, in one file."""

    def __init__(self, tree: Tree) -> None:
        self._tree = tree

    def later(self, function: ast.AST, written: str, statement: ast.stmt) -> Iterator[ast.expr]:
        """Where a function reads a name until it is given something else."""
        end = statement.end_lineno or statement.lineno
        last = float("inf")
        everywhere = self._tree.everywhere(function, written)
        first = bisect_right(everywhere, end, key=lambda node: node.lineno)
        for place in range(first, len(everywhere)):
            node = everywhere[place]
            if node.lineno > last:
                return
            if self._excludes(statement, node):
                continue
            if isinstance(node.ctx, ast.Store):
                stored = self._tree.parents.get(node)
                whole = isinstance(stored, ast.Assign) and stored.end_lineno
                last = min(last, whole or node.lineno)
            elif isinstance(node.ctx, ast.Load):
                yield node

    def _excludes(self, statement: ast.stmt, node: ast.AST) -> bool:
        """Whether a statement and a place stand in different arms of one test."""
        inside: dict[ast.AST, ast.AST] = {}
        step: ast.AST = statement
        while step in self._tree.parents:
            inside[self._tree.parents[step]] = step
            step = self._tree.parents[step]
        while node in self._tree.parents and self._tree.parents[node] not in inside:
            node = self._tree.parents[node]
        test = self._tree.parents.get(node)
        if not isinstance(test, ast.If) or inside[test] is node:
            return False
        return (inside[test] in test.body) != (node in test.body) and node is not test.test

    def in_class(self, statement: ast.stmt, written: str) -> list[ast.expr]:
        """Where the methods of a class read an attribute; none if it is given something else, or
        sorted, in another place than the other arm of the same test. An empty list is where it
        begins.
        """
        around: ast.AST = statement
        while around in self._tree.parents and not isinstance(around, ast.ClassDef):
            around = self._tree.parents[around]
        found: list[ast.expr] = []
        for node in self._tree.everywhere(around, written):
            if isinstance(node.ctx, ast.Load):
                if self._tree.is_sorted_in_place(node):
                    return []
                found.append(node)
            elif not self._begins_as(node, statement) and not self._excludes(statement, node):
                return []
        return found

    def _begins_as(self, stored: ast.expr, statement: ast.stmt) -> bool:
        """Whether an attribute is given its value by a statement, or nothing yet."""
        parent = self._tree.parents.get(stored)
        return parent is statement or (
            isinstance(parent, ast.Assign | ast.AnnAssign)
            and isinstance(parent.value, ast.List)
            and not parent.value.elts
        )

    def is_length_test(self, node: ast.expr) -> bool:
        """``len(files) == 1``, ``len(set(sizes)) == 1``: one element has no order. An answer that
        only goes into a name decides nothing yet.
        """
        call = self._tree.parents.get(node)
        if isinstance(call, ast.Call) and dotted(call.func) in _DISTINCT:
            call = self._tree.parents.get(call)
        if not isinstance(call, ast.Call) or dotted(call.func) != "len":
            return False
        test = self._tree.parents.get(call)
        if test is not None and isinstance(self._tree.parents.get(test), ast.Assign):
            return False
        if not isinstance(test, ast.Compare) or len(test.ops) != 1 or test.left is not call:
            return False
        few = self._tree.constant(test.comparators[0])
        wanted = _ONE.get(type(test.ops[0]))
        return wanted is not None and few == wanted
