"""The facts of a Python file, collected in one walk over its tree."""

from __future__ import annotations

import ast
import re
from collections.abc import Callable, Sequence
from typing import Any

import msgspec

from d9m.scan import source
from d9m.scan.facts import CodeScope, FileFacts, FileKind
from d9m.scan.flow.only_shown import OnlyShown
from d9m.scan.measuring import shows
from d9m.scan.reading.guarding import Guarding
from d9m.scan.reading.local_calls import LocalCalls
from d9m.scan.reading.order_sources import OrderSources
from d9m.scan.reading.recording import Recorder
from d9m.scan.reading.variables import Variables
from d9m.scan.source import Lines
from d9m.scan.syntax.expressions import (
    children,
    dotted,
    dotted_with_keys,
    is_main,
    last_name,
    nodes,
    tests_for_nothing,
)
from d9m.scan.syntax.mentions import mentions
from d9m.scan.syntax.predicates import leaves, predicates
from d9m.scan.syntax.standpoint import Standpoint
from d9m.scan.syntax.tree import Tree
from d9m.scan.vocabulary import Vocabulary

_CASTS = ("str", "int")
_REGISTERS = re.compile("regist", re.IGNORECASE)
_VERSION = re.compile("version", re.IGNORECASE)


def read_text(
    vocabulary: Vocabulary,
    path: str,
    text: str,
    kind: FileKind = "python",
    cells: tuple[tuple[int, int], ...] = (),
) -> FileFacts:
    """The facts of a Python text. Raises UnreadableError."""
    return source.with_deep_stack(lambda: _read(vocabulary, path, text, kind, cells))


def _read(
    vocabulary: Vocabulary, path: str, text: str, kind: FileKind, cells: tuple[tuple[int, int], ...]
) -> FileFacts:
    tree = source.parse(text)
    reader = Reader(vocabulary, tree, Lines(text))
    reader.read(tree.body)
    ways = Tree(tree, reader.here.names)
    orders, order_uses = reader.orders.orders(ways)
    found = mentions(tree)
    calls = reader.recorder.finished(OnlyShown(ways, vocabulary))
    return FileFacts(
        path=path,
        kind=kind,
        scopes=tuple(reader.scopes),
        imports=tuple(reader.here.names.imports),
        calls=calls,
        assignments=tuple(reader.recorder.assignments),
        variables=tuple(reader.variables.found),
        called=tuple(reader.local_calls.found),
        own_draws=tuple(reader.recorder.own_draws),
        states=tuple(reader.recorder.states),
        options=tuple(reader.recorder.options),
        guards=tuple(reader.guarding.guards),
        attributes=tuple(reader.guarding.attributes),
        orders=orders,
        order_uses=order_uses,
        mentioned=found.names,
        texts=found.texts,
        values=found.values,
        is_entry=reader.is_entry,
        cells=cells,
    )


