"""One record or op across all versions."""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from typing import Any

import msgspec

from d9m.about import SCHEMA_VERSION, __version__
from d9m.browse import history
from d9m.browse.history import ReleaseTrack
from d9m.environment.version_options import VERSION_OPTIONS
from d9m.errors import UsageError, nearest, quote
from d9m.kb import kinds
from d9m.kb.kinds import SETTINGS, SOLUTIONS, SOURCES
from d9m.kb.store import KnowledgeBase, PublicName
from d9m.model.advice import Citation, Possible, Tool
from d9m.model.op_syntax import parse
from d9m.model.records import Scope
from d9m.model.when import Clause
from d9m.resolve import op_names, solution_names
from d9m.resolve.answers import cite

_FIRST = (SOLUTIONS, SETTINGS)

KINDS = (*_FIRST, *(kind for kind in kinds.KINDS if kind.table and kind not in _FIRST))
"""In the order in which a name is looked up."""


class Assumed(msgspec.Struct, frozen=True):
    """Ranges that hold in a vendor's build, or under another assumption than the usual one."""

    package: str
    under: Clause
    """The assumptions other than the defaults; empty for a vendor's build."""
    ranges: list[Possible]


class SourceHistory(msgspec.Struct, frozen=True):
    """The history of a source over every release of its home package."""

    id: str
    title: str
    scope: Scope
    home: str
    device: str
    ranges: list[Possible]
    """Oldest first."""
    others: list[Assumed] = []


class UnrecordedOp(PublicName, frozen=True, kw_only=True):
    """A public name that no record names."""

    package: str


class Shown(msgspec.Struct, frozen=True):
    """One thing that a name stands for."""

    kind: str
    id: str
    record: dict[str, Any]
    history: list[SourceHistory]
    evidence: list[Citation]
    """With the address of each document."""


class Showing(msgspec.Struct, frozen=True):
    schema_version: int
    d9m: Tool
    found: list[Shown]


def show(kb: KnowledgeBase, names: Sequence[str]) -> Showing:
    """Everything that the names stand for. Raises UsageError for one that stands for nothing."""
    found: list[Shown] = []
    for name in names:
        found += _find(kb, name)
    return Showing(SCHEMA_VERSION, Tool(__version__, kb.meta.date), found)


def source_history(kb: KnowledgeBase, id_: str) -> SourceHistory:
    """The history of a source, whatever its ops."""
    found = history.of(kb, id_)
    others = [Assumed(track.package, track.under, _ranges(track)) for track in found.others]
    scope = kb.sources[id_].scope
    usual = _ranges(found.usual)
    return SourceHistory(id_, found.title, scope, found.home, found.device, usual, others)


def _ranges(track: ReleaseTrack) -> list[Possible]:
    """The rows of a track, oldest first."""
    found: list[Possible] = []
    for row in reversed(track.rows):
        verdict = row.verdict
        solutions = list(map(" + ".join, verdict.alternatives))
        found.append(
            Possible(
                when=row.when,
                outcome=verdict.outcome,
                solutions=solutions,
                default=verdict.default,
                note=verdict.note,
                raised_by=verdict.raised_by,
            )
        )
    return found


def _find(kb: KnowledgeBase, name: str) -> list[Shown]:
    ways = (
        _records,
        _setting,
        _source_file,
        _calls,
        _ops,
        _by_real_name,
        _by_last_part,
        _unrecorded,
    )
    found = next(filter(None, (list(way(kb, name)) for way in ways)), list[Shown]())
    if not found:
        raise UsageError(
            f"nothing is called {quote(name)}",
            nearest=nearest(name, _known_names(kb)),
            tip="see: d9m list",
        )
    return found


def _known_names(kb: KnowledgeBase) -> Iterator[str]:
    for place in kb.names:
        yield place.partition(":")[2]
    yield from (*kb.labels, *kb.settings, *kb.sources, *kb.packages, *kb.ingredients)
    yield from (f"symptoms/{name}" for name in kb.symptoms)
    for solution in kb.solutions.values():
        yield solution.label


