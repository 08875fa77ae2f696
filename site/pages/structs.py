"""Types as reference pages: what the JSON holds, and what a record may say. Both are read off the
code.
"""

from __future__ import annotations

from collections.abc import Iterator

import msgspec
from msgspec import inspect as msgspec_inspect

from d9m.about import SCHEMA_VERSION
from d9m.authoring.json_schema import OUTPUTS
from d9m.authoring.struct_types import docstrings, fields_of, held
from d9m.kb.kinds import KINDS
from d9m.kb.store import KnowledgeBase
from d9m.model.records import Fact
from d9m.model.words import Words
from pages import layout
from pages.markdown import Markdown, code, codes, escape, listed, prose, slug


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
    commands: dict[type, list[str]] = {}
    for each in OUTPUTS:
        commands.setdefault(each.type, []).append(each.command)
    titles = {type_: ", ".join(names) for type_, names in commands.items()}
    yield layout.page(
        kb,
        "reference/json.md",
        "json.md",
        "JSON",
        "Every field of what d9m prints with --format json, and of the files that check writes.",
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
    every = held(titles)
    names = {type_: titles.get(type_, type_.__name__) for type_ in every}
    return [_shape(type_, names) for type_ in every]


def _shape(type_: type, names: dict[type, str]) -> Shape:
    said = docstrings(type_)
    fields: list[ShapeField] = []
    for field in fields_of(type_):
        about = prose(said.get(field.name, ""))
        fields.append(
            ShapeField(field.encode_name, _worded(field.type, names), about, _default(field))
        )
    title = names[type_]
    return Shape(title, slug(title), prose(type_.__doc__ or ""), tuple(fields))


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
