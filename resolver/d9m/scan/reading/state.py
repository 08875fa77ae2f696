"""Where the reader of a file is: scope, branches, and what they mean for a statement."""

from __future__ import annotations

import ast
import contextlib
from collections.abc import Generator, Mapping

from d9m.scan.facts import Arms
from d9m.scan.finding import Spot
from d9m.scan.reading.names import Names
from d9m.scan.source import Lines


class ReadingState:
    """Changes while a reader goes through a tree."""

    def __init__(self, tree: ast.Module, text: str, usual: Mapping[str, str]) -> None:
        self.names = Names(tree, usual)
        self.lines = Lines(text)
        self.scope = 0
        self.arms: Arms = ()
        self.without_gradients = False
        self.guarded = False
        """Under ``try``, or a test of a version."""
        self.fallback = False
        """Where something is None."""
        self.in_loop = False
        self.in_main = False
        self.shadows: tuple[frozenset[str], ...] = ()
        """Names of enclosing comprehensions and lambdas, which hide outer names."""

    @contextlib.contextmanager
    def within(self, **changes: object) -> Generator[None, None, None]:
        """Change some of these for what is inside a statement."""
        outer = {name: getattr(self, name) for name in changes}
        vars(self).update(changes)
        try:
            yield
        finally:
            vars(self).update(outer)

    def resolve(self, node: ast.expr) -> str | None:
        """The qualified name of an expression here."""
        if self.shadows:
            root = node
            while isinstance(root, ast.Attribute):
                root = root.value
            if isinstance(root, ast.Name) and any(root.id in names for names in self.shadows):
                return None
        return self.names.resolve(self.scope, node, node.lineno)

    def only_value(self, node: ast.expr) -> ast.expr | None:
        """Return the value of the only assignment to a name in this function."""
        if not isinstance(node, ast.Name):
            return None
        bound, here = self.names.bindings(self.scope, node.id)
        return bound[0].value if here and len(bound) == 1 else None

    def spot(self, node: ast.expr | ast.stmt) -> Spot:
        return self.lines.spot(node)
