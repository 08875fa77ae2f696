"""Values whose order is not fixed, where nothing in the same function puts them in order."""

from __future__ import annotations

import ast
import copy
from typing import Any, Literal, TypeAlias

import msgspec

from d9m.scan.facts import Order
from d9m.scan.reading.expressions import children, dotted, last_name, nodes, short_text
from d9m.scan.reading.state import ReadingState
from d9m.scan.vocabulary import Vocabulary

Kind: TypeAlias = Literal["listing", "set", "completion", "identity", "hash"]

_DEEPEST = 8
_LONGEST = 100
_FILLS = ("append", "extend", "insert", "put", "write", "writerow")
"""Methods that keep what a loop gives them, in its order."""
_SET_METHODS = ("copy", "difference", "intersection", "symmetric_difference", "union")
_SET_OPERATORS = (ast.BitAnd, ast.BitOr, ast.BitXor, ast.Sub)
_LISTS = ("list", "tuple", "enumerate", "iter", "next", "map", "zip", "array", "join", "fromkeys")
"""Calls, by their last name, that take the elements of a set one after the other."""
_TRIPLES, _TRIPLE = "triples", "triple"
"""The elements of a walk over folders, and one of them: its root has its place."""
_NUMBERS = ("range", "len", "int", "ord", "round")


class _Way:
    """How an expression was followed."""

    def __init__(self, kind: Kind, scope: int, walk: str) -> None:
        self.kind: Kind = kind
        self.scope = scope
        self.walk = walk
        self.depth = 0
        self.numbered = False
        """Through ``enumerate``."""
        self.call: ast.AST | None = None
        """The last call that got it."""

    def list_it(self) -> None:
        """Take the elements of a set one after the other."""
        self.kind = "listing" if self.kind == "set" else self.kind


class Onward(msgspec.Struct):
    """An expression of the same order, to follow."""

    to: ast.AST


Step: TypeAlias = ast.AST | Onward | None
"""The node that uses an order, or a place to follow; None where nothing uses it."""


