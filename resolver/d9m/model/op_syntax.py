"""Parse an op as the user writes it into name, arguments and direction.

Equal spellings: ``interpolate:mode=bilinear:backward``,
``interpolate[mode=bilinear]:backward``, ``F.interpolate(x, mode='bilinear'):backward``.
"""

from __future__ import annotations

import re
from collections.abc import Iterable
from typing import Literal, TypeAlias

import msgspec

from d9m.errors import UsageError, quote
from d9m.model.signatures import Arguments
from d9m.model.signatures import arguments as read_arguments

Direction: TypeAlias = Literal["forward", "backward"]

BOTH: tuple[Direction, ...] = ("forward", "backward")

SUBSCRIPT = "x[idx]"
"""The name under which any pasted subscript, such as ``h[:, edge_index[0]]``, is looked up."""

ASSIGNMENTS = {"": "x[idx] = v", "+": "x[idx] += v"}
"""The same for assignments to a subscript, plain and augmented."""

PRODUCT = "x @ y"
"""The same for any pasted product of matrices."""

RECEIVER = "x."
"""Stands for the object of a pasted method call: ``h[mask].view(-1).cumsum(0)`` is ``x.cumsum``."""

LONGEST = 500
"""Characters of one item. The longest call worth pasting has fewer; a pasted log has more."""

_OPEN = "([{"
_CLOSE = ")]}"
_DIRECTIONS: dict[str, Direction] = {
    "forward": "forward",
    "fwd": "forward",
    "backward": "backward",
    "bwd": "backward",
}
_ASSIGNED = re.compile(r"\s*([-+*/]?)=(?!=)")
_PRODUCT = re.compile(r"[^@:]*[^@:\s]\s*@\s*[^@:\s][^@:]*(?=:|$)")
_ATTRIBUTE = re.compile(r"\.\w+(?=[.:[]|$)")
_KERNEL = re.compile(
    r"(?:void\s+)?(?P<name>(?:\w+::)*(?:\(anonymous namespace\)::\w+|\w+(?=<)))(?:<.*>)?(?:\(.*\))?"
)
_UPDATED = re.compile(r"[^\[]*\.at\[.*?\]\.(\w+)(?:\((.*)\))?(?=:|$)")  # JAX: x.at[i].add(y)


class Query(msgspec.Struct, frozen=True):
    """One item of an op list."""

    text: str
    name: str
    arguments: dict[str, str] = {}
    """Stated on purpose, as facts: an unknown name among them is an error."""
    call: Arguments | None = None
    """The arguments of a pasted call; those that no condition asks about are ignored."""
    directions: tuple[Direction, ...] = BOTH


def split(text: str) -> list[str]:
    """The items of a comma-separated list; commas inside brackets do not count, nor do those in
    the template of a C++ kernel.
    """
    items: list[str] = []
    depth = 0
    templates = 0
    start = 0
    for place, letter in enumerate(text):
        depth += (letter in _OPEN) - (letter in _CLOSE)
        if depth == 0:
            templates += _opens_template(text, place) - (letter == ">" and templates > 0)
        if letter == "," and depth <= 0 and not templates:
            items.append(text[start:place])
            start = place + 1
    items.append(text[start:])
    return [item.strip() for item in items if item.strip()]


def _opens_template(text: str, place: int) -> bool:
    """Whether a name's template begins: ``f<4>``, not ``x < 3``."""
    if text[place] != "<" or ">" not in text[place:]:
        return False
    return re.fullmatch(r"\w", text[place - 1 : place]) is not None


