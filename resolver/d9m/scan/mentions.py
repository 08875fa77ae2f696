"""Names that a text mentions: a definition whose name stands nowhere is never called."""

from __future__ import annotations

import ast
import re
from collections.abc import Iterator

from d9m.scan.expressions import nodes

_WORD = re.compile(r"[A-Za-z_]\w*")
_LONGEST_TEXT = 200


def mentioned(tree: ast.Module) -> tuple[str, ...]:
    """Names that a file mentions, also in short texts, imports and keywords. A definition of the
    module does not mention itself, unless a decorator or a base class gets hold of it.
    """
    found: set[str] = set()
    for statement in tree.body:
        here = set(_names(statement))
        if isinstance(statement, ast.FunctionDef | ast.AsyncFunctionDef | ast.ClassDef):
            here.discard(statement.name)
            if statement.decorator_list or getattr(statement, "bases", ()):
                here.add(statement.name)
        found |= here
    return tuple(sorted(found))


def words(text: str) -> tuple[str, ...]:
    """Whatever may be a name in a text that is not Python."""
    return tuple(sorted(set(_WORD.findall(text))))


def _names(statement: ast.stmt) -> Iterator[str]:
    for node in nodes(statement):
        if isinstance(node, ast.Name):
            yield node.id
        elif isinstance(node, ast.Attribute):
            yield node.attr
        elif isinstance(node, ast.alias):
            yield node.name.rpartition(".")[2]
        elif isinstance(node, ast.Constant) and isinstance(node.value, str):
            yield from _WORD.findall(node.value[:_LONGEST_TEXT])
