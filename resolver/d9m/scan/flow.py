"""From something without a fixed order to the consumer that builds on its order.

A value is followed inside one function: through the names that it is given to, loops, and lists
that a loop fills. What the rules ask for is only whether the order reaches something that depends
on it: an index, a number, a shuffle, a split.
"""

from __future__ import annotations

import ast
from bisect import bisect_right
from collections.abc import Iterator, Sequence
from typing import Literal, TypeAlias, TypeGuard

import msgspec

from d9m.scan.expressions import dotted, nodes
from d9m.scan.facts import Order
from d9m.scan.loops import Loops
from d9m.scan.names import Names
from d9m.scan.places import MAKE_LISTS, Places
from d9m.scan.shapes import (
    filled_list,
    is_field,
    keeps_number,
    short_text,
    uses_name,
)
from d9m.scan.source import Lines
from d9m.scan.tree import Tree
from d9m.scan.vocabulary import Vocabulary

OrderKind: TypeAlias = Literal["listing", "set", "completion"]

_DEEPEST = 6
Followed: TypeAlias = OrderKind | Literal["walk"]
"""What is followed; a walk is a listing whose first element, the root, has its place."""

_DISTINCT = ("set", "np.unique", "numpy.unique")
_CONVERSIONS = ("abs", "hex", "int", "str")
_ONE: dict[type[ast.cmpop], int] = {
    ast.Eq: 1,
    ast.NotEq: 1,
    ast.Gt: 1,
    ast.LtE: 1,
    ast.Lt: 2,
    ast.GtE: 2,
}
"""What a length is compared with where there is to be one element."""


class Consumer(msgspec.Struct, frozen=True):
    """A consumer that builds on an order."""

    what: str
    node: ast.expr | ast.stmt
    sure: bool = True
    lasting: bool = False
    """Whether it numbers or splits the elements."""
    draws: str = ""
    """The call that draws from a global generator, if it is one."""


