"""The lists of operations in the docstring of PyTorch's switch, and the detours behind it."""

from __future__ import annotations

import ast
import re
from collections.abc import Iterator

from d9m.authoring.collect.words import parsed
from d9m.model.wheel_facts import ListedOp, Route

SWITCHES = ("use_deterministic_algorithms", "set_deterministic")
"""Newest name first."""

_SECTIONS = {
    "act deterministically": "deterministic",
    "will throw": "throws",
    "will be raised": "throws-cublas",
    "fill uninitialized": "fills",
}
"""Words of the paragraph above a list -> section."""

_BULLET = re.compile(r"\s*\* ")
_ROLE = re.compile(r":\w+:`~?([\w.]+)`")
_ASKED = "are_deterministic_algorithms_enabled"


def lists(source: str) -> dict[str, list[ListedOp]]:
    """Section -> lines, from the text of ``torch/__init__.py``; empty before there was a switch."""
    tree = parsed(source)
    nodes = ast.walk(tree) if tree else ()
    functions = {node.name: node for node in nodes if isinstance(node, ast.FunctionDef)}
    for name in SWITCHES:
        if name in functions:
            return dict(_sections(ast.get_docstring(functions[name]) or ""))
    return {}


def _introduced(text: str) -> str:
    """The section of the list that a text introduces; empty where it introduces none."""
    for words, section in _SECTIONS.items():
        if words in text and text.endswith(":"):
            return section
    return ""


def _sections(text: str) -> Iterator[tuple[str, list[ListedOp]]]:
    """Every list whose introduction is known."""
    section = ""
    items: list[str] = []
    for block in re.split(r"\n\s*\n", text):
        if _BULLET.match(block):
            items.extend(each for each in re.split(r"(?m)^\s*\* ", block) if each.strip())
        elif items and block.startswith(" "):
            items[-1] += " " + block
        else:
            if section and items:
                yield section, [_line(each) for each in items]
            items = []
            section = _introduced(" ".join(block.split()))
    if section and items:
        yield section, [_line(each) for each in items]


def _line(item: str) -> ListedOp:
    text = " ".join(item.split())
    role = _ROLE.search(text)
    return ListedOp(role[1] if role else "", text[role.end() :].strip() if role else text)


def routes(source: str) -> list[Route]:
    """Where a function asks for the switch, from the text of ``torch/nn/functional.py``."""
    tree = parsed(source)
    found: list[Route] = []
    for function in tree.body if tree else []:
        if isinstance(function, ast.FunctionDef):
            found.extend(_detours(function.name, function.body, (), False))
    return sorted(set(found))


def _detours(
    function: str, body: list[ast.stmt], above: tuple[str, ...], asked: bool
) -> Iterator[Route]:
    """Yield what is returned under the switch, with every condition around it."""
    for statement in body:
        if isinstance(statement, ast.Return) and asked:
            yield Route(function, " and ".join(above), _called(statement))
        elif isinstance(statement, ast.If):
            test = ast.unparse(statement.test)
            otherwise = (*above, f"not {test}") if asked else above
            yield from _detours(function, statement.body, (*above, test), asked or _ASKED in test)
            yield from _detours(function, statement.orelse, otherwise, asked)


def _called(statement: ast.Return) -> str:
    return ast.unparse(statement.value.func) if isinstance(statement.value, ast.Call) else ""