def _records(kb: KnowledgeBase, name: str) -> Iterator[Shown]:
    lower = name.lower()
    key = kb.labels.get(lower) or kb.meta.aliases.get(lower) or name.replace("#", "/")
    folder, _slash, inside = key.partition("/")
    for kind in KINDS:
        if folder == kind.name and kb.of(kind).get(inside) is not None:
            key = inside
        record = kb.of(kind).get(key)
        if record is None:
            continue
        ours = [source_history(kb, key)] if kind is SOURCES else []
        if kind is SOLUTIONS:
            ours = [source_history(kb, id_) for id_ in _covered(kb, kb.solutions[key].label)]
        evidence = [cite(kb, proof) for proof in getattr(record, "evidence", [])]
        yield Shown(kind.noun, key, msgspec.to_builtins(record), ours, evidence)
        return


def _covered(kb: KnowledgeBase, label: str) -> list[str]:
    """Sources that name a solution in some release."""
    return [id_ for id_, source in kb.sources.items() if label in source.labels()]


def _setting(kb: KnowledgeBase, name: str) -> Iterator[Shown]:
    """The setting of an id, as the addresses of pages have it: ``python/pythonhashseed``."""
    id_ = name.lower().removeprefix("settings/")
    for setting in kb.settings if "/" in id_ else ():
        if kb.setting_ids[setting] == id_:
            yield from _records(kb, setting)


def _source_file(kb: KnowledgeBase, name: str) -> Iterator[Shown]:
    """The sources whose evidence names a file of C++ or CUDA: ``segment_reduction_ops.h``."""
    if not re.fullmatch(r"[\w/]+(\.cu)?\.(h|cc|cu|cuh|cpp)", name):
        return
    wanted = re.compile(rf"(?<![\w.]){re.escape(name)}(?![\w.]*\w)")
    for id_, source in kb.sources.items():
        if wanted.search(msgspec.json.encode(source).decode()):
            yield from _records(kb, id_)


def _calls(kb: KnowledgeBase, name: str) -> Iterator[Shown]:
    """The helper calls that a name is in full: ``Trainer(deterministic=True)``."""
    for id_, helper in kb.helpers.items():
        if name in (helper.call, *helper.aliases):
            yield from _records(kb, id_)


def _ops(kb: KnowledgeBase, name: str) -> Iterator[Shown]:
    """The ops that a name means, in every package that has such a name, the frameworks' first."""
    wanted = parse(name).name
    for package in sorted(kb.meta.prefixes, key=lambda prefix: prefix not in VERSION_OPTIONS):
        for entry in op_names.namesakes(kb, package, wanted):
            histories: dict[str, SourceHistory] = {}
            for reached in entry.reaches:
                for source in kb.sources_of(package, reached.op):
                    histories[source.id] = source_history(kb, source.id)
            on_runs_first = sorted(histories.values(), key=lambda history: history.scope != "run")
            yield Shown("op", entry.name, msgspec.to_builtins(entry), on_runs_first, [])


def _by_real_name(kb: KnowledgeBase, name: str) -> Iterator[Shown]:
    """The solution, setting or call that a name ends like: ``use_deterministic_algorithms``,
    ``cudnn.benchmark``, ``set_random_seed``.
    """
    if not any(sign in name for sign in "._="):
        return
    labels = solution_names.meant(kb, name)
    if len(labels) == 1:
        yield from _records(kb, labels[0])
        return
    ending = f".{name.partition('(')[0]}"
    settings: list[str] = []
    for setting in kb.settings.values():
        if setting.kind == "python" and setting.name.endswith(ending):
            settings.append(setting.name)
    calls: list[str] = []
    for id_, helper in kb.helpers.items():
        if f".{helper.call.partition('(')[0]}".endswith(ending):
            calls.append(id_)
    for key in settings or calls:
        yield from _records(kb, key)


def _by_last_part(kb: KnowledgeBase, name: str) -> Iterator[Shown]:
    """The flag that a name is without its dashes, else the records whose id ends like it:
    ``scatter-set``.
    """
    flags = [setting for setting in kb.settings if setting.lstrip("-") == name]
    ending = f"/{name}"
    for key in flags or [key for key in (*kb.sources, *kb.errors) if key.endswith(ending)]:
        yield from _records(kb, key)


def _unrecorded(kb: KnowledgeBase, name: str) -> Iterator[Shown]:
    """Public names of the frameworks that no record names."""
    for package in kb.meta.prefixes:
        for public in op_names.offered(kb, package, parse(name).name):
            record = UnrecordedOp(**msgspec.structs.asdict(public), package=package)
            yield Shown("op", public.name, msgspec.to_builtins(record), [], [])
