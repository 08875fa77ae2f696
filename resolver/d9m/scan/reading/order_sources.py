"""Expressions without a fixed order, found while a file is read."""

from __future__ import annotations

import ast
import functools
from collections.abc import Iterator, Sequence

import msgspec

from d9m.scan.facts import Order, OrderUse
from d9m.scan.flow.flow import Flow, OrderKind, as_written
from d9m.scan.source import Lines
from d9m.scan.syntax.elements import encoded, is_cached, is_numeric, is_text
from d9m.scan.syntax.expressions import dotted, nodes
from d9m.scan.syntax.names import BUILTINS, LOCAL, Bound
from d9m.scan.syntax.standpoint import Standpoint
from d9m.scan.syntax.tree import Tree
from d9m.scan.vocabulary import Vocabulary

_MOST_VALUES = 3


class OrderSources:
    """Collects what has no order, and follows it once the file is read."""

    def __init__(self, vocabulary: Vocabulary, here: Standpoint, lines: Lines) -> None:
        self._vocabulary = vocabulary
        self._here = here
        self._lines = lines
        self._found: list[tuple[OrderKind, ast.expr, str]] = []
        self._direct: list[Order] = []
        self._hashes: list[tuple[ast.BinOp, Order]] = []
        self._own: list[tuple[ast.Call, str, int]] = []
        """Calls of functions that may be the project's own, each with its name and scope."""
        self._on_windows = False
        """Whether the file only runs there, where file systems list by name."""
        self._bound: set[int] = set()
        """Scopes that shuffle, sample or split something."""

    def called(self, node: ast.Call, name: str | None) -> None:
        """A listing, a set, results as they are ready, a hash of text, an order by identity."""
        vocabulary = self._vocabulary
        self._on_windows = self._on_windows or _splits_windows_path(node)
        if self._may_bind_order(node, name):
            self._bound.add(self._here.scope)
        elif own := self._own_name(node, name):
            self._own.append((node, own, self._here.scope))
        if name is None:
            if isinstance(node.func, ast.Attribute) and self._lists(node.func):
                self._found.append(("listing", node, node.func.attr))
            elif isinstance(node.func, ast.Attribute) and self._completes(node.func):
                self._found.append(("completion", node, node.func.attr))
            return
        if name in vocabulary.listings and not self._is_in_order(node):
            self._found.append(("listing", node, name))
        elif name in vocabulary.completions:
            self._found.append(("completion", node, name))
        elif name == "builtins.set" and len(node.args) == 1 and not is_numeric(node.args[0]):
            self._found.append(("set", node, "set"))
        elif name == "builtins.sorted":
            self._by_identity(node)

    def _may_bind_order(self, node: ast.Call, name: str | None) -> bool:
        """Whether a call may build on the order of what it gets: also that of a method."""
        if name is not None:
            return name in self._vocabulary.order_bound
        methods = self._vocabulary.methods_bound_to_order
        return isinstance(node.func, ast.Attribute) and node.func.attr in methods

    def _is_in_order(self, listing: ast.Call) -> bool:
        """Whether a path says that it is in a store which lists in order, perhaps in what is given
        to a name of it.
        """
        marks = self._vocabulary.listed_in_order
        for part in nodes(listing):
            if isinstance(part, ast.Name):
                bound, _here = self._here.names.bindings(self._here.scope, part.id)
                values = [one.value for one in bound if one.value is not None]
                text = " ".join([part.id, *map(ast.unparse, values[:_MOST_VALUES])])
            elif isinstance(part, ast.Constant) and isinstance(part.value, str):
                text = part.value
            else:
                continue
            if any(mark in text.lower() for mark in marks):
                return True
        return False

    def shown(self, node: ast.Set | ast.SetComp) -> None:
        """A set as it is written."""
        elements = node.elts if isinstance(node, ast.Set) else [node.elt]
        if not all(map(is_numeric, elements)) and (
            isinstance(node, ast.SetComp) or len(elements) > 1
        ):
            self._found.append(("set", node, "set"))

    def _own_name(self, node: ast.Call, name: str | None) -> str:
        """The name of a function that may be the project's own; ``:Data.list_files`` for
        ``self.list_files()``. Empty for any other.
        """
        if node is self._here.statement:
            return ""
        if name is not None:
            own = name[0] in (LOCAL, ".") or self._vocabulary.package(name) is None
            return name if own and not name.startswith(BUILTINS) else ""
        func = node.func
        if not isinstance(func, ast.Attribute) or dotted(func.value) != "self":
            return ""
        scopes = self._here.names.scopes
        around = scopes[max(scopes[self._here.scope].parent, 0)]
        return f"{LOCAL}{around.name}.{func.attr}" if around.kind == "class" else ""

    def orders(self, tree: Tree) -> tuple[tuple[Order, ...], tuple[OrderUse, ...]]:
        """What builds on something without an order, and on what own functions return."""
        flow = Flow(tree, self._vocabulary, self._lines)
        found = (*flow.orders(self._found), *self._direct, *self._hashed(flow))
        found = tuple(self._with_twins(tree, found))
        if self._on_windows:
            found = tuple(map(_unsure_listing, found))
        scopes = self._here.names.scopes
        given = {LOCAL + scopes[order.scope].name for order in found if order.returned}
        asked: list[tuple[ast.Call, str]] = []
        for call, name, scope in self._own:
            if name in given or scope in self._bound or scopes[scope].parent in self._indexed:
                asked.append((call, name))
        return found, tuple(flow.uses(asked))

    def _with_twins(self, tree: Tree, found: Sequence[Order]) -> Iterator[Order]:
        """The orders, each with the lines that list the same in the same function."""
        lines: dict[tuple[int, str], list[int]] = {}
        for kind, node, _name in self._found:
            if kind != "listing":
                continue
            outer = tree.parents.get(node)
            taken_by = tree.name(outer.func) if isinstance(outer, ast.Call) else None
            is_blind = taken_by is not None and taken_by in self._vocabulary.order_blind
            if not is_blind:
                key = (tree.scope(node), as_written(node))
                lines.setdefault(key, []).append(self._lines.spot(node).line)
        for order in found:
            twins = lines.get((order.scope, order.subject), ())
            also_in = tuple(line for line in twins if line != order.place.line)
            yield msgspec.structs.replace(order, also_in=also_in) if also_in else order

    @functools.cached_property
    def _indexed(self) -> frozenset[int]:
        """Classes whose elements others take by their places."""
        found: list[int] = []
        for scope in self._here.names.scopes:
            if scope.name.endswith(".__getitem__"):
                found.append(scope.parent)
        return frozenset(found)

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
        if function == "__hash__" or is_numeric(call.args[0]):
            return
        order = Order(
            kind="hash",
            name="hash",
            place=self._lines.spot(call),
            consumer=ast.unparse(node)[:60],
            consumer_place=self._lines.spot(node),
            sure=is_text(call.args[0]) and not is_cached(node.right),
            subject=encoded(call.args[0]),
            scope=self._here.scope,
        )
        self._hashes.append((node, order))


def _splits_windows_path(call: ast.Call) -> bool:
    """``name.split("\\\\")``."""
    func = call.func
    if not isinstance(func, ast.Attribute) or func.attr not in ("split", "rsplit"):
        return False
    return bool(call.args) and isinstance(call.args[0], ast.Constant) and call.args[0].value == "\\"


def _unsure_listing(order: Order) -> Order:
    return msgspec.structs.replace(order, sure=order.sure and order.kind != "listing")
