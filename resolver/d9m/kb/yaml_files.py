"""Read YAML records: strings only, every fault collected, none hidden.

YAML's base loader keeps ``2.10`` and ``no`` as they are written. Tags, merges
and duplicate keys would make a record say something that its text does not
show, so they are faults. An anchor may name a block that a file says again.
"""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path
from typing import Any

import msgspec
import yaml

from d9m import files
from d9m.errors import DataError, printable
from d9m.kb import derive, validate
from d9m.kb.kinds import BY_NAME, RUNS, RecordKind, RecordType
from d9m.kb.loaded import Fault, Loaded, Place, nearest_line
from d9m.model import compiled_facts, dispatch_facts, fact_files, kernel_facts, records, wheel_facts
from d9m.model.runs import DigestFile
from d9m.model.words import Words

_LOADER: Any = getattr(yaml, "CBaseLoader", yaml.BaseLoader)
"""Strings only. PyYAML may have been built without libyaml, and is slower then."""

_LONGEST = 1 << 23
"""Bytes of a record; the longest list of ops has a tenth of that."""


class Records(msgspec.Struct, frozen=True):
    """Everything under one ``kb/`` folder that could be read, and what could not."""

    root: Path
    facts: dict[str, records.Fact]
    loaded: list[Loaded]
    faults: list[Fault]
    mended: list[Loaded] = []
    """Remains of those files that have faults."""
    words: Words = Words()
    gpus: records.GpuFile = records.GpuFile()
    explained: dict[str, str] = {}
    """Id of a difference that `d9m kb audit` finds -> why it is correct."""
    catalogues: list[wheel_facts.Catalogue] = []
    """Public names of the frameworks, by package."""
    signatures: list[wheel_facts.SignatureCatalogue] = []
    """How their callables are called, by package."""
    wheels: frozenset[str] = frozenset()
    """Fact files of wheels, by name."""

    def of(self, kind: RecordKind[RecordType]) -> dict[str, RecordType]:
        """Records of one kind by id."""
        return {each.id: each.record for each in self.loaded if each.kind == kind.name}


def load(root: Path) -> Records:
    """Read every record under `root`. Never raises for a malformed file: it becomes a fault."""
    kinds = ("", "facts", "words", "gpus", "explained", *_FACTS.values())
    apart: dict[str, list[Loaded]] = {kind: [] for kind in kinds}
    faults: list[Fault] = []
    mended: list[Loaded] = []
    for path in sorted(root.rglob("*")):
        if path.is_dir() or path.name.startswith(".") or path == root / _REFERENCE:
            continue
        for found in read(path, root):
            if isinstance(found, Fault):
                faults.append(found)
            elif found.is_mended and found.kind in BY_NAME:
                mended.append(found)
            elif not found.is_mended:
                apart.get(found.kind, apart[""]).append(found)
    published = {each.id: each.record for each in apart["published"]}
    faults.extend(derive.faults(apart[""], published))
    return Records(
        root=root,
        facts=apart["facts"][0].record if apart["facts"] else {},
        loaded=list(derive.derived(apart[""], published)),
        faults=sorted(faults),
        mended=mended,
        words=apart["words"][0].record if apart["words"] else Words(),
        gpus=apart["gpus"][0].record if apart["gpus"] else records.GpuFile(),
        explained=apart["explained"][0].record if apart["explained"] else {},
        catalogues=[each.record for each in apart["catalogues"]],
        signatures=[each.record for each in apart["signatures"]],
        wheels=frozenset(each.id for each in apart["wheels"]),
    )


def load_some(root: Path) -> Records:
    """Read every record, as `load` does. Raises DataError where there is none at all."""
    found = load(root)
    if not found.loaded and not found.faults:
        raise DataError(f"{root}: no records there")
    return found


_SINGLE: dict[str, Any] = {
    "facts.yaml": dict[str, records.Fact],
    "words.yaml": Words,
    "gpus.yaml": records.GpuFile,
    "evidence/explained.yaml": dict[str, str],
}
"""Files that hold more than one record, or none."""

_REFERENCE = "README.md"
"""Describes the fields of records to those who write them."""


