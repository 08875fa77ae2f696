"""How well the golden cases guard the records: of all small lies, which would a case notice?"""

from __future__ import annotations

import random
from collections.abc import Iterable, Sequence
from pathlib import Path
from typing import Any, TypeAlias

import msgspec

from d9m.about import SCHEMA_VERSION
from d9m.authoring import cases
from d9m.authoring.cases import Case
from d9m.authoring.mutation import equivalence
from d9m.authoring.mutation.mutants import Mutant, Mutation, mutants
from d9m.errors import D9mError, UsageError, quote
from d9m.kb import build, yaml_files
from d9m.kb.build import Memory
from d9m.kb.store import KnowledgeBase, Value

Read: TypeAlias = tuple[str, str]
"""Table and key."""


class MutationReport(msgspec.Struct, frozen=True, kw_only=True):
    """The answer of `d9m kb mutate`."""

    schema_version: int = SCHEMA_VERSION
    killed: int
    survivors: list[Mutation]
    equivalent: int
    """Mutants that change no answer to any question: nothing could notice them, and they do not
    count.
    """
    failing: list[str]
    """Cases that fail already: they can notice nothing."""

    @property
    def score(self) -> float:
        """Share of mutants that some case notices."""
        counted = self.killed + len(self.survivors)
        return self.killed / counted if counted else 1.0

    def text(self) -> str:
        counted = self.killed + len(self.survivors)
        lines = [f"{self.killed} of {counted} mutants are noticed by a case: {self.score:.1%}"]
        lines += [f"{self.equivalent} more change no answer"] if self.equivalent else []
        if self.failing:
            failing = ", ".join(self.failing)
            lines.append(f"{len(self.failing)} cases fail without any mutant: {failing}")
        if self.survivors:
            lines += ["not noticed:", *(f"  {mutation}" for mutation in self.survivors)]
        return "\n".join(lines) + "\n"


def run(
    root: Path, folder: Path, sample: int | None = None, seed: int = 0, only: Sequence[str] = ()
) -> MutationReport:
    """Try every mutant of the records under `root`, or a sample, on the cases in `folder`.

    `only`: of records whose path starts so: ``sources/nccl``.
    """
    return try_all(yaml_files.load(root), cases.load(folder), sample, seed, only)


def try_all(
    loaded: yaml_files.Records,
    asked: Iterable[Case],
    sample: int | None = None,
    seed: int = 0,
    only: Sequence[str] = (),
) -> MutationReport:
    """Try every mutant of these records, or a sample, on these cases."""
    kb = build.build(loaded)
    herd = Herd(kb, build.tables(loaded))
    watched = [herd.watch(case) for case in asked]
    every = list(mutants(loaded))
    if only:
        starts = tuple(only)
        every = [mutant for mutant in every if f"{mutant.kind}/{mutant.id}".startswith(starts)]
    if only and not every:
        raise UsageError(f"nothing to break in records that start with {quote(' or '.join(only))}")
    if sample is not None and sample < len(every):
        every = random.Random(seed).sample(every, sample)  # noqa: S311 - a sample, not a secret
    killed, equivalent, survivors = 0, 0, list[Mutation]()
    for mutant in every:
        mutated = herd.mutated(mutant)
        if any(cases.failures(mutated, each.case) for each in herd.guards(mutant, watched)):
            killed += 1
        elif equivalence.same(kb, mutated, mutant):
            equivalent += 1
        else:
            survivors.append(mutant.edit)
    return MutationReport(
        killed=killed,
        survivors=survivors,
        equivalent=equivalent,
        failing=[each.case.name for each in watched if not each.passes],
    )


class Watched(msgspec.Struct, frozen=True):
    """A case, with what its answer was made from."""

    case: Case
    passes: bool
    reads: frozenset[Read]
    releases: dict[str, list[str]]


class _Recording(Memory):
    """Tables that remember what was read."""

    def __init__(self, tables: dict[str, dict[str, Any]]) -> None:
        super().__init__(tables)
        self.reads: set[Read] = set()

    def get(self, table: str, key: str, type_: type[Value]) -> Value | None:
        self.reads.add((table, key))
        return super().get(table, key, type_)


class Herd:
    """Knowledge bases that differ in one record."""

    def __init__(self, kb: KnowledgeBase, tables: dict[str, dict[str, Any]]) -> None:
        self._meta = kb.meta
        self._tables = tables
        self._places: dict[str, list[Read]] = {}
        for table in ("op_sources", "opless"):
            for place, group in tables[table].items():
                for source in group:
                    self._places.setdefault(source.id, []).append((table, place))

    def mutated(self, mutant: Mutant) -> KnowledgeBase:
        """The knowledge base with one record replaced."""
        tables = {
            **self._tables,
            mutant.kind: {**self._tables[mutant.kind], mutant.id: mutant.record},
        }
        for table, place in self._places.get(mutant.id, []) if mutant.kind == "sources" else ():
            group = list(tables[table][place])
            for number, source in enumerate(group):
                if source.id == mutant.id:
                    group[number] = msgspec.structs.replace(source, source=mutant.record)
            tables[table] = {**tables[table], place: tuple(group)}
        return KnowledgeBase(self._meta, Memory(tables))

    def watch(self, case: Case) -> Watched:
        """Ask a case once, noting what its answer rests on."""
        recording = _Recording(self._tables)
        said = cases.reply(KnowledgeBase(self._meta, recording), case)
        releases = {} if isinstance(said, D9mError) else said.environment.releases
        return Watched(case, not cases.faults(case, said), frozenset(recording.reads), releases)

    def guards(self, mutant: Mutant, watched: Sequence[Watched]) -> list[Watched]:
        """Cases that could notice a mutant, the likeliest first."""
        touched = {(mutant.kind, mutant.id)}
        if mutant.kind == "sources":
            touched.update(self._places.get(mutant.id, []))

        def unlikely(one: Watched) -> tuple[bool, bool, bool]:
            named = any(mutant.id in row.at for row in one.case.expect)
            releases = one.releases.get(mutant.package, [mutant.release])
            return mutant.release not in releases, not named, mutant.package not in one.releases

        guards = [one for one in watched if one.passes and touched & one.reads]
        return sorted(guards, key=unlikely)
