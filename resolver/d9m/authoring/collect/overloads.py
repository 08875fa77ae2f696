"""How the functions and classes that a source defines are called."""

from __future__ import annotations

import ast
import re
from collections.abc import Iterable
from typing import TypeAlias

from d9m.authoring.collect.parameters import ParameterList, parameter_list
from d9m.authoring.collect.words import parsed

Overloads: TypeAlias = list[ParameterList]
"""The ways to call something, in the order of the source; empty where the source does not say."""


def function_overloads(functions: list[ast.FunctionDef]) -> Overloads:
    """How a function is called; what is only there for type checkers counts where the rest says
    nothing.
    """
    overloads: Overloads = []
    plain: Overloads = []
    for function in functions:
        is_overload = _is_decorated(function, ("overload", "_overload"))
        (overloads if is_overload else plain).append(parameter_list(function.args))
    kinds = {parameter.kind for parameter in plain[-1].parameters} if plain else set[str]()
    says_nothing = kinds >= {"variadic", "keywords"}
    return overloads if overloads and (says_nothing or not plain) else plain[-1:]


def class_methods(class_: ast.ClassDef) -> dict[str, list[ast.FunctionDef]]:
    found: dict[str, list[ast.FunctionDef]] = {}
    for node in class_.body:
        if isinstance(node, ast.FunctionDef):
            found.setdefault(node.name, []).append(node)
    return found


def method_overloads(functions: list[ast.FunctionDef]) -> Overloads:
    """How a method is called on its object."""
    last = functions[-1]
    if _is_decorated(last, ("property", "setter")):
        return []
    forms = function_overloads(functions)
    return forms if _is_decorated(last, ("staticmethod",)) else [form.after(1) for form in forms]


def constructor_overloads(line: list[list[ast.FunctionDef]]) -> Overloads:
    """How a constructor is called; one that hands over all it gets is called like the one that it
    calls.
    """
    if not line:
        return []
    own = method_overloads(line[0])
    if len(own) == 1 and own[0].only_forwards() and line[1:]:
        given = _given_by_itself(line[0][-1])
        return [form.after(given) for form in constructor_overloads(line[1:])] or own
    return own


def _given_by_itself(function: ast.FunctionDef) -> int:
    """How many arguments a constructor gives to ``super().__init__`` before those that it got."""
    for node in ast.walk(function):
        if (
            isinstance(node, ast.Call)
            and isinstance(node.func, ast.Attribute)
            and node.func.attr == function.name
        ):
            for place, argument in enumerate(node.args):
                if isinstance(argument, ast.Starred):
                    return place
            return 0
    return 0


def _is_decorated(function: ast.FunctionDef, names: Iterable[str]) -> bool:
    return any(ast.unparse(each).rpartition(".")[2] in names for each in function.decorator_list)


def docstring_overloads(name: str, text: ast.expr) -> Overloads:
    """The parameters that a docstring begins with."""
    while isinstance(text, (ast.BinOp, ast.Call)):
        if isinstance(text, ast.BinOp):
            text = text.left
        elif isinstance(text.func, ast.Attribute):
            text = text.func.value
        else:
            return []
    if not (isinstance(text, ast.Constant) and isinstance(text.value, str)):
        return []
    first = re.match(
        rf"\s*(?:\w+\.)*{re.escape(name)}\(([^()]*(?:\([^()]*\)[^()]*)*)\)", text.value
    )
    definition = parsed(f"def f({first[1]}): ...") if first else None
    function = definition.body[0] if definition and definition.body else None
    return [parameter_list(function.args)] if isinstance(function, ast.FunctionDef) else []
