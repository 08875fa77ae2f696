"""What ``files[…]`` asks for: one place, a chunk, a place that something else has found."""

from __future__ import annotations

import ast
import re

from d9m.scan.syntax.expressions import dotted, nodes
from d9m.scan.syntax.shapes import counted_up, is_number, mentions, uses_name
from d9m.scan.syntax.tree import Tree
from d9m.scan.vocabulary import Vocabulary

MAKE_LISTS = ("builtins.list", "builtins.tuple", "builtins.reversed", "numpy.array")
_COUNTING = ("enumerate", "range", "xrange")
_DEEPEST = 6
_HELD_OUT = re.compile(r"(?i)(^|[_.])(val|valid|validation|test|eval)(_|s?$)")
_HELD_OUT_CLASS = re.compile(r"(?<![A-Z])(Val|Valid|Validation|Test|Eval)(?=[A-Z_]|[Ss]et|$)")
_HELD_OUT_WORDS = ("test", "testing", "val", "valid", "validation", "eval", "dev")
_HANDFUL = 16


class Places:
    """Reads the places of one file."""

    def __init__(self, tree: Tree, vocabulary: Vocabulary) -> None:
        self._tree = tree
        self._vocabulary = vocabulary

    def asks_shape(self, node: ast.expr) -> bool:
        """``zeros_like(files[-1])`` takes the shape of its argument, and not what it holds; and so
        does ``files[-1].shape``.
        """
        call = self._tree.parents.get(node)
        if isinstance(call, ast.Attribute):
            return f".{call.attr}" in self._vocabulary.asks_shape
        if not isinstance(call, ast.Call) or node not in call.args:
            return False
        name = self._tree.name(call.func)
        return name is not None and name in self._vocabulary.asks_shape

    def takes_all(self, index: ast.expr) -> bool:
        """``table[:, 0]``: one column of all rows."""
        if not isinstance(index, ast.Tuple) or not index.elts:
            return False
        first = index.elts[0]
        return isinstance(first, ast.Slice) and self.is_whole(first)

    def is_mask(self, index: ast.expr) -> bool:
        """``files[sizes > 10]``: those that meet a condition, in their order."""
        index = self._tree.meant(index)
        if isinstance(index, ast.UnaryOp) and isinstance(index.op, ast.Invert):
            return self.is_mask(index.operand)
        if isinstance(index, ast.BinOp) and isinstance(index.op, ast.BitAnd | ast.BitOr):
            return self.is_mask(index.left) or self.is_mask(index.right)
        return isinstance(index, ast.Compare)

    def is_found_place(self, index: ast.expr) -> bool:
        """``files[argmin(losses)]``: the place of an element that is chosen by what it is; also
        ``files[i]`` where a loop takes ``i`` from such places.
        """
        if self._finds_places(index):
            return True
        if not isinstance(index, ast.Name):
            return False
        return any(
            uses_name(loop.target, index.id) and self._finds_places(loop.iter)
            for loop in self._tree.loops_around(index)
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
            meant = self._tree.meant(node)
            return meant is not node and self._finds_places(meant, depth + 1)
        if not isinstance(node, ast.Call):
            return False
        name = self._tree.name(node.func)
        if self._is_finder(node.func, depth):
            return True
        if name == "builtins.sorted":
            return isinstance(node.args[0], ast.Call) and dotted(node.args[0].func) == "range"
        if name in (*MAKE_LISTS, "builtins.int") and node.args:
            return self._finds_places(node.args[0], depth + 1)
        return self._finds_places(node.func, depth + 1)

    def _is_finder(self, node: ast.expr, depth: int) -> bool:
        """Whether a function finds places; of a name, each that it is given."""
        name = self._tree.name(node)
        if name is not None:
            return name in self._vocabulary.finds_places
        if isinstance(node, ast.IfExp):
            return self._is_finder(node.body, depth) and self._is_finder(node.orelse, depth)
        given = self._tree.given(node) if depth < _DEEPEST else ()
        return bool(given) and all(self._is_finder(value, depth + 1) for value in given)

    def is_stepped(self, index: ast.expr) -> bool:
        """Whether a loop around ``files[left]`` steps the place from one end to the other."""
        node: ast.AST = index
        while node in self._tree.parents and node not in self._tree.definitions:
            node = self._tree.parents[node]
            if isinstance(node, ast.While):
                steps = [part for part in nodes(node) if isinstance(part, ast.AugAssign)]
                return any(dotted(step.target) == dotted(index) is not None for step in steps)
        return False

    def is_counted_along(self, node: ast.Subscript) -> bool:
        """Whether a loop over ``files`` counts ``i`` up next to it: ``files[i]`` is its element."""
        for loop in self._tree.loops_around(node):
            if dotted(loop.iter) is None or dotted(loop.iter) != dotted(node.value):
                continue
            for part in nodes(loop):
                if isinstance(part, ast.AugAssign) and counted_up(part) == dotted(node.slice):
                    return True
        return False

    def is_in_chunk(self, index: ast.expr) -> bool:
        """``files[start + i]``, where a loop counts ``i``: mostly one chunk after the other."""
        if not isinstance(index, ast.BinOp) or not isinstance(index.op, ast.Add):
            return False
        counted = {dotted(loop.target) for loop in self._tree.loops_around(index)}
        return any(isinstance(part, ast.Name) and part.id in counted for part in nodes(index))

    def is_glance(self, part: ast.Slice) -> bool:
        """``files[:5]``: a handful of the first, mostly to look at."""
        few = self._tree.constant(part.upper) if part.upper is not None else None
        return part.lower is None and isinstance(few, int) and 0 < few <= _HANDFUL

    def is_held_out(self, node: ast.AST) -> bool:
        """Whether a list is one to measure on, as its name says: ``shuffle(val_files)``,
        ``self.test_files[index]``. It is measured as a whole, in whatever order.
        """
        if isinstance(node, ast.Call) and node.args:
            node = node.args[0]
        elif isinstance(node, ast.Subscript):
            node = node.value
        else:
            return False
        name = dotted(node)
        return name is not None and bool(_HELD_OUT.search(name)) and "train" not in name.lower()

    def is_of_held_out(self, node: ast.AST) -> bool:
        """Whether the name of the class around says that it holds what is measured on, or a test of
        a word: ``if mode == "test":``.
        """
        if _HELD_OUT_CLASS.search(self._tree.class_name(node)):
            return True
        while node in self._tree.parents:
            inner, node = node, self._tree.parents[node]
            if isinstance(node, ast.If) and inner in node.body and _asks_for_held_out(node.test):
                return True
        return False

    def tries_out(self, node: ast.AST) -> bool:
        """Whether a test of a debugging option decides that it runs."""
        while node in self._tree.parents:
            node = self._tree.parents[node]
            if isinstance(node, ast.If) and "debug" in ast.unparse(node.test).lower():
                return True
        return False

    def is_chunk(self, part: ast.Slice) -> bool:
        """``files[i : i + 32]``, where a loop counts ``i`` through all of them."""
        if part.lower is None or part.upper is None:
            return False
        for loop in self._tree.loops_around(part):
            for name in nodes(loop.target):
                if isinstance(name, ast.Name) and uses_name(part.lower, name.id):
                    return uses_name(part.upper, name.id)
        return False

    def is_root(self, index: ast.expr) -> bool:
        """``walked[0]``, ``walked[:1]``, and ``walked[1:]`` for the rest."""
        if not isinstance(index, ast.Slice):
            return self._tree.constant(index) == 0
        ends: list[object] = []
        for part in (index.lower, index.upper):
            ends.append(part if part is None else self._tree.constant(part))
        return index.step is None and ends in ([None, 1], [0, 1], [1, None])

    def is_split(self, node: ast.Subscript) -> bool:
        """``files[:80]`` where the same function has ``files[80:]``, too."""
        written = dotted(node.value)
        if written is None:
            return False
        first: set[str] = set()
        rest: set[str] = set()
        for place in self._tree.everywhere(self._tree.function(node), written):
            part = self._tree.parents.get(place)
            if not isinstance(part, ast.Subscript) or not isinstance(part.slice, ast.Slice):
                continue
            if part.slice.upper is not None:
                first.add(ast.unparse(part.slice.upper))
            if part.slice.lower is not None:
                rest.add(ast.unparse(part.slice.lower))
        return not first.isdisjoint(rest)

    def is_whole(self, part: ast.Slice) -> bool:
        """``files[:]``, ``files[0::1]``."""
        if part.upper is not None:
            return False
        from_first = part.lower is None or self._tree.constant(part.lower) == 0
        return from_first and (part.step is None or self._tree.constant(part.step) in (1, -1))

    def is_nothing(self, part: ast.Slice) -> bool:
        """``files[1:1]``, which is always empty."""
        ends = [self._tree.constant(end) if end else 0 for end in (part.lower, part.upper)]
        if part.upper is None or part.step is not None:
            return False
        lower, upper = ends
        return isinstance(lower, int) and isinstance(upper, int) and 0 <= upper <= lower

    def takes_out(self, call: ast.Call, owner: ast.expr) -> bool:
        """``files.pop(files.index(name))``: the place is asked for to take or find the element."""
        parent = self._tree.parents.get(call)
        written = dotted(owner)
        if isinstance(parent, ast.Subscript) and parent.slice is call:
            return dotted(parent.value) == written is not None
        if not isinstance(parent, ast.Call) or not isinstance(parent.func, ast.Attribute):
            return False
        return parent.func.attr == "pop" and dotted(parent.func.value) == written is not None

    def finds_again(self, call: ast.Call, owner: ast.expr) -> bool:
        """``at = files.index(name)``, where ``at`` only picks from the same list: the element that
        was asked for.
        """
        lists = self._picked_from(call)
        return bool(lists) and lists == {dotted(owner)} != {None}

    def only_picks(self, call: ast.Call) -> bool:
        """Whether a place only picks from lists, such as one of the same order."""
        return bool(self._picked_from(call))

    def _picked_from(self, call: ast.Call) -> set[str | None]:
        """The lists that the name of a place picks from; none if something else reads it."""
        parent = self._tree.parents.get(call)
        if not isinstance(parent, ast.Assign) or not isinstance(parent.targets[0], ast.Name):
            return set()
        found: set[str | None] = set()
        for read in self._tree.everywhere(self._tree.function(parent), parent.targets[0].id):
            if not isinstance(read.ctx, ast.Load):
                continue
            around = self._tree.parents.get(read)
            if not isinstance(around, ast.Subscript) or around.slice is not read:
                return set()
            found.add(dotted(around.value))
        return found

    def looked_up_in(self, node: ast.Subscript) -> str | None:
        """The list that the place is of: ``stems`` of ``files[at]``, where ``at`` is
        ``stems.index(name)``.
        """
        call = self._tree.meant(node.slice)
        if not isinstance(call, ast.Call) or not isinstance(call.func, ast.Attribute):
            return None
        return dotted(call.func.value) if call.func.attr == "index" else None

    def is_picked_by_caller(self, node: ast.AST) -> bool:
        """``self.files[index]``, where the function gets ``index``: others decide the places."""
        if not isinstance(node, ast.Subscript) or isinstance(node.slice, ast.Slice):
            return False
        function = self._tree.function(node)
        if not isinstance(function, ast.FunctionDef | ast.AsyncFunctionDef):
            return False
        return any(uses_name(node.slice, one.arg) for one in function.args.args)

    def is_one_place(self, index: ast.expr) -> bool:
        """``files[0]``, or ``files[first]`` where ``first = 0``."""
        return is_number(self._tree.meant(index))

    def is_chosen(self, index: ast.expr) -> bool:
        """``files[choose(scores)]``, where a variable holds the function: it chooses by something
        that the text does not show.
        """
        if not isinstance(index, ast.Call) or not isinstance(index.func, ast.Name):
            return False
        return self._tree.name(index.func) is None

    def counting_loop(self, node: ast.Subscript) -> ast.For | ast.comprehension | None:
        """The loop around ``files[i]`` in which ``i`` takes every place of ``files``, or of a list
        next to it, once each.
        """
        written = dotted(node.value)
        if not isinstance(node.slice, ast.Name) or written is None:
            return None
        for loop in self._tree.loops_around(node):
            if not uses_name(loop.target, node.slice.id) or self._is_bound(loop.iter):
                continue
            if mentions(loop.iter, written) or self._counts_places(loop.iter):
                return loop
        return None

    def _counts_places(self, node: ast.expr) -> bool:
        """``enumerate(…)``, ``range(len(…))``, each perhaps behind a progress bar or a name."""
        node = self._tree.meant(node)
        while isinstance(node, ast.Call) and dotted(node.func) not in _COUNTING and node.args:
            node = node.args[0]
        if not isinstance(node, ast.Call) or not node.args:
            return False
        if dotted(node.func) == "enumerate":
            return True
        counted = self._tree.meant(node.args[-1])
        is_length = isinstance(counted, ast.Call) and dotted(counted.func) == "len"
        return is_length and dotted(node.func) in _COUNTING

    def _is_bound(self, node: ast.expr) -> bool:
        """``permutation(len(files))``: places in an order of their own."""
        if not isinstance(node, ast.Call):
            return False
        name = self._tree.name(node.func)
        return name is not None and name in self._vocabulary.order_bound


def _asks_for_held_out(test: ast.expr) -> bool:
    """``mode == "test"``."""
    if not isinstance(test, ast.Compare) or not isinstance(test.ops[0], ast.Eq):
        return False
    word = test.comparators[0]
    return isinstance(word, ast.Constant) and word.value in _HELD_OUT_WORDS
