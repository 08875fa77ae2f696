"""Parameter lists as the files of a wheel state them, and the overloads of a callable in few
texts.
"""

from __future__ import annotations

import ast
from collections.abc import Iterable
from itertools import zip_longest
from typing import Literal, TypeAlias

import msgspec

UNSTATED = "..."
"""A default that the source does not write as a value."""

Kind: TypeAlias = Literal["positional", "variadic", "keyword", "keywords"]


class Parameter(msgspec.Struct, frozen=True, order=True):
    """One parameter of a callable."""

    name: str
    kind: Kind = "positional"
    default: str | None = None
    """As Python writes it; None: the caller must give an argument."""
    word: str = ""
    """Tensor, int, number or bool, where only such arguments fit."""

    def written(self) -> str:
        stars = {"variadic": "*", "keywords": "**"}.get(self.kind, "")
        word = f": {self.word}" if self.word else ""
        default = "" if self.default is None else f"={self.default}"
        return f"{stars}{self.name}{word}{default}"


class ParameterList(msgspec.Struct, frozen=True):
    """The parameters of one overload."""

    parameters: tuple[Parameter, ...]

    def text(self) -> str:
        """As Python writes it between the brackets of a definition."""
        written: list[str] = []
        starred = False
        for parameter in self.parameters:
            if parameter.kind == "keyword" and not starred:
                written.append("*")
            starred = starred or parameter.kind in ("keyword", "variadic")
            written.append(parameter.written())
        return ", ".join(written)

    def places(self) -> list[Parameter]:
        """Parameters that arguments without a name go to."""
        kinds = ("positional", "variadic")
        return [parameter for parameter in self.parameters if parameter.kind in kinds]

    def after(self, count: int) -> ParameterList:
        """Return the parameters left when the first arguments are given."""
        return ParameterList(self.parameters[count:])

    def only_forwards(self) -> bool:
        """Whether it takes anything, and says nothing of it."""
        return {parameter.kind for parameter in self.parameters} == {"variadic", "keywords"}


def parameter_list(arguments: ast.arguments) -> ParameterList:
    """The parameters of a definition."""
    positional = [*arguments.posonlyargs, *arguments.args]
    defaults = [None] * (len(positional) - len(arguments.defaults)) + list(arguments.defaults)
    found = [_parameter(node, "positional", default) for node, default in zip(positional, defaults)]
    if arguments.vararg:
        found.append(_parameter(arguments.vararg, "variadic", None))
    for node, default in zip(arguments.kwonlyargs, arguments.kw_defaults):
        found.append(_parameter(node, "keyword", default))
    if arguments.kwarg:
        found.append(_parameter(arguments.kwarg, "keywords", None))
    return ParameterList(tuple(found))


def reduce_overloads(overloads: Iterable[ParameterList]) -> list[ParameterList]:
    """As few overloads that say the same; words stay where the name at a place depends on them."""
    kept: list[ParameterList] = []
    stated = [overload for overload in overloads if not overload.only_forwards()]
    for overload in stated:
        for place, known in enumerate(kept):
            joined = _join(known, overload)
            if joined is not None:
                kept[place] = joined
                break
        else:
            kept.append(overload)
    for overload in list(kept):
        if any(_covers(other, overload) for other in kept if other is not overload):
            kept.remove(overload)
    ordered = sorted(
        (_in_order(overload) for overload in kept),
        key=lambda each: (len(each.places()), each.text()),
    )
    return _with_few_words(ordered)


def _in_order(overload: ParameterList) -> ParameterList:
    """Parameters that are named after the rest and sorted, since its order says nothing."""
    named = sorted(each for each in overload.parameters if each.kind == "keyword")
    rest = [each for each in overload.parameters if each.kind == "keywords"]
    return ParameterList((*overload.places(), *named, *rest))


def _join(one: ParameterList, other: ParameterList) -> ParameterList | None:
    """Two overloads that take the same at each place, as one; None where they do not.

    Of two defaults the first is the one that a call gets. What must be named in the one
    and does not occur in the other is optional in both together.
    """
    if _taken(one) != _taken(other):
        return None
    others = {parameter.name: parameter for parameter in other.parameters}
    found: list[Parameter] = []
    for parameter in one.parameters:
        found.append(_both(parameter, others.pop(parameter.name, None)))
    for parameter in others.values():
        found.append(_both(parameter, None))
    return ParameterList(tuple(found))


