"""Expressions without a fixed order, found while a file is read."""

from __future__ import annotations

import ast
import re
from collections.abc import Iterator

import msgspec

from d9m.scan.facts import Order
from d9m.scan.flow import Flow, OrderKind
from d9m.scan.names import Bound
from d9m.scan.source import Lines
from d9m.scan.standpoint import Standpoint
from d9m.scan.vocabulary import Vocabulary

_TEXT = re.compile(
    r"(?i)name|key|path|word|file|token|char|tag|vocab|text|string|str\b|split\(|url|[\"']"
)
_NUMBERS = re.compile(
    r"(?i)\b(range|len|int|floor|ceil|arange|round|sum|min|max)\(|ids?\b|idx|ind(ex|ices)|rank|size"
    r"|num|count|\.tolist\(\)|shape|dim|axis|axes|year|epoch|step|port|pid"
)


class OrderSources:
    """Collects what has no order, and follows it once the file is read."""

    def __init__(self, vocabulary: Vocabulary, here: Standpoint, lines: Lines) -> None:
        self._vocabulary = vocabulary
        self._here = here
        self._lines = lines
        self._found: list[tuple[OrderKind, ast.expr, str]] = []
        self._direct: list[Order] = []
        self._hashes: list[tuple[ast.BinOp, Order]] = []

    def called(self, node: ast.Call, name: str | None) -> None:
        """A listing, a set, results as they are ready, a hash of text, an order by identity."""
        vocabulary = self._vocabulary
        if name is None:
            if isinstance(node.func, ast.Attribute) and self._lists(node.func):
                self._found.append(("listing", node, node.func.attr))
            elif isinstance(node.func, ast.Attribute) and self._completes(node.func):
                self._found.append(("completion", node, node.func.attr))
            return
        if name in vocabulary.listings:
            self._found.append(("listing", node, name))
        elif name in vocabulary.completions:
            self._found.append(("completion", node, name))
        elif name == "builtins.set" and len(node.args) == 1 and not _is_numeric(node.args[0]):
            self._found.append(("set", node, "set"))
        elif name == "builtins.sorted":
            self._by_identity(node)

    def shown(self, node: ast.Set | ast.SetComp) -> None:
        """A set as it is written."""
        elements = node.elts if isinstance(node, ast.Set) else [node.elt]
        if not all(map(_is_numeric, elements)) and (
            isinstance(node, ast.SetComp) or len(elements) > 1
        ):
            self._found.append(("set", node, "set"))

    def orders(self, tree: ast.Module) -> tuple[Order, ...]:
        flow = Flow(tree, self._here.names, self._vocabulary, self._lines)
        return (*flow.orders(self._found), *self._direct, *self._hashed(flow))

    def _hashed(self, flow: Flow) -> Iterator[Order]:
        """The hashes of texts; one that only becomes a part of a name is not sure."""
        for node, order in self._hashes:
            sure = order.sure and not flow.becomes_text(node)
            yield msgspec.structs.replace(order, sure=sure)

    def _completes(self, func: ast.Attribute) -> bool:
        return f".{func.attr}" in self._vocabulary.completions

    def _lists(self, func: ast.Attribute) -> bool:
        method = f".{func.attr}"
        if method not in self._vocabulary.listing_methods:
            return False
        return self._vocabulary.is_own_method(func.attr) or self._is_folder(func.value)

    def _is_folder(self, node: ast.expr) -> bool:
        """Whether an object is a path, as far as the function shows."""
        if isinstance(node, ast.BinOp) and isinstance(node.op, ast.Div):
            return True
        if isinstance(node, ast.Call):
            return self._here.resolve(node.func) in self._vocabulary.listing_makers.names
        if isinstance(node, ast.Name):
            bound, _here = self._here.names.bindings(self._here.scope, node.id)
            return any(self._binds_folder(binding, node) for binding in bound)
        return False

    def _binds_folder(self, binding: Bound, name: ast.Name) -> bool:
        """Whether a path is assigned there, or an annotation says so."""
        value, annotation = binding.value, binding.annotation
        if value is not None and value is not name and self._makes_folder(value):
            return True
        if annotation is None:
            return False
        meant = self._here.names.resolve(binding.scope, annotation, binding.line)
        return meant in self._vocabulary.listing_makers.names

    def _makes_folder(self, node: ast.expr) -> bool:
        if isinstance(node, ast.Call):
            return self._here.resolve(node.func) in self._vocabulary.listing_makers.names
        return isinstance(node, ast.BinOp) and isinstance(node.op, ast.Div)

    def _by_identity(self, node: ast.Call) -> None:
        for keyword in node.keywords:
            key = keyword.value
            if keyword.arg != "key" or not isinstance(key, ast.Name):
                continue
            name = self._here.resolve(key)
            if name in ("builtins.id", "builtins.hash"):
                self._direct.append(
                    Order(
                        kind="identity",
                        name=key.id,
                        place=self._lines.spot(node),
                        consumer=ast.unparse(node)[:60],
                        consumer_place=self._lines.spot(node),
                        scope=self._here.scope,
                    )
                )

    def operation(self, node: ast.BinOp) -> None:
        """``hash(name) % 10``: the hash of a text decides a number."""
        call = node.left
        if not isinstance(node.op, ast.Mod | ast.BitAnd) or not isinstance(call, ast.Call):
            return
        if self._here.resolve(call.func) != "builtins.hash" or len(call.args) != 1:
            return
        function = self._here.names.scopes[self._here.scope].name.rpartition(".")[2]
        if function == "__hash__" or _is_numeric(call.args[0]):
            return
        order = Order(
            kind="hash",
            name="hash",
            place=self._lines.spot(call),
            consumer=ast.unparse(node)[:60],
            consumer_place=self._lines.spot(node),
            sure=_is_text(call.args[0]) and not _is_cached(node.right),
            subject=_encoded(call.args[0]),
            scope=self._here.scope,
        )
        self._hashes.append((node, order))


