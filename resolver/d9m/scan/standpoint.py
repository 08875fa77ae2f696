"""Where the reader of a file is: scope, branches, and what they mean for a statement."""

from __future__ import annotations

import ast

from d9m.scan.facts import Arms
from d9m.scan.names import Names
from d9m.scan.source import Lines


class Standpoint:
    """Changes while a reader goes through a tree."""

    def __init__(self, tree: ast.Module, lines: Lines) -> None:
        self.names = Names(tree)
        self.lines = lines
        self.scope = 0
        self.arms: Arms = ()
        self.without_gradients = False
        self.guarded = False
        self.offered = ""
        self.fallback = False
        self.shadows: list[set[str]] = []
        """Names of comprehensions and lambdas around, which mean something of their own."""
        self.targets: dict[int, str] = {}
        """Value of an assignment -> what it is given to."""

    def enter(self, scope: int) -> tuple[int, Arms, bool, bool, str, bool]:
        """Go into a function; what is true around it says nothing of its body. Returns what
        `leave` needs.
        """
        outer = (
            self.scope,
            self.arms,
            self.without_gradients,
            self.guarded,
            self.offered,
            self.fallback,
        )
        self.scope, self.arms = scope, ()
        self.without_gradients = self.guarded = self.fallback = False
        self.offered = ""
        return outer

    def leave(self, outer: tuple[int, Arms, bool, bool, str, bool]) -> None:
        (
            self.scope,
            self.arms,
            self.without_gradients,
            self.guarded,
            self.offered,
            self.fallback,
        ) = outer

    def resolve(self, node: ast.expr) -> str | None:
        """The qualified name of an expression here."""
        if self.shadows:
            root = node
            while isinstance(root, ast.Attribute):
                root = root.value
            if isinstance(root, ast.Name) and any(root.id in names for names in self.shadows):
                return None
        return self.names.resolve(self.scope, node, node.lineno)

    def parameter_default(self, name: str) -> str:
        """The default of a parameter of the function around, as written; empty without one."""
        return dict(self.names.scopes[self.scope].parameters).get(name, "")

    def offer(self, test: ast.expr) -> str:
        """The parameter, false by default, that an expression asks for."""
        if not self.names.scopes[self.scope].parameters:
            return ""
        for node in ast.walk(test):
            if isinstance(node, ast.Name) and self.parameter_default(node.id) in (
                "False",
                "None",
                "0",
            ):
                return node.id
        return ""