def _both(one: Parameter, other: Parameter | None) -> Parameter:
    if other is None:
        default = one.default or ("None" if one.kind == "keyword" else None)
        return Parameter(one.name, one.kind, default, one.word)
    return Parameter(
        one.name, one.kind, one.default or other.default, one.word if one.word == other.word else ""
    )


def _covers(one: ParameterList, other: ParameterList) -> bool:
    """Whether every call that fits `other` fits `one` too, and gives its parameters the same."""
    names = [parameter.name for parameter in other.places()]
    if [parameter.name for parameter in one.places()][: len(names)] != names:
        return False
    own = {parameter.name: parameter for parameter in one.parameters}
    for parameter in other.parameters:
        mine = own.pop(parameter.name, None)
        if (
            mine is None
            or mine.kind not in (parameter.kind, {"keyword": "positional"}.get(parameter.kind))
            or mine.word not in ("", parameter.word)
            or parameter.default not in (None, mine.default)
        ):
            return False
    return all(map(_may_be_left_out, own.values()))


def _taken(overload: ParameterList) -> list[tuple[str, str]]:
    """Name and kind of what is at each place."""
    return [(parameter.name, parameter.kind) for parameter in overload.places()]


def _may_be_left_out(parameter: Parameter) -> bool:
    return parameter.default is not None or "variadic" in parameter.kind


def _with_few_words(overloads: list[ParameterList]) -> list[ParameterList]:
    """Without the words of parameters that have the same name at their place in every overload."""
    names = [[parameter.name for parameter in overload.places()] for overload in overloads]
    differs = [len(set(column)) > 1 for column in zip_longest(*names, fillvalue="")]
    found: list[ParameterList] = []
    for overload, own in zip(overloads, names):
        parameters = list(overload.parameters)
        for place, parameter in enumerate(parameters):
            if place >= len(own) or not differs[place]:
                parameters[place] = msgspec.structs.replace(parameter, word="")
        found.append(ParameterList(tuple(parameters)))
    return found


def _parameter(node: ast.arg, kind: Kind, default: ast.expr | None) -> Parameter:
    return Parameter(node.arg.rstrip("_"), kind, _default(default), _word(node.annotation))


def _default(node: ast.expr | None) -> str | None:
    if node is None:
        return None
    if isinstance(node, ast.Attribute):
        return ".".join(ast.unparse(node).split(".")[-2:])
    return ast.unparse(node) if _is_value(node) else UNSTATED


def _is_value(node: ast.expr) -> bool:
    """Whether a default is written out: a constant, or a sequence of constants."""
    if isinstance(node, (ast.Tuple, ast.List)):
        return all(_is_value(element) for element in node.elts)
    if isinstance(node, ast.UnaryOp):
        return _is_value(node.operand)
    return isinstance(node, ast.Constant) and node.value is not ...


_WORDS = {
    "Tensor": "Tensor",
    **dict.fromkeys(("int", "_int", "SymInt", "_size", "ellipsis", "EllipsisType"), "int"),
    **dict.fromkeys(("float", "_float", "Number", "_complex", "PySymType"), "number"),
    **dict.fromkeys(("bool", "_bool"), "bool"),
}
"""Name in an annotation of a stub -> word. A dimension is also given by name: ``str |
EllipsisType``.
"""
_AROUND = {"Optional", "Union", "Sequence", "List", "list", "Tuple", "tuple", "None"}


def _word(node: ast.expr | None) -> str:
    """The only word for what an annotation allows; empty where it allows several kinds, or
    others.
    """
    names = (
        {part.id for part in ast.walk(node) if isinstance(part, ast.Name)} - _AROUND
        if node
        else set[str]()
    )
    if names & {"ellipsis", "EllipsisType"}:
        names -= {"str"}
    words = {_WORDS.get(name, "") for name in names}
    return words.pop() if len(words) == 1 else ""