class Reader:
    """Walks over a tree once."""

    def __init__(self, vocabulary: Vocabulary, tree: ast.Module, lines: Lines) -> None:
        self.here = Standpoint(tree, lines, vocabulary.usual)
        self.scopes: list[CodeScope] = self.here.names.scopes
        self.recorder = Recorder(vocabulary, self.here)
        self.local_calls = LocalCalls(vocabulary, self.here)
        self.variables = Variables(self.here)
        self.orders = OrderSources(vocabulary, self.here, lines)
        self.guarding = Guarding(self.here, lines)
        self.is_entry = False
        self._vocabulary = vocabulary
        self._branches = 0

    def read(self, body: Sequence[ast.stmt]) -> None:
        for place, statement in enumerate(body):
            self.visit(statement)
            if leaves(body[place : place + 1]):
                break
            if isinstance(statement, ast.If) and leaves(statement.body) and not statement.orelse:
                self.guarding.guard(body[place + 1 :], predicates(statement.test)[1])

    def visit(self, node: ast.AST) -> None:
        visitor = _VISITORS.get(type(node))
        if visitor is not None:
            visitor(self, node)
            return
        for part in children(node):
            if type(part) not in _LEAVES:
                self.visit(part)

    def on_function(self, node: ast.FunctionDef | ast.AsyncFunctionDef) -> None:
        for decorator in node.decorator_list:
            self.visit(decorator)
            self.recorder.decorated(decorator)
        for default in (*node.args.defaults, *node.args.kw_defaults):
            if default is not None:
                self.visit(default)
        found = [self.here.resolve(_callee(decorator)) for decorator in node.decorator_list]
        number = self._register(node)
        with self.here.inside(number):
            without = any(name in self._vocabulary.no_gradients for name in found if name)
            self.here.without_gradients = without
            self.read(node.body)

    def _register(self, node: ast.FunctionDef | ast.AsyncFunctionDef | ast.ClassDef) -> int:
        """The number of a definition; whether a decorator registers it goes into its scope."""
        number = self.here.names.numbers[node]
        written = [dotted(_callee(decorator)) or "" for decorator in node.decorator_list]
        if any(_REGISTERS.search(name) for name in written):
            self.scopes[number] = msgspec.structs.replace(self.scopes[number], registered=True)
        return number

    def on_class(self, node: ast.ClassDef) -> None:
        for part in (*node.decorator_list, *node.bases, *node.keywords):
            if not isinstance(part, ast.Name | ast.Attribute):
                self.visit(part)
        bases = tuple(name for base in node.bases if (name := self.here.resolve(base)))
        number = self._register(node)
        self.scopes[number] = msgspec.structs.replace(self.scopes[number], bases=bases)
        outer = self.here.scope
        self.here.scope = number
        self.read(node.body)
        self.here.scope = outer

    def on_if(self, node: ast.If) -> None:
        if self.here.scope == 0 and is_main(node.test):
            self.is_entry = True
            self.here.in_main = True
            self._branch(node.body, None)
            self.here.in_main = False
            self._branch(node.orelse, None)
            return
        self.here.to_show = all(map(self.recorder.only_shows, node.body))
        self.visit(node.test)
        self.here.to_show = False
        self._branches += 1
        number = self._branches
        guarded, offered, fallback = self.here.guarded, self.here.offered, self.here.fallback
        self.here.guarded = guarded or _asks_for_version(node.test)
        first, other = predicates(node.test)
        self.guarding.guard(node.body, first)
        self.guarding.guard(node.orelse, other)
        asked = self.here.offer(node.test)
        nothing = tests_for_nothing(node.test)
        self.here.offered = offered or (asked if nothing != "body" else "")
        self.here.fallback = fallback or nothing == "body"
        never = self.here.never_runs(node.test)
        if never != "body":
            trial = self.here.on_trial
            self.here.on_trial = trial or _asks_to_try(node.test)
            self._branch(node.body, (number, 0))
            self.here.on_trial = trial
        self.here.offered = offered
        self.here.fallback = fallback or nothing == "else"
        if never != "else":
            self._branch(node.orelse, (number, 1))
        self.here.guarded, self.here.fallback = guarded, fallback

    def _branch(self, body: Sequence[ast.stmt], arm: tuple[int, int] | None) -> None:
        outer = self.here.arms
        if arm is not None:
            self.here.arms = (*outer, arm)
        self.read(body)
        self.here.arms = outer

    def on_loop(self, node: ast.For | ast.AsyncFor | ast.While) -> None:
        if isinstance(node, ast.While):
            self.visit(node.test)
        else:
            self.visit(node.iter)
            self.visit(node.target)
        outer, self.here.in_loop = self.here.in_loop, True
        self.read(node.body)
        self.here.in_loop = outer
        self.read(node.orelse)

    def on_match(self, node: ast.Match) -> None:
        self.visit(node.subject)
        self._branches += 1
        number = self._branches
        for place, case in enumerate(node.cases):
            if case.guard is not None:
                self.visit(case.guard)
            self._branch(case.body, (number, place))

    def on_try(self, node: ast.Try) -> None:
        guarded = self.here.guarded
        self.here.guarded = guarded or bool(node.handlers)
        self.read(node.body)
        for handler in node.handlers:
            self.read(handler.body)
        self.here.guarded = guarded
        self.read(node.orelse)
        self.read(node.finalbody)

    def on_with(self, node: ast.With | ast.AsyncWith) -> None:
        without = self.here.without_gradients
        for item in node.items:
            self.visit(item.context_expr)
            name = self.here.resolve(_callee(item.context_expr))
            if name is not None and name in self._vocabulary.no_gradients:
                without = True
        outer, self.here.without_gradients = self.here.without_gradients, without
        self.read(node.body)
        self.here.without_gradients = outer

    def on_comprehension(
        self, node: ast.ListComp | ast.SetComp | ast.GeneratorExp | ast.DictComp
    ) -> None:
        if isinstance(node, ast.SetComp):
            self.orders.shown(node)
        self.visit(node.generators[0].iter)
        names: set[str] = set()
        for generator in node.generators:
            for part in nodes(generator.target):
                if isinstance(part, ast.Name):
                    names.add(part.id)
        self.here.shadows.append(names)
        for place, generator in enumerate(node.generators):
            if place:
                self.visit(generator.iter)
            for test in generator.ifs:
                self.visit(test)
        if isinstance(node, ast.DictComp):
            self.visit(node.key)
            self.visit(node.value)
        else:
            self.visit(node.elt)
        self.here.shadows.pop()

    def on_lambda(self, node: ast.Lambda) -> None:
        arguments = node.args
        for default in (*arguments.defaults, *arguments.kw_defaults):
            if default is not None:
                self.visit(default)
        parts = [*arguments.posonlyargs, *arguments.args, *arguments.kwonlyargs]
        parts += [part for part in (arguments.vararg, arguments.kwarg) if part is not None]
        self.here.shadows.append({part.arg for part in parts})
        outer = self.here.in_lambda
        self.here.in_lambda = self.here.targets.get(id(node), outer)
        self.visit(node.body)
        self.here.in_lambda = outer
        self.here.shadows.pop()

    # --- statements and expressions ----------------------------------------------------

    def on_expression(self, node: ast.Expr) -> None:
        value = node.value.value if isinstance(node.value, ast.Await) else node.value
        if not isinstance(value, ast.Constant):
            self.here.statement = value
            self.visit(value)

    def on_assign(self, node: ast.Assign | ast.AnnAssign) -> None:
        targets = node.targets if isinstance(node, ast.Assign) else [node.target]
        value = node.value
        for target in targets:
            if isinstance(target, ast.Subscript):
                self.recorder.stored(value)
                self.variables.assigned(node, target)
                self.visit(target)
            elif isinstance(target, ast.Attribute):
                self.recorder.assigned(node, target)
                self.guarding.assigned(target, value)
            elif isinstance(target, ast.Tuple | ast.List):
                for part in target.elts:
                    self.guarding.assigned(part, None)
        if value is not None:
            if len(targets) == 1 and (text := dotted_with_keys(targets[0])):
                self._name_values(value, text)
            self.visit(value)

    def _name_values(self, value: ast.expr, text: str) -> None:
        self.here.targets[id(value)] = text
        if isinstance(value, ast.IfExp):
            self._name_values(value.body, text)
            self._name_values(value.orelse, text)
        elif isinstance(value, ast.BoolOp):
            for part in value.values:
                self._name_values(part, text)
        elif isinstance(value, ast.Call) and dotted(value.func) in _CASTS:
            for part in value.args:
                self._name_values(part, text)
        elif isinstance(value, ast.BinOp):
            self._name_values(value.left, text)
            self._name_values(value.right, text)

    def on_branching(self, node: ast.IfExp) -> None:
        self.visit(node.test)
        self._branches += 1
        number = self._branches
        fallback, arms = self.here.fallback, self.here.arms
        nothing = tests_for_nothing(node.test)
        first, other = predicates(node.test)
        self.guarding.guard([node.body], first)
        self.guarding.guard([node.orelse], other)
        for place, (part, name) in enumerate(((node.body, "body"), (node.orelse, "else"))):
            self.here.arms = (*arms, (number, place))
            self.here.fallback = fallback or nothing == name
            self.visit(part)
        self.here.fallback, self.here.arms = fallback, arms

    def on_either(self, node: ast.BoolOp) -> None:
        fallback = self.here.fallback
        for place, part in enumerate(node.values[:-1], 1):
            first, other = predicates(part)
            after = node.values[place:]
            self.guarding.guard(after, first if isinstance(node.op, ast.And) else other)
        for place, part in enumerate(node.values):
            self.here.fallback = fallback or (place > 0 and isinstance(node.op, ast.Or))
            self.visit(part)
        self.here.fallback = fallback

    def on_augmented(self, node: ast.AugAssign) -> None:
        self.guarding.assigned(node.target, None)
        self.visit(node.target)
        self.visit(node.value)

    def on_return(self, node: ast.Return) -> None:
        if node.value is not None:
            self.recorder.stored(node.value)
            self.visit(node.value)

    def on_set(self, node: ast.Set) -> None:
        self.orders.shown(node)
        for part in node.elts:
            self.visit(part)

    def on_operation(self, node: ast.BinOp) -> None:
        self.orders.operation(node)
        self.visit(node.left)
        self.visit(node.right)

    def on_call(self, node: ast.Call) -> None:
        name = self.here.resolve(node.func)
        self.recorder.ask(node)
        if isinstance(node.func, ast.Attribute):
            if not isinstance(node.func.value, ast.Name | ast.Attribute):
                without = self.here.without_gradients
                left = f".{node.func.attr}" in self._vocabulary.leaves_gradients
                self.here.without_gradients = without or left
                self.visit(node.func.value)
                self.here.without_gradients = without
        elif not isinstance(node.func, ast.Name):
            self.visit(node.func)
        self.variables.called(node, name)
        self.recorder.call(node, name)
        self.local_calls.call(node, name)
        self.orders.called(node, name)
        self.guarding.called(node, name)
        outer, step = self.here.to_show, self.here.in_step
        self.here.in_step = step or (name is not None and name in self._vocabulary.steps)
        known = name is not None and name in self._vocabulary.shows
        self.here.to_show = outer or known or shows(last_name(node.func))
        for part in (*node.args, *(keyword.value for keyword in node.keywords)):
            if type(part) is not ast.Name:  # local_calls has those
                self.visit(part)
        self.here.to_show, self.here.in_step = outer, step

    def on_name(self, node: ast.Name) -> None:
        self.local_calls.named(node)

    def on_attribute(self, node: ast.Attribute) -> None:
        self.local_calls.named_of(node)
        self.visit(node.value)


