"""From something without a fixed order to the consumer that builds on its order.

A value is followed inside one function: through the names that it is given to, loops, and lists
that a loop fills. What the rules ask for is only whether the order reaches something that depends
on it: an index, a number, a shuffle, a split.
"""

from __future__ import annotations

import ast
from bisect import bisect_right
from collections.abc import Iterator, Sequence
from typing import Literal, TypeAlias

import msgspec

from d9m.scan.expressions import children, dotted, nodes
from d9m.scan.facts import Order
from d9m.scan.names import Names
from d9m.scan.shapes import (
    counted_up,
    counts_places,
    filled_list,
    gives_numbers,
    is_field,
    is_number,
    keeps_number,
    mentions,
    short_text,
    uses_name,
)
from d9m.scan.source import Lines
from d9m.scan.vocabulary import Vocabulary

OrderKind: TypeAlias = Literal["listing", "set", "completion"]

_DEEPEST = 6
_HANDFUL = 16
_MAKE_LISTS = ("builtins.list", "builtins.tuple", "builtins.reversed", "numpy.array")
_DISTINCT = ("set", "np.unique", "numpy.unique")
_ONE: dict[type[ast.cmpop], int] = {
    ast.Eq: 1,
    ast.NotEq: 1,
    ast.Gt: 1,
    ast.LtE: 1,
    ast.Lt: 2,
    ast.GtE: 2,
}
"""What a length is compared with where there is to be one element."""
_SORTING = ("sort", "sorted")


class Consumer(msgspec.Struct, frozen=True):
    """A consumer that builds on an order."""

    what: str
    node: ast.expr | ast.stmt
    sure: bool = True
    draws: str = ""
    """The call that draws from a global generator, if it is one."""


