"""One process of a program, followed through both of its recordings."""

from __future__ import annotations

from collections.abc import Callable

import msgspec

from d9m.errors import D9mError, DataError, UsageError
from d9m.trace.align import Fork, Matched, align, resumed_after
from d9m.trace.causes import DiffWalker
from d9m.trace.findings import FROM_PYTHON, ForkPlace, ForkSide
from d9m.trace.reading import Placed, RecordStream
from d9m.trace.settings_differ import SettingsDiff
from d9m.trace.stream_records import CalledOp, StepEnd

_NAMES = {
    "ReadValue": "a value that it reads from a tensor",
    "ModuleOutputs": "what a module returns",
    "ModuleGradients": "the gradient of a module",
    "GraphInputs": "a compiled graph",
    "GraphOutputs": "the end of a compiled graph",
    "CalledCollective": "a collective",
    "BatchIndices": "the next batch",
    "BatchContent": "the next batch",
    "Losses": "backward()",
    "InitialParameters": "the optimizer",
    "Gradients": "the optimizer",
    "UpdatedParameters": "the end of the optimizer's step",
    "StepEnd": "the next step",
}
"""Activity of a program, by the record that it leaves."""

MOST_FORKS = 20
"""Forks that are listed; all are counted."""


class ComparedProcess(msgspec.Struct, kw_only=True):
    name: str
    a: RecordStream
    b: RecordStream
    walker: DiffWalker
    settings: SettingsDiff
    forks: list[ForkPlace] = []
    step_rule: str | None = None
    """Rule that ended its steps: optimizer, backward, ...; None: only the program's end did."""
    resumed_after: int | None = None
    """The step of run A after which run B goes on."""

    @property
    def unseen(self) -> list[str]:
        """Return why something could not be seen, in either run."""
        return list(self.a.unseen | self.b.unseen)


def name(stream: RecordStream) -> str:
    """Return what a reader calls a process."""
    number = stream.header.process
    return f"rank {stream.header.rank}" + (f", process {number}" if number else "")


def follow(
    a: RecordStream, b: RecordStream, steps: tuple[int, int] | None, resume: bool
) -> ComparedProcess:
    """Compare both recordings of a process, record by record.

    `steps` are the first ones to be compared; with `resume`, they are looked for where the second
    run goes on after a step of the first. Raises UsageError or DataError where the recordings were
    made in different ways.
    """
    one, other = a.header, b.header
    _must_agree(a, "digests", one.digest, other.digest, DataError)
    _must_agree(a, "level", one.level, other.level, UsageError)
    _must_agree(a, "steps every", str(one.every), str(other.every), UsageError)
    _must_agree(a, "compiled graphs", one.compiled, other.compiled, UsageError)
    exact = one.inputs == other.inputs == "exact"
    process = ComparedProcess(
        name=name(a),
        a=a,
        b=b,
        walker=DiffWalker(a, exact, b),
        settings=SettingsDiff(a, b),
    )
    if steps is None and resume:
        steps = _start(process)
    for seen in align(a, b, lambda: process.walker.quiet, steps):
        process.walker.see(seen)
        if isinstance(seen, Matched):
            process.settings.see(seen)
            ended = seen.a.record
            if isinstance(ended, StepEnd) and ended.rule not in ("", "end"):
                process.step_rule = ended.rule
        elif isinstance(seen, Fork) and len(process.forks) < MOST_FORKS:
            process.forks.append(_fork(process.name, a, b, seen))
    process.walker.suspects.link()
    for stream in (a, b):
        stream.read_to_end()
    return process


def _must_agree(
    stream: RecordStream, what: str, one: str, other: str, error: Callable[..., D9mError]
) -> None:
    if one != other:
        raise error(
            f"{name(stream)} was recorded with {what} {one} in one run and {other} in the other: "
            "they cannot be compared",
            tip="record both runs again in the same way, with d9m trace",
        )


def _start(process: ComparedProcess) -> tuple[int, int] | None:
    begins = (process.a.header.steps[0] or 0, process.b.header.steps[0] or 0)
    if begins[0] != begins[1]:
        return max(begins), max(begins)
    process.resumed_after = resumed_after(process.a.file, process.b.file)
    return None if process.resumed_after is None else (process.resumed_after + 1, begins[1])


def _fork(process: str, a: RecordStream, b: RecordStream, fork: Fork) -> ForkPlace:
    return ForkPlace(process, _side(a, fork.a), _side(b, fork.b), fork.more)


def _side(stream: RecordStream, placed: Placed | None) -> ForkSide | None:
    if placed is None:
        return None
    record = placed.record
    if not isinstance(record, CalledOp):
        return ForkSide(placed.step, placed.number, _NAMES[type(record).__name__])
    site = stream.sites[record.site]
    lines = [site.source, *site.callers] if site.source else []
    places = ", called from ".join(f"{file}:{line}" for file, line, _function in lines)
    where = f" ({places})" if places else ""
    what = "a tensor made in Python" if site.op == FROM_PYTHON else site.op.removeprefix("aten::")
    draws = record.generator is not None
    return ForkSide(placed.step, placed.number, what + where, draws)
