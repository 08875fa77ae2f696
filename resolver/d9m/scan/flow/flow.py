"""From something without a fixed order to the consumer that builds on its order.

A value is followed inside one function: through the names that it is given to, loops, and lists
that a loop fills. What the rules ask for is only whether the order reaches something that depends
on it: an index, a number, a shuffle, a split.
"""

from __future__ import annotations

import ast
from collections.abc import Sequence
from typing import Literal, TypeAlias, TypeGuard

import msgspec

from d9m.scan.facts import Order, OrderUse
from d9m.scan.flow.loops import Loops
from d9m.scan.flow.only_shown import OnlyShown
from d9m.scan.flow.places import MAKE_LISTS, Places
from d9m.scan.flow.reads import Reads
from d9m.scan.flow.sets import Sets
from d9m.scan.flow.shufflers import Shufflers
from d9m.scan.source import Lines
from d9m.scan.syntax.expressions import dotted, nodes
from d9m.scan.syntax.shapes import (
    filled_list,
    is_field,
    keeps_number,
    short_text,
    uses_name,
)
from d9m.scan.syntax.tree import Tree
from d9m.scan.vocabulary import Vocabulary

OrderKind: TypeAlias = Literal["listing", "set", "completion"]

_DEEPEST = 6
Followed: TypeAlias = OrderKind | Literal["walk", "iterator"]
"""What is followed; a walk is a listing whose first element, the root, has its place, and an
iterator one whose elements have none, until a list is made of them.
"""

_LONGEST = 100
"""Characters of an expression that are kept."""
_SPECIAL = ("__getitem__", "__iter__", "__call__")
_CONVERSIONS = ("abs", "hex", "int", "str")


class Consumer(msgspec.Struct, frozen=True):
    """A consumer that builds on an order."""

    what: str
    node: ast.expr | ast.stmt
    sure: bool = True
    lasting: bool = False
    """Whether it numbers or splits the elements."""
    draws: str = ""
    """The call that draws from a global generator, if it is one."""
    source: ast.expr | None = None
    """The set whose order it builds on, where that is made of the one that is followed."""
    returned: bool = False
    """Whether it is a ``return``: what builds on the order is in another function."""


