"""Values whose order is not fixed, where nothing in the same function puts them in order."""

from __future__ import annotations

import ast
from typing import Literal, TypeAlias

from d9m.scan.facts import Order
from d9m.scan.reading.expressions import children, dotted, last_name, nodes, short_text
from d9m.scan.reading.state import State
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
"""What a walk over folders gives, and one of them: its root has its place."""
_NUMBERS = ("range", "len", "int", "ord", "round")


class Orders:
    """Collects what has no fixed order, and looks at its use once the file is read."""

    def __init__(self, vocabulary: Vocabulary, here: State, tree: ast.Module) -> None:
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
            start = _TRIPLES if walk else ""
            use = node if kind == "identity" else self._use(kind, node, scope, start, 0)
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

    def _use(self, kind: Kind, node: ast.AST, scope: int, walk: str, depth: int) -> ast.AST | None:
        """What uses the order of an expression; None where nothing in its function does."""
        numbered = False
        outer: ast.AST | None = None
        """The last call that got it."""
        while depth < _DEEPEST:
            parent = self._parents.get(node)
            if isinstance(parent, ast.Call) and node is not parent.func:
                last = last_name(parent.func)
                if self._is_blind(parent, scope, "order_blind", "shows"):
                    return None
                if self._name(parent, scope) in self._vocabulary.marks("order_bound"):
                    return parent
                if kind == "set" and last not in _LISTS:
                    return None
                if kind == "hash":
                    return None if last == "hash" else parent
                walk = _TRIPLE if walk and last == "next" else walk
                kind = "listing" if kind == "set" else kind
                outer = parent
                numbered = numbered or last == "enumerate"
            elif isinstance(parent, ast.keyword | ast.Starred | ast.IfExp | ast.Await):
                if isinstance(parent, ast.IfExp) and node is parent.test:
                    return None
                kind = "listing" if kind == "set" and isinstance(parent, ast.Starred) else kind
            elif isinstance(parent, ast.BinOp):
                if kind == "set" and not isinstance(parent.op, _SET_OPERATORS):
                    return None
            elif isinstance(parent, ast.Attribute):
                call = self._parents.get(parent)
                if not isinstance(call, ast.Call) or parent.attr == "count":
                    return None
                if kind == "set" and parent.attr not in _SET_METHODS:
                    return call if parent.attr == "pop" else None
                if parent.attr == "index":
                    return call
                parent = call
            elif isinstance(parent, ast.comprehension):
                node, parent = parent, self._parents[parent]
                if isinstance(parent, ast.SetComp) or (
                    isinstance(parent, ast.DictComp) and not numbered
                ):
                    return None
                if isinstance(parent, ast.DictComp):
                    return parent
                kind = "listing" if kind == "set" else kind
            elif isinstance(parent, ast.Subscript) and node is parent.value and kind != "set":
                index = parent.slice.value if isinstance(parent.slice, ast.Constant) else None
                if walk == _TRIPLE and index == 0:
                    return None
                if not walk and not _is_whole(parent.slice):
                    around = self._parents.get(parent)
                    is_shown = isinstance(around, ast.FormattedValue) or (
                        isinstance(around, ast.Call) and self._is_blind(around, scope, "shows")
                    )
                    return None if is_shown else parent
                walk = _TRIPLE if walk == _TRIPLES and index == 0 else "" if index else walk
            elif isinstance(parent, ast.List | ast.Tuple | ast.NamedExpr):
                if kind == "set":
                    return None
            elif isinstance(parent, ast.Expr):
                return outer
            else:
                return self._ended(kind, node, parent, scope, walk, depth, numbered)
            node, depth = parent, depth + 1
        return None

    def _ended(
        self,
        kind: Kind,
        node: ast.AST,
        parent: ast.AST | None,
        scope: int,
        walk: str,
        depth: int,
        numbered: bool,
    ) -> ast.AST | None:
        """What uses an expression that is not a part of another one."""
        if isinstance(parent, ast.For | ast.AsyncFor) and node is parent.iter:
            return self._by_loop(parent, scope, walk, depth, numbered)
        if kind == "hash":
            is_plain = isinstance(parent, ast.Compare) and isinstance(node, ast.Call)
            return None if is_plain or isinstance(parent, ast.FormattedValue) else parent
        if isinstance(parent, ast.Assign | ast.AnnAssign | ast.AugAssign):
            targets = parent.targets if isinstance(parent, ast.Assign) else [parent.target]
            if isinstance(targets[0], ast.Tuple | ast.List) and len(targets[0].elts) == 1:
                return None
            name = dotted(targets[0])
            if kind == "set" and name is None:
                return None
            return parent if name is None else self._by_name(kind, name, parent, scope, walk, depth)
        if kind != "set" and isinstance(parent, ast.Return | ast.Yield | ast.YieldFrom | ast.Dict):
            return parent
        return None

    def _by_name(
        self, kind: Kind, name: str, statement: ast.stmt, scope: int, walk: str, depth: int
    ) -> ast.AST | None:
        """What uses a name later in its function, unless that sorts it."""
        function = self._function(statement)
        end = statement.end_lineno or statement.lineno
        reads: list[ast.expr] = []
        for read in self._everywhere(function, name):
            if read.lineno > end and isinstance(getattr(read, "ctx", None), ast.Load):
                reads.append(read)
        for read in reads:
            parent = self._parents.get(read)
            if isinstance(parent, ast.Attribute) and "sort" in parent.attr:
                return None
            if isinstance(parent, ast.Call) and "sort" in last_name(parent.func):
                return None
        is_kept = "." in name or (not reads and isinstance(function, ast.Module))
        if is_kept and kind != "set":
            return statement
        for read in reads:
            use = self._use(kind, read, scope, walk, depth + 1)
            if use is not None:
                return use
        return None

    def _by_loop(
        self, loop: ast.For | ast.AsyncFor, scope: int, walk: str, depth: int, numbered: bool
    ) -> ast.AST | None:
        """What a loop keeps of its elements, in their order."""
        if walk and self._sorts_walk(loop):
            return None
        for statement in loop.body:
            for node in nodes(statement):
                numbers = isinstance(node, ast.Assign) and isinstance(
                    node.targets[0], ast.Subscript
                )
                if numbers and isinstance(node, ast.Assign):
                    numbers = numbered or "len(" in ast.unparse(node.value)
                if numbers or isinstance(node, ast.Yield | ast.YieldFrom | ast.AugAssign):
                    return node
                if not isinstance(node, ast.Call) or not isinstance(node.func, ast.Attribute):
                    continue
                filled = dotted(node.func.value)
                if node.func.attr not in _FILLS or filled is None:
                    continue
                use = self._by_name("listing", filled, loop, scope, "", depth + 1)
                if use is not None:
                    return node if use is loop else use
        return None

    def _sorts_walk(self, loop: ast.For | ast.AsyncFor) -> bool:
        """Whether a loop over folders sorts both lists: ``dirs.sort()``, ``sorted(files)``."""
        target = loop.target
        if not isinstance(target, ast.Tuple) or len(target.elts) < 3:
            return False
        return all(self._is_sorted(loop, dotted(part)) for part in target.elts[1:3])

    def _is_sorted(self, loop: ast.AST, name: str | None) -> bool:
        for node in self._everywhere(loop, name or ""):
            parent = self._parents.get(node)
            if isinstance(parent, ast.Attribute) and parent.attr == "sort":
                return True
            if isinstance(parent, ast.Call) and "sort" in last_name(parent.func):
                return True
        return False

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
