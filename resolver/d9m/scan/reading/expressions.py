"""Read an expression without its context."""

from __future__ import annotations

import ast
import operator
import re
from collections.abc import Callable
from typing import Literal

_LONGEST_LITERAL = 200
_LONGEST_NAME = 60
_MOST_ELEMENTS = 8

_PLAIN = frozenset(
    ("attr", "arg", "asname", "conversion", "ctx", "id", "is_async", "kind", "level", "lineno",
     "module", "op", "ops", "simple", "tag", "type_comment")
)  # fmt: skip
"""Fields that hold texts and numbers, contexts and operators in every kind of node."""

_FIELDS: dict[type[ast.AST], tuple[str, ...]] = {ast.Constant: (), ast.Name: ()}


def children(node: ast.AST) -> list[ast.AST]:
    """Return the parts of a node as `ast` does, without contexts and operators, and faster."""
    kind = type(node)
    fields = _FIELDS.get(kind)
    if fields is None:
        fields = _FIELDS[kind] = tuple(field for field in kind._fields if field not in _PLAIN)
    found: list[ast.AST] = []
    for field in fields:
        value = getattr(node, field, None)
        if type(value) is list:
            for part in value:  # pyright: ignore[reportUnknownVariableType]
                if isinstance(part, ast.AST):
                    found.append(part)
        elif isinstance(value, ast.AST):
            found.append(value)
    return found


def nodes(node: ast.AST) -> list[ast.AST]:
    """Return a node and all below it, in the order of `ast.walk`."""
    found = [node]
    for known in found:
        found += children(known)
    return found


def dotted(node: ast.AST | None) -> str | None:
    """``self.rng`` as written; None for anything that is not a name."""
    parts: list[str] = []
    while isinstance(node, ast.Attribute):
        parts.append(node.attr)
        node = node.value
    if not isinstance(node, ast.Name):
        return None
    return ".".join([node.id, *reversed(parts)])


_ARITHMETIC: dict[type[ast.operator], Callable[[int, int], int]] = {
    ast.Add: operator.add,
    ast.Sub: operator.sub,
    ast.Mult: operator.mul,
    ast.Pow: lambda base, exponent: int(base**exponent),
    ast.LShift: lambda number, bits: number << bits,
}
_LARGEST = 1 << 64
_MOST_BITS = 128


def literal(node: ast.expr) -> str | None:
    """A literal as written; None for anything else."""
    if isinstance(node, ast.Constant):
        return repr(node.value) if len(repr(node.value)) < _LONGEST_LITERAL else None
    if isinstance(node, ast.UnaryOp) and isinstance(node.op, ast.USub):
        inner = literal(node.operand)
        return f"-{inner}" if inner is not None else None
    if isinstance(node, ast.Tuple | ast.List):
        parts = [literal(part) for part in node.elts]
        if len(parts) > _MOST_ELEMENTS or any(part is None for part in parts):
            return None
        inside = ", ".join(part for part in parts if part is not None)
        return f"[{inside}]" if isinstance(node, ast.List) else f"({inside})"
    number = _whole_number(node) if isinstance(node, ast.BinOp) else None
    return None if number is None else str(number)


def _whole_number(node: ast.expr) -> int | None:
    """The value of ``2 ** 32 - 1``; None for anything but small arithmetic of whole numbers."""
    if isinstance(node, ast.Constant):
        return node.value if type(node.value) is int and abs(node.value) < _LARGEST else None
    if isinstance(node, ast.UnaryOp) and isinstance(node.op, ast.USub):
        inner = _whole_number(node.operand)
        return None if inner is None else -inner
    if not isinstance(node, ast.BinOp):
        return None
    left, right = _whole_number(node.left), _whole_number(node.right)
    compute = _ARITHMETIC.get(type(node.op))
    if left is None or right is None or compute is None:
        return None
    if max(abs(left), abs(right)) > _LARGEST:
        return None
    if isinstance(node.op, ast.Pow | ast.LShift) and not 0 <= right <= _MOST_BITS:
        return None
    return compute(left, right)


ANYTHING = "_"
"""An argument of a fact that is neither a literal nor a name."""


def shown(text: str) -> str:
    """Return a call of facts as a reader sees it.

    >>> shown("seed_all(_, workers=True)")
    'seed_all(…, workers=True)'
    """
    return re.sub(rf"(?<![\w.]){ANYTHING}(?![\w.])", "…", text)


def as_argument(node: ast.expr) -> str:
    """An argument as a fact holds it: a literal, a name, or `ANYTHING`."""
    if isinstance(node, ast.Starred):
        return "*rest"
    said = literal(node)
    if said is not None:
        return said
    if isinstance(node, ast.Tuple | ast.List) and 0 < len(node.elts) <= _MOST_ELEMENTS:
        return f"[{', '.join(map(as_argument, node.elts))}]"
    name = dotted(node)
    return name if name is not None and len(name) < _LONGEST_NAME else ANYTHING


def last_name(func: ast.expr) -> str:
    """``fit`` of ``trainer.fit`` and of ``fit``; empty for anything else."""
    return func.attr if isinstance(func, ast.Attribute) else getattr(func, "id", "")


def callee(node: ast.expr) -> ast.expr:
    """Return the callable of a decorator or context, called or not."""
    return node.func if isinstance(node, ast.Call) else node


_LOOK_UPS = {"get": 1, "pop": 1, "getenv": 1, "getattr": 2}
"""Look-ups that take a default, and its place among their arguments."""


def looked_up_else(node: ast.AST) -> ast.expr | None:
    """Return the fallback of a look-up: ``options.get("seed", time())``."""
    if not isinstance(node, ast.Call):
        return None
    place = _LOOK_UPS.get(last_name(node.func))
    return node.args[place] if place is not None and len(node.args) > place else None


def is_main(test: ast.expr) -> bool:
    """``__name__ == "__main__"``."""
    return isinstance(test, ast.Compare) and dotted(test.left) == "__name__"


def tests_for_nothing(test: ast.expr) -> Literal["body", "else", ""]:
    """Which arm of a test runs where something is None: body, else, or neither."""
    if isinstance(test, ast.UnaryOp) and isinstance(test.op, ast.Not):
        return "body" if isinstance(test.operand, ast.Name | ast.Attribute) else ""
    if isinstance(test, ast.BoolOp):
        arm: Literal["body", "else"] = "else" if isinstance(test.op, ast.And) else "body"
        return arm if any(tests_for_nothing(part) == arm for part in test.values) else ""
    if isinstance(test, ast.Compare) and len(test.ops) == 1:
        compared, other = test.ops[0], test.comparators[0]
        if isinstance(compared, ast.In | ast.NotIn) and isinstance(test.left, ast.Constant):
            return "else" if isinstance(compared, ast.In) else "body"
        if isinstance(other, ast.Constant) and other.value in (None, -1, 0):
            if isinstance(compared, ast.Is | ast.Eq | ast.Lt):
                return "body"
            if isinstance(compared, ast.IsNot | ast.NotEq | ast.Gt | ast.GtE):
                return "else"
    return "else" if isinstance(test, ast.Name | ast.Attribute) else ""


def short_text(node: ast.AST) -> str:
    """An expression in at most 60 characters."""
    text = ast.unparse(node)
    return text if len(text) <= _LONGEST_NAME else f"{text[: _LONGEST_NAME - 3]}..."
