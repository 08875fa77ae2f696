"""Where the reader of a file is: scope, branches, and what they mean for a statement."""

from __future__ import annotations

import ast
import contextlib
from collections.abc import Generator, Mapping
from typing import Literal

from d9m.scan.facts import Arms
from d9m.scan.source import Lines
from d9m.scan.syntax.expressions import nodes
from d9m.scan.syntax.names import Names

_OF_A_BODY: Mapping[str, object] = {
    "scope": 0,
    "arms": (),
    "without_gradients": False,
    "guarded": False,
    "offered": "",
    "fallback": False,
    "in_main": False,
    "in_lambda": "",
    "in_loop": False,
    "to_show": False,
    "on_trial": False,
    "in_step": False,
}
"""What holds at the beginning of a file or a function, and changes on the way through it."""


_FALSE = ("False", "None", "0")


class Standpoint:
    """Changes while a reader goes through a tree."""

    def __init__(self, tree: ast.Module, lines: Lines, usual: Mapping[str, str]) -> None:
        self.names = Names(tree, usual)
        self.lines = lines
        self.scope: int
        self.arms: Arms
        self.without_gradients: bool
        self.guarded: bool
        self.offered: str
        self.fallback: bool
        self.in_main: bool
        self.in_lambda: str
        self.in_loop: bool
        self.to_show: bool
        self.on_trial: bool
        self.in_step: bool
        vars(self).update(_OF_A_BODY)
        self.shadows: list[set[str]] = []
        """Names of comprehensions and lambdas around, which mean something of their own."""
        self.statement: ast.expr | None = None
        """The last expression that was a statement by itself."""
        self.targets: dict[int, str] = {}
        """Value of an assignment -> what it is given to."""

    @contextlib.contextmanager
    def inside(self, scope: int) -> Generator[None, None, None]:
        """Within a function: what is true around it says nothing of its body."""
        outer = {name: getattr(self, name) for name in _OF_A_BODY}
        vars(self).update(_OF_A_BODY, scope=scope)
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

    def never_runs(self, test: ast.expr) -> Literal["body", "else", ""]:
        """Which arm of a test never runs, because the scope itself gives its name one fixed value:
        ``flag = False``, ``if flag:``.
        """
        truth = self._truth(test)
        if truth is None:
            return ""
        return "else" if truth else "body"

    def _truth(self, test: ast.expr) -> bool | None:
        if isinstance(test, ast.UnaryOp) and isinstance(test.op, ast.Not):
            inner = self._truth(test.operand)
            return None if inner is None else not inner
        if isinstance(test, ast.Constant):
            return bool(test.value)
        if not isinstance(test, ast.Name):
            return None
        bound, here = self.names.bindings(self.scope, test.id)
        value = bound[0].value if len(bound) == 1 and here else None
        if isinstance(value, ast.Constant) and value.lineno < test.lineno:
            return bool(value.value)
        return None

    def parameter_default(self, name: str) -> str:
        """The default of a parameter of the function around, as written; empty without one."""
        return dict(self.names.scopes[self.scope].parameters).get(name, "")

    def offer(self, test: ast.expr) -> str:
        """The parameter, false by default, that an expression asks for."""
        if not self.names.scopes[self.scope].parameters:
            return ""
        for node in nodes(test):
            if isinstance(node, ast.Name) and self.parameter_default(node.id) in _FALSE:
                bound, _here = self.names.bindings(self.scope, node.id)
                if len(bound) == 1:
                    return node.id
        return ""