class Orders:
    """Collects what has no fixed order, and looks at its use once the file is read."""

    def __init__(self, vocabulary: Vocabulary, here: ReadingState, tree: ast.Module) -> None:
        self._vocabulary = vocabulary
        self._here = here
        self._tree = tree
        self._found: list[tuple[Kind, ast.expr, str, int]] = []
        self._parents: dict[ast.AST, ast.AST] = {}
        self._written: dict[ast.AST, dict[str, list[ast.expr]]] = {}

    # --- sources -----------------------------------------------------------------------

    def called(self, node: ast.Call, name: str | None) -> None:
        """A listing, a set, results as they are ready, a hash, an order by identity."""
        marks, method = self._vocabulary.marks, f".{last_name(node.func)}"
        is_method = isinstance(node.func, ast.Attribute)
        if name is not None and name in marks("listings"):
            self._add("listing", node, name)
        elif name is None and is_method and method in marks("listing_methods"):
            if method[1:] in marks("own_methods") or self._is_folder(node.func.value):  # type: ignore[attr-defined]
                self._add("listing", node, method[1:])
        elif (name or "") in marks("completions") or (is_method and method in marks("completions")):
            self._add("completion", node, name or method[1:])
        elif name in ("builtins.set", "builtins.frozenset") and len(node.args) == 1:
            if not _is_number(node.args[0]):
                self._add("set", node, "set")
        elif name == "builtins.hash" and node.args and not _is_number(node.args[0]):
            if not self._here.names.scopes[self._here.scope].name.endswith("__hash__"):
                self._add("hash", node, "hash")
        elif name == "builtins.sorted" or method == ".sort":
            keys = (part.value for part in node.keywords if part.arg == "key")
            for key in keys:
                if self._here.resolve(key) in ("builtins.id", "builtins.hash"):
                    self._add("identity", node, short_text(key))

    def shown(self, node: ast.Set | ast.SetComp) -> None:
        """A set as it is written."""
        elements = node.elts if isinstance(node, ast.Set) else [node.elt]
        if not all(map(_is_number, elements)) and (isinstance(node, ast.SetComp) or elements[1:]):
            self._add("set", node, "set")

    def _add(self, kind: Kind, node: ast.expr, name: str) -> None:
        self._found.append((kind, node, name, self._here.scope))

    def _is_folder(self, node: ast.expr, depth: int = 0) -> bool:
        """Whether an object is a path, as far as the function shows."""
        makers = self._vocabulary.marks("listing_makers")
        if isinstance(node, ast.BinOp):
            return isinstance(node.op, ast.Div)
        if isinstance(node, ast.Call):
            return (self._here.resolve(node.func) or "") in makers
        if not isinstance(node, ast.Name) or depth:
            return False
        for bound in self._here.names.bindings(self._here.scope, node.id)[0]:
            note = bound.annotation
            meant = note and self._here.names.resolve(bound.scope, note, bound.line)
            if (meant and meant in makers) or (bound.value and self._is_folder(bound.value, 1)):
                return True
        return False

    # --- uses --------------------------------------------------------------------------

    def finished(self) -> tuple[Order, ...]:
        """Those whose order is used, in the order of the text."""
        found: list[Order] = []
        seen: set[tuple[Kind, int, int]] = set()
        for kind, node, name, scope in self._found:
            if not self._parents:
                self._parents = _parents(self._tree)
            walk = name in self._vocabulary.marks("walks")
            way = _Way(kind, scope, _TRIPLES if walk else "")
            use = node if kind == "identity" else self._use(node, way)
            if use is None:
                continue
            place = self._here.spot(node)
            line = getattr(use, "lineno", place.line)
            if (kind, place.line, line) in seen:
                continue
            seen.add((kind, place.line, line))
            found.append(
                Order(
                    kind=kind,
                    name=name,
                    place=place,
                    used=short_text(use),
                    used_line=line,
                    subject=ast.unparse(node)[:_LONGEST],
                    can_wrap=kind in ("listing", "set") and not walk,
                )
            )
        return tuple(sorted(found, key=lambda order: order.place))

    def _use(self, node: ast.AST, way: _Way) -> ast.AST | None:
        """Return the node that uses the order of an expression; None where no node does."""
        while way.depth < _DEEPEST:
            way.depth += 1
            parent = self._parents.get(node)
            if isinstance(parent, ast.comprehension):
                node, parent = parent, self._parents[parent]
            step = _STEPS.get(type(parent))
            found = step(self, parent, node, way) if step is not None else None
            if not isinstance(found, Onward):
                return found
            node = found.to
        return None

    def by_call(self, call: ast.Call, node: ast.AST, way: _Way) -> Step:
        last = last_name(call.func)
        if node is call.func or self._is_blind(call, way.scope, "order_blind", "shows"):
            return None
        if self._name(call, way.scope) in self._vocabulary.marks("order_bound"):
            return call
        if way.kind == "hash":
            return None if last == "hash" else call
        if way.kind == "set" and last not in _LISTS:
            return None
        way.list_it()
        way.walk = _TRIPLE if way.walk and last == "next" else way.walk
        way.numbered = way.numbered or last == "enumerate"
        way.call = call
        return Onward(call)

    def by_part(self, parent: ast.AST, node: ast.AST, way: _Way) -> Step:
        """A part of an expression that keeps its order."""
        if isinstance(parent, ast.IfExp) and node is parent.test:
            return None
        if isinstance(parent, ast.Starred):
            way.list_it()
        keeps_set = not isinstance(parent, ast.List | ast.Tuple | ast.NamedExpr) and (
            not isinstance(parent, ast.BinOp) or isinstance(parent.op, _SET_OPERATORS)
        )
        return Onward(parent) if keeps_set or way.kind != "set" else None

    def by_method(self, method: ast.Attribute, _node: ast.AST, way: _Way) -> Step:
        call = self._parents.get(method)
        if not isinstance(call, ast.Call) or method.attr == "count":
            return None
        if way.kind == "set" and method.attr not in _SET_METHODS:
            return call if method.attr == "pop" else None
        return call if method.attr == "index" else Onward(call)

    def by_comprehension(self, made: ast.expr, _node: ast.AST, way: _Way) -> Step:
        if isinstance(made, ast.DictComp):
            return made if way.numbered else None
        way.list_it()
        return None if isinstance(made, ast.SetComp) else Onward(made)

    def by_subscript(self, part: ast.Subscript, node: ast.AST, way: _Way) -> Step:
        index = part.slice.value if isinstance(part.slice, ast.Constant) else None
        if node is not part.value or way.kind == "set" or (way.walk == _TRIPLE and index == 0):
            return None
        if not way.walk and not _is_whole(part.slice):
            around = self._parents.get(part)
            shows = isinstance(around, ast.Call) and self._is_blind(around, way.scope, "shows")
            return None if shows or isinstance(around, ast.FormattedValue) else part
        if index is not None:
            way.walk = _TRIPLE if way.walk == _TRIPLES and index == 0 else ""
        return Onward(part)

    def by_end(self, parent: ast.stmt | ast.expr, node: ast.AST, way: _Way) -> Step:
        """A statement, or an expression that gives something else."""
        if isinstance(parent, ast.Expr):
            return way.call
        if way.kind == "hash":
            return (
                None if isinstance(parent, ast.Compare) and isinstance(node, ast.Call) else parent
            )
        is_kept = not isinstance(parent, ast.Compare) and way.kind != "set"
        return parent if is_kept else None

    def by_assignment(
        self, statement: ast.Assign | ast.AnnAssign | ast.AugAssign, _node: ast.AST, way: _Way
    ) -> Step:
        target = statement.targets[0] if isinstance(statement, ast.Assign) else statement.target
        if isinstance(target, ast.Tuple | ast.List) and len(target.elts) == 1:
            return None
        name = dotted(target)
        if way.kind == "hash" or (name is None and way.kind != "set"):
            return statement
        return self._by_name(name, statement, way) if name is not None else None

    def _by_name(self, name: str, statement: ast.stmt, way: _Way) -> ast.AST | None:
        """Return the node that uses a name later in its function, unless that sorts it."""
        function = self._function(statement)
        end = statement.end_lineno or statement.lineno
        reads: list[ast.expr] = []
        for read in self._everywhere(function, name):
            if read.lineno > end and isinstance(getattr(read, "ctx", None), ast.Load):
                reads.append(read)
        if any(map(self._sorts, reads)):
            return None
        is_kept = "." in name or (not reads and isinstance(function, ast.Module))
        if is_kept and way.kind != "set":
            return statement
        uses = (self._use(read, copy.copy(way)) for read in reads)
        return next((use for use in uses if use is not None), None)

    def by_loop(self, loop: ast.For | ast.AsyncFor, node: ast.AST, way: _Way) -> Step:
        """Follow the elements that a loop keeps, in their order."""
        if node is not loop.iter or (way.walk and self._sorts_walk(loop)):
            return None
        filling = copy.copy(way)
        filling.kind, filling.walk = "listing", ""
        for inner in (part for statement in loop.body for part in nodes(statement)):
            if isinstance(inner, ast.Yield | ast.YieldFrom | ast.AugAssign):
                return inner
            if _numbers(inner, way.numbered):
                return inner
            filled = _filled(inner)
            use = self._by_name(filled, loop, copy.copy(filling)) if filled else None
            if use is not None:
                return inner if use is loop else use
        return None

    def _sorts(self, read: ast.expr) -> bool:
        """Whether a name is sorted where it is read."""
        parent = self._parents.get(read)
        word = parent.attr if isinstance(parent, ast.Attribute) else ""
        return "sort" in (last_name(parent.func) if isinstance(parent, ast.Call) else word)

    def _sorts_walk(self, loop: ast.For | ast.AsyncFor) -> bool:
        """Whether a loop over folders sorts both lists: ``dirs.sort()``, ``sorted(files)``."""
        target = loop.target
        if not isinstance(target, ast.Tuple) or len(target.elts) < 3:
            return False
        names = [dotted(part) or "" for part in target.elts[1:3]]
        return all(any(map(self._sorts, self._everywhere(loop, name))) for name in names)

    def _is_blind(self, call: ast.Call, scope: int, *fields: str) -> bool:
        """Whether a call gives the same in whatever order it gets its elements, or shows them."""
        names = (self._name(call, scope), f".{last_name(call.func)}")
        return any(name in self._vocabulary.marks(field) for name in names for field in fields)

    def _name(self, call: ast.Call, scope: int) -> str:
        return self._here.names.resolve(scope, call.func, call.lineno) or ""

    def _function(self, node: ast.AST) -> ast.AST:
        kinds = ast.FunctionDef | ast.AsyncFunctionDef | ast.Module | ast.ClassDef
        while node in self._parents and not isinstance(node, kinds):
            node = self._parents[node]
        return node

    def _everywhere(self, around: ast.AST, name: str) -> list[ast.expr]:
        """The places that write a name, in the order of the text."""
        if around not in self._written:
            found: dict[str, list[ast.expr]] = {}
            for node in nodes(around):
                written = dotted(node)
                if written is not None and isinstance(node, ast.expr):
                    found.setdefault(written, []).append(node)
            for places in found.values():
                places.sort(key=lambda node: (node.lineno, node.col_offset))
            self._written[around] = found
        return self._written[around].get(name, [])


