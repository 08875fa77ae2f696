"""What records and answers mean, apart from their words: a change of prose may change none of it.

python tests/meaning.py --write      # after a change that is meant to change an answer
"""

from __future__ import annotations

import functools
import hashlib
import json
import sys
from collections import defaultdict
from pathlib import Path
from typing import Annotated, Any, get_args, get_origin, get_type_hints

import msgspec

from d9m.authoring import cases
from d9m.errors import D9mError
from d9m.model.advice import Advice, exit_code
from d9m.model.records import Prose
from golden import CASES, knowledge_base, records

HELD = Path(__file__).with_name("meaning.json")


def of_reply(reply: Advice | D9mError) -> str:
    """Return exit code, outcome and a hash of the outcomes and settings of an answer; of an error
    its exit code.
    """
    if isinstance(reply, D9mError):
        return str(int(reply.exit_code))
    said = {
        "settings": reply.settings,
        "steps": [(step.kind, step.name, step.value, step.when) for step in reply.steps],
        "conflicts": [(conflict.name, conflict.between) for conflict in reply.conflicts],
        "ops": [
            (op.query, op.outcome, op.default, op.solutions, [
                (source.id, source.outcome, source.default, source.when, source.alternatives)
                for source in op.sources
            ])
            for op in reply.ops
        ],
    }  # fmt: skip
    return f"{exit_code(reply):d} {reply.outcome} {_hash(said)}"


def of_records() -> dict[str, str]:
    """Return for each folder of `kb/` a hash of its records without their prose."""
    found: dict[str, list[Any]] = defaultdict(list)
    for one in sorted(records().loaded, key=lambda one: one.file):
        if isinstance(one.record, msgspec.Struct):
            found[str(Path(one.file).parent)].append((one.id, without_prose(one.record)))
    return {folder: _hash(each) for folder, each in sorted(found.items())}


def of_answers() -> dict[str, str]:
    """Return the meaning of the answer to each golden case."""
    kb = knowledge_base()
    return {case.name: of_reply(cases.reply(kb, case)) for case in cases.load(CASES)}


def without_prose(value: Any) -> Any:
    """Return a record as plain values, without the fields whose type is `Prose`."""
    if isinstance(value, msgspec.Struct):
        prose = _prose_fields(type(value))
        return {
            name: without_prose(getattr(value, name))
            for name in value.__struct_fields__
            if name not in prose and getattr(value, name) not in (None, [], {}, ())
        }
    if isinstance(value, dict):
        return {str(key): without_prose(each) for key, each in value.items()}
    if isinstance(value, (list, tuple)):
        return [without_prose(each) for each in value]
    return value


@functools.cache
def _prose_fields(type_: type[msgspec.Struct]) -> frozenset[str]:
    hints = get_type_hints(type_, include_extras=True)
    return frozenset(name for name, hint in hints.items() if _is_prose(hint))


def _is_prose(hint: Any) -> bool:
    if get_origin(hint) is Annotated:
        return hint == Prose
    return any(_is_prose(each) for each in get_args(hint))


def _hash(value: Any) -> str:
    plain = msgspec.json.encode(value, order="sorted")
    return hashlib.sha256(plain).hexdigest()[:12]


def held() -> dict[str, dict[str, str]]:
    """Return what is checked in: `records` by folder, `answers` by golden case."""
    return json.loads(HELD.read_text("utf-8"))


if __name__ == "__main__":
    if sys.argv[1:] != ["--write"]:
        sys.exit(__doc__)
    found = {"records": of_records(), "answers": of_answers()}
    HELD.write_text(json.dumps(found, indent=0, sort_keys=True) + "\n", "utf-8")
