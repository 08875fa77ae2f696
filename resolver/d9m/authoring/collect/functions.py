"""The functions of some Python files: which of them call which, and which operators they name;
nothing is imported.
"""

from __future__ import annotations

import ast
from collections.abc import Iterator
from typing import TypeAlias

import msgspec

from d9m.authoring.collect.words import parsed
from d9m.errors import DataError

Place: TypeAlias = tuple[str, str]
"""File, and name of the function; ``Scan.create`` for that of a class."""

Definition: TypeAlias = ast.FunctionDef
"""Syntax at a place."""

_OPERATORS = {"aten", "prims", "inductor_prims"}


class PythonFile(msgspec.Struct, frozen=True):
    tree: ast.Module
    functions: dict[str, Definition]
    imported: dict[str, str]
    """Name here -> name where it is defined."""


class Functions:
    """Files that belong together: a name that one of them imports is looked for in all others."""

    def __init__(self, texts: dict[str, str]) -> None:
        """`texts`: file -> its text. Raises DataError where this Python cannot read one."""
        self.files = {file: _python_file(file, text) for file, text in texts.items()}
        self._named: dict[str, list[Place]] = {}
        for file, content in self.files.items():
            for name in content.functions:
                self._named.setdefault(name, []).append((file, name))

        self._texts: dict[Place, str] = {}
        self._calls: dict[Place, frozenset[Place]] = {}

    def definition(self, place: Place) -> Definition:
        return self.files[place[0]].functions[place[1]]

    def text(self, place: Place) -> str:
        """A function as code, without comments."""
        if place not in self._texts:
            self._texts[place] = ast.unparse(self.definition(place))
        return self._texts[place]

    def places(self) -> Iterator[Place]:
        for places in self._named.values():
            yield from places

    def named(self, file: str, start: str) -> Iterator[str]:
        """Functions of a file whose names begin so."""
        content = self.files.get(file)
        return (name for name in (content.functions if content else ()) if name.startswith(start))

    def assigned(self, file: str, name: str) -> set[str]:
        """Operators in what a file assigns to a variable."""
        found: set[str] = set()
        for statement in self.files[file].tree.body if file in self.files else ():
            targets = statement.targets if isinstance(statement, ast.Assign) else []
            if isinstance(statement, ast.AnnAssign):
                targets = [statement.target]
            if any(isinstance(target, ast.Name) and target.id == name for target in targets):
                found |= operators(statement)
        return found

    def called(self, place: Place) -> frozenset[Place]:
        """Functions that this one names: to name one is to call it, or to hand it on."""
        if place not in self._calls:
            self._calls[place] = frozenset(self._called(place))
        return self._calls[place]

    def _called(self, place: Place) -> Iterator[Place]:
        file = self.files[place[0]]
        for node in ast.walk(self.definition(place)):
            if isinstance(node, ast.Name) and node.id in file.functions:
                yield place[0], node.id
            elif isinstance(node, ast.Name) and node.id in file.imported:
                yield from self._named.get(file.imported[node.id], ())
            elif isinstance(node, ast.Attribute) and isinstance(node.value, ast.Attribute):
                yield from self._named.get(f"{node.value.attr}.{node.attr}", ())
            elif isinstance(node, ast.Attribute) and isinstance(node.value, ast.Name):
                yield from self._named.get(f"{node.value.id}.{node.attr}", ())


def operator(node: ast.AST) -> str:
    """``index_put`` for ``aten.index_put_.default``, in place or not; empty for anything else."""
    if not isinstance(node, ast.Attribute):
        return ""
    parts = ast.unparse(node).removeprefix("torch.ops.").split(".")
    named = len(parts) > 1 and parts[0] in _OPERATORS
    return (parts[1].rstrip("_") or parts[1]) if named else ""


def operators(node: ast.AST) -> set[str]:
    """Return all operators below a node."""
    return set(filter(None, map(operator, ast.walk(node))))


def used(definition: Definition) -> set[str]:
    """Operators in the body of a function, and names of what it calls of ``torch`` or of an object:
    ``x.index_add_(…)`` is the operator index_add.
    """
    found: set[str] = set()
    for statement in definition.body:
        found |= operators(statement)
        for node in ast.walk(statement):
            if isinstance(node, ast.Call) and isinstance(node.func, ast.Attribute):
                found.add(node.func.attr.rstrip("_"))
    return found


def _python_file(file: str, text: str) -> PythonFile:
    tree = parsed(text)
    if tree is None:
        tip = "an older Python cannot read the syntax of its files"
        raise DataError(f"{file}: not in the syntax of this Python", tip=tip)
    imported: dict[str, str] = {}
    for node in ast.walk(tree):
        if isinstance(node, ast.ImportFrom):
            imported.update({alias.asname or alias.name: alias.name for alias in node.names})
    return PythonFile(tree, dict(_functions(tree.body, "")), imported)


def _functions(body: list[ast.stmt], within: str) -> Iterator[tuple[str, Definition]]:
    for statement in body:
        if isinstance(statement, ast.FunctionDef):
            yield f"{within}{statement.name}", statement
        elif isinstance(statement, ast.ClassDef):
            yield from _functions(statement.body, f"{statement.name}.")
        elif isinstance(statement, ast.If):
            yield from _functions([*statement.body, *statement.orelse], within)