def read(path: Path, root: Path) -> Iterator[Loaded | Fault]:
    """One file's record, or its faults."""
    relative = path.relative_to(root)
    file = relative.as_posix()
    kind = relative.parts[0]
    if not path.is_file():
        yield Fault(
            file,
            1,
            "file-place",
            "not a file that can be read to its end: a pipe, a device or a lost link",
        )
        return
    if relative.parts[:2] == ("evidence", "runs") and path.suffix == ".json":
        yield _run(path, file)
        return
    if relative.parts[:2] == ("evidence", "digests") and path.suffix == ".json":
        yield from _digest_faults(path, file)
        return
    if kind == "evidence" and path.suffix == ".json":
        yield from _fact_file(path, file)
        return
    if file in _SINGLE:
        kind, type_ = path.stem, _SINGLE[file]
    elif kind in BY_NAME and path.suffix == ".yaml" and len(relative.parts) > 1:
        type_ = BY_NAME[kind].type
    else:
        folders = ", ".join(f"{name}/" for name in BY_NAME)
        allowed = f"{', '.join(_SINGLE)}, *.yaml under {folders}"
        yield Fault(file, 1, "file-place", "not a record's place", allowed=allowed)
        return
    try:
        text = files.text(path, _LONGEST)
    except (OSError, UnicodeDecodeError) as error:
        yield Fault(file, 1, "yaml-syntax", f"cannot be read as UTF-8: {error}")
        return
    except DataError as error:
        yield Fault(file, 1, "yaml-syntax", error.what)
        return
    yield from parse(text, file, kind, relative.with_suffix("").as_posix().partition("/")[2], type_)


def _run(path: Path, file: str) -> Loaded | Fault:
    """A measured run. It is JSON, as `d9m check --evidence` wrote it."""
    try:
        return Loaded(
            RUNS.name, path.stem, file, msgspec.json.decode(files.content(path), type=RUNS.type), {}
        )
    except (OSError, DataError, *files.UNREADABLE) as error:
        return Fault(file, 1, "schema", str(error), tip="write it again: d9m check --evidence FILE")


def _digest_faults(path: Path, file: str) -> Iterator[Fault]:
    """Reference values are not records: `d9m check --against` reads the file itself."""
    try:
        msgspec.json.decode(files.content(path), type=DigestFile)
    except (OSError, DataError, *files.UNREADABLE) as error:
        yield Fault(file, 1, "schema", str(error), tip="write it again: d9m check --digests FILE")


_FACTS: dict[Any, str] = {
    wheel_facts.WheelFacts: "wheels",
    wheel_facts.Catalogue: "catalogues",
    wheel_facts.Published: "published",
    wheel_facts.SignatureCatalogue: "signatures",
    compiled_facts.CompiledCatalogue: "compiled",
    dispatch_facts.DispatchCatalogue: "dispatch",
    kernel_facts.KernelTable: "kernels",
    dispatch_facts.CpuRuns: "cpu",
    dispatch_facts.SeedRuns: "seeds",
}


def _fact_file(path: Path, file: str) -> Iterator[Loaded | Fault]:
    """Facts extracted from wheels: no record, but read by the audit and cited by records."""
    type_ = fact_files.fact_type(file)
    if type_ is None:
        yield Fault(
            file, 1, "file-place", "not a fact file's place", allowed=", ".join(fact_files.TYPES)
        )
        return
    try:
        yield Loaded(_FACTS[type_], path.stem, file, wheel_facts.read(path, type_), {})
    except DataError as error:
        yield Fault(file, 1, "schema", error.what)


def _fault(file: str, shape: _Shape, misfit: validate.Misfit) -> Fault:
    return Fault(
        file,
        nearest_line(shape.places, misfit.path),
        misfit.rule,
        misfit.message,
        ".".join(map(str, misfit.path)),
        misfit.value,
        misfit.allowed,
        misfit.tip,
    )


