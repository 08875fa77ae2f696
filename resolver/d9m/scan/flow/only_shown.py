"""Values that are only shown: printed, logged, plotted, or waited for."""

from __future__ import annotations

import ast
from collections.abc import Callable

from d9m.scan.syntax.expressions import last_name, nodes
from d9m.scan.syntax.tree import Tree
from d9m.scan.vocabulary import Vocabulary, is_marked

_DEEPEST = 4


class OnlyShown:
    """Knows which values of a file nobody computes with."""

    def __init__(self, tree: Tree, vocabulary: Vocabulary) -> None:
        self._tree = tree
        self._vocabulary = vocabulary

    def is_shown(self, node: ast.expr, depth: int = 0) -> bool:
        """Whether a value goes into a call that is known to show it and nothing else, into what an
        error says, or through a loop that only shows, perhaps through a text or a name:
        ``print(files[:20])``; ``text = f"{name}"``, ``log.info(text)``.
        """
        inner: ast.AST = node
        parent = self._tree.parents.get(node)
        while parent is not None and _hands_on(parent, inner):
            inner, parent = parent, self._tree.parents.get(parent)
        if isinstance(parent, ast.Call) and inner is not parent.func:
            return self._shows(parent) or isinstance(self._tree.parents.get(parent), ast.Raise)
        if isinstance(parent, ast.Assert):
            return inner is parent.msg
        if isinstance(parent, ast.For):
            if inner is not parent.iter:
                return False
            return all(shows(self._vocabulary, part, self._tree.name) for part in parent.body)
        if isinstance(parent, ast.AugAssign) and parent.value is inner:
            target = parent.target
        elif isinstance(parent, ast.Assign) and len(parent.targets) == 1:
            target = parent.targets[0]
        else:
            return False
        return isinstance(target, ast.Name) and self._is_name_shown(target, depth)

    def is_unread(self, node: ast.expr) -> bool:
        """Whether a value gets a name in a function that never reads it."""
        statement = self._tree.parents.get(node)
        if not isinstance(statement, ast.Assign) or len(statement.targets) != 1:
            return False
        target, function = statement.targets[0], self._tree.function(statement)
        if not isinstance(target, ast.Name) or isinstance(function, ast.Module):
            return False
        shared = any(isinstance(part, ast.Global | ast.Nonlocal) for part in nodes(function))
        reads = self._tree.everywhere(function, target.id)
        return not shared and not any(isinstance(read.ctx, ast.Load) for read in reads)

    def _is_name_shown(self, target: ast.Name, depth: int) -> bool:
        if depth > _DEEPEST:
            return False
        function = self._tree.function(target)
        if isinstance(function, ast.Module):
            return False
        loads = [
            read
            for read in self._tree.everywhere(function, target.id)
            if isinstance(read.ctx, ast.Load) and read.lineno >= target.lineno
        ]
        return bool(loads) and all(self.is_shown(read, depth + 1) for read in loads)

    def _shows(self, call: ast.Call) -> bool:
        return is_marked(self._vocabulary.shows, call.func, self._tree.name(call.func))


def shows(
    vocabulary: Vocabulary, statement: ast.stmt, name_of: Callable[[ast.expr], str | None]
) -> bool:
    """Whether a statement does nothing but show something. `name_of`: the qualified name of an
    expression where it stands.
    """
    call = statement.value if isinstance(statement, ast.Expr) else None
    return isinstance(call, ast.Call) and is_marked(vocabulary.shows, call.func, name_of(call.func))


def _hands_on(node: ast.AST, value: ast.AST) -> bool:
    """Whether a node is nothing but its values in another form: a text, a sum, a sorted list."""
    if isinstance(node, ast.Call) and value is not node.func:
        return last_name(node.func) in _FORMS
    return isinstance(node, ast.FormattedValue | ast.JoinedStr | ast.keyword | ast.BinOp)


_FORMS = ("enumerate", "format", "join", "list", "repr", "reversed", "sorted", "str", "tuple")