class Flow:
    """Follows values through one file."""

    def __init__(
        self, tree: ast.Module, names: Names, vocabulary: Vocabulary, lines: Lines
    ) -> None:
        self._vocabulary = vocabulary
        self._lines = lines
        self._tree = Tree(tree, names)
        self._places = Places(self._tree, vocabulary)
        self._loops = Loops(self._tree, vocabulary)

    def orders(self, sources: Sequence[tuple[OrderKind, ast.expr, str]]) -> list[Order]:
        """What builds on the order of these expressions: kind, node and name of each."""
        found: list[Order] = []
        for kind, node, name in sources:
            start = "walk" if name in self._vocabulary.walks else kind
            use = self._consumer(node, 0, start, False)
            if use is not None:
                found.append(self._order(kind, node, name, use))
        return found

    def _order(self, kind: OrderKind, node: ast.expr, name: str, use: Consumer) -> Order:
        return Order(
            kind=kind,
            name=name,
            place=self._lines.spot(node),
            consumer=use.what,
            sure=use.sure and not self._places.is_held_out(use.node),
            lasting=use.lasting,
            consumer_place=self._lines.spot(use.node),
            draws=use.draws,
            subject=ast.unparse(node)[:100],
            wrap=self._lines.spot(node) if kind != "completion" else None,
            scope=self._tree.scope(node),
            in_main=self._tree.is_in_main(node),
        )

    def becomes_text(self, node: ast.expr) -> bool:
        """Whether a number only becomes a part of a text: of a name, a key, a message."""
        parent = self._tree.parents.get(node)
        while isinstance(parent, ast.BinOp | ast.IfExp) or _converts(parent):
            parent = self._tree.parents.get(parent)
        if isinstance(parent, ast.FormattedValue):
            return True
        if not isinstance(parent, ast.Assign) or not isinstance(parent.targets[0], ast.Name):
            return False
        reads: list[bool] = []
        for read in self._tree.everywhere(self._tree.function(parent), parent.targets[0].id):
            if isinstance(read.ctx, ast.Load):
                reads.append(isinstance(self._tree.parents.get(read), ast.FormattedValue))
        return bool(reads) and all(reads)

    # --- one value ---------------------------------------------------------------------

    def _consumer(
        self, node: ast.expr, depth: int, kind: Followed, listed: bool
    ) -> Consumer | None:
        """What builds on the order of an expression; `listed`: it has places by now."""
        if depth > _DEEPEST:
            return None
        parent = self._tree.parents.get(node)
        if isinstance(parent, ast.Call):
            return self._by_call(parent, node, depth, kind, listed)
        if isinstance(parent, ast.Subscript) and parent.value is node:
            return self._by_subscript(parent, depth, kind)
        if isinstance(parent, ast.Attribute) and parent.attr == "index":
            return self._by_position(parent) if listed or kind == "listing" else None
        if isinstance(parent, ast.Return) and kind == "completion" and listed:
            return Consumer("the list that is returned", parent, False)
        if isinstance(parent, ast.Starred):
            kind = _without_root(kind)
            return self._consumer(parent, depth + 1, kind, listed)
        if isinstance(parent, ast.BinOp) and isinstance(parent.op, ast.Add):
            kind = _without_root(kind)
            return self._consumer(parent, depth + 1, kind, listed)
        if isinstance(parent, ast.List | ast.Tuple) and isinstance(node, ast.Starred):
            return self._consumer(parent, depth + 1, kind, True)
        if isinstance(parent, ast.comprehension) and parent.iter is node:
            return self._by_comprehension(parent, depth, kind)
        if isinstance(parent, ast.For) and parent.iter is node:
            return self._by_loop(parent, depth, kind)
        if isinstance(parent, ast.IfExp) and parent.test is not node:
            return self._consumer(parent, depth + 1, kind, listed)
        if isinstance(parent, ast.Assign) and len(parent.targets) == 1:
            return self._by_name(parent, parent.targets[0], depth, kind, listed)
        if isinstance(parent, ast.AnnAssign):
            return self._by_name(parent, parent.target, depth, kind, listed)
        return None

    def _by_call(
        self, call: ast.Call, node: ast.expr, depth: int, kind: Followed, listed: bool
    ) -> Consumer | None:
        if node is call.func or node not in call.args:
            return None
        name = self._tree.name(call.func)
        if name is None:
            return None
        if name in self._vocabulary.order_blind:
            return None
        if name in self._vocabulary.order_bound and node is call.args[0]:
            draws = name if name in self._vocabulary.draws else ""
            return Consumer(short_text(call), call, draws=draws)
        if name in self._vocabulary.order_kept and node is call.args[0]:
            return self._consumer(call, depth + 1, kind, listed)
        if name == "builtins.enumerate":
            return self._by_numbers(call, depth, kind)
        if name in ("builtins.reversed", "builtins.filter"):
            kind = _without_root(kind)
        if name in MAKE_LISTS:
            return self._consumer(call, depth + 1, kind, True)
        if name in ("builtins.map", "builtins.filter") and node is call.args[-1]:
            return self._consumer(call, depth + 1, kind, listed)
        return None

    def _by_numbers(self, call: ast.Call, depth: int, kind: Followed) -> Consumer | None:
        """``enumerate``: its number must be used for something that stays."""
        parent = self._tree.parents.get(call)
        if isinstance(parent, ast.comprehension) and isinstance(parent.target, ast.Tuple):
            number = parent.target.elts[0]
            outer = self._tree.parents[parent]
            if isinstance(outer, ast.DictComp) and isinstance(number, ast.Name):
                kept = uses_name(outer.value, number.id) or uses_name(outer.key, number.id)
                return Consumer(short_text(call), call, lasting=True) if kept else None
            return None
        if isinstance(parent, ast.Call) and isinstance(parent.func, ast.Name):
            is_table = parent.func.id == "dict"
            return Consumer(short_text(parent), parent, lasting=True) if is_table else None
        if isinstance(parent, ast.For) and isinstance(parent.target, ast.Tuple):
            number = parent.target.elts[0]
            if isinstance(number, ast.Name) and keeps_number(parent, number.id):
                return Consumer(short_text(call), call, lasting=True)
        return None

    def _by_subscript(self, node: ast.Subscript, depth: int, kind: Followed) -> Consumer | None:
        if not isinstance(node.ctx, ast.Load):
            return None
        if kind == "walk" and self._places.is_root(node.slice):
            return self._by_root(node, depth)
        kind = _without_root(kind)
        if self._places.is_shown(node):
            return None
        if isinstance(node.slice, ast.Slice):
            if self._places.is_whole(node.slice) or self._places.is_chunk(node.slice):
                return None
            looks = self._places.tries_out(node) or self._places.is_glance(node.slice)
            splits = self._places.is_split(node)
            return Consumer(short_text(node), node, sure=not looks, lasting=splits)
        if isinstance(node.slice, ast.Constant) and isinstance(node.slice.value, str):
            return None
        loop = self._places.counting_loop(node)
        if loop is not None:
            return self._by_loop(loop, depth, kind) if isinstance(loop, ast.For) else None
        if self._places.takes_all(node.slice) or self._places.is_mask(node.slice):
            return self._consumer(node, depth + 1, kind, True)
        if self._places.asks_shape(node) or self._places.is_found_place(node.slice):
            return None
        if self._places.is_stepped(node.slice) or self._places.is_counted_along(node):
            return None
        looked_up = kind == "listing" and (
            self._places.is_one_place(node.slice)
            or self._places.is_chosen(node.slice)
            or is_field(node.slice)
        )
        sure = not (looked_up or self._places.is_in_chunk(node.slice))
        return Consumer(short_text(node), node, sure=sure, draws=self._drawn(node.slice))

    def _drawn(self, index: ast.expr) -> str:
        """The call that draws a place: ``files[randint(0, 9)]``."""
        for part in nodes(index):
            name = self._tree.name(part.func) if isinstance(part, ast.Call) else None
            if name is not None and name in self._vocabulary.draws:
                return name
        return ""

    def _by_root(self, node: ast.Subscript, depth: int) -> Consumer | None:
        """The root of a walk: its folders and files have no order, and the folders below it."""
        parent = self._tree.parents.get(node)
        if isinstance(node.slice, ast.Slice):
            rest = node.slice.lower is not None and self._tree.constant(node.slice.lower) == 1
            return self._consumer(node, depth + 1, "listing" if rest else "walk", True)
        if not isinstance(parent, ast.Subscript) or self._tree.constant(parent.slice) == 0:
            return None
        return self._consumer(parent, depth + 1, "listing", True)

    def _by_position(self, method: ast.Attribute) -> Consumer | None:
        """``classes.index(name)``: the place of an element becomes its number. That of one element,
        ``classes.index("background")``, is mostly asked for to find it again.
        """
        call = self._tree.parents.get(method)
        if not isinstance(call, ast.Call) or call.func is not method:
            return None
        sure = not any(isinstance(part, ast.Constant) for part in call.args)
        return Consumer(short_text(call), call, sure=sure, lasting=True)

    def _by_comprehension(
        self, part: ast.comprehension, depth: int, kind: Followed
    ) -> Consumer | None:
        outer = self._tree.parents[part]
        if isinstance(outer, ast.ListComp | ast.GeneratorExp):
            names = {name.id for name in nodes(part.target) if isinstance(name, ast.Name)}
            if not any(uses_name(outer.elt, name) for name in names):
                return None
            if part.ifs or len(outer.generators) > 1:
                kind = _without_root(kind)
            return self._consumer(outer, depth + 1, kind, isinstance(outer, ast.ListComp))
        return None

    def _by_name(
        self, statement: ast.stmt, target: ast.expr, depth: int, kind: Followed, listed: bool
    ) -> Consumer | None:
        """A name that is given the value: what builds on it later in the function."""
        written = dotted(target)
        if written is None:
            return None
        if written.startswith("self."):
            reads = self._reads_in_class(statement, written)
        else:
            reads = self._reads(self._tree.function(statement), written, statement)
        uses = sorted(reads, key=lambda node: (node.lineno, node.col_offset))
        if any(self._tree.is_sorted_in_place(node) for node in uses[:1]):
            return None
        if any(self._is_length_test(node) for node in uses):
            return None
        likely: Consumer | None = None
        for node in uses:
            if self._tree.is_sorted_in_place(node):
                return likely
            found = self._consumer(node, depth + 1, kind, listed)
            if found is not None and found.sure:
                return found
            likely = likely or found
        return likely

    def _reads(self, function: ast.AST, written: str, statement: ast.stmt) -> Iterator[ast.expr]:
        """Where a function reads a name until it is given something else."""
        end = statement.end_lineno or statement.lineno
        last = float("inf")
        everywhere = self._tree.everywhere(function, written)
        first = bisect_right(everywhere, end, key=lambda node: node.lineno)
        for place in range(first, len(everywhere)):
            node = everywhere[place]
            if node.lineno > last:
                return
            if self._excludes(statement, node):
                continue
            if isinstance(node.ctx, ast.Store):
                stored = self._tree.parents.get(node)
                whole = isinstance(stored, ast.Assign) and stored.end_lineno
                last = min(last, whole or node.lineno)
            elif isinstance(node.ctx, ast.Load):
                yield node

    def _excludes(self, statement: ast.stmt, node: ast.AST) -> bool:
        """Whether a statement and a place stand in different arms of one test."""
        inside: dict[ast.AST, ast.AST] = {}
        step: ast.AST = statement
        while step in self._tree.parents:
            inside[self._tree.parents[step]] = step
            step = self._tree.parents[step]
        while node in self._tree.parents and self._tree.parents[node] not in inside:
            node = self._tree.parents[node]
        test = self._tree.parents.get(node)
        if not isinstance(test, ast.If) or inside[test] is node:
            return False
        return (inside[test] in test.body) != (node in test.body) and node is not test.test

    def _reads_in_class(self, statement: ast.stmt, written: str) -> list[ast.expr]:
        """Where the methods of a class read an attribute; none if it is given something else, or
        sorted, in another place.
        """
        around: ast.AST = statement
        while around in self._tree.parents and not isinstance(around, ast.ClassDef):
            around = self._tree.parents[around]
        found: list[ast.expr] = []
        for node in self._tree.everywhere(around, written):
            if isinstance(node.ctx, ast.Load):
                if self._tree.is_sorted_in_place(node):
                    return []
                found.append(node)
            elif self._tree.parents.get(node) is not statement:
                return []
        return found

    def _is_length_test(self, node: ast.expr) -> bool:
        """``len(files) == 1``, ``len(set(sizes)) == 1``: one element has no order."""
        call = self._tree.parents.get(node)
        if isinstance(call, ast.Call) and dotted(call.func) in _DISTINCT:
            call = self._tree.parents.get(call)
        if not isinstance(call, ast.Call) or dotted(call.func) != "len":
            return False
        test = self._tree.parents.get(call)
        if not isinstance(test, ast.Compare) or len(test.ops) != 1 or test.left is not call:
            return False
        few = self._tree.constant(test.comparators[0])
        wanted = _ONE.get(type(test.ops[0]))
        return wanted is not None and few == wanted

    def _by_loop(self, loop: ast.For, depth: int, kind: Followed) -> Consumer | None:
        """A list that the loop fills takes its order over, and so does a table that numbers. A
        loop that breaks off looks for one element.
        """
        if any(isinstance(node, ast.Break) for node in nodes(loop)):
            return None
        kind = _without_root(kind)
        if kind == "listing" and self._loops.walks_in_order(loop):
            return None
        for statement in loop.body:
            for node in nodes(statement):
                if kind == "set" and self._loops.is_numbered_by(node, loop):
                    assert isinstance(node, ast.Call)
                    return Consumer(short_text(node), node, lasting=True)
                if isinstance(node, ast.AugAssign) and self._loops.numbers_elements(loop, node):
                    step = f"the number in {ast.unparse(node)}"
                    return Consumer(step, node, lasting=True)
                filled = filled_list(node)
                if filled is None or not self._loops.is_plain_list(loop, filled):
                    continue
                after = self._by_name(loop, filled, depth + 1, kind, True)
                if after is not None:
                    return after
        return None


def _converts(node: ast.AST | None) -> TypeGuard[ast.Call]:
    """``str(…)``, ``abs(…)``: as good a part of a text as what it gets."""
    return isinstance(node, ast.Call) and dotted(node.func) in _CONVERSIONS


def _without_root(kind: Followed) -> OrderKind:
    """What is left of a kind once the root of a walk may stand anywhere."""
    return "listing" if kind == "walk" else kind
