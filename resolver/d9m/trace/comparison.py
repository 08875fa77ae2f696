"""Two recordings of a program, compared: process by process, then all together."""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence
from pathlib import Path

import msgspec

from d9m.about import SCHEMA_VERSION, __version__
from d9m.errors import AbsentError, UsageError, quote
from d9m.model.advice import Tool
from d9m.trace import causes_found, folder, ranks
from d9m.trace.findings import (
    Counts,
    Findings,
    First,
    ForkPlace,
    RecordedRun,
    SettingDifference,
    Unseen,
)
from d9m.trace.process import ComparedProcess, follow, name
from d9m.trace.reading import RecordStream

EXPERIMENTAL = {"tensorflow": "TensorFlow", "jax": "JAX"}
"""Frameworks whose recordings we have tried on few programs."""

UNFUSED = (
    "Functions of JAX ran op by op, without XLA's fusion: the bits are others than those of the "
    "compiled functions."
)


class Wanted(msgspec.Struct, frozen=True):
    """What somebody wants compared."""

    rank: int | None = None
    process: str | None = None
    steps: tuple[int, int] | None = None
    """The step of each run that is the first to be compared; None: found out."""
    resume: bool = True
    """Whether a run that goes on where the other one ended is looked for."""


def compare(a: Path, b: Path, kb_date: str, wanted: Wanted) -> Findings:
    """Raises UsageError where two recordings cannot be compared, DataError where one is damaged,
    AbsentError where nothing was recorded.
    """
    if a.resolve() == b.resolve():
        raise UsageError(f"{quote(str(a))} is named twice", tip="name two recordings: d9m diff A B")
    pairs, alone = _paired(_streams(a), _streams(b), wanted)
    processes = [follow(one, other, wanted.steps, wanted.resume) for one, other in pairs]
    ranks.settle([process.trail for process in processes])
    if not any(process.trail.records for process in processes):
        ran = " and ".join(quote(" ".join(folder.about(path).command)) for path in (a, b))
        raise UsageError("the two recordings have nothing in common", tip=f"they are of {ran}")
    return _findings((a, b), kb_date, processes, alone)


def _streams(path: Path) -> list[RecordStream]:
    """Those with records."""
    folder.about(path)
    kept: list[RecordStream] = []
    for file in folder.streams(path):
        stream = RecordStream(file)
        first = stream.next()
        if first is not None:
            stream.hold([first])
            kept.append(stream)
    if not kept:
        raise AbsentError(
            f"{quote(str(path))} holds no process: the program started no Python that imports "
            "torch, tensorflow or jax, or started it with -I, -E or -S",
            tip=" ".join(folder.not_recorded(path)),
        )
    return kept


def _paired(
    mine: list[RecordStream], its: list[RecordStream], wanted: Wanted
) -> tuple[list[tuple[RecordStream, RecordStream]], list[str]]:
    """By rank and number, then by program; and the names of those that have no counterpart."""
    count, its_count = (len({stream.header.rank for stream in streams}) for streams in (mine, its))
    if wanted == Wanted(steps=wanted.steps, resume=wanted.resume) and count != its_count:
        raise UsageError(
            f"the first run has {_ranks(count)}, the second {_ranks(its_count)}",
            tip="compare one of them: --rank 0",
        )
    mine = [stream for stream in mine if _is_wanted(stream, wanted)]
    its = [stream for stream in its if _is_wanted(stream, wanted)]
    if not mine or not its:
        which = f"rank {wanted.rank}" if wanted.process is None else wanted.process
        raise UsageError(f"not in both runs: {quote(which)}")
    pairs: list[tuple[RecordStream, RecordStream]] = []
    for exact in (True, False):
        for stream in list(mine):
            other = next((other for other in its if _belong(stream, other, exact)), None)
            if other is not None:
                pairs.append((stream, other))
                mine.remove(stream)
                its.remove(other)
    alone = [f"{name(stream)} of the first run" for stream in mine]
    alone += [f"{name(stream)} of the second run" for stream in its]
    return sorted(pairs, key=lambda pair: (pair[0].header.rank, pair[0].header.process)), alone


