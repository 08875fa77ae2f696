"""The facts of a Python file, collected in one walk over its tree."""

from __future__ import annotations

import ast
import re
from collections.abc import Iterator, Sequence
from typing import Any

import msgspec

from d9m.scan import source
from d9m.scan.facts import Arms, Assignment, FileFacts, FileKind, Import, WrittenCall
from d9m.scan.reading.expressions import (
    as_argument,
    callee,
    children,
    dotted,
    is_main,
    last_name,
    literal,
    looked_up_else,
    nodes,
    tests_for_nothing,
)
from d9m.scan.reading.kinds import Kinds
from d9m.scan.reading.names import BUILTINS, LOCAL
from d9m.scan.reading.orders import Orders
from d9m.scan.reading.state import ReadingState
from d9m.scan.reading.variables import ENVIRON, Variables
from d9m.scan.vocabulary import Vocabulary

Cells = tuple[tuple[int, int], ...]

_VERSION = re.compile(r"(?i)version|^hasattr$")
_SEEDS = re.compile(r"(?i)seed|determin|reprod")
_DEEPEST_SEED = 4
_LEAVES = (ast.Return, ast.Raise, ast.Continue, ast.Break)
"""Statements after which nothing of the same block runs."""


def read_text(
    vocabulary: Vocabulary, path: str, text: str, kind: FileKind = "python", cells: Cells = ()
) -> FileFacts:
    """The facts of a Python text. Raises UnreadableError."""
    return source.with_deep_stack(lambda: _read(vocabulary, path, text, kind, cells))


def _read(vocabulary: Vocabulary, path: str, text: str, kind: FileKind, cells: Cells) -> FileFacts:
    tree = source.parse(text)
    reader = Reader(vocabulary, tree, text)
    reader.block(tree.body)
    return FileFacts(
        path=path,
        kind=kind,
        scopes=tuple(reader.here.names.scopes),
        imports=tuple(reader.here.names.imports),
        calls=tuple(reader.finished()),
        assignments=tuple(reader.assignments),
        variables=tuple(reader.variables.found),
        orders=reader.orders.finished(),
        called=tuple(sorted(reader.called)),
        sure_calls=tuple(dict.fromkeys(reader.sure_calls)),
        main=tuple(reader.main),
        options=tuple(dict.fromkeys(reader.options)),
        none_by_default=tuple(reader.none_by_default),
        may_seed=tuple(reader.may_seed),
        is_entry=reader.is_entry,
        is_script=reader.is_script,
        cells=cells,
    )


