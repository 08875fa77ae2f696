"""What an expression holds, as its words say: texts, whose hashes are salted, or whole numbers."""

from __future__ import annotations

import ast
import re

from d9m.scan.syntax.expressions import last_name

_TEXT = re.compile(
    r"(?i)name|key(?!s\(\))|path|word|file|token|char|tag|vocab|text|string|str\b|split\(|url|[\"']"
)
_NUMBERS = re.compile(
    r"(?i)\b(range|len|int|floor|ceil|arange|round|sum|min|max)\(|ids?\b|idx|ind(ex|ices)|rank|size"
    r"|num|count|\.tolist\(\)|shape|dim|axis|axes|year|epoch|step|port|pid"
)


def is_numeric(node: ast.expr) -> bool:
    """Whether an expression, or what it holds, looks like whole numbers: their order is fixed."""
    if isinstance(node, ast.Constant):
        return isinstance(node.value, int | float)
    if isinstance(node, ast.List | ast.Tuple | ast.Set):
        return all(map(is_numeric, node.elts))
    text = ast.unparse(node)[:200]
    return bool(_NUMBERS.search(text)) and not _TEXT.search(text)


def encoded(node: ast.expr) -> str:
    """The bytes of what is hashed, as one would write them."""
    text = ast.unparse(node)[:60]
    plain = isinstance(node, ast.Name | ast.Attribute | ast.Call | ast.Subscript | ast.Constant)
    return f"{text}.encode()" if plain and is_text(node) else f"str({text}).encode()"


def is_cached(size: ast.expr) -> bool:
    """Whether a hash only picks a place of a cache, whose key is compared."""
    return "cache" in ast.unparse(size).lower()


_GIVES_NUMBER = re.compile(r"(?i)hash|crc|digest|^(int|ord|len|id)$")
"""Last names of functions that make a number of a text."""


def is_text(node: ast.expr) -> bool:
    if isinstance(node, ast.IfExp):
        return is_text(node.body) and is_text(node.orelse)
    if isinstance(node, ast.Tuple):
        return any(map(is_text, node.elts))
    if isinstance(node, ast.Call) and _GIVES_NUMBER.search(last_name(node.func)):
        return False
    return bool(_TEXT.search(ast.unparse(node)[:200]))


def is_surely_text(subject: str) -> bool:
    """Whether the elements of an expression as written look like texts."""
    return bool(_TEXT.search(subject)) and not _NUMBERS.search(subject)
