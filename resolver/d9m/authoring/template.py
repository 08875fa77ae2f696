"""The template of a record, written from its type: every key, with what explains it."""

from __future__ import annotations

import inspect
import re
import textwrap
from collections.abc import Iterator
from pathlib import Path
from typing import Any, Literal, get_args, get_origin, get_type_hints

import msgspec

from d9m.authoring.struct_types import docstrings
from d9m.errors import UsageError, nearest, quote
from d9m.kb.kinds import KINDS, PACKAGES, RecordKind
from d9m.model.records import Record

_WIDTH = 100
_ID = re.compile(r"[A-Za-z0-9][\w.-]*(?:/[A-Za-z0-9][\w.-]*)*", re.ASCII)


def new(root: Path, noun: str, id_: str) -> Path:
    """Write the template of a record. Raises UsageError for an unknown kind or folder, and for a
    record that is there.
    """
    kind = _kind(noun)
    if _ID.fullmatch(id_) is None:
        raise UsageError(f"{quote(id_)} is not an id, such as pytorch/example")
    folder, _slash, name = id_.partition("/")
    folders = _folders(root, kind)
    if name and folder not in folders:
        tip = "a new package needs a record under versions/ first: d9m kb new package NAME"
        raise UsageError(
            f"no {kind.noun} is in a folder {quote(folder)}",
            nearest=nearest(folder, folders),
            tip=tip,
        )
    path = root / kind.name / f"{id_}.yaml"
    if path.exists():
        raise UsageError(f"{path} is there already", tip=f"see: d9m show {id_}")
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_text(template(kind.type, folders.get(folder, "")), "utf-8")
    return path


def _kind(noun: str) -> RecordKind[Any]:
    for kind in KINDS:
        if noun in (kind.noun, kind.noun.replace(" ", "-"), kind.name):
            return kind
    names = [kind.noun.replace(" ", "-") for kind in KINDS]
    raise UsageError(
        f"{quote(noun)} is no kind of record", nearest=nearest(noun, names), allowed=names
    )


def _folders(root: Path, kind: RecordKind[Any]) -> dict[str, str]:
    """Folders in which such a record may be, each with its home package if it has one."""
    from d9m.kb import yaml_files

    found = {each.name: "" for each in (root / kind.name).glob("*/")}
    for id_, package in yaml_files.load(root).of(PACKAGES).items():
        if package.folder is not None:
            found[package.folder] = id_
    return found


def template(type_: type[Any], package: str = "") -> str:
    """A record of this type with what it must say left empty, and what it may say in comments."""
    about = inspect.cleandoc(type_.__doc__ or "").split("\n\n")[0]
    head = textwrap.wrap(about, _WIDTH, initial_indent="# ", subsequent_indent="# ")
    end = "# Fill in what is empty, delete the rest: `d9m kb lint` names what is missing."
    return "\n".join([*head, end, *_fields(type_, package)]) + "\n"


def _fields(type_: type[Any], package: str) -> Iterator[str]:
    said = docstrings(type_)
    hints = get_type_hints(type_)
    fields = msgspec.structs.fields(type_)
    for field in sorted(fields, key=lambda field: not field.required):
        allowed = ", ".join(_words(hints[field.name]))
        about = " ".join([*said.get(field.name, "").split(), allowed and f"One of {allowed}."])
        yield from textwrap.wrap(about, _WIDTH, initial_indent="# ", subsequent_indent="# ")
        lines = list(_value(field.encode_name, hints[field.name], package, field.required))
        yield from lines if field.required else (f"# {line}" for line in lines)


def _value(key: str, hint: Any, package: str, required: bool) -> Iterator[str]:
    """A key with the emptiest value that shows its shape."""
    inner = [each for each in get_args(hint) if each is not type(None)]
    origin = get_origin(hint)
    if origin is dict and get_origin(inner[1]) is list and required:
        yield f"{key}:"
        for line in _value(package or "NAME", inner[1], package, required):
            yield f"  {line}"
    elif origin is list and isinstance(inner[0], type) and issubclass(inner[0], Record):
        fields = msgspec.structs.fields(inner[0])
        hints = get_type_hints(inner[0])
        needed = [each for each in fields if each.required]
        yield f"{key}:"
        empty = ", ".join(f"{each.encode_name}: ''" for each in needed)
        yield f"  - {{{empty}}}"
        for each in needed:
            if words := ", ".join(_words(hints[each.name])):
                yield f"    # {each.encode_name}: one of {words}"
        others = ", ".join(each.encode_name for each in fields if not each.required)
        yield from textwrap.wrap(
            f"# also: {others}", _WIDTH, initial_indent="    ", subsequent_indent="    #   "
        )
    elif origin in (dict, list):
        yield f"{key}: {'{}' if origin is dict else '[]'}"
    elif any(get_origin(each) is dict for each in inner):
        yield f"{key}: {{}}"
    else:
        yield f'{key}: ""'


def _words(hint: Any) -> list[str]:
    """The words of a closed list; true and false of a truth value."""
    if get_origin(hint) is Literal:
        return list(get_args(hint))
    if hint is bool:
        return ["true", "false"]
    return [word for each in get_args(hint) if get_origin(each) is Literal for word in _words(each)]
