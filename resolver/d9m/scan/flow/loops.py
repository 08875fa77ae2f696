"""What a loop does with each element: a list that it fills, a number that it gives."""

from __future__ import annotations

import ast

from d9m.scan.syntax.expressions import children, dotted, nodes
from d9m.scan.syntax.shapes import counted_up, gives_numbers, keeps_number, uses_name
from d9m.scan.syntax.tree import Tree
from d9m.scan.vocabulary import Vocabulary


class Loops:
    """Reads the loops of one file."""

    def __init__(self, tree: Tree, vocabulary: Vocabulary) -> None:
        self._tree = tree
        self._vocabulary = vocabulary

    def is_plain_list(self, loop: ast.For, filled: ast.expr) -> bool:
        """Whether the list is made before the loop, not in it."""
        written = dotted(filled)
        return written is not None and not _assigns(loop, written)

    def breaks_off(self, loop: ast.For) -> bool:
        """Whether a loop may break off before its end; one inside it ends for itself."""
        todo: list[ast.AST] = [*loop.body]
        for node in todo:
            if isinstance(node, ast.Break):
                return True
            inside = isinstance(node, ast.For | ast.AsyncFor | ast.While)
            todo += node.orelse if inside else children(node)
        return False

    def numbers_elements(self, loop: ast.For, step: ast.AugAssign) -> bool:
        """Whether a number that a loop counts up from before it stays with each element."""
        number = counted_up(step)
        if number is None or not keeps_number(loop, number):
            return False
        return not _assigns(loop, number)

    def is_numbered_by(self, node: ast.AST, loop: ast.For) -> bool:
        """Whether a call hands the element to a method of this file that gives it a number."""
        if not isinstance(node, ast.Call) or not isinstance(node.func, ast.Attribute):
            return False
        name = dotted(loop.target)
        if name is None or not any(uses_name(part, name) for part in node.args):
            return False
        for method in self._tree.definitions:
            if isinstance(method, ast.FunctionDef) and method.name == node.func.attr:
                return gives_numbers(method)
        return False

    def walks_in_order(self, loop: ast.For) -> bool:
        """Whether a walk over folders sorts what it lists: ``dirs.sort()``, ``sorted(files)``."""
        if not isinstance(loop.target, ast.Tuple) or not isinstance(loop.iter, ast.Call):
            return False
        name = self._tree.name(loop.iter.func)
        if name is None or name not in self._vocabulary.walks:
            return False
        folders, files = (dotted(part) for part in loop.target.elts[1:3])
        return self._is_put_in_order(loop, folders) and self._is_read_in_order(loop, files)

    def _is_put_in_order(self, loop: ast.For, written: str | None) -> bool:
        """Whether a loop sorts a list in place: ``dirs.sort()``, ``dirs[:] = sorted(dirs)``."""
        for node in nodes(loop):
            if not isinstance(node, ast.Name) or node.id != written:
                continue
            parent = self._tree.parents.get(node)
            if self._tree.is_sorted_in_place(node):
                return True
            if isinstance(parent, ast.Subscript) and isinstance(parent.ctx, ast.Store):
                return True
        return False

    def _is_read_in_order(self, loop: ast.For, written: str | None) -> bool:
        """Whether a loop reads a list sorted, wherever it reads it."""
        if self._is_put_in_order(loop, written):
            return True
        for node in nodes(loop):
            if isinstance(node, ast.Name) and node.id == written and node is not loop.target:
                parent = self._tree.parents.get(node)
                name = dotted(parent.func) if isinstance(parent, ast.Call) else None
                if isinstance(node.ctx, ast.Load) and name not in ("sorted", "natsorted", "len"):
                    return False
        return True


def _assigns(loop: ast.For, name: str) -> bool:
    """Whether a loop gives a name another value."""
    for node in nodes(loop):
        if isinstance(node, ast.Assign) and dotted(node.targets[0]) == name:
            return True
    return False
