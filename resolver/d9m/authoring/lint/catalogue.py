"""Op names: items that can be read, and chains that end."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence

from d9m.authoring.lint.conditions import bad_value, did_you_mean
from d9m.authoring.lint.index import NamedOps, RecordIndex
from d9m.authoring.lint.rule import Finding, rule
from d9m.errors import UsageError
from d9m.kb.validate import Path
from d9m.kb.yaml_files import Loaded
from d9m.model import op_syntax, records


def _items(index: RecordIndex) -> Iterator[tuple[Loaded, Path, str]]:
    """Every query item of every record."""
    for type_ in (records.Source, records.ErrorRecord, records.Symptom):
        for at, path, part in index.parts(type_):
            for place, item in enumerate(part.ops):
                yield at, (*path, "ops", place), item
    for at, path, file in index.parts(records.OpRecords):
        for name, targets in file.reach.items():
            for place, target in enumerate(targets):
                yield (
                    at,
                    (*path, "reach", name, place),
                    target if isinstance(target, str) else target.op,
                )


@rule(
    "op-item",
    "Op that cannot be read",
    """Ops in records are written like those on the command line: name, [argument=value], :backward.
    The arguments are facts of the vocabulary that belong to a call, and have values that these
    facts have. A name reaches at least one op, under at most one clause.""",
)
def op_item(index: RecordIndex) -> Iterator[Finding]:
    arguments = [name for name, fact in index.facts.items() if fact.argument]
    for at, path, item in _items(index):
        try:
            asked = op_syntax.parse(item)
        except UsageError as error:
            yield Finding(
                at, path, error.what.splitlines()[0], item, tip="in YAML, quote items with brackets"
            )
            continue
        if asked.call is not None or "(" in item:
            yield Finding(
                at, path, "a record takes no call", item, tip="write arguments as [name=value]"
            )
        for name, value in asked.arguments.items():
            if name in arguments:
                yield from bad_value(index, at, path, name, value)
            elif index.complete("facts"):
                tip = did_you_mean(name, arguments) or "add it to facts.yaml, with argument: true"
                yield Finding(at, path, "no argument of the vocabulary", name, tip=tip)
    for at, path, file in index.parts(records.OpRecords):
        for name, targets in file.reach.items():
            if not targets:
                yield Finding(
                    at,
                    (*path, "reach", name),
                    "reaches nothing",
                    name,
                    tip="name an op, or drop it",
                )


@rule(
    "cycle",
    "Chain that comes back to itself",
    """Aliases, layers and wrappers reach ops in the end, and solutions require other solutions:
    following either must stop somewhere. A name that reaches itself has no op behind it.""",
)
def cycle(index: RecordIndex) -> Iterator[Finding]:
    for file in index.kinds["ops"].values():
        record: records.OpRecords = file.record
        reach = _reach(index.catalogues[record.package])
        for name in record.reach:
            chain = _back_to(name, reach)
            if chain:
                yield Finding(
                    file,
                    ("reach", name),
                    f"reaches itself: {' -> '.join(chain)}",
                    name,
                    tip="end it in an op",
                )


def _reach(catalogue: NamedOps) -> dict[str, list[str]]:
    """Name -> the names that it reaches next."""
    found: dict[str, list[str]] = {}
    for name, targets in catalogue.reach.items():
        for target in targets:
            try:
                item = op_syntax.parse(target if isinstance(target, str) else target.op)
            except UsageError:
                continue
            found.setdefault(name, []).append(item.name)
    return found


def _back_to(start: str, links: Mapping[str, Sequence[str]]) -> list[str]:
    """A chain of links from `start` to itself; empty if there is none."""
    above: dict[str, str] = {}
    todo = [start]
    while todo:
        name = todo.pop()
        for target in links.get(name, ()):
            if target == start:
                chain = [start, name]
                while chain[-1] != start:
                    chain.append(above[chain[-1]])
                return chain[::-1]
            if target not in above:
                above[target] = name
                todo.append(target)
    return []


RULES = (op_item, cycle)
