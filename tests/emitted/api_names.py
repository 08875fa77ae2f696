"""The API names that a program uses, and the releases in which each exists (api_names.json)."""

from __future__ import annotations

import ast
import functools
import json
import sys
from collections.abc import Iterator
from pathlib import Path
from typing import Any, NamedTuple

from d9m.model.versions import key

TABLE = Path(__file__).with_name("api_names.json")


class Lifetime(NamedTuple):
    """Releases in which a name is known to exist: ``since <= release < until``."""

    since: str
    until: str | None
    because: list[dict[str, Any]]
    """Quotes of extracted facts, frameworks in which it was looked up, pages."""

    def covers(self, release: str) -> bool:
        return key(self.since) <= key(release) and (
            self.until is None or key(release) < key(self.until)
        )


@functools.cache
def lifetimes() -> dict[str, Lifetime]:
    """Dotted name -> where it exists. ``module.call(word=)`` is a keyword of a call."""
    table = json.loads(TABLE.read_text(encoding="utf-8"))
    rows = (row for names in table.values() for row in names.items())
    return {name: Lifetime(row["from"], row["until"], row["because"]) for name, row in rows}


def package_of(name: str) -> str:
    """The import package of a dotted name."""
    return name.split(".")[0]


def used(tree: ast.Module) -> set[str]:
    """Dotted names and keywords that a program takes from what it imports, the standard library
    left out.
    """
    imported = dict(_imported(tree))
    names = {
        each.name for node in ast.walk(tree) if isinstance(node, ast.Import) for each in node.names
    }
    names |= set(imported.values())
    for node in ast.walk(tree):
        if isinstance(node, (ast.Attribute, ast.Name)) and (dotted := _dotted(node, imported)):
            names.add(dotted)
        if isinstance(node, ast.Call) and (dotted := _dotted(node.func, imported)):
            names |= {f"{dotted}({word.arg}=)" for word in node.keywords}
    on_the_way = {
        name[:place] for name in names for place, letter in enumerate(name) if letter in ".("
    }
    return {name for name in names - on_the_way if package_of(name) not in sys.stdlib_module_names}


def _imported(tree: ast.Module) -> Iterator[tuple[str, str]]:
    """Local name -> what it stands for."""
    for node in ast.walk(tree):
        if isinstance(node, ast.Import):
            for each in node.names:
                yield (
                    (each.asname, each.name)
                    if each.asname
                    else (package_of(each.name), package_of(each.name))
                )
        elif isinstance(node, ast.ImportFrom):
            yield from (
                (each.asname or each.name, f"{node.module}.{each.name}") for each in node.names
            )


def _dotted(node: ast.expr, imported: dict[str, str]) -> str | None:
    """``np.random.seed`` as ``numpy.random.seed``; None for what does not start at an import."""
    if isinstance(node, ast.Name):
        return imported.get(node.id)
    if isinstance(node, ast.Attribute) and (start := _dotted(node.value, imported)):
        return f"{start}.{node.attr}"
    return None


LOOK_UP = """
import importlib, inspect, json, sys

def find(dotted):
    parts = dotted.split(".")
    found, path = importlib.import_module(parts[0]), parts[0]
    for part in parts[1:]:
        path += "." + part
        if not hasattr(found, part):
            importlib.import_module(path)
        found = getattr(found, part)
    return found

def takes(call, word):
    fields = getattr(getattr(call, "DESCRIPTOR", None), "fields_by_name", None)
    if fields is not None:
        return word in fields
    taken = inspect.signature(call.__init__ if inspect.isclass(call) else call).parameters
    return word in taken or any(each.kind is each.VAR_KEYWORD for each in taken.values())

def exists(name):
    dotted, _, word = name.partition("(")
    try:
        found = find(dotted)
    except (ImportError, AttributeError):
        return False
    return not word or takes(found, word.split("=")[0])

names = json.loads(sys.argv[1])
packages = set(name.split(".")[0] for name in names)
print(json.dumps({
    "versions": {package: importlib.import_module(package).__version__ for package in packages},
    "present": [name for name in names if exists(name)],
}))
"""
"""Prints which of the names given as JSON exist, and in which versions. In the syntax of Python
3.6.
"""