class Reader:
    """Walks over a tree once."""

    def __init__(self, vocabulary: Vocabulary, tree: ast.Module, text: str) -> None:
        self.here = ReadingState(tree, text, vocabulary.usual)
        self.calls: list[WrittenCall] = []
        self.assignments: list[Assignment] = []
        self.called: set[tuple[int, str]] = set()
        self.sure_calls: list[tuple[int, int, str]] = []
        self.main: list[tuple[int, int]] = []
        self.options: list[tuple[str, bool]] = []
        self.none_by_default: list[tuple[int, str]] = []
        self.may_seed: list[tuple[int, str]] = []
        self.variables = Variables(self.here)
        self.orders = Orders(vocabulary, self.here, tree)
        self.is_entry = self.is_script = False
        self._vocabulary = vocabulary
        self._kinds = Kinds(self.here.names, vocabulary)
        self._targets: dict[ast.AST, str] = {}
        """Value of an assignment -> what it is given to."""
        self._given: dict[tuple[int, str], ast.expr] = {}
        """Scope, and attribute as written -> what it was given last: ``args.seed = time()``."""
        self._written_down: set[tuple[int, str]] = set()
        """Scope, and name as written, of what is shown, stored or returned."""
        self._stand_ins: dict[str, str] = {}
        """Name of compiled code, or of a class of models -> the call or class of the records."""
        self._branches = 0

    # --- statements --------------------------------------------------------------------

    def block(self, body: Sequence[ast.stmt]) -> None:
        for statement in body:
            self.visit(statement)
            if isinstance(statement, _LEAVES):
                break

    def visit(self, node: ast.AST) -> None:
        visitor = _VISITORS.get(type(node))
        if visitor is not None:
            visitor(self, node)
            return
        for part in children(node):
            self.visit(part)

    def _visit_all(self, parts: Sequence[ast.AST | None]) -> None:
        for part in parts:
            if part is not None:
                self.visit(part)

    def _branch(self, body: Sequence[ast.stmt | ast.expr], arm: tuple[int, int]) -> None:
        arms: Arms = (*self.here.arms, arm)
        with self.here.within(arms=arms):
            if all(isinstance(part, ast.stmt) for part in body):
                self.block(body)  # type: ignore[arg-type]
            else:
                self._visit_all(body)

    def on_function(self, node: ast.FunctionDef | ast.AsyncFunctionDef) -> None:
        self._visit_all(node.decorator_list)
        self._visit_all([*node.args.defaults, *node.args.kw_defaults])
        without = False
        for decorator in node.decorator_list:
            name = self.here.resolve(callee(decorator)) or ""
            without = without or name in self._vocabulary.marks("no_gradients")
            if name in self._vocabulary.marks("trains"):
                call = ast.copy_location(ast.Call(callee(decorator), [], []), decorator)
                self._keep(call, name)
        with self.here.within(
            scope=self.here.names.numbers[node],
            arms=(),
            without_gradients=without,
            guarded=False,
            fallback=False,
            in_loop=False,
            in_main=False,
        ):
            self.block(node.body)
        own = node.args
        positional = [*own.posonlyargs, *own.args]
        last = positional[len(positional) - len(own.defaults) :]
        for part, default in (*zip(last, own.defaults), *zip(own.kwonlyargs, own.kw_defaults)):
            if isinstance(default, ast.Constant) and default.value is None:
                self.none_by_default.append((self.here.names.numbers[node], part.arg))

    def on_class(self, node: ast.ClassDef) -> None:
        self._visit_all([*node.decorator_list, *node.bases, *node.keywords])
        for name in (self.here.resolve(base) or "" for base in node.bases):
            if name in self._vocabulary.marks("models"):
                self._stand_ins[node.name] = name
        with self.here.within(scope=self.here.names.numbers[node]):
            self.block(node.body)

    def on_if(self, node: ast.If | ast.IfExp) -> None:
        body = node.body if isinstance(node, ast.If) else [node.body]
        other = node.orelse if isinstance(node, ast.If) else [node.orelse]
        if self.here.scope == 0 and is_main(node.test) and isinstance(node, ast.If):
            self.is_entry = True
            self.main.append((node.lineno, node.body[-1].end_lineno or node.lineno))
            with self.here.within(in_main=True):
                self.block(node.body)
            self.block(node.orelse)
            return
        self.visit(node.test)
        self._branches += 1
        number = self._branches
        asks = any(_VERSION.search(last_name(part)) for part in nodes(node.test))  # type: ignore[arg-type]
        nothing = tests_for_nothing(node.test)
        never = (
            "" if not isinstance(node.test, ast.Constant) else "else" if node.test.value else "body"
        )
        for place, (part, name) in enumerate(((body, "body"), (other, "else"))):
            fallback = self.here.fallback or nothing == name
            if name != never:
                with self.here.within(guarded=self.here.guarded or asks, fallback=fallback):
                    self._branch(part, (number, place))

    def on_loop(self, node: ast.For | ast.AsyncFor | ast.While) -> None:
        self._visit_all([node.test] if isinstance(node, ast.While) else [node.iter, node.target])
        with self.here.within(in_loop=True):
            self.block(node.body)
        self.block(node.orelse)

    def on_match(self, node: ast.Match) -> None:
        self.visit(node.subject)
        self._branches += 1
        number = self._branches
        for place, case in enumerate(node.cases):
            self._visit_all([case.guard])
            self._branch(case.body, (number, place))

    def on_try(self, node: ast.Try) -> None:
        with self.here.within(guarded=self.here.guarded or bool(node.handlers)):
            self.block(node.body)
            for handler in node.handlers:
                self.block(handler.body)
        self.block(node.orelse)
        self.block(node.finalbody)

    def on_with(self, node: ast.With | ast.AsyncWith) -> None:
        without = self.here.without_gradients
        for item in node.items:
            self.visit(item.context_expr)
            name = self.here.resolve(callee(item.context_expr)) or ""
            without = without or name in self._vocabulary.marks("no_gradients")
        with self.here.within(without_gradients=without):
            self.block(node.body)

    def on_comprehension(
        self, node: ast.ListComp | ast.SetComp | ast.GeneratorExp | ast.DictComp
    ) -> None:
        if isinstance(node, ast.SetComp):
            self.orders.shown(node)
        first, *others = node.generators
        self.visit(first.iter)
        names = frozenset(
            part.id
            for generator in node.generators
            for part in nodes(generator.target)
            if isinstance(part, ast.Name)
        )
        with self.here.within(shadows=(*self.here.shadows, names)):
            self._visit_all([test for generator in node.generators for test in generator.ifs])
            self._visit_all([generator.iter for generator in others])
            pair = isinstance(node, ast.DictComp)
            self._visit_all([node.key, node.value] if pair else [node.elt])  # type: ignore[union-attr]

    def on_lambda(self, node: ast.Lambda) -> None:
        self._visit_all([*node.args.defaults, *node.args.kw_defaults])
        names = frozenset(part.arg for part in nodes(node.args) if isinstance(part, ast.arg))
        with self.here.within(shadows=(*self.here.shadows, names)):
            self.visit(node.body)

    # --- expressions -------------------------------------------------------------------

    def on_expression(self, node: ast.Expr) -> None:
        value = node.value.value if isinstance(node.value, ast.Await) else node.value
        if isinstance(value, ast.Call) and self.here.scope == 0:
            self.is_script = True
        if not isinstance(value, ast.Constant):
            self.visit(value)

    def on_assign(self, node: ast.Assign | ast.AnnAssign) -> None:
        targets = node.targets if isinstance(node, ast.Assign) else [node.target]
        if node.value is None:
            return
        for target in targets:
            if isinstance(target, ast.Subscript):
                self._store(node.value)
                if self.here.resolve(target.value) == ENVIRON:
                    self.variables.assigned(node, target.slice, node.value)
                self.visit(target)
            elif isinstance(target, ast.Attribute):
                self._set(node, target, node.value)
        own = self.here.resolve(callee(node.value)) if isinstance(node.value, ast.Call) else None
        if self.here.scope == 0 and (own or "").startswith(LOCAL):
            self.is_script = True
        written = dotted(targets[0])
        if written is not None:
            self._targets[node.value] = written
        self.visit(node.value)

    def _set(
        self, node: ast.Assign | ast.AnnAssign, target: ast.Attribute, value: ast.expr
    ) -> None:
        """An attribute, perhaps one of a library, is given a value."""
        if written := dotted(target):
            self._given[self.here.scope, written] = value
        name = self.here.resolve(target)
        if name is not None and name in self._vocabulary.statements:
            self.assignments.append(
                Assignment(
                    name=name,
                    value=literal(value),
                    place=self.here.spot(node),
                    value_place=self.here.spot(value),
                    scope=self.here.scope,
                    arms=self.here.arms,
                )
            )

    def on_either(self, node: ast.BoolOp) -> None:
        for place, part in enumerate(node.values):
            spare = place > 0 and isinstance(node.op, ast.Or)
            with self.here.within(fallback=self.here.fallback or spare):
                self.visit(part)

    def on_return(self, node: ast.Return) -> None:
        if node.value is not None:
            self._store(node.value)
            self.visit(node.value)

    def on_set(self, node: ast.Set) -> None:
        self.orders.shown(node)
        self._visit_all(node.elts)

    def on_call(self, node: ast.Call) -> None:
        name = self.here.resolve(node.func)
        if isinstance(node.func, ast.Attribute):
            left = f".{node.func.attr}" in self._vocabulary.marks("leaves_gradients")
            with self.here.within(without_gradients=self.here.without_gradients or left):
                self.visit(node.func.value)
        elif not isinstance(node.func, ast.Name):
            self.visit(node.func)
        if name is not None and name in self._vocabulary.marks("imports_named"):
            module = literal(node.args[0]) if node.args else None
            if module is not None:
                taken = Import(module.strip("'\""), "", node.lineno, self.here.scope, True)
                self.here.names.imports.append(taken)
        self.variables.called(node, name)
        self.orders.called(node, name)
        self._record(node, name)
        self._visit_all([*node.args, *(keyword.value for keyword in node.keywords)])

    # --- calls -------------------------------------------------------------------------

    def _record(self, node: ast.Call, name: str | None) -> None:
        """Record a call, if it matters; `name` is its qualified name."""
        vocabulary, last = self._vocabulary, last_name(node.func)
        if not self.here.arms and last and not (name or "").startswith(BUILTINS):
            self.called.add((self.here.scope, last))
            if name is not None and vocabulary.package(name) is None:
                self.sure_calls.append((self.here.scope, node.lineno, name))
        if f".{last}" in vocabulary.marks("makes_option"):
            self._option(node)
        shows = vocabulary.marks("writes_down")
        if (name is not None and name in shows) or f".{last}" in shows:
            for part in nodes(node):
                self._store(part)
        target = self._targets.get(node, "")
        if "." in target and name is not None and name in vocabulary.marks("layers"):
            self._kinds.layers.add(target)
        is_own = name is not None and name[0] in (LOCAL, ".")
        if name is not None and not is_own and vocabulary.keeps(name):
            self._keep(node, name)
            if target and name in vocabulary.marks("compiles"):
                self._stand_ins[target] = name
        elif (written := dotted(node.func)) in self._stand_ins:
            self._keep(node, self._stand_ins[written or ""], written or "")
        elif isinstance(node.func, ast.Attribute) and not (name or "").startswith(LOCAL):
            wanted = vocabulary.keeps_method(node.func.attr)
            kind = self._kinds.of(self.here.scope, node.func.value) if wanted and not name else ""
            if wanted == "always" or kind:
                self._keep(node, f".{node.func.attr}", dotted(node.func.value) or "", kind)
        if _SEEDS.search(last) and not (name is not None and not is_own and vocabulary.keeps(name)):
            self.may_seed.append((node.lineno, last))

    def _option(self, node: ast.Call) -> None:
        """Record an option: ``parser.add_argument("--seed", type=int)``."""
        given = {part.arg: literal(part.value) for part in node.keywords}
        names = [(literal(part) or "").strip("'\"") for part in node.args]
        long = next((name for name in names if name.startswith("--")), "")
        name = (given.get("dest") or "").strip("'\"") or long.lstrip("-").replace("-", "_")
        if name:
            has_value = "default" in given and given["default"] != "None"
            is_none = not has_value and not given.keys() & {"action", "required"}
            self.options.append((name, is_none))

    def _keep(self, node: ast.Call, name: str, receiver: str = "", kind: str = "") -> None:
        positional = tuple(map(as_argument, node.args))
        keywords = {part.arg: as_argument(part.value) for part in node.keywords if part.arg}
        if any(part.arg is None for part in node.keywords):
            positional = (*positional, "*rest")
        if not kind and node.args and name[0] != ".":
            kind = self._kinds.of(self.here.scope, node.args[0])
        made: dict[str, bool] = {}
        for part in (*node.args, *(keyword.value for keyword in node.keywords)):
            self._made_from(part, made, 0, False)
        self.calls.append(
            WrittenCall(
                name=name,
                positional=positional,
                keywords=keywords,
                place=self.here.spot(node),
                scope=self.here.scope,
                arms=self.here.arms,
                receiver=receiver,
                kind=kind,
                target=self._targets.get(node, ""),
                made_from=tuple(made),
                without_gradients=self.here.without_gradients,
                guarded=self.here.guarded,
                fallback=self.here.fallback or (bool(made) and all(made.values())),
                in_loop=self.here.in_loop,
            )
        )

    def _made_from(
        self, node: ast.AST | None, found: dict[str, bool], depth: int, spare: bool
    ) -> None:
        """Name the calls by chance that a value is made from, and say of each whether it is only
        made where something else is None.
        """
        if node is None or isinstance(node, ast.Constant) or depth > _DEEPEST_SEED:
            return
        if isinstance(node, ast.IfExp):
            nothing = tests_for_nothing(node.test)
            self._made_from(node.body, found, depth, spare or nothing == "body")
            self._made_from(node.orelse, found, depth, spare or nothing == "else")
            return
        if isinstance(node, ast.Call):
            name = self.here.resolve(node.func) or ""
            if name in self._vocabulary.marks("chance") or name in self._vocabulary.marks("draws"):
                found[name] = found.get(name, True) and spare
        elif isinstance(node, ast.Name):
            self._made_from(self.here.only_value(node), found, depth + 2, spare)
        elif isinstance(node, ast.Attribute):
            given = self._given.get((self.here.scope, dotted(node) or ""))
            self._made_from(given, found, depth + 2, spare)
        default = looked_up_else(node)
        for place, part in enumerate(children(node)):
            second = place > 0 and isinstance(node, ast.BoolOp) and isinstance(node.op, ast.Or)
            self._made_from(part, found, depth, spare or part is default or second)

    def _store(self, value: ast.AST) -> None:
        """Remember a name that is shown, put under a key, or returned."""
        if written := dotted(value):
            self._written_down.add((self.here.scope, written))

    def finished(self) -> Iterator[WrittenCall]:
        """All calls, once the whole text is read: a seed can be shown after it is set."""
        for call in self.calls:
            seed = call.positional[0] if call.positional else ""
            is_shown = bool(call.made_from) and (call.scope, seed) in self._written_down
            yield msgspec.structs.replace(call, written_down=True) if is_shown else call


