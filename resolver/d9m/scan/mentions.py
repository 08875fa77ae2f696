"""Names that a text mentions: a definition whose name stands nowhere is never called."""

from __future__ import annotations

import ast
import re
from collections.abc import Iterator

from d9m.scan.expressions import nodes

_WORD = re.compile(r"[A-Za-z_]\w*")
_OPTION = re.compile(r"(?<![\w-])--?([A-Za-z][\w-]*)")
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


def texts(tree: ast.Module) -> tuple[str, ...]:
    """Words in the short texts of a file, such as the choices of an option, but for the
    list of what it exports.
    """
    found: set[str] = set()
    for statement in tree.body:
        if isinstance(statement, ast.Assign) and _is_export(statement.targets[0]):
            continue
        for node in nodes(statement):
            if not isinstance(node, ast.Constant) or not isinstance(node.value, str):
                continue
            if len(node.value) <= _LONGEST_TEXT and "\n" not in node.value:
                found.update(_WORD.findall(node.value))
    return tuple(sorted(found))


def _is_export(target: ast.expr) -> bool:
    return isinstance(target, ast.Name) and target.id == "__all__"


def words(text: str) -> tuple[str, ...]:
    """Whatever may be a name in a text that is not Python, and the options that it gives."""
    return tuple(sorted({*_WORD.findall(text), *_options(text)}))


def options(text: str) -> tuple[str, ...]:
    """The options of the commands in a text that people read: ``--mix_up`` for ``--mix-up 1``."""
    return tuple(sorted({f"--{name}" for name in _options(text)}))


def _options(text: str) -> set[str]:
    return {name.replace("-", "_") for name in _OPTION.findall(text)}


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