class Flow:
    """Follows values through one file."""

    def __init__(
        self, tree: ast.Module, names: Names, vocabulary: Vocabulary, lines: Lines
    ) -> None:
        self._names = names
        self._vocabulary = vocabulary
        self._lines = lines
        self._parents: dict[ast.AST, ast.AST] = {}
        self._scopes: dict[ast.AST, int] = {tree: 0}
        self._written: dict[ast.AST, dict[str, list[ast.Name | ast.Attribute]]] = {}
        self._tree = tree

    def orders(self, sources: Sequence[tuple[OrderKind, ast.expr, str]]) -> list[Order]:
        """What builds on the order of these expressions: kind, node and name of each."""
        if not sources:
            return []
        self._connect()
        found: list[Order] = []
        for kind, node, name in sources:
            use = self._consumer(node, 0, kind, False)
            if use is not None:
                found.append(self._order(kind, node, name, use))
        return found

    def _connect(self) -> None:
        todo: list[ast.AST] = [self._tree]
        while todo:
            node = todo.pop()
            for child in children(node):
                self._parents[child] = node
                todo.append(child)

    def _order(self, kind: OrderKind, node: ast.expr, name: str, use: Consumer) -> Order:
        return Order(
            kind=kind,
            name=name,
            place=self._lines.spot(node),
            consumer=use.what,
            sure=use.sure,
            consumer_place=self._lines.spot(use.node),
            draws=use.draws,
            subject=ast.unparse(node)[:100],
            wrap=self._lines.spot(node) if kind != "completion" else None,
            scope=self._scope(node),
        )

    def _scope(self, node: ast.AST) -> int:
        while node in self._parents:
            node = self._parents[node]
            if node in self._names.numbers:
                return self._names.numbers[node]
        return 0

    def _function(self, node: ast.AST) -> ast.AST:
        """The function or module around a node."""
        while node in self._parents:
            node = self._parents[node]
            if isinstance(node, ast.FunctionDef | ast.AsyncFunctionDef | ast.Module):
                break
        return node

    # --- one value ---------------------------------------------------------------------

    def _consumer(
        self, node: ast.expr, depth: int, kind: OrderKind, listed: bool
    ) -> Consumer | None:
        """What builds on the order of an expression; `listed`: it has places by now."""
        if depth > _DEEPEST:
            return None
        parent = self._parents.get(node)
        if isinstance(parent, ast.Call):
            return self._by_call(parent, node, depth, kind, listed)
        if isinstance(parent, ast.Subscript) and parent.value is node:
            return self._by_subscript(parent, depth, kind)
        if isinstance(parent, ast.Attribute) and parent.attr == "index" and listed:
            return self._by_position(parent)
        if isinstance(parent, ast.Return) and kind == "completion" and listed:
            return Consumer("the list that is returned", parent, False)
        if isinstance(parent, ast.Starred):
            return self._consumer(parent, depth + 1, kind, listed)
        if isinstance(parent, ast.BinOp) and isinstance(parent.op, ast.Add):
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
        self, call: ast.Call, node: ast.expr, depth: int, kind: OrderKind, listed: bool
    ) -> Consumer | None:
        if node is call.func or node not in call.args:
            return None
        name = self._names.resolve(self._scope(call), call.func, call.lineno)
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
        if name in _MAKE_LISTS:
            return self._consumer(call, depth + 1, kind, True)
        if name in ("builtins.map", "builtins.filter") and node is call.args[-1]:
            return self._consumer(call, depth + 1, kind, listed)
        return None

    def _by_numbers(self, call: ast.Call, depth: int, kind: OrderKind) -> Consumer | None:
        """``enumerate``: its number must be used for something that stays."""
        parent = self._parents.get(call)
        if isinstance(parent, ast.comprehension) and isinstance(parent.target, ast.Tuple):
            number = parent.target.elts[0]
            outer = self._parents[parent]
            if isinstance(outer, ast.DictComp) and isinstance(number, ast.Name):
                kept = uses_name(outer.value, number.id) or uses_name(outer.key, number.id)
                return Consumer(short_text(call), call) if kept else None
            return None
        if isinstance(parent, ast.Call) and isinstance(parent.func, ast.Name):
            return Consumer(short_text(parent), parent) if parent.func.id == "dict" else None
        if isinstance(parent, ast.For) and isinstance(parent.target, ast.Tuple):
            number = parent.target.elts[0]
            if isinstance(number, ast.Name) and keeps_number(parent, number.id):
                return Consumer(short_text(call), call)
        return None

    def _by_subscript(self, node: ast.Subscript, depth: int, kind: OrderKind) -> Consumer | None:
        if not isinstance(node.ctx, ast.Load):
            return None
        if isinstance(node.slice, ast.Slice):
            if self._is_whole(node.slice) or self._is_chunk(node.slice):
                return None
            looks = self._tries_out(node) or self._is_glance(node.slice)
            return Consumer(short_text(node), node, sure=not looks)
        if isinstance(node.slice, ast.Constant) and isinstance(node.slice.value, str):
            return None
        loop = self._counting_loop(node)
        if loop is not None:
            return self._by_loop(loop, depth, kind) if isinstance(loop, ast.For) else None
        if self._takes_all(node.slice):
            return self._consumer(node, depth + 1, kind, True)
        if self._asks_shape(node) or self._is_found_place(node.slice):
            return None
        if self._is_stepped(node.slice) or self._is_counted_along(node):
            return None
        looked_up = kind == "listing" and (self._is_one_place(node.slice) or is_field(node.slice))
        sure = not (looked_up or self._is_in_chunk(node.slice))
        return Consumer(short_text(node), node, sure=sure)

    def _asks_shape(self, node: ast.expr) -> bool:
        """``zeros_like(files[-1])`` takes the shape of its argument, and not what it holds; and so
        does ``files[-1].shape``.
        """
        call = self._parents.get(node)
        if isinstance(call, ast.Attribute):
            return f".{call.attr}" in self._vocabulary.asks_shape
        if not isinstance(call, ast.Call) or node not in call.args:
            return False
        name = self._names.resolve(self._scope(call), call.func, call.lineno)
        return name is not None and name in self._vocabulary.asks_shape

    def _takes_all(self, index: ast.expr) -> bool:
        """``table[:, 0]``: one column of all rows."""
        if not isinstance(index, ast.Tuple) or not index.elts:
            return False
        first = index.elts[0]
        return isinstance(first, ast.Slice) and self._is_whole(first)

    def _is_found_place(self, index: ast.expr) -> bool:
        """``files[argmin(losses)]``: the place of an element that is chosen by what it is; also
        ``files[i]`` where a loop takes ``i`` from such places.
        """
        if self._finds_places(index):
            return True
        if not isinstance(index, ast.Name):
            return False
        return any(
            uses_name(loop.target, index.id) and self._finds_places(loop.iter)
            for loop in self._loops_around(index)
        )

    def _finds_places(self, node: ast.expr, depth: int = 0) -> bool:
        """Whether an expression is a call that finds places, or is made from the result of one,
        perhaps through names; ``sorted(range(len(files)), key=…)`` finds places, too.
        """
        if depth > _DEEPEST:
            return False
        found = self._vocabulary.finds_places
        if isinstance(node, ast.Attribute) and f".{node.attr}" in found:
            return True
        if isinstance(node, ast.Attribute | ast.Subscript):
            return self._finds_places(node.value, depth + 1)
        if isinstance(node, ast.Name):
            meant = self._meant(node)
            return meant is not node and self._finds_places(meant, depth + 1)
        if not isinstance(node, ast.Call):
            return False
        name = self._names.resolve(self._scope(node), node.func, node.lineno)
        if name is not None and name in found:
            return True
        if name == "builtins.sorted":
            return isinstance(node.args[0], ast.Call) and dotted(node.args[0].func) == "range"
        if name in _MAKE_LISTS and node.args:
            return self._finds_places(node.args[0], depth + 1)
        return self._finds_places(node.func, depth + 1)

    def _is_stepped(self, index: ast.expr) -> bool:
        """Whether a loop around ``files[left]`` steps the place from one end to the other."""
        node: ast.AST = index
        while node in self._parents and node not in self._names.numbers:
            node = self._parents[node]
            if isinstance(node, ast.While):
                steps = [part for part in nodes(node) if isinstance(part, ast.AugAssign)]
                return any(dotted(step.target) == dotted(index) is not None for step in steps)
        return False

    def _is_counted_along(self, node: ast.Subscript) -> bool:
        """Whether a loop over ``files`` counts ``i`` up next to it: ``files[i]`` is its element."""
        for loop in self._loops_around(node):
            if dotted(loop.iter) is None or dotted(loop.iter) != dotted(node.value):
                continue
            for part in nodes(loop):
                if isinstance(part, ast.AugAssign) and counted_up(part) == dotted(node.slice):
                    return True
        return False

    def _is_in_chunk(self, index: ast.expr) -> bool:
        """``files[start + i]``, where a loop counts ``i``: mostly one chunk after the other."""
        if not isinstance(index, ast.BinOp) or not isinstance(index.op, ast.Add):
            return False
        counted = {dotted(loop.target) for loop in self._loops_around(index)}
        return any(isinstance(part, ast.Name) and part.id in counted for part in nodes(index))

    def _is_glance(self, part: ast.Slice) -> bool:
        """``files[:5]``: a handful of the first, mostly to look at."""
        few = self._constant(part.upper) if part.upper is not None else None
        return part.lower is None and isinstance(few, int) and 0 < few <= _HANDFUL

    def _tries_out(self, node: ast.AST) -> bool:
        """Whether a test of a debugging option decides that it runs."""
        while node in self._parents:
            node = self._parents[node]
            if isinstance(node, ast.If) and "debug" in ast.unparse(node.test).lower():
                return True
        return False

    def _is_chunk(self, part: ast.Slice) -> bool:
        """``files[i : i + 32]``, where a loop counts ``i`` through all of them."""
        if part.lower is None or part.upper is None:
            return False
        for loop in self._loops_around(part):
            for name in nodes(loop.target):
                if isinstance(name, ast.Name) and uses_name(part.lower, name.id):
                    return uses_name(part.upper, name.id)
        return False

    def _loops_around(self, node: ast.AST) -> Iterator[ast.For | ast.comprehension]:
        while node in self._parents and node not in self._names.numbers:
            node = self._parents[node]
            if isinstance(node, ast.For):
                yield node
            else:
                yield from getattr(node, "generators", ())

    def _is_whole(self, part: ast.Slice) -> bool:
        """``files[:]``, ``files[0::1]``."""
        if part.upper is not None:
            return False
        from_first = part.lower is None or self._constant(part.lower) == 0
        return from_first and (part.step is None or self._constant(part.step) in (1, -1))

    def _constant(self, node: ast.expr) -> object:
        """What an expression is, perhaps through a name; None where the text does not say it."""
        try:
            return ast.literal_eval(self._meant(node))
        except ValueError:
            return None

    def _meant(self, node: ast.expr) -> ast.expr:
        """An expression, or the only one that its name is given."""
        if isinstance(node, ast.Name):
            bound, _here = self._names.bindings(self._scope(node), node.id)
            if len(bound) == 1 and bound[0].value is not None:
                return bound[0].value
        return node

    def _is_one_place(self, index: ast.expr) -> bool:
        """``files[0]``, or ``files[first]`` where ``first = 0``."""
        return is_number(self._meant(index))

    def _by_position(self, method: ast.Attribute) -> Consumer | None:
        """``classes.index(name)``: the place of an element becomes its number."""
        call = self._parents.get(method)
        is_called = isinstance(call, ast.Call) and call.func is method
        return (
            Consumer(short_text(call), call) if is_called and isinstance(call, ast.Call) else None
        )

    def _counting_loop(self, node: ast.Subscript) -> ast.For | ast.comprehension | None:
        """The loop around ``files[i]`` in which ``i`` takes every place of ``files``, or of a list
        next to it, once each.
        """
        written = dotted(node.value)
        if not isinstance(node.slice, ast.Name) or written is None:
            return None
        for loop in self._loops_around(node):
            if not uses_name(loop.target, node.slice.id) or self._is_bound(loop.iter):
                continue
            if mentions(loop.iter, written) or counts_places(self._meant(loop.iter)):
                return loop
        return None

    def _is_bound(self, node: ast.expr) -> bool:
        """``permutation(len(files))``: places in an order of their own."""
        if not isinstance(node, ast.Call):
            return False
        name = self._names.resolve(self._scope(node), node.func, node.lineno)
        return name is not None and name in self._vocabulary.order_bound

    def _by_comprehension(
        self, part: ast.comprehension, depth: int, kind: OrderKind
    ) -> Consumer | None:
        outer = self._parents[part]
        if isinstance(outer, ast.ListComp | ast.GeneratorExp):
            names = {name.id for name in nodes(part.target) if isinstance(name, ast.Name)}
            if not any(uses_name(outer.elt, name) for name in names):
                return None
            return self._consumer(outer, depth + 1, kind, isinstance(outer, ast.ListComp))
        return None

    def _by_name(
        self, statement: ast.stmt, target: ast.expr, depth: int, kind: OrderKind, listed: bool
    ) -> Consumer | None:
        """A name that is given the value: what builds on it later in the function."""
        written = dotted(target)
        if written is None:
            return None
        if written.startswith("self."):
            reads = self._reads_in_class(statement, written)
        else:
            reads = self._reads(self._function(statement), written, statement)
        uses = sorted(reads, key=lambda node: (node.lineno, node.col_offset))
        if any(self._is_sorted_in_place(node) for node in uses[:1]):
            return None
        if any(self._is_length_test(node) for node in uses):
            return None
        likely: Consumer | None = None
        for node in uses:
            if self._is_sorted_in_place(node):
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
        everywhere = self._everywhere(function, written)
        first = bisect_right(everywhere, end, key=lambda node: node.lineno)
        for place in range(first, len(everywhere)):
            node = everywhere[place]
            if node.lineno > last:
                return
            if self._excludes(statement, node):
                continue
            if isinstance(node.ctx, ast.Store):
                stored = self._parents.get(node)
                whole = isinstance(stored, ast.Assign) and stored.end_lineno
                last = min(last, whole or node.lineno)
            elif isinstance(node.ctx, ast.Load):
                yield node

    def _excludes(self, statement: ast.stmt, node: ast.AST) -> bool:
        """Whether a statement and a place stand in different arms of one test."""
        inside: dict[ast.AST, ast.AST] = {}
        step: ast.AST = statement
        while step in self._parents:
            inside[self._parents[step]] = step
            step = self._parents[step]
        while node in self._parents and self._parents[node] not in inside:
            node = self._parents[node]
        test = self._parents.get(node)
        if not isinstance(test, ast.If) or inside[test] is node:
            return False
        return (inside[test] in test.body) != (node in test.body) and node is not test.test

    def _everywhere(self, around: ast.AST, written: str) -> list[ast.Name | ast.Attribute]:
        """The places that write a name, line by line; all names of a function are looked for at
        once, for many of them may hold what has no order.
        """
        if around not in self._written:
            found: dict[str, list[ast.Name | ast.Attribute]] = {}
            for node in nodes(around):
                if isinstance(node, ast.Name | ast.Attribute):
                    name = dotted(node)
                    if name is not None:
                        found.setdefault(name, []).append(node)
            for places in found.values():
                places.sort(key=lambda node: node.lineno)
            self._written[around] = found
        return self._written[around].get(written, [])

    def _reads_in_class(self, statement: ast.stmt, written: str) -> list[ast.expr]:
        """Where the methods of a class read an attribute; none if it is given something else, or
        sorted, in another place.
        """
        around: ast.AST = statement
        while around in self._parents and not isinstance(around, ast.ClassDef):
            around = self._parents[around]
        found: list[ast.expr] = []
        for node in self._everywhere(around, written):
            if isinstance(node.ctx, ast.Load):
                if self._is_sorted_in_place(node):
                    return []
                found.append(node)
            elif self._parents.get(node) is not statement:
                return []
        return found

    def _is_sorted_in_place(self, node: ast.expr) -> bool:
        parent = self._parents.get(node)
        return isinstance(parent, ast.Attribute) and parent.attr in _SORTING

    def _is_length_test(self, node: ast.expr) -> bool:
        """``len(files) == 1``, ``len(set(sizes)) == 1``: one element has no order."""
        call = self._parents.get(node)
        if isinstance(call, ast.Call) and dotted(call.func) in _DISTINCT:
            call = self._parents.get(call)
        if not isinstance(call, ast.Call) or dotted(call.func) != "len":
            return False
        test = self._parents.get(call)
        if not isinstance(test, ast.Compare) or len(test.ops) != 1 or test.left is not call:
            return False
        few = self._constant(test.comparators[0])
        wanted = _ONE.get(type(test.ops[0]))
        return wanted is not None and few == wanted

    def _by_loop(self, loop: ast.For, depth: int, kind: OrderKind) -> Consumer | None:
        """A list that the loop fills takes its order over, and so does a table that numbers. A
        loop that breaks off looks for one element.
        """
        if any(isinstance(node, ast.Break) for node in nodes(loop)):
            return None
        if kind == "listing" and self._walks_in_order(loop):
            return None
        for statement in loop.body:
            for node in nodes(statement):
                if kind == "set" and self._is_numbered_by(node, loop):
                    assert isinstance(node, ast.Call)
                    return Consumer(short_text(node), node)
                if isinstance(node, ast.AugAssign) and self._numbers_elements(loop, node):
                    return Consumer(f"the number in {ast.unparse(node)}", node)
                filled = filled_list(node)
                if filled is None or not self._is_plain_list(loop, filled):
                    continue
                after = self._by_name(loop, filled, depth + 1, kind, True)
                if after is not None:
                    surely = after.sure or (kind == "listing" and not self._keeps_name(node, loop))
                    return msgspec.structs.replace(after, sure=surely)
        return None

    def _keeps_name(self, node: ast.AST, loop: ast.For) -> bool:
        """``found.append(name)``: what the loop has listed, not what it has read."""
        if not isinstance(node, ast.Call) or len(node.args) != 1:
            return False
        return dotted(node.args[0]) == dotted(loop.target) is not None

    def _numbers_elements(self, loop: ast.For, step: ast.AugAssign) -> bool:
        """Whether a number that a loop counts up from before it stays with each element."""
        number = counted_up(step)
        if number is None or not keeps_number(loop, number):
            return False
        for node in nodes(loop):
            if isinstance(node, ast.Assign) and dotted(node.targets[0]) == number:
                return False
        return True

    def _walks_in_order(self, loop: ast.For) -> bool:
        """Whether a walk over folders sorts what it lists: ``dirs.sort()``, ``sorted(files)``."""
        if not isinstance(loop.target, ast.Tuple) or not isinstance(loop.iter, ast.Call):
            return False
        name = self._names.resolve(self._scope(loop), loop.iter.func, loop.lineno)
        if name is None or name not in self._vocabulary.walks:
            return False
        folders, files = (dotted(part) for part in loop.target.elts[1:3])
        return self._is_put_in_order(loop, folders) and self._is_read_in_order(loop, files)

    def _is_put_in_order(self, loop: ast.For, written: str | None) -> bool:
        """Whether a loop sorts a list in place: ``dirs.sort()``, ``dirs[:] = sorted(dirs)``."""
        for node in nodes(loop):
            if not isinstance(node, ast.Name) or node.id != written:
                continue
            parent = self._parents.get(node)
            if self._is_sorted_in_place(node):
                return True
            if isinstance(parent, ast.Subscript) and isinstance(parent.ctx, ast.Store):
                return True
        return False

    def _is_read_in_order(self, loop: ast.For, written: str | None) -> bool:
        """Whether a loop reads a list sorted, wherever it reads it."""
        if self._is_put_in_order(loop, written):
            return True
        for node in nodes(loop):
            if isinstance(node, ast.Name) and node.id == written and node is not loop.target:
                parent = self._parents.get(node)
                name = dotted(parent.func) if isinstance(parent, ast.Call) else None
                if isinstance(node.ctx, ast.Load) and name not in ("sorted", "natsorted", "len"):
                    return False
        return True

    def _is_numbered_by(self, node: ast.AST, loop: ast.For) -> bool:
        """Whether a call hands the element to a method of this file that gives it a number."""
        if not isinstance(node, ast.Call) or not isinstance(node.func, ast.Attribute):
            return False
        name = dotted(loop.target)
        if name is None or not any(uses_name(part, name) for part in node.args):
            return False
        for method in self._names.numbers:
            if isinstance(method, ast.FunctionDef) and method.name == node.func.attr:
                return gives_numbers(method)
        return False

    def _is_plain_list(self, loop: ast.For, filled: ast.expr) -> bool:
        """Whether the list is made before the loop, not in it."""
        written = dotted(filled)
        if written is None:
            return False
        for node in nodes(loop):
            if isinstance(node, ast.Assign) and dotted(node.targets[0]) == written:
                return False
        return True