def _nothing(_reader: Reader, _node: ast.AST) -> None:
    """Names, constants and imports hold nothing to record."""


_VISITORS: dict[type[ast.AST], Any] = {
    ast.FunctionDef: Reader.on_function,
    ast.AsyncFunctionDef: Reader.on_function,
    ast.ClassDef: Reader.on_class,
    **dict.fromkeys((ast.If, ast.IfExp), Reader.on_if),
    **dict.fromkeys((ast.For, ast.AsyncFor, ast.While), Reader.on_loop),
    ast.Match: Reader.on_match,
    **dict.fromkeys((ast.Try, getattr(ast, "TryStar", ast.Try)), Reader.on_try),
    **dict.fromkeys((ast.With, ast.AsyncWith), Reader.on_with),
    **dict.fromkeys(
        (ast.ListComp, ast.SetComp, ast.GeneratorExp, ast.DictComp), Reader.on_comprehension
    ),
    ast.Lambda: Reader.on_lambda,
    ast.Expr: Reader.on_expression,
    **dict.fromkeys((ast.Assign, ast.AnnAssign), Reader.on_assign),
    ast.BoolOp: Reader.on_either,
    ast.Call: Reader.on_call,
    ast.Set: Reader.on_set,
    ast.Return: Reader.on_return,
    **dict.fromkeys((ast.Name, ast.Constant, ast.Import, ast.ImportFrom), _nothing),
}
"""One table for all readers: a table in each of them would hold its reader, and its tree, until
the collector comes.
"""
