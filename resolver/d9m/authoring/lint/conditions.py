"""Every `when`: its variables and their values."""

from __future__ import annotations

from collections.abc import Iterator

from d9m.authoring.lint.index import RecordIndex, readable
from d9m.authoring.lint.rule import Finding, rule
from d9m.authoring.lint.worlds import is_number, is_sound, possible, takes
from d9m.environment.environment import DEVICES
from d9m.errors import nearest
from d9m.kb.validate import Path
from d9m.kb.yaml_files import Loaded
from d9m.model import records
from d9m.model.when import ABSENT, Allowed, Range, placed


def did_you_mean(text: str, names: list[str]) -> str:
    """A tip with the nearest names; empty if none is near."""
    near = nearest(text, names)
    return f"did you mean {' or '.join(near)}?" if near else ""


def restrictions(index: RecordIndex) -> Iterator[tuple[Loaded, Path, str, Allowed]]:
    """Every variable of every condition, with what it may be."""
    for at, path, when in index.whens():
        for place, clause in placed(when):
            for name, allowed in clause.items():
                yield at, (*path, *place, name), name, allowed


@rule(
    "unknown-variable",
    "Condition on something unknown",
    """A condition may ask about the device, a package of the knowledge base by its own name, or a
    fact of kb/facts.yaml. Anything else could never be given by a user, so the condition would hold
    never or always without anybody noticing. A new fact is one line in kb/facts.yaml.""",
)
def unknown_variable(index: RecordIndex) -> Iterator[Finding]:
    known = ["device", *index.facts, *index.packages]
    if not (index.complete("facts") and index.complete("versions")):
        return
    for at, path, name, _allowed in restrictions(index):
        if name not in known:
            message = "neither device, nor a package, nor a fact"
            yield Finding(
                at,
                path,
                message,
                name,
                tip=did_you_mean(name, known) or "add the fact to facts.yaml",
            )


@rule(
    "unknown-value",
    "Value that a variable never has",
    """A fact has a closed list of values, the device too; a package is restricted by releases
    ({from, until}, or {} for present in any release) and a number by numbers. A value outside of
    that can never hold, so what stands under the condition would never be said.""",
)
def unknown_value(index: RecordIndex) -> Iterator[Finding]:
    for at, path, name, allowed in restrictions(index):
        if isinstance(allowed, Range):
            yield from _bad_range(index, at, path, name, allowed)
            continue
        if name in index.packages and name not in index.facts:
            if allowed == ABSENT:
                continue
            tip = f'write {{from: "…", until: "…"}}, {{}} for any release, or {ABSENT}'
            yield Finding(at, path, "a package is restricted by releases", str(allowed), tip=tip)
            continue
        for value in [allowed] if isinstance(allowed, str) else allowed:
            yield from bad_value(index, at, path, name, value)


def bad_value(
    index: RecordIndex, at: Loaded, path: Path, name: str, value: str
) -> Iterator[Finding]:
    """A finding if a fact, or the device, never has this value."""
    fact = index.facts.get(name)
    if (fact is None and name != "device") or takes(fact, value):
        return
    if fact is not None and fact.type == "int":
        yield Finding(at, path, f"{name} is a whole number", value)
    else:
        allowed: list[str] = [*DEVICES] if fact is None else fact.values
        yield Finding(
            at,
            path,
            f"{name} never has this value",
            value,
            ", ".join(allowed),
            did_you_mean(value, allowed),
        )


def _bad_range(
    index: RecordIndex, at: Loaded, path: Path, name: str, allowed: Range
) -> Iterator[Finding]:
    fact = index.facts.get(name)
    if name != "device" and (fact is None or fact.type == "int"):
        for end, bound in (("from", allowed.from_), ("until", allowed.until)):
            if fact is not None and bound is not None and not is_number(bound):
                yield Finding(at, (*path, end), f"{name} is a whole number", bound)
        return
    values: list[str] = [*DEVICES] if fact is None else fact.values
    yield Finding(
        at,
        path,
        f"{name} has no order, so no range",
        "",
        ", ".join(values),
        "write a value, or a list of them",
    )


@rule(
    "never-holds",
    "Condition that nothing fulfils",
    """An empty list of values or clauses, or a range that ends before it begins, or that holds no
    release at all: what stands under such a condition is never said. `until` is exclusive: {from:
    "2.1", until: "2.1"} is empty.""",
)
def never_holds(index: RecordIndex) -> Iterator[Finding]:
    for at, path, when in index.whens():
        if is_sound(index, when) and not possible(index, [when]):
            yield Finding(
                at,
                path,
                "no environment fulfils this",
                tip="until is exclusive; an empty list holds nothing",
            )
    for at, path, name, exists in existences(index):
        bounds = readable(exists.from_ or "0"), readable(exists.until or "999999")
        if bounds[0] is not None and bounds[1] is not None and bounds[0] >= bounds[1]:
            yield Finding(
                at, path, f"{name} exists in no release", f"{exists.from_} to {exists.until}"
            )


def existences(index: RecordIndex) -> Iterator[tuple[Loaded, Path, str, records.Existence]]:
    """Every op with the releases that have it."""
    for at, path, file in index.parts(records.OpRecords):
        for name, exists in file.ops.items():
            yield at, (*path, "ops", name), name, exists


@rule(
    "vocabulary",
    "Fact that contradicts itself",
    """The facts are a closed, typed vocabulary. A choice lists its values and its default is one of
    them; a number lists none and its default is a number. `usual` is one of its values, too, and
    stands where there is no default. A fact must not be called like a package or `device`:
    conditions could not distinguish the two.""",
)
def vocabulary(index: RecordIndex) -> Iterator[Finding]:
    for name, fact in index.facts.items():
        at = index.vocabulary
        if name == "device" or name in index.packages:
            yield Finding(
                at,
                (name,),
                "also the name of a package or of the device",
                name,
                tip="rename the fact",
            )
        if fact.type == "int":
            if not is_number(fact.least):
                yield Finding(at, (name, "least"), "not a whole number", fact.least)
            if fact.values:
                yield Finding(
                    at,
                    (name, "values"),
                    "a number has no list of values",
                    name,
                    tip="drop type or values",
                )
            if fact.default is not None and not is_number(fact.default):
                yield Finding(at, (name, "default"), "not a whole number", fact.default)
        elif not fact.values:
            yield Finding(at, (name,), "lists no values", name, tip="add values, or type: int")
        elif fact.default is not None and fact.default not in fact.values:
            yield Finding(
                at, (name, "default"), "not one of its values", fact.default, ", ".join(fact.values)
            )
        if fact.usual is not None and not takes(fact, fact.usual):
            yield Finding(
                at, (name, "usual"), "never has this value", fact.usual, ", ".join(fact.values)
            )
        if fact.usual is not None and fact.default is not None:
            yield Finding(
                at,
                (name, "usual"),
                "is assumed already",
                fact.usual,
                tip="drop usual, or the default",
            )


RULES = (unknown_variable, unknown_value, never_holds, vocabulary)
