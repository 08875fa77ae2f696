"""Infer the kind of a value from one function: a tensor, or a tensor of integers."""

from __future__ import annotations

import ast

from d9m.scan.reading.expressions import dotted
from d9m.scan.reading.names import Bound, Names
from d9m.scan.vocabulary import Vocabulary

TENSOR = "tensor"
INTEGERS = "integer tensor"
_DEEPEST = 6


class Kinds:
    """Kinds of the expressions of one file."""

    def __init__(self, names: Names, vocabulary: Vocabulary) -> None:
        self.layers: set[str] = set()
        """Attributes that hold a layer, as written: ``self.head``."""
        self._names = names
        self._vocabulary = vocabulary
        types = vocabulary.kb.meta.facts["dtype"].parameters["dtype"]
        self._whole = {word for word, meant in types.items() if meant == "integer"} | {"bool"}
        self._other = types.keys() - self._whole

    def of(self, scope: int, node: ast.expr, depth: int = 0) -> str:
        """``tensor``, ``integer tensor`` or nothing."""
        if depth > _DEEPEST:
            return ""
        if isinstance(node, ast.Name):
            bound, _here = self._names.bindings(scope, node.id)
            before = [each for each in bound if each.line < node.lineno] or list(bound)
            return self._of_bound(before[-1], depth) if before else ""
        if isinstance(node, ast.Call):
            return self._of_call(scope, node, depth)
        if isinstance(node, ast.Compare):
            return INTEGERS if self.of(scope, node.left, depth + 1) else ""
        if isinstance(node, ast.BinOp):
            kinds = [self.of(scope, part, depth + 1) for part in (node.left, node.right)]
            if isinstance(node.op, ast.Div):
                return TENSOR if any(kinds) else ""
            return TENSOR if TENSOR in kinds else INTEGERS if INTEGERS in kinds else ""
        if isinstance(node, ast.UnaryOp):
            return self.of(scope, node.operand, depth + 1)
        return self.of(scope, node.value, depth + 1) if isinstance(node, ast.Subscript) else ""

    def _of_bound(self, bound: Bound, depth: int) -> str:
        if bound.annotation is not None:
            name = self._names.resolve(bound.scope, bound.annotation, bound.line)
            if name is not None and name in self._vocabulary.marks("tensors"):
                return TENSOR
        return self.of(bound.scope, bound.value, depth + 1) if bound.value is not None else ""

    def _of_call(self, scope: int, node: ast.Call, depth: int) -> str:
        name = self._names.resolve(scope, node.func, node.lineno)
        if name is not None and name in self._vocabulary.marks("integers"):
            return INTEGERS
        if name is not None and "." in name and name in self._vocabulary.marks("tensors"):
            return self._typed(node) or TENSOR
        if dotted(node.func) in self.layers or self._is_layer(scope, node.func):
            return TENSOR
        before = ""
        if isinstance(node.func, ast.Attribute):
            before = self.of(scope, node.func.value, depth + 1)
        if before and isinstance(node.func, ast.Attribute):
            word = node.func.attr
            if word in self._whole or word.startswith("arg"):
                return INTEGERS
            return TENSOR if word in self._other else self._typed(node) or before
        return ""

    def _is_layer(self, scope: int, node: ast.expr) -> bool:
        """Whether what is called is a layer: made here, or a name that was given one."""
        if isinstance(node, ast.Name):
            bound, _here = self._names.bindings(scope, node.id)
            made = [each.value for each in bound]
        else:
            made = [node]
        return bool(made) and all(self._makes_layer(scope, value) for value in made)

    def _makes_layer(self, scope: int, node: ast.expr | None) -> bool:
        if not isinstance(node, ast.Call):
            return False
        name = self._names.resolve(scope, node.func, node.lineno)
        return name is not None and name in self._vocabulary.marks("layers")

    def _typed(self, node: ast.Call) -> str:
        """Return the kind that ``dtype=`` or a dtype among the arguments says."""
        given = [part.value for part in node.keywords if part.arg == "dtype"] + node.args
        for part in given:
            if isinstance(part, ast.Attribute) and part.attr in self._whole | self._other:
                return INTEGERS if part.attr in self._whole else TENSOR
        return ""
