"""Outputs against the checked-in schema: that they are of their type, and hold no key that it
lacks.
"""

from __future__ import annotations

import copy
import functools
import json
from collections.abc import Iterable, Sequence
from typing import Any

import jsonschema_rs

from d9m.about import SCHEMA_VERSION
from golden import TESTS

FILE = TESTS.parent / "schema" / f"{SCHEMA_VERSION}.json"

WRITE = f"write it again: d9m kb schema -o schema/{FILE.name}"


@functools.cache
def whole() -> dict[str, Any]:
    return json.loads(FILE.read_text(encoding="utf-8"))


@functools.cache
def _strict() -> dict[str, Any]:
    """The definitions, closed to every key that they do not name."""
    definitions = copy.deepcopy(whole()["$defs"])
    for definition in definitions.values():
        if "properties" in definition:
            definition["additionalProperties"] = False
    return definitions


@functools.cache
def _validator(name: str) -> Any:
    return jsonschema_rs.Draft202012Validator(
        {"$ref": f"#/$defs/{name}", "$defs": _strict()}, validate_formats=False
    )


def names(words: Sequence[str]) -> list[str]:
    """The definitions of what a command can print: `advise`, `advise-diff`."""
    command = "-".join(words[: 2 if words[0] == "kb" else 1])
    return [name for name in whole()["$defs"] if name.startswith(command)]


def faults(content: Any, among: Iterable[str]) -> list[str]:
    """What an output has against each of some definitions; nothing if it is of one of them."""
    found: list[str] = []
    for name in among:
        wrong = [str(error) for error in _validator(name).iter_errors(content)]
        if not wrong:
            return []
        found += [f"{name}: {error[:400]}" for error in wrong[:3]]
    return [*found, WRITE]
