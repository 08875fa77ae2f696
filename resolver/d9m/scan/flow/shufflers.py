"""Objects that draw, and whose methods build on the order of what they get."""

from __future__ import annotations

import ast

from d9m.scan.syntax.tree import Tree
from d9m.scan.vocabulary import Vocabulary


class Shufflers:
    """Finds the calls that make the generators of one file."""

    def __init__(self, tree: Tree, vocabulary: Vocabulary) -> None:
        self._tree = tree
        self._makers = vocabulary.makers_of_order

    def maker(self, method: ast.expr) -> ast.Call | None:
        """The call that makes the object of ``rng.shuffle``, if that is such a method."""
        if not isinstance(method, ast.Attribute):
            return None
        owner = method.value
        made = [owner] if isinstance(owner, ast.Call) else self._tree.given(owner)
        for value in made:
            if not isinstance(value, ast.Call):
                continue
            name = self._tree.name(value.func)
            if name is not None and method.attr in self._makers.get(name, ()):
                return value
        return None
