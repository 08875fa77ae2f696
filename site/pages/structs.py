"""Types as reference pages: what the JSON holds, and what a record may say. Both are read off the
code.
"""

from __future__ import annotations

import ast
import functools
import inspect
import itertools
from collections.abc import Iterable, Iterator
from pathlib import Path

import msgspec
from msgspec import inspect as msgspec_inspect

from d9m.browse.changes import ReleaseChanges
from d9m.browse.explain import Explained
from d9m.browse.listing import RecordList
from d9m.browse.show import Showing
from d9m.check.report import Report
from d9m.kb.kinds import KINDS
from d9m.kb.store import KnowledgeBase
from d9m.model.advice import SCHEMA_VERSION, Advice
from d9m.model.records import Fact
from d9m.model.words import Words
from d9m.trace.findings import Findings
from pages import layout
from pages.markdown import Markdown, code, codes, escape, listed, prose, slug

ANSWERS: dict[str, type[msgspec.Struct]] = {
    "d9m advise": Advice,
    "d9m advise --diff A..B": ReleaseChanges,
    "d9m check": Report,
    "d9m diff, d9m hunt": Findings,
    "d9m explain": Explained,
    "d9m show": Showing,
    "d9m list": RecordList,
}
"""Command -> what it prints with ``--format json``."""


class ShapeField(msgspec.Struct, frozen=True):
    name: str
    type: Markdown
    does: Markdown
    default: Markdown


class Shape(msgspec.Struct, frozen=True):
    """One type: an object of the JSON, or a mapping of a record."""

    title: str
    anchor: str
    does: Markdown
    fields: tuple[ShapeField, ...]


def pages(kb: KnowledgeBase) -> Iterator[tuple[str, str]]:
    titles: dict[type, str] = {type_: command for command, type_ in ANSWERS.items()}
    yield layout.page(
        kb,
        "reference/json.md",
        "json.md",
        "JSON",
        (
            "Every field of what d9m prints with --format json: advise, check, diff, hunt, "
            "explain, show, list and --diff."
        ),
        version=SCHEMA_VERSION,
        shapes=shapes(titles),
        roots=len(titles),
    )
    kinds: dict[type, str] = {kind.type: f"kb/{kind.name}/" for kind in KINDS}
    kinds |= {Fact: "kb/facts.yaml", Words: "kb/words.yaml"}
    yield layout.page(
        kb,
        "reference/records.md",
        "records.md",
        "Records",
        "Every field of every kind of record: what may be written under kb/.",
        shapes=shapes(kinds),
        roots=len(kinds),
    )


def shapes(titles: dict[type, str]) -> list[Shape]:
    """The types with these titles, then every further one that they hold, in the order in which
    they occur.
    """
    every = dict.fromkeys(titles)
    for type_ in titles:
        every.update(dict.fromkeys(_held(type_)))
    names = {type_: titles.get(type_, type_.__name__) for type_ in every}
    return [_shape(type_, names) for type_ in every]


def _held(type_: type) -> Iterator[type]:
    seen: dict[type, None] = {}
    todo = [type_]
    while todo:
        for inner in _structs(each.type for each in _fields(todo.pop(0))):
            if inner not in seen:
                seen[inner] = None
                todo.append(inner)
    return iter(seen)


def _fields(type_: type) -> tuple[msgspec_inspect.Field, ...]:
    info = msgspec_inspect.type_info(type_)
    assert isinstance(info, msgspec_inspect.StructType)
    return info.fields


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


def _shape(type_: type, names: dict[type, str]) -> Shape:
    said = _docstrings(type_)
    fields: list[ShapeField] = []
    for field in _fields(type_):
        about = prose(said.get(field.name, ""))
        fields.append(
            ShapeField(field.encode_name, _worded(field.type, names), about, _default(field))
        )
    title = names[type_]
    return Shape(title, slug(title), prose(type_.__doc__ or ""), tuple(fields))


def _docstrings(type_: type) -> dict[str, str]:
    """Field -> the text under it in the source."""
    lines = _classes(inspect.getfile(type_))[type_.__name__].body
    found: dict[str, str] = {}
    for line, below in itertools.pairwise(lines):
        if not isinstance(line, ast.AnnAssign) or not isinstance(line.target, ast.Name):
            continue
        if isinstance(below, ast.Expr) and isinstance(below.value, ast.Constant):
            found[line.target.id] = str(below.value.value)
    return found


@functools.cache
def _classes(file: str) -> dict[str, ast.ClassDef]:
    body = ast.parse(Path(file).read_text(encoding="utf-8")).body
    return {each.name: each for each in body if isinstance(each, ast.ClassDef)}


def _default(field: msgspec_inspect.Field) -> Markdown:
    """What a field is where it is left out; empty for one that is always there."""
    if field.required:
        return Markdown("")
    if field.default_factory is not msgspec.NODEFAULT:
        return code(msgspec.json.encode(field.default_factory()).decode())
    return code(msgspec.json.encode(field.default).decode())


_PLAIN: dict[type[msgspec_inspect.Type], str] = {
    msgspec_inspect.StrType: "text",
    msgspec_inspect.IntType: "integer",
    msgspec_inspect.FloatType: "number",
    msgspec_inspect.BoolType: "true or false",
    msgspec_inspect.NoneType: "null",
    msgspec_inspect.AnyType: "anything",
}


def _worded(type_: msgspec_inspect.Type, names: dict[type, str]) -> Markdown:
    """A type in words, with links to the objects in it."""
    if isinstance(type_, msgspec_inspect.StructType):
        name = names[type_.cls]
        return Markdown(f"[{escape(name)}](#{slug(name)})")
    if isinstance(type_, (msgspec_inspect.ListType, msgspec_inspect.VarTupleType)):
        return Markdown(f"list of {_worded(type_.item_type, names)}")
    if isinstance(type_, msgspec_inspect.TupleType):
        return Markdown(f"list of {', '.join(_worded(item, names) for item in type_.item_types)}")
    if isinstance(type_, msgspec_inspect.DictType):
        return Markdown(f"object of {_worded(type_.value_type, names)}")
    if isinstance(type_, msgspec_inspect.LiteralType):
        return codes(map(str, type_.values))
    if isinstance(type_, msgspec_inspect.UnionType):
        return listed((_worded(each, names) for each in type_.types), " or ")
    return Markdown(_PLAIN[type(type_)])
