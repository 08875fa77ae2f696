"""Calls of a project's own code, and its functions and classes handed on as values."""

from __future__ import annotations

import ast
import functools
import sys

import msgspec

from d9m.scan.facts import DYNAMIC, OWN, LocalCall
from d9m.scan.reading.guarding import NAME, keeps_value
from d9m.scan.reading.seed_words import says_that_it_seeds
from d9m.scan.syntax.expressions import dotted, last_name, literal
from d9m.scan.syntax.names import LOCAL
from d9m.scan.syntax.standpoint import Standpoint
from d9m.scan.vocabulary import Vocabulary

_LONGEST_ANSWER = 30
_TABLES = ("globals", "vars", "locals")


class LocalCalls:
    """Collects them while a file is read. Nobody knows yet which names are the project's."""

    def __init__(self, vocabulary: Vocabulary, here: Standpoint) -> None:
        self.found: list[LocalCall] = []
        self._vocabulary = vocabulary
        self._here = here

    def call(self, node: ast.Call, name: str | None) -> None:
        """Record a call; `name` is its qualified name."""
        last = last_name(node.func)
        if last and (name is None or not name.startswith("builtins.")):
            self._called(node, last, name)
        if self._is_dynamic(node, name):
            self.found.append(self._local(node, DYNAMIC))
        for part in node.args:
            self._handed_on(part)
        for keyword in node.keywords:
            self._handed_on(keyword.value)

    def _called(self, node: ast.Call, last: str, name: str | None) -> None:
        asked: list[str] = []
        constants: list[tuple[str, str]] = []
        has_rest = False
        for place, part in enumerate(node.args):
            has_rest = has_rest or isinstance(part, ast.Starred)
            if short := self._short(part):
                constants.append((str(place), short))
        for part in node.keywords:
            is_refused = isinstance(part.value, ast.Constant) and not part.value.value
            if part.arg is None:
                has_rest = True
                continue
            if not is_refused:
                asked.append(part.arg)
            if short := self._short(part.value):
                constants.append((part.arg, short))
        made = self._local(node, last, tuple(asked), len(node.args))
        if constants or has_rest:
            given = tuple(constants)
            made = msgspec.structs.replace(made, constants=given, has_rest=has_rest)
        if made.is_statement and says_that_it_seeds(self._vocabulary, node, last, name):
            made = msgspec.structs.replace(made, may_seed=True)
        self.found.append(made)

    def _short(self, node: ast.expr) -> str:
        """A literal that may be an answer to a test, as written, or a name that keeps its value;
        empty for anything else.
        """
        if isinstance(node, ast.Constant | ast.UnaryOp):
            written = literal(node)
            return written if written is not None and len(written) <= _LONGEST_ANSWER else ""
        name = dotted(node)
        if name is None or len(name) > _LONGEST_ANSWER:
            return ""
        return f"{NAME}{name}" if "." in name or keeps_value(self._here, name) else ""

    def _is_dynamic(self, node: ast.Call, name: str | None) -> bool:
        """Whether a call picks something of a module of the project by a name that only the run
        knows: ``getattr(models, name)``, ``models.__dict__[name](…)``, ``globals()[name](…)``.
        """
        func = node.func
        if isinstance(func, ast.Subscript):
            holder = func.value
            if isinstance(holder, ast.Attribute) and holder.attr == "__dict__":
                return self._is_own_module(holder.value)
            return isinstance(holder, ast.Call) and dotted(holder.func) in _TABLES
        if name == "builtins.eval":
            return True
        if name != "builtins.getattr" or len(node.args) < 2:
            return False
        return literal(node.args[1]) is None and self._is_own_module(node.args[0])

    def _is_own_module(self, node: ast.expr) -> bool:
        """Whether an expression is a module, of no package that the records know."""
        if isinstance(node, ast.Subscript):
            return dotted(node.value) == "sys.modules"
        if isinstance(node, ast.Call):
            name = self._here.resolve(node.func)
            return name is not None and name in self._vocabulary.imports_named
        name = self._here.resolve(node)
        return bool(name) and name[0] != LOCAL and self._vocabulary.package(name) is None

    def named(self, node: ast.Name) -> None:
        """A class or function whose name stands elsewhere may be called as well: in a table, as a
        value that is assigned or returned.
        """
        if node.id in self._definitions and isinstance(node.ctx, ast.Load):
            self._handed_on(node)

    def named_of(self, node: ast.Attribute) -> None:
        """The same of what another module holds: ``models.Net``."""
        root = node.value
        if isinstance(root, ast.Name) and root.id in self._definitions:
            self._handed_on(node)

    @functools.cached_property
    def _definitions(self) -> frozenset[str]:
        """Names of this module that a definition or an import from another one binds; a package
        without ops may be a folder of the project that has the same name, such as ``datasets``.
        """
        found: set[str] = set()
        names = self._here.names
        for name, bound in names.tables[0].items():
            for one in bound:
                own = one.name.startswith((LOCAL, "."))
                if own or (one.name and self._may_be_own(one.name)):
                    found.add(name)
        return frozenset(found)

    def _may_be_own(self, name: str) -> bool:
        """Whether something imported may be of the project."""
        package = self._vocabulary.package(name)
        if package is not None:
            return "." in name and package not in self._vocabulary.kb.meta.prefixes
        return name.partition(".")[0] not in sys.stdlib_module_names

    def _handed_on(self, node: ast.expr) -> None:
        """A function that is an argument may be called; in its own body its name says nothing."""
        if isinstance(node, ast.Attribute):
            self.found.append(self._local(node, node.attr))
        elif isinstance(node, ast.Name) and self._here.resolve(node) is not None:
            outer = self._here.names.scopes[self._here.scope].name
            if node.id not in outer or node.id not in outer.split("."):
                self.found.append(self._local(node, node.id))

    def _local(
        self, node: ast.expr, name: str, asked: tuple[str, ...] = (), positional: int = 0
    ) -> LocalCall:
        written = node.func if isinstance(node, ast.Call) else node
        return LocalCall(
            scope=self._here.scope,
            name=name,
            is_bare=isinstance(written, ast.Name),
            of_object=isinstance(written, ast.Attribute) and self._is_object(written.value),
            asked=asked,
            positional=positional,
            is_optional=bool(self._here.arms),
            line=node.lineno,
            is_call=isinstance(node, ast.Call),
            is_statement=node is self._here.statement,
            in_main=self._here.in_main,
            in_step=self._here.in_step,
        )

    def _is_object(self, node: ast.expr) -> bool:
        """Whether an expression is an object of a class, as far as the function shows, and so no
        module: ``self``, ``KMeans(8)``, and a name of it.
        """
        if isinstance(node, ast.Name):
            if node.id in OWN:
                return True
            bound, here = self._here.names.bindings(self._here.scope, node.id)
            return here and bool(bound) and all(_makes_object(one.value) for one in bound)
        return _makes_object(node)


def _makes_object(node: ast.expr | None) -> bool:
    """``KMeans(8)``."""
    return isinstance(node, ast.Call) and last_name(node.func)[:1].isupper()