def _nothing(_reader: Reader, _node: ast.AST) -> None:
    """Names, constants and imports hold nothing to record."""


_LEAVES = frozenset((ast.Constant,))

_VISITORS: dict[type[ast.AST], Callable[[Reader, Any], None]] = {
    ast.FunctionDef: Reader.on_function,
    ast.AsyncFunctionDef: Reader.on_function,
    ast.ClassDef: Reader.on_class,
    ast.If: Reader.on_if,
    ast.For: Reader.on_loop,
    ast.AsyncFor: Reader.on_loop,
    ast.While: Reader.on_loop,
    ast.Match: Reader.on_match,
    ast.Try: Reader.on_try,
    ast.With: Reader.on_with,
    ast.AsyncWith: Reader.on_with,
    ast.ListComp: Reader.on_comprehension,
    ast.SetComp: Reader.on_comprehension,
    ast.GeneratorExp: Reader.on_comprehension,
    ast.DictComp: Reader.on_comprehension,
    ast.Lambda: Reader.on_lambda,
    ast.Expr: Reader.on_expression,
    ast.Assign: Reader.on_assign,
    ast.AnnAssign: Reader.on_assign,
    ast.AugAssign: Reader.on_augmented,
    ast.IfExp: Reader.on_branching,
    ast.BoolOp: Reader.on_either,
    ast.Call: Reader.on_call,
    ast.Set: Reader.on_set,
    ast.Return: Reader.on_return,
    ast.BinOp: Reader.on_operation,
    ast.Name: Reader.on_name,
    ast.Attribute: Reader.on_attribute,
    **dict.fromkeys((ast.Constant, ast.Import, ast.ImportFrom), _nothing),
}
"""One table for all readers: a table in each of them would hold its reader, and its tree, until
the collector comes.
"""


def _callee(node: ast.expr) -> ast.expr:
    """What a decorator or context names, called or not."""
    return node.func if isinstance(node, ast.Call) else node


_TRIAL = re.compile(r"(?i)debug|(^|_)(test|eval|evaluate|evaluation|inference)(_|$)")


def _asks_to_try(test: ast.expr) -> bool:
    """``if options.debug:``, ``if options.test_model:``."""
    return isinstance(test, ast.Name | ast.Attribute) and bool(_TRIAL.search(last_name(test)))


def _asks_for_version(test: ast.expr) -> bool:
    for node in nodes(test):
        if isinstance(node, ast.Name):
            if node.id == "hasattr" or _VERSION.search(node.id):
                return True
        elif isinstance(node, ast.Attribute) and _VERSION.search(node.attr):
            return True
    return False
