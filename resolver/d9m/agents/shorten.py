"""Cut an answer to a size, and say what was left out."""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence
from typing import TypeAlias, Union

Json: TypeAlias = Union[str, float, list["Json"], dict[str, "Json"], None]  # noqa: UP007

Left: TypeAlias = dict[str, list[str] | int]
"""Path -> the names of entries or keys that were left out, or how many there are."""

EMPTY: Sequence[Json] = (None, "", [], {})
"""Values that an answer does without."""

LONGEST = 200
"""Characters of a text in an entry that is cut to its plain values."""

MOST_NAMES = 8
"""Entries that are named of those that a list lost, and paths of those that lost some."""


def shorten(
    answer: Mapping[str, Json], limit: int, last: Sequence[str] = ()
) -> tuple[dict[str, Json], Left]:
    """Return what fits of an answer, without empty values, and what was left out. `limit` is in
    bytes of JSON; the keys in `last` go first.

    >>> shorten({"a": 1, "b": [], "c": None}, 100)
    ({'a': 1}, {})
    >>> shorten({"ops": [{"id": "mm"}, {"id": "cumsum", "why": "x" * 90}]}, 60)
    ({'ops': [{'id': 'mm'}]}, {'ops': ['cumsum']})
    """
    kept = {key: _without_empty(each) for key, each in answer.items()}
    kept = {key: each for key, each in kept.items() if each not in EMPTY}
    left: Left = {}
    for key in last:
        if key in kept and size(kept) > limit:
            left[key] = _count(kept.pop(key))
    return _cut_keys(kept, limit, "", left), _outermost(left)


def _outermost(left: Left) -> Left:
    paths = sorted(left, key=lambda path: path.count("."))
    found = {path: left[path] for path in paths[:MOST_NAMES]}
    more = len(left) - len(found)
    return found | ({"more": more} if more else {})


def size(value: object) -> int:
    """Return the bytes of a value as JSON."""
    return len(written(value).encode())


def written(value: object) -> str:
    return json.dumps(value, ensure_ascii=False, separators=(",", ":"))


def _without_empty(value: Json) -> Json:
    if isinstance(value, dict):
        found = {key: _without_empty(each) for key, each in value.items()}
        return {key: each for key, each in found.items() if each not in EMPTY}
    return [_without_empty(each) for each in value] if isinstance(value, list) else value


def _cut(value: Json, limit: int, path: str, left: Left) -> Json:
    if size(value) <= limit:
        return value
    if isinstance(value, dict):
        return _cut_keys(value, limit, path, left)
    if isinstance(value, list):
        return _cut_entries(value, limit, path, left)
    return f"{value[: max(limit // 2 - 4, 0)]}…" if isinstance(value, str) else value


def _cut_keys(values: Mapping[str, Json], limit: int, path: str, left: Left) -> dict[str, Json]:
    """Give small values the room that they need, and the others equal parts of the rest."""
    rest, waiting = limit - 2, len(values)
    found: dict[str, Json] = {}
    for key in sorted(values, key=lambda key: size(values[key])):
        frame = len(key.encode()) + 4
        room = max(rest, 0) // waiting - frame
        at = f"{path}.{key}" if path else key
        cut = _cut(values[key], room, at, left)
        if size(cut) <= room:
            found[key] = cut
            rest -= frame + size(cut)
        else:
            left[at] = _count(values[key])
        waiting -= 1
    return {key: found[key] for key in values if key in found}


def _cut_entries(values: Sequence[Json], limit: int, path: str, left: Left) -> list[Json]:
    """Keep as many entries as fit with their plain values, and the first of them whole."""
    if len(values) == 1:
        return [_cut(values[0], limit - 2, f"{path}.0", left)]
    found: list[Json] = []
    for each in values:
        found.append(_plain(each))
        if size(found) > limit:
            del found[-1]
            left[path] = _names(values[len(found) :])
            break
    for place in range(len(found)):
        brief, found[place] = found[place], values[place]
        if size(found) > limit:
            left[f"{path}[]"] = sorted({key for one in values for key in _dropped(one)})
            found[place] = brief
            room = limit - size(found) + size(brief)
            if room > 2 * size(brief):
                found[place] = _cut(values[place], room, f"{path}.{place}", left)
            break
    return found


def _plain(value: Json) -> Json:
    if not isinstance(value, dict):
        return value
    return {key: each for key, each in value.items() if key not in _dropped(value)}


def _dropped(value: Json) -> set[str]:
    if not isinstance(value, dict):
        return set()
    is_long = {key for key, each in value.items() if size(each) > LONGEST}
    return is_long | {key for key, each in value.items() if isinstance(each, dict)}


def _names(entries: Sequence[Json]) -> list[str] | int:
    """Return what identifies the entries, or how many there are."""
    found = [name for name in map(_name, entries) if isinstance(name, str)]
    if len(found) < len(entries):
        return len(entries)
    more = len(found) - MOST_NAMES
    return [*found[:MOST_NAMES], *([f"{more} more"] if more > 0 else [])]


def _name(entry: Json) -> Json:
    if not isinstance(entry, dict):
        return entry
    return next((entry[key] for key in ("id", "query", "name", "path") if key in entry), None)


def _count(value: Json) -> int:
    return len(value) if isinstance(value, list) else 1
