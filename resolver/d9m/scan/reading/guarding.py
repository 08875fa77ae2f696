"""Pieces of code that only run where a test says so, and the attributes that tests ask for."""

from __future__ import annotations

import ast
from collections.abc import Sequence

from d9m.scan.facts import OWN, AttributeValue, Guard, Predicate, class_around
from d9m.scan.finding import Spot
from d9m.scan.source import Lines
from d9m.scan.syntax.expressions import dotted, literal
from d9m.scan.syntax.predicates import Predicates
from d9m.scan.syntax.standpoint import Standpoint

NAME = "$"
"""Before an argument that is a name, and no literal."""
ANY = "*"
"""In place of an attribute whose name the text does not show."""


class Guarding:
    """Collects them while a file is read."""

    def __init__(self, here: Standpoint, lines: Lines) -> None:
        self.guards: list[Guard] = []
        self.attributes: list[AttributeValue] = []
        self._here = here
        self._lines = lines

    def guard(self, piece: Sequence[ast.expr | ast.stmt], asked: Predicates) -> None:
        """Statements that follow each other, or an expression, run under these only."""
        kept = tuple(filter(self._can_be_known, asked)) if asked and piece else ()
        if kept:
            start, end = self._lines.spot(piece[0]), self._lines.spot(piece[-1])
            column = 1 if isinstance(piece[0], ast.stmt) else start.column
            place = Spot(start.line, column, end.end_line, end.end_column)
            self.guards.append(Guard(place, self._here.scope, kept))

    def _can_be_known(self, predicate: Predicate) -> bool:
        """Whether a test asks for a parameter that keeps its value, or for an attribute."""
        return "." in predicate.subject or keeps_value(self._here, predicate.subject)

    def assigned(self, target: ast.expr, value: ast.expr | None) -> None:
        """``self.mode = mode``; without a value it can be anything."""
        written = dotted(target) or ""
        owner, _dot, name = written.rpartition(".")
        if not owner:
            return
        scope = self._class_around() if owner in OWN else 0
        said = literal(value) if isinstance(value, ast.Constant) else None
        parameter = ""
        if scope and isinstance(value, ast.Name) and said is None:
            parameter = self._parameter_of_init(value.id)
        self.attributes.append(AttributeValue(scope, name, said or "", parameter))

    def called(self, node: ast.Call, name: str | None) -> None:
        """``setattr(self, name, value)``."""
        if name != "builtins.setattr" or len(node.args) < 2:
            return
        owner, attribute = node.args[:2]
        scope = self._class_around() if dotted(owner) in OWN else 0
        written = attribute.value if isinstance(attribute, ast.Constant) else None
        self.attributes.append(AttributeValue(scope, written if isinstance(written, str) else ANY))

    def _class_around(self) -> int:
        return class_around(self._here.names.scopes, self._here.scope)

    def _parameter_of_init(self, name: str) -> str:
        is_init = self._here.names.scopes[self._here.scope].name.endswith(".__init__")
        return name if is_init and keeps_value(self._here, name) else ""


def keeps_value(here: Standpoint, name: str) -> bool:
    """Whether a name is a parameter of the function around, and nothing gives it another value."""
    bound, own = here.names.bindings(here.scope, name)
    parameters = here.names.scopes[here.scope].parameters
    return own and len(bound) == 1 and any(name == each for each, _default in parameters)