def _is_numeric(node: ast.expr) -> bool:
    """Whether an expression, or what it holds, looks like whole numbers: their order is fixed."""
    if isinstance(node, ast.Constant):
        return isinstance(node.value, int | float)
    if isinstance(node, ast.List | ast.Tuple | ast.Set):
        return all(map(_is_numeric, node.elts))
    text = ast.unparse(node)[:200]
    return bool(_NUMBERS.search(text)) and not _TEXT.search(text)


def _encoded(node: ast.expr) -> str:
    """The bytes of what is hashed, as one would write them."""
    text = ast.unparse(node)[:60]
    plain = isinstance(node, ast.Name | ast.Attribute | ast.Call | ast.Subscript | ast.Constant)
    return f"{text}.encode()" if plain and _is_text(node) else f"str({text}).encode()"


def _is_cached(size: ast.expr) -> bool:
    """Whether a hash only picks a place of a cache, whose key is compared."""
    return "cache" in ast.unparse(size).lower()


_GIVES_NUMBER = re.compile(r"(?i)hash|crc|digest|^(int|ord|len|id)$")
"""Last names of functions that make a number of a text."""


def _is_text(node: ast.expr) -> bool:
    if isinstance(node, ast.IfExp):
        return _is_text(node.body) and _is_text(node.orelse)
    if isinstance(node, ast.Tuple):
        return any(map(_is_text, node.elts))
    if isinstance(node, ast.Call) and _GIVES_NUMBER.search(_last_name(node.func)):
        return False
    return bool(_TEXT.search(ast.unparse(node)[:200]))


def _last_name(node: ast.expr) -> str:
    return node.attr if isinstance(node, ast.Attribute) else getattr(node, "id", "")


def is_surely_text(subject: str) -> bool:
    """Whether the elements of an expression as written look like texts."""
    return bool(_TEXT.search(subject)) and not _NUMBERS.search(subject)
