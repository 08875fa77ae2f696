"""Two recordings of a program, compared: process by process, then all together."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator, Sequence
from pathlib import Path

import msgspec

from d9m.about import SCHEMA_VERSION, __version__
from d9m.errors import UsageError, quote
from d9m.model.advice import Tool
from d9m.model.recorded import EXPERIMENTAL
from d9m.trace import causes_found, folder, outcomes, ranks
from d9m.trace.findings import (
    Cause,
    ComparedSteps,
    Counts,
    Findings,
    First,
    ForkPlace,
    Gap,
    RecordedRun,
    SettingDifference,
    Unseen,
    with_gaps,
)
from d9m.trace.lacking import lacking
from d9m.trace.process import ComparedProcess, follow, name
from d9m.trace.reading import RecordStream

UNFUSED = (
    "JAX functions ran op by op, without XLA's fusion: results differ from those of the compiled "
    "functions."
)


class Wanted(msgspec.Struct, frozen=True):
    """A part of two recordings that is to be compared."""

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
    mine, its = _streams(a), _streams(b)
    if not (mine and its):
        return _one_sided((a, b), kb_date, mine, its)
    pairs, alone = _paired(mine, its, wanted)
    processes = [follow(one, other, wanted.steps, wanted.resume) for one, other in pairs]
    ranks.settle([process.walker for process in processes])
    if not any(process.walker.records for process in processes):
        ran = " and ".join(quote(" ".join(folder.about(path).command)) for path in (a, b))
        raise UsageError("the two recordings have nothing in common", tip=f"they are of {ran}")
    return _findings((a, b), kb_date, processes, alone)


def paired(a: Path, b: Path, wanted: Wanted) -> list[tuple[RecordStream, RecordStream]]:
    """Return the recordings of each process of both runs. Raises what `compare` does."""
    mine, its = _streams(a), _streams(b)
    return _paired(mine, its, wanted)[0] if mine and its else []


def _streams(path: Path) -> list[RecordStream]:
    """Return those with records."""
    folder.about(path)
    kept: list[RecordStream] = []
    for file in folder.streams(path):
        stream = RecordStream(file)
        first = stream.next()
        if first is not None:
            stream.hold([first])
            kept.append(stream)
    return kept


def _one_sided(
    paths: tuple[Path, Path], kb_date: str, mine: list[RecordStream], its: list[RecordStream]
) -> Findings:
    """Of two runs, one recorded nothing. If it has ended, it is the shorter one. Raises AbsentError
    where it has not, or where neither recorded anything.
    """
    empty = paths[1] if mine else paths[0]
    about = folder.about(empty)
    if not (mine or its) or about.exit_code is None:
        what = f"{quote(str(empty))} holds no process: "
        raise outcomes.unrecorded(empty, about.exit_code, what)
    streams = mine or its
    for stream in streams:
        stream.read_to_end()
    runs = [_run(paths[0], mine), _run(paths[1], its)]
    header = streams[0].header
    step = header.steps[0] or 0
    cause = Cause(kind="structure", process=name(streams[0]), step=step, record=0, count=1)
    found = Findings(
        d9m=Tool(__version__, kb_date),
        same=False,
        complete=True,
        runs=runs,
        packages=header.packages,
        device=header.device,
        threads=header.threads,
        settings=[],
        compared=Counts(),
        first=First(cause.process, step, 0, 0),
        causes=[cause],
        harmless=[],
        forks=[],
        unseen=[],
    )
    return with_gaps(found, _gaps(paths, runs, [mine, its], []))


def _paired(
    mine: list[RecordStream], its: list[RecordStream], wanted: Wanted
) -> tuple[list[tuple[RecordStream, RecordStream]], list[Gap]]:
    """By rank and number, then by program; and those that have no counterpart."""
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
    alone = [Gap("process", "A", name(stream)) for stream in mine]
    alone += [Gap("process", "B", name(stream)) for stream in its]
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
    alone: Sequence[Gap],
) -> Findings:
    causes, harmless = causes_found.causes(processes)
    header = processes[0].a.header
    settings: dict[SettingDifference, None] = {}
    forks: list[ForkPlace] = []
    unseen: list[Unseen] = []
    learned: set[str] = set()
    compared: Counter[str] = Counter()
    for process in processes:
        settings.update(dict.fromkeys(process.settings.differences))
        forks += process.forks
        unseen += [Unseen(what, process.name) for what in process.unseen]
        learned |= process.walker.learned.recorded
        for field in Counts.__struct_fields__:
            compared[field] += getattr(process.walker, field)
    streams = [process.a for process in processes], [process.b for process in processes]
    runs = [_run(path, its) for path, its in zip(paths, streams)]
    causes = _with_error(causes, runs)
    began = [cause for cause in causes if cause.kind != "settings"]
    first = min(began, key=lambda cause: cause.step, default=None)
    found = Findings(
        schema_version=SCHEMA_VERSION,
        d9m=Tool(__version__, kb_date),
        same=not causes,
        complete=True,
        runs=runs,
        packages=header.packages,
        device=header.device,
        threads=header.threads,
        settings=list(settings),
        learned=sorted(learned),
        compared=Counts(**compared),
        steps=_steps(streams, runs),
        step_rule=next((process.step_rule for process in processes if process.step_rule), None),
        first=None
        if first is None
        else First(first.process, first.step, first.record, causes.index(first)),
        causes=causes,
        harmless=harmless,
        forks=forks,
        unseen=unseen,
        notes=_notes(processes, causes),
        differs=_differing(processes) if causes else {},
        lacks=lacking(processes, causes),
        resumed_after=next(
            (each.resumed_after for each in processes if each.resumed_after is not None), None
        ),
    )
    gaps = [gap for gap in _gaps(paths, runs, streams, alone) if not causes or gap.why != "stopped"]
    return with_gaps(found, gaps)


def _differing(processes: Sequence[ComparedProcess]) -> dict[str, int]:
    """The first step of each process in which something that it learns differs."""
    first = {
        process.name: min(
            (each.step for each in process.walker.suspects if each.matters), default=None
        )
        for process in processes
    }
    return {name: step for name, step in first.items() if step is not None}


def _run(path: Path, streams: Sequence[RecordStream]) -> RecordedRun:
    """A run of which these processes are compared; none: it recorded nothing."""
    about = folder.about(path)
    endings = [stream.ended for stream in streams]
    ended = next((how for how in ("killed", "size", "steps") if how in endings), "exit")
    cut = "steps" in endings
    error = outcomes.error(path, about, cut=cut) if about.exit_code else None
    failed = about.exit_code not in (None, 0) and not about.stopped
    if ended == "killed" and about.stopped:
        ended = "stopped"
    header = streams[0].header if streams else None
    return RecordedRun(
        path=str(path),
        processes=[name(stream) for stream in streams],
        steps=max((stream.steps for stream in streams), default=0),
        level=header.level if header else about.level,
        inputs=header.inputs if header else "",
        digest=header.digest if header else "",
        ended=ended,
        command=list(about.command),
        exit_code=about.exit_code,
        failed=failed and (error is not None or not cut),
        error=error,
    )


def _with_error(causes: list[Cause], runs: Sequence[RecordedRun]) -> list[Cause]:
    """The causes, with the error that ended one run and not the other, or that names a setting
    which both runs were to try. That one run is the shorter one is the same fact.
    """
    a, b = runs
    codes = [run.exit_code if run.failed else 0 for run in runs]
    named = a.error.setting if a.error and b.error and a.error.setting == b.error.setting else None
    known = not any(run.exit_code is None or run.ended == "stopped" for run in runs)
    if codes[0] == codes[1]:
        wanted = a.failed and named is not None
    else:
        wanted = known and not any(cause.kind == "structure" for cause in causes)
    if not wanted:
        return causes
    step = min(run.steps for run in runs)
    process = (a.processes or b.processes)[0]
    cause = Cause(kind="error", process=process, step=step, record=0, argument=named)
    return [*causes, cause]


def _gaps(
    paths: Sequence[Path],
    runs: Sequence[RecordedRun],
    streams: Sequence[Sequence[RecordStream]],
    alone: Sequence[Gap],
) -> list[Gap]:
    """Return why not all of both runs was compared."""
    found: list[Gap] = []
    for label, path, run, its in zip("AB", paths, runs, streams):
        if run.failed:
            found.append(Gap("error", label, outcomes.failure(run.error, run.exit_code)))
        elif run.ended == "killed":
            cut = next(stream for stream in its if stream.ended == "killed")
            found.append(Gap("killed", label, name(cut)))
        elif run.ended == "stopped":
            found.append(Gap("stopped", label))
        if any(stream.ended == "size" for stream in its):
            found.append(Gap("size", label))
        faults = folder.complaints(path)
        unseen = {why for stream in its for why in stream.unseen}
        if faults or "fault" in unseen:
            found.append(Gap("recorder", label, faults[0] if faults else None))
        if "subclass" in unseen:
            found.append(Gap("unseen", label))
    missed = dict.fromkeys(said for path in paths for said in folder.not_recorded(path))
    return [*found, *(Gap("unrecorded", None, said) for said in missed), *alone]


def _steps(
    streams: Sequence[Sequence[RecordStream]], runs: Sequence[RecordedRun]
) -> ComparedSteps | None:
    """The steps that both runs have."""
    headers = [stream.header for its in streams for stream in its]
    first = max(header.steps[0] or 0 for header in headers)
    last = min(run.steps for run in runs) - 1
    lasts = [header.steps[1] for header in headers if header.steps[1] is not None]
    last = min([last, *lasts])
    every = headers[0].every
    last -= (last - first) % every
    limited = bool(first or lasts or every > 1 or any(run.ended == "steps" for run in runs))
    return ComparedSteps(first, last, limited, every) if last >= first else None


def _notes(processes: Sequence[ComparedProcess], causes: Sequence[Cause]) -> list[str]:
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
    if not causes:
        notes.update(dict.fromkeys(_other_states(processes)))
    return list(notes)


def _other_states(processes: Sequence[ComparedProcess]) -> Iterator[str]:
    """Yield which records are not equal, though nothing differs because of them."""
    counts: Counter[str] = Counter()
    for process in processes:
        counts.update(process.walker.generators.other_states)
    for generator, count in counts.items():
        ends = "the end of 1 step" if count == 1 else f"the ends of {count} steps"
        title = causes_found.GENERATORS.get(generator, generator)
        yield f"The state of {title} differs at {ends}; nothing that was compared depends on it."
