"""Struct types as data: which ones they hold, their fields, and what the source says of these."""

from __future__ import annotations

import ast
import functools
import inspect
import itertools
from collections.abc import Iterable, Iterator
from pathlib import Path

import msgspec
from msgspec import inspect as msgspec_inspect


def held(roots: Iterable[type]) -> list[type]:
    """Return these types, then every further one that they hold, in the order of occurrence."""
    every = dict.fromkeys(roots)
    for root in list(every):
        seen = {root}
        todo = [root]
        while todo:
            for inner in _structs(each.type for each in fields_of(todo.pop(0))):
                if inner not in seen:
                    seen.add(inner)
                    todo.append(inner)
                    every.setdefault(inner)
    return list(every)


def fields_of(type_: type) -> tuple[msgspec_inspect.Field, ...]:
    """Return the fields of a struct."""
    info = msgspec_inspect.type_info(type_)
    assert isinstance(info, msgspec_inspect.StructType)
    return info.fields


def docstrings(type_: type) -> dict[str, str]:
    """Return the text under each field in the source, inherited ones included."""
    found: dict[str, str] = {}
    for base in reversed(type_.__mro__):
        if issubclass(base, msgspec.Struct) and base.__name__ in _classes(inspect.getfile(base)):
            found.update(_own_docstrings(base))
    return found


def _own_docstrings(type_: type) -> Iterator[tuple[str, str]]:
    lines = _classes(inspect.getfile(type_))[type_.__name__].body
    for line, below in itertools.pairwise(lines):
        if not isinstance(line, ast.AnnAssign) or not isinstance(line.target, ast.Name):
            continue
        if isinstance(below, ast.Expr) and isinstance(below.value, ast.Constant):
            yield line.target.id, str(below.value.value)


@functools.cache
def _classes(file: str) -> dict[str, ast.ClassDef]:
    body = ast.parse(Path(file).read_text(encoding="utf-8")).body
    return {each.name: each for each in body if isinstance(each, ast.ClassDef)}


def _structs(types: Iterable[msgspec_inspect.Type]) -> Iterator[type]:
    """Structs inside some types."""
    for inner in types:
        if isinstance(inner, msgspec_inspect.StructType):
            yield inner.cls
        elif isinstance(inner, msgspec_inspect.UnionType):
            yield from _structs(inner.types)
        elif isinstance(inner, (msgspec_inspect.ListType, msgspec_inspect.VarTupleType)):
            yield from _structs([inner.item_type])
        elif isinstance(inner, msgspec_inspect.TupleType):
            yield from _structs(inner.item_types)
        elif isinstance(inner, msgspec_inspect.DictType):
            yield from _structs([inner.key_type, inner.value_type])
