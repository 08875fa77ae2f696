"""What becomes of an order, as code shows it: a list that is filled, a number that is kept."""

from __future__ import annotations

import ast

from d9m.scan.syntax.expressions import dotted, nodes

_LONGEST = 60


def filled_list(node: ast.AST) -> ast.expr | None:
    """The list of ``files.append(…)``."""
    if (
        isinstance(node, ast.Call)
        and isinstance(node.func, ast.Attribute)
        and node.func.attr in ("append", "extend")
    ):
        return node.func.value
    return None


def uses_name(node: ast.AST, name: str) -> bool:
    return any(isinstance(part, ast.Name) and part.id == name for part in nodes(node))


def mentions(node: ast.AST, written: str) -> bool:
    """Whether an expression holds a name as written."""
    for part in nodes(node):
        if isinstance(part, ast.Name | ast.Attribute) and dotted(part) == written:
            return True
    return False


def is_number(node: ast.expr) -> bool:
    """``0`` or ``-1``."""
    node = node.operand if isinstance(node, ast.UnaryOp) else node
    return isinstance(node, ast.Constant)


def is_field(node: ast.expr) -> bool:
    """``hit["place"]``: a place that something else has found in the same list."""
    if not isinstance(node, ast.Subscript) or not isinstance(node.slice, ast.Constant):
        return False
    return isinstance(node.slice.value, str)


def gives_numbers(method: ast.FunctionDef) -> bool:
    """Whether a method stores a length under a key: ``self.index[word] = len(self.index)``."""
    for node in nodes(method):
        if not isinstance(node, ast.Assign) or not isinstance(node.targets[0], ast.Subscript):
            continue
        value = node.value
        if isinstance(value, ast.Call) and dotted(value.func) == "len":
            return True
    return False


def keeps_number(loop: ast.For, number: str) -> bool:
    """Whether a loop stores its number under a key: ``index[name] = i``. Under a mask it only tells
    one thing from another: ``labels[mask > 0] = i``.
    """
    for node in nodes(loop):
        if not isinstance(node, ast.Assign) or not isinstance(node.targets[0], ast.Subscript):
            continue
        if isinstance(node.targets[0].slice, ast.Compare):
            continue
        if isinstance(node.value, ast.Name) and node.value.id == number:
            return True
    return False


def counted_up(node: ast.AugAssign) -> str | None:
    """The name in ``number += 1``."""
    if (
        isinstance(node.op, ast.Add)
        and isinstance(node.target, ast.Name)
        and isinstance(node.value, ast.Constant)
        and node.value.value == 1
    ):
        return node.target.id
    return None


def short_text(node: ast.expr) -> str:
    """An expression in at most 60 characters; of a long one that is indexed, also its index."""
    text = ast.unparse(node)
    if len(text) <= _LONGEST:
        return text
    index = f"[{ast.unparse(node.slice)}]" if isinstance(node, ast.Subscript) else ""
    if len(index) > _LONGEST // 2:
        index = ""
    return f"{text[: _LONGEST - 3 - len(index)]}...{index}"