def _ranks(count: int) -> str:
    return "1 rank" if count == 1 else f"{count} ranks"


def _is_wanted(stream: RecordStream, wanted: Wanted) -> bool:
    return wanted.rank in (None, stream.header.rank) and wanted.process in (None, name(stream))


def _belong(a: RecordStream, b: RecordStream, exact: bool) -> bool:
    one, other = a.header, b.header
    if one.rank != other.rank:
        return False
    return one.process == other.process if exact else one.argv[:1] == other.argv[:1]


def _findings(
    paths: tuple[Path, Path],
    kb_date: str,
    processes: Sequence[ComparedProcess],
    alone: Sequence[str],
) -> Findings:
    causes, harmless = causes_found.causes(processes)
    began = [cause for cause in causes if cause.kind != "settings"]
    first = min(began, key=lambda cause: cause.step, default=None)
    header = processes[0].a.header
    settings: dict[SettingDifference, None] = {}
    forks: list[ForkPlace] = []
    unseen: list[Unseen] = []
    mine: list[RecordStream] = []
    its: list[RecordStream] = []
    learned: set[str] = set()
    compared: Counter[str] = Counter()
    complete = not alone
    for process in processes:
        settings.update(dict.fromkeys(process.settings.differences))
        mine.append(process.a)
        its.append(process.b)
        forks += process.forks
        unseen += [Unseen(what, process.name) for what in process.unseen]
        learned |= process.trail.learned.recorded
        complete = complete and process.complete
        for field in Counts.__struct_fields__:
            compared[field] += getattr(process.trail, field)
    return Findings(
        schema_version=SCHEMA_VERSION,
        d9m=Tool(__version__, kb_date),
        same=not causes,
        complete=complete,
        runs=[
            _run(paths[0], mine),
            _run(paths[1], its),
        ],
        packages=header.packages,
        device=header.device,
        threads=header.threads,
        settings=list(settings),
        learned=sorted(learned),
        compared=Counts(**compared),
        first=None
        if first is None
        else First(first.process, first.step, first.record, causes.index(first)),
        causes=causes,
        harmless=harmless,
        forks=forks,
        unseen=unseen,
        notes=[*_notes(processes, alone), *_not_recorded(paths)],
    )


def _run(path: Path, streams: Sequence[RecordStream]) -> RecordedRun:
    header = streams[0].header
    ended = streams[0].ended
    for stream in reversed(streams):
        if stream.ended in ("killed", "size"):
            ended = stream.ended
    about = folder.about(path)
    if ended == "killed" and about.stopped:
        ended = "stopped"
    return RecordedRun(
        path=str(path),
        processes=[name(stream) for stream in streams],
        steps=max(stream.step for stream in streams),
        level=header.level,
        inputs=header.inputs,
        digest=header.digest,
        ended=ended,
        command=list(about.command),
        exit_code=about.exit_code,
    )


def _not_recorded(paths: Sequence[Path]) -> list[str]:
    return list(dict.fromkeys(said for path in paths for said in folder.not_recorded(path)))


def _notes(processes: Sequence[ComparedProcess], alone: Sequence[str]) -> list[str]:
    notes: dict[str, None] = {}
    for package, title in EXPERIMENTAL.items():
        if any(package in process.a.header.packages for process in processes):
            notes[f"Recordings of {title} programs are experimental."] = None
    for process in processes:
        header = process.a.header
        if header.level == "op" and header.compiled == "eager" and "jax" in header.packages:
            notes[UNFUSED] = None
    for process in processes:
        if process.resumed_after is not None:
            step = process.resumed_after
            notes[f"The second run goes on where step {step} of the first ended."] = None
    for which in alone:
        notes[f"There is only {which}."] = None
    return list(notes)