_STEPS: dict[type[ast.AST] | type[None], Any] = {
    ast.Call: Orders.by_call,
    ast.Attribute: Orders.by_method,
    ast.Subscript: Orders.by_subscript,
    **dict.fromkeys(
        (ast.keyword, ast.Starred, ast.IfExp, ast.Await, ast.BinOp, ast.List, ast.Tuple,
         ast.NamedExpr),
        Orders.by_part,
    ),
    **dict.fromkeys(
        (ast.ListComp, ast.GeneratorExp, ast.SetComp, ast.DictComp), Orders.by_comprehension
    ),
    **dict.fromkeys((ast.For, ast.AsyncFor), Orders.by_loop),
    **dict.fromkeys((ast.Assign, ast.AnnAssign, ast.AugAssign), Orders.by_assignment),
    **dict.fromkeys(
        (ast.Expr, ast.Compare, ast.Return, ast.Yield, ast.YieldFrom, ast.Dict), Orders.by_end
    ),
}  # fmt: skip


def _numbers(node: ast.AST, numbered: bool) -> bool:
    """Whether a statement keeps a number for each element: ``index[name] = len(index)``."""
    if not isinstance(node, ast.Assign) or not isinstance(node.targets[0], ast.Subscript):
        return False
    return numbered or "len(" in ast.unparse(node.value)


def _filled(node: ast.AST) -> str | None:
    """The list of ``files.append(…)``."""
    if not isinstance(node, ast.Call) or not isinstance(node.func, ast.Attribute):
        return None
    return dotted(node.func.value) if node.func.attr in _FILLS else None


def _parents(tree: ast.Module) -> dict[ast.AST, ast.AST]:
    found: dict[ast.AST, ast.AST] = {}
    todo: list[ast.AST] = [tree]
    while todo:
        node = todo.pop()
        for child in children(node):
            found[child] = node
            todo.append(child)
    return found


def _is_whole(index: ast.expr) -> bool:
    """``[:]``, ``[::-1]``."""
    return isinstance(index, ast.Slice) and index.lower is None and index.upper is None


def _is_number(node: ast.expr) -> bool:
    """Whether an expression, or all that it holds, is a number by its form: its hash is fixed."""
    if isinstance(node, ast.Constant):
        return not isinstance(node.value, str | bytes)
    if isinstance(node, ast.List | ast.Tuple | ast.Set):
        return all(map(_is_number, node.elts))
    return isinstance(node, ast.Call) and dotted(node.func) in _NUMBERS