def parse(text: str) -> Query:
    """Read one item. Raises UsageError, with a caret under the fault."""
    item = text.strip()
    if len(item) > LONGEST:
        raise UsageError(f"op is {len(item)} characters long, {LONGEST} are allowed: {quote(item)}")
    if not item.isprintable():
        raise UsageError(f"op holds control characters: {quote(item)}")
    name, end = _name(item)
    if not name:
        raise _fault(item, 0, "an op's name is missing")
    if updated := _UPDATED.match(item):
        stated: dict[str, str] = {}
        directions = _suffixes(item, updated.end(), stated)
        written = None if updated[2] is None else read_arguments(updated[2])
        return Query(item, f"at.{updated[1]}", stated, written, directions)
    if product := _PRODUCT.match(item):
        stated = {}
        directions = _suffixes(item, product.end(), stated)
        return Query(item, PRODUCT, stated, None, directions)
    arguments: dict[str, str] = {}
    call: Arguments | None = None
    while end < len(item) and item[end] in "([.":
        if item[end] == ".":  # of what the call or the subscript gives
            if attribute := _ATTRIBUTE.match(item, end):
                end = attribute.end()
                continue
            start, end = end + 1, _end_of_name(item, end)
            name, call, arguments = RECEIVER + item[start:end].strip(), None, {}
            continue
        close = _closing(item, end)
        inside = item[end + 1 : close]
        if item[end] == "(":
            call = call or read_arguments(inside)  # nn.Conv2d(3, 8, 1)(x) is the layer
        elif inside.strip() and "=" not in inside:
            name = name if call else SUBSCRIPT
        else:
            for part in split(inside):
                _add(arguments, item, part)
        end = close + 1
    if name == SUBSCRIPT and (assigned := _ASSIGNED.match(item, end)):
        return Query(item, ASSIGNMENTS["+" if assigned[1] else ""])
    return Query(item, name, arguments, call, _suffixes(item, end, arguments))


def _name(item: str) -> tuple[str, int]:
    """The name that an item begins with, and where it ends; of a C++ kernel, without its return
    type and template.
    """
    if kernel := _KERNEL.match(item):
        return kernel["name"].replace("(anonymous namespace)::", ""), kernel.end()
    end = _end_of_name(item, 0)
    return item[:end].strip(), end


def _suffixes(item: str, end: int, arguments: dict[str, str]) -> tuple[Direction, ...]:
    """Read ``:name=value`` and ``:backward`` after the name."""
    rest = item[end:]
    if rest and not rest.startswith(":"):
        raise _fault(item, end, "expected ':' or the end")
    directions: list[Direction] = []
    for part in rest.split(":")[1:]:
        word = part.strip().lower()
        if word in _DIRECTIONS:
            directions.append(_DIRECTIONS[word])
        elif "=" in part:
            _add(arguments, item, part)
        else:
            raise _fault(
                item,
                item.rfind(part) if part else len(item),
                "expected forward, backward or name=value",
            )
    return common(directions, BOTH) or BOTH


def _end_of_name(item: str, start: int) -> int:
    """Where the name ends; ``::`` is part of it (``aten::index_put_``)."""
    masked = item.replace("::", "  ")
    places = [masked.find(sign, start) for sign in "([:"]
    return min((place for place in places if place >= 0), default=len(item))


def _closing(item: str, start: int) -> int:
    depth = 0
    for place in range(start, len(item)):
        depth += (item[place] in _OPEN) - (item[place] in _CLOSE)
        if depth == 0:
            return place
    raise _fault(
        item, start, "this bracket is never closed (in a shell, quote items with brackets)"
    )


def _add(arguments: dict[str, str], item: str, part: str) -> None:
    name, equals, value = part.partition("=")
    name, value = name.strip().lower(), _literal(value)
    if not (equals and name and value):
        raise _fault(item, max(0, item.find(part)), "expected name=value")
    if arguments.get(name, value) != value:
        raise _fault(
            item, item.rfind(part), f"{name} is given twice, as {arguments[name]} and {value}"
        )
    arguments[name] = value


def _literal(value: str) -> str:
    return value.strip().strip("'\"").lower()


def _fault(item: str, place: int, what: str) -> UsageError:
    start = max(0, place - 60)
    return UsageError(f"{what}\n    {item[start : start + 100]}\n    {' ' * (place - start)}^")


def common(first: Iterable[Direction], second: Iterable[Direction]) -> tuple[Direction, ...]:
    """Directions in both."""
    both = set(first) & set(second)
    return tuple(each for each in BOTH if each in both)


def plain(name: str) -> str:
    """A name as tables know it: lower case, without trailing underscores."""
    return name.strip().lower().rstrip("_") or name