def parse(text: str, file: str, kind: str, id_: str, type_: Any) -> Iterator[Loaded | Fault]:
    """A record from its text, or all faults of that text."""
    try:
        forbidden = list(_forbidden(text, file))
        shape = _Shape(file, are_aliases_small=not forbidden)
        node = yaml.compose(text, Loader=_LOADER)
        value = shape.value(node, ()) if node is not None else None
    except yaml.MarkedYAMLError as error:
        mark = error.problem_mark or error.context_mark
        line = mark.line + 1 if mark else 1
        yield Fault(
            file, line, "yaml-syntax", ", ".join(filter(None, (error.context, error.problem)))
        )
        return
    except (yaml.YAMLError, ValueError) as error:
        yield Fault(file, 1, "yaml-syntax", printable(str(error)).splitlines()[0])
        return
    yield from forbidden
    yield from shape.faults
    if shape.repeated:
        return
    is_mended = bool(forbidden or shape.faults)
    try:
        record = msgspec.convert(value, type_, strict=False)
    except msgspec.ValidationError:
        for misfit in validate.misfits(value, type_):
            yield _fault(file, shape, misfit)
        is_mended = True
        record = msgspec.convert(validate.mended(value, type_), type_, strict=False)
    yield Loaded(kind, id_, file, record, shape.places, is_mended)


class _Shape:
    """Turns a YAML node into plain values, keeping places and duplicate keys."""

    def __init__(self, file: str, *, are_aliases_small: bool) -> None:
        self.file = file
        self._are_aliases_small = are_aliases_small
        self.places: dict[tuple[str | int, ...], Place] = {}
        self.faults: list[Fault] = []
        self.repeated = False
        """Whether the text has aliases that stay unread: a short one can make a huge value."""
        self._seen: set[int] = set()

    def value(self, node: yaml.Node, path: tuple[str | int, ...]) -> Any:
        if id(node) in self._seen and not self._are_aliases_small:
            self.repeated = True
            return None
        self._seen.add(id(node))
        self.places[path] = (node.start_mark.line + 1, node.start_mark.column + 1)
        if isinstance(node, yaml.MappingNode):
            return self._mapping(node, path)
        if isinstance(node, yaml.SequenceNode):
            return [self.value(item, (*path, place)) for place, item in enumerate(node.value)]
        return node.value

    def _mapping(self, node: yaml.MappingNode, path: tuple[str | int, ...]) -> dict[str, Any]:
        found: dict[str, Any] = {}
        for key_node, value_node in node.value:
            line = key_node.start_mark.line + 1
            name = key_node.value if isinstance(key_node, yaml.ScalarNode) else None
            if name is None:
                self.faults.append(
                    Fault(self.file, line, "yaml-syntax", "a key must be a plain word")
                )
            elif name in found:
                tip = "keep one of the two"
                self.faults.append(
                    Fault(self.file, line, "duplicate-key", "key given twice", name, tip=tip)
                )
            elif name == "<<":
                tip = "write the fields out: a record says all of itself"
                self.faults.append(
                    Fault(
                        self.file, line, "yaml-feature", "merge keys are not allowed", "<<", tip=tip
                    )
                )
            else:
                found[name] = self.value(value_node, (*path, name))
                self.places[(*path, name)] = (line, key_node.start_mark.column + 1)
        return found


_DEEPEST = 50
"""Levels of nesting. The deepest record has ten; libyaml crashes the process on a hundred thousand.
"""

_MOST_ALIASES = 20
"""In a file. As an anchored block has none inside, what they stand for stays small."""


def _forbidden(text: str, file: str) -> Iterator[Fault]:
    """Tags, and aliases of more than a block written once. Raises ValueError for a text nested too
    deep.
    """
    depth = aliases = 0
    anchored: int | None = None
    """Depth at which the anchored block around here began."""
    for event in yaml.parse(text, Loader=_LOADER):
        line = event.start_mark.line + 1 if event.start_mark else 1
        if isinstance(event, yaml.CollectionEndEvent):
            depth -= 1
            anchored = None if depth == anchored else anchored
            continue
        name: str | None = getattr(event, "anchor", None)
        is_alias = isinstance(event, yaml.AliasEvent)
        aliases += is_alias
        if is_alias and (anchored is not None or aliases > _MOST_ALIASES):
            message = f"an alias inside an anchored block, or one of more than {_MOST_ALIASES}"
            tip = "write the value out"
            yield Fault(file, line, "yaml-feature", message, value=name or "", tip=tip)
        if isinstance(event, yaml.CollectionStartEvent):
            if name is not None and anchored is None:
                anchored = depth
            depth += 1
            if depth > _DEEPEST:
                raise ValueError(f"nested deeper than {_DEEPEST} levels")
        tag: str | None = getattr(event, "tag", None)
        if tag is not None:
            tip = "write the value out: a record says all of itself"
            yield Fault(file, line, "yaml-feature", "tags are not allowed", value=tag, tip=tip)