class Flow:
    """Follows values through one file."""

    def __init__(self, tree: Tree, vocabulary: Vocabulary, lines: Lines) -> None:
        self._vocabulary = vocabulary
        self._lines = lines
        self._tree = tree
        self._places = Places(self._tree, vocabulary)
        self._loops = Loops(self._tree, vocabulary)
        self._sets = Sets(self._tree)
        self._reads = Reads(self._tree)
        self._shown = OnlyShown(self._tree, vocabulary)
        self._shufflers = Shufflers(self._tree, vocabulary)

    def orders(self, sources: Sequence[tuple[OrderKind, ast.expr, str]]) -> list[Order]:
        """What builds on the order of these expressions: kind, node and name of each."""
        found: list[Order] = []
        for kind, node, name in sources:
            if kind == "set" and self._sets.holds_numbers(node):
                continue
            use = self._consumer(node, 0, self._start(kind, name), False)
            if use is not None:
                found.append(self._order(kind, node, name, use))
        return found

    def _start(self, kind: OrderKind, name: str) -> Followed:
        if kind == "listing" and name in self._vocabulary.walks:
            return "walk"
        iterators = self._vocabulary.listing_iterators
        if kind == "listing" and (name in iterators or f".{name}" in iterators):
            return "iterator"
        return kind

    def uses(self, calls: Sequence[tuple[ast.Call, str]]) -> list[OrderUse]:
        """What builds on the order of what these calls of the project's own functions return."""
        found: list[OrderUse] = []
        for call, name in calls:
            use = self._consumer(call, 0, "listing", True)
            if use is None or use.returned or not use.sure or self._is_held_out(use, call):
                continue
            found.append(
                OrderUse(
                    called=name,
                    consumer=use.what,
                    place=self._lines.spot(use.node),
                    scope=self._tree.scope(call),
                    in_main=self._tree.is_in_main(call),
                    draws=use.draws,
                    lasting=use.lasting,
                    by_caller=self._places.is_picked_by_caller(use.node),
                )
            )
        return found

    def _order(self, kind: OrderKind, start: ast.expr, name: str, use: Consumer) -> Order:
        node = use.source or start
        return Order(
            kind=kind,
            name=name,
            place=self._lines.spot(node),
            consumer=use.what,
            sure=use.sure and not self._is_held_out(use, start),
            lasting=use.lasting,
            consumer_place=self._lines.spot(use.node),
            draws=use.draws,
            subject=as_written(node),
            holds=as_written(start),
            by_caller=self._places.is_picked_by_caller(use.node),
            returned=use.returned,
            wrap=self._lines.spot(node) if kind != "completion" else None,
            scope=self._tree.scope(node),
            in_main=self._tree.is_in_main(node),
            kept_as=self._kept_as(use.node) if use.lasting else "",
        )

    def _kept_as(self, node: ast.AST) -> str:
        """The attribute of the object itself that a table of numbers goes into."""
        parent = self._tree.parents.get(node)
        while isinstance(parent, ast.comprehension | ast.DictComp | ast.Call):
            node, parent = parent, self._tree.parents.get(parent)
        if not isinstance(parent, ast.Assign) or len(parent.targets) != 1:
            return ""
        target = parent.targets[0]
        if isinstance(target, ast.Attribute) and dotted(target.value) == "self":
            return target.attr
        return ""

    def _is_held_out(self, use: Consumer, start: ast.expr) -> bool:
        """Whether it only measures. The numbers of classes must be those of the training there, and
        a slice leaves the rest to the training.
        """
        if self._places.is_held_out(use.node):
            return True
        if use.lasting or (
            isinstance(use.node, ast.Subscript) and isinstance(use.node.slice, ast.Slice)
        ):
            return False
        return any(map(self._places.is_of_held_out, (use.node, start)))

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
        made = self._sets.made_from(node) if kind == "set" and not listed else None
        if made is not None:
            found = self._consumer(made, depth + 1, kind, False)
            return found and msgspec.structs.replace(found, source=found.source or made)
        if isinstance(parent, ast.Call):
            return self._by_call(parent, node, depth, kind, listed)
        if isinstance(parent, ast.Subscript) and parent.value is node:
            return self._by_subscript(parent, depth, kind)
        if isinstance(parent, ast.Attribute) and parent.attr == "index":
            return self._by_position(parent) if listed or kind == "listing" else None
        if isinstance(parent, ast.Return) and kind != "completion":
            return Consumer("", parent, False, returned=True)
        if isinstance(parent, ast.Return) and listed:
            return Consumer("the list that is returned", parent, False)
        if isinstance(parent, ast.Starred):
            kind = _without_root(kind)
            return self._consumer(parent, depth + 1, kind, listed)
        if isinstance(parent, ast.BinOp) and isinstance(parent.op, ast.Add):
            kind = _without_root(kind)
            return self._consumer(parent, depth, kind, listed)
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
            return self._by_generator(call, node, kind)
        if name in self._vocabulary.order_blind:
            return None
        if name in self._vocabulary.order_bound and node is call.args[0]:
            if kind == "iterator" or self._shown.is_shown(call):
                return None
            draws = name if name in self._vocabulary.draws else ""
            return Consumer(short_text(call), call, draws=draws)
        if name in self._vocabulary.order_kept and node is call.args[0]:
            return self._consumer(call, depth + 1, kind, listed)
        if name == "builtins.enumerate":
            return self._by_numbers(call, depth, kind)
        if name in ("builtins.reversed", "builtins.filter"):
            kind = _without_root(kind)
        if name in MAKE_LISTS:
            return self._consumer(call, depth + 1, _in_list(kind), True)
        if name in ("builtins.map", "builtins.filter") and node is call.args[-1]:
            return self._consumer(call, depth + 1, kind, listed)
        return None

    def _by_generator(self, call: ast.Call, node: ast.expr, kind: Followed) -> Consumer | None:
        """``random.Random(1).shuffle(files)``: sure where a seed fixes what is drawn."""
        if node is not call.args[0] or kind == "iterator" or self._shown.is_shown(call):
            return None
        maker = self._shufflers.maker(call.func)
        if maker is None:
            return None
        return Consumer(short_text(call), call, sure=bool(maker.args or maker.keywords))

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
        if not isinstance(node.ctx, ast.Load) or kind == "iterator":
            return None
        if kind == "walk" and self._places.is_root(node.slice):
            return self._by_root(node, depth)
        kind = _without_root(kind)
        if self._shown.is_shown(node):
            return None
        if isinstance(node.slice, ast.Slice):
            part = node.slice
            if self._places.is_whole(part) or self._places.is_chunk(part):
                return None
            if self._places.is_nothing(part):
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
        list_of_place = self._places.looked_up_in(node)
        if list_of_place is not None and list_of_place == dotted(node.value):
            return None
        if self._places.is_stepped(node.slice) or self._places.is_counted_along(node):
            return None
        looked_up = kind == "listing" and (
            self._places.is_one_place(node.slice)
            or self._places.is_chosen(node.slice)
            or is_field(node.slice)
        )
        looked_up = looked_up or list_of_place is not None
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
        if isinstance(self._tree.parents.get(call), ast.Expr):
            return None
        if self._places.takes_out(call, method.value):
            return None
        if self._places.finds_again(call, method.value):
            return None
        sure = not any(isinstance(part, ast.Constant) for part in call.args)
        sure = sure and not self._places.only_picks(call)
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
            if isinstance(outer, ast.ListComp):
                return self._consumer(outer, depth + 1, _in_list(kind), True)
            return self._consumer(outer, depth + 1, kind, False)
        return None

    def _by_name(
        self, statement: ast.stmt, target: ast.expr, depth: int, kind: Followed, listed: bool
    ) -> Consumer | None:
        """A name that is given the value: what builds on it later in the function."""
        written = dotted(target)
        if written is None:
            return None
        if written.startswith("self."):
            reads = self._reads.in_class(statement, written)
        else:
            reads = self._reads.later(self._tree.function(statement), written, statement)
        handled = self._tree.is_in_handler(statement)
        reads = [node for node in reads if handled or not self._tree.is_in_handler(node)]
        uses = sorted(reads, key=self._place)
        if any(self._tree.is_sorted_in_place(node) for node in uses[:1]):
            return None
        if any(self._reads.is_length_test(node) for node in uses):
            return None
        likely: Consumer | None = None
        for node in uses:
            if self._tree.is_sorted_in_place(node):
                return likely
            found = self._consumer(node, depth + 1, kind, listed)
            if found is not None and found.sure:
                return found
            likely = _better(likely, found)
        return likely

    def _place(self, node: ast.expr) -> tuple[bool, int, int]:
        """In the order of the text, but first what Python calls by itself: ``__getitem__``."""
        function = self._tree.function(node)
        special = isinstance(function, ast.FunctionDef) and function.name in _SPECIAL
        return not special, node.lineno, node.col_offset

    def _by_loop(self, loop: ast.For, depth: int, kind: Followed) -> Consumer | None:
        """A list that the loop fills takes its order over, and so does a table that numbers. A
        loop that breaks off looks for one element.
        """
        if self._loops.breaks_off(loop):
            return None
        kind = _without_root(kind)
        returned: Consumer | None = None
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
                if after is not None and not after.returned:
                    return after
                returned = returned or after
        return returned


def as_written(node: ast.expr) -> str:
    """What an order knows of an expression."""
    return ast.unparse(node)[:_LONGEST]


def _better(one: Consumer | None, other: Consumer | None) -> Consumer | None:
    """Of two consumers that are not sure the first, but for one that is a ``return``."""
    if one is None or (one.returned and other is not None):
        return other
    return one


def _converts(node: ast.AST | None) -> TypeGuard[ast.Call]:
    """``str(…)``, ``abs(…)``: as good a part of a text as what it gets."""
    return isinstance(node, ast.Call) and dotted(node.func) in _CONVERSIONS


def _in_list(kind: Followed) -> Followed:
    """What a kind is once its elements are in a list."""
    return "listing" if kind == "iterator" else kind


def _without_root(kind: Followed) -> OrderKind:
    """What is left of a kind once the root of a walk may stand anywhere, in a list."""
    return "listing" if kind in ("walk", "iterator") else kind
