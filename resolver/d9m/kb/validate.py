"""Everything that is wrong with the shape of one record, not only the first thing.

msgspec stops at the first fault, and does not name the key of a mapping that it
is in. This walk over the same types finds all faults, each with its place. It is
only needed for a record that msgspec has refused.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from typing import Any, TypeAlias

import msgspec
from msgspec import inspect

from d9m.errors import nearest

Path: TypeAlias = tuple[str | int, ...]


class Misfit(msgspec.Struct, frozen=True):
    """One value that does not fit its type."""

    path: Path
    rule: str
    message: str
    value: str = ""
    allowed: str = ""
    tip: str = ""


def misfits(value: Any, type_: Any) -> Iterator[Misfit]:
    """All that keeps `value` (texts, lists and mappings, as YAML gives them) from being a
    `type_`.
    """
    yield from _walk(value, inspect.type_info(type_), ())


def _walk(value: Any, type_: inspect.Type, path: Path) -> Iterator[Misfit]:
    if isinstance(type_, inspect.UnionType):
        fitting = [each for each in type_.types if isinstance(value, _shape(each))]
        type_ = fitting[0] if fitting else type_
    if not isinstance(value, _shape(type_)):
        yield Misfit(
            path,
            "schema",
            f"expected {_name(type_)}, found {_found(value)}",
            _short(value),
            _allowed(type_),
        )
    elif isinstance(type_, inspect.StructType):
        yield from _struct(value, type_, path)
    elif isinstance(type_, inspect.DictType):
        for name, item in value.items():
            yield from _walk(item, type_.value_type, (*path, name))
    elif isinstance(type_, inspect.ListType):
        for place, item in enumerate(value):
            yield from _walk(item, type_.item_type, (*path, place))
    else:
        yield from _word(value, type_, path)


def _struct(value: dict[str, Any], type_: inspect.StructType, path: Path) -> Iterator[Misfit]:
    fields = {field.encode_name: field for field in type_.fields}
    for name, item in value.items():
        if name in fields:
            yield from _walk(item, fields[name].type, (*path, name))
        else:
            tip = _meant(name, fields)
            if " " in name and item in (None, ""):
                tip = "a comma ends a text inside {…}: put the whole text in quotes"
            yield Misfit((*path, name), "unknown-key", "unknown key", name, ", ".join(fields), tip)
    for name, field in fields.items():
        if field.required and name not in value:
            yield Misfit((*path, name), "schema", "missing key", "", _allowed(field.type))


def _word(value: str, type_: inspect.Type, path: Path) -> Iterator[Misfit]:
    """A text, read as a number or a truth value where the type asks for one."""
    if isinstance(type_, inspect.LiteralType):
        if value not in type_.values:
            tip = _meant(value, list(map(str, type_.values)))
            yield Misfit(
                path, "schema", "not one of the allowed words", _short(value), _allowed(type_), tip
            )
    elif isinstance(type_, (inspect.BoolType, inspect.IntType)):
        try:
            msgspec.convert(
                value, bool if isinstance(type_, inspect.BoolType) else int, strict=False
            )
        except msgspec.ValidationError:
            yield Misfit(path, "schema", f"expected {_name(type_)}", _short(value), _allowed(type_))


def mended(value: Any, type_: Any) -> Any:
    """Return the value without all that `misfits` finds: optional parts dropped, others empty. So
    the rest of a faulty record can be looked at in the same run.
    """
    return _mended(value, inspect.type_info(type_))


def _mended(value: Any, type_: inspect.Type) -> Any:
    if isinstance(type_, inspect.UnionType):
        fitting = [each for each in type_.types if isinstance(value, _shape(each))]
        type_ = fitting[0] if fitting else type_.types[0]
    if not isinstance(value, _shape(type_)):
        return _blank(type_)
    if isinstance(type_, inspect.StructType):
        fields = {field.encode_name: field for field in type_.fields}
        kept = {
            name: _mended(value[name], field.type)
            for name, field in fields.items()
            if name in value and (field.required or not _is_misfit(value[name], field.type))
        }
        blank = {name: _blank(field.type) for name, field in fields.items() if field.required}
        return {**blank, **kept}
    if isinstance(type_, inspect.DictType):
        return {name: _mended(item, type_.value_type) for name, item in value.items()}
    if isinstance(type_, inspect.ListType):
        return [_mended(item, type_.item_type) for item in value]
    return _blank(type_) if any(_word(value, type_, ())) else value


def _is_misfit(value: Any, type_: inspect.Type) -> bool:
    """Whether the value itself, not only something in it, is of another type."""
    return any(not misfit.path for misfit in _walk(value, type_, ()))


def _blank(type_: inspect.Type) -> Any:
    """The emptiest value of a type."""
    if isinstance(type_, inspect.UnionType):
        return _blank(type_.types[0])
    if isinstance(type_, inspect.StructType):
        return {each.encode_name: _blank(each.type) for each in type_.fields if each.required}
    if isinstance(type_, (inspect.DictType, inspect.ListType)):
        return {} if isinstance(type_, inspect.DictType) else []
    if isinstance(type_, inspect.LiteralType):
        return type_.values[0]
    return "0" if isinstance(type_, (inspect.BoolType, inspect.IntType)) else ""


def _meant(text: str, names: Iterable[str]) -> str:
    near = nearest(text, names)
    return f"did you mean {' or '.join(near)}?" if near else ""


def _shape(type_: inspect.Type) -> type[Any] | tuple[type[Any], ...]:
    """The plain Python type in which YAML gives a value of this type."""
    if isinstance(type_, inspect.UnionType):
        return tuple(shape for each in type_.types if isinstance(shape := _shape(each), type))
    if isinstance(type_, (inspect.StructType, inspect.DictType)):
        return dict
    return (
        list
        if isinstance(type_, inspect.ListType)
        else type(None)
        if isinstance(type_, inspect.NoneType)
        else str
    )


def _name(type_: inspect.Type) -> str:
    if isinstance(type_, inspect.UnionType):
        inner = [part for part in type_.types if not isinstance(part, inspect.NoneType)]
        return " or ".join(dict.fromkeys(map(_name, inner)))
    if isinstance(type_, (inspect.StructType, inspect.DictType)):
        return "a mapping"
    names: dict[type[inspect.Type], str] = {
        inspect.ListType: "a list",
        inspect.BoolType: "true or false",
        inspect.IntType: "a whole number",
    }
    return names.get(type(type_), "text")


def _found(value: Any) -> str:
    if value is None or value == "":
        return "nothing"
    return (
        "a mapping" if isinstance(value, dict) else "a list" if isinstance(value, list) else "text"
    )


def _allowed(type_: inspect.Type) -> str:
    if isinstance(type_, inspect.UnionType):
        return ", ".join(filter(None, map(_allowed, type_.types)))
    if isinstance(type_, inspect.LiteralType):
        return ", ".join(map(str, type_.values))
    if isinstance(type_, inspect.StructType):
        return ", ".join(field.encode_name for field in type_.fields)
    return "true, false" if isinstance(type_, inspect.BoolType) else ""


def _short(value: Any) -> str:
    text = "" if value is None else str(value)
    return (
        text if len(text) <= 60 else text[:60] + "…"
    )  # a fault quotes enough to be found, not a page
