"""The answer of `d9m diff` and `d9m hunt`. Field names are those of the JSON."""

from __future__ import annotations

from collections.abc import Iterable
from typing import Literal, TypeAlias

import msgspec

from d9m import exit_codes
from d9m.about import SCHEMA_VERSION
from d9m.errors import ExitCode
from d9m.model.advice import Tool
from d9m.model.records import Default, Outcome
from d9m.model.settings import Settings

CauseKind: TypeAlias = Literal[
    "settings", "op", "compiled", "collective", "seed", "generator", "data-order", "data-content",
    "uninitialised", "outside-write", "outside-value", "argument", "order", "structure", "state",
    "error",
]  # fmt: skip
"""`order`: an op got the same tensors in another order. `structure`: the runs do different things,
or one ends before the other. `error`: one run ended with an error and the other did not, or a
setting that was to be tried ended both.
"""

FROM_PYTHON_KINDS = (
    "seed", "data-order", "data-content", "outside-value", "outside-write", "argument", "order",
    "structure", "generator", "state",
)  # fmt: skip
"""Causes of which the program itself, not an op, is the origin."""

GapKind: TypeAlias = Literal[
    "error", "killed", "stopped", "size", "recorder", "process", "steps", "unseen", "unrecorded",
    "interrupted", "budget",
]  # fmt: skip
"""Why not all was compared: a run ended with an error; a process wrote no end; a hunt ended the
run; its recording became too large; the recorder failed, or could not read a tensor; only one run
has a process, or a child could not be recorded; a default limit ended the runs; the hunt was
interrupted; its limits left no run to find out more.
"""

FROM_PYTHON = "aten::lift_fresh"
"""The op that `torch.tensor` and the like call with what they have filled."""


class SourceLine(msgspec.Struct, frozen=True):
    file: str
    line: int
    function: str


class Reach(msgspec.Struct, frozen=True):
    """The first step in which a difference shows in each of these; null: it does not."""

    data: int | None = None
    loss: int | None = None
    gradients: int | None = None
    parameters: int | None = None
    outputs: int | None = None

    def steps(self) -> dict[str, int]:
        """Return those that it shows in."""
        found = ((name, getattr(self, name)) for name in self.__struct_fields__)
        return {name: step for name, step in found if step is not None}


class Replay(msgspec.Struct, frozen=True):
    """The op alone, called again and again with the recorded values."""

    repeats: int
    distinct: int
    """Different results."""
    changed: float | None
    """Share of elements that were not the same in all of them."""
    max_ulp: int | None
    with_advice: int | None
    """Different results with the advised settings; null: nothing is advised."""
    advice_error: str | None = None
    """Error that the op raised with the advised settings."""


class CauseAdvice(msgspec.Struct, frozen=True):
    """The advice for a cause."""

    query: str
    outcome: Outcome
    default: Default
    solutions: list[str]
    """Labels."""
    sources: list[str]
    """Records of a difference of this op."""
    settings: Settings
    already: list[str] = []
    """Settings that would be advised, and both runs had set."""


class Descendant(msgspec.Struct, frozen=True, kw_only=True):
    """Ops of one place that differ because of a cause."""

    op: str
    phase: str
    node: str | None
    module: str | None
    source: SourceLine | None
    step: int
    """The first one in which it does."""
    count: int


OriginKind: TypeAlias = Literal[
    "clock", "pid", "entropy", "addresses", "hash", "torch", "random", "numpy.random"
]
"""`hash`: the order of sets of strings; a module: its generator, which nothing seeded."""


class Origin(msgspec.Struct, frozen=True):
    """The part of the program that varies by chance and leads to a cause: with it held, or seeded,
    in a pair of runs, the cause was gone.
    """

    kinds: list[OriginKind]
    """More than one where only all of them together were seen to matter."""
    calls: list[str] = []
    """Functions that the program calls for it, each with its line."""
    lines: list[SourceLine] = []


class CauseFix(msgspec.Struct, frozen=True):
    """Settings made from outside of the program with which a cause was gone."""

    env: dict[str, str] = {}
    python: list[str] = []
    """Statements right after the framework's import."""
    proved: bool = False
    """Whether whole runs with it ended normally, after the same steps, and were equal."""
    runs: int = 0
    """Of these."""


class Cause(msgspec.Struct, frozen=True, kw_only=True):
    kind: CauseKind
    process: str
    also: list[str] = []
    """Other processes in which it is the same."""
    step: int
    """The first one in which it shows."""
    record: int
    """Line of run A's recording."""
    count: int = 1
    steps: list[int] = []
    certain: bool = True
    draws: bool = False
    """Of an op: whether it draws random numbers, from generators in the same state."""
    may_follow: list[int] = []
    """Causes, by their place in this list, of which it can be a consequence that no tensor carried.
    """
    op: str | None = None
    overload: str = ""
    phase: str | None = None
    node: str | None = None
    module: str | None = None
    source: SourceLine | None = None
    callers: list[SourceLine] = []
    """Lines of the program that led to the source, the nearest first."""
    device: str | None = None
    inputs: list[str] = []
    arguments: dict[str, str] = {}
    argument: str | None = None
    """The argument, generator, graph, loader or setting that differs."""
    parameter: str | None = None
    """The first parameter that differs, or whose gradient does, where no op explains it."""
    a: str | None = None
    b: str | None = None
    made: SourceLine | None = None
    """Where the uninitialised memory was allocated."""
    reaches: Reach = Reach()
    inherited: int = 0
    """Later ops that differ because of it."""
    descendants: list[Descendant] = []
    """Where they are, in the order in which they ran; the first of them."""
    replay: Replay | None = None
    advice: CauseAdvice | None = None
    """Of an op; null: the knowledge base does not know it."""
    records: list[str] = []
    """Further reading: d9m show NAME."""
    hints: list[str] = []
    origin: Origin | None = None
    fix: CauseFix | None = None
    shared: dict[str, str] = {}
    """Settings that both runs had made by then, with the same value."""


class RunError(msgspec.Struct, frozen=True):
    """The exception that ended a run."""

    text: str
    file: str | None = None
    line: int | None = None
    setting: str | None = None
    """The setting that d9m had made for this run and that the text names."""


class RecordedRun(msgspec.Struct, frozen=True):
    path: str
    processes: list[str]
    steps: int
    level: str
    inputs: str
    digest: str
    ended: str
    """exit, steps, size, stopped (by hunt, which had seen enough) or killed."""
    command: list[str] = []
    exit_code: int | None = None
    """As a shell reports it; null: it still runs, or recorded only a part."""
    failed: bool = False
    """Whether the program ended with an error, and d9m did not end it."""
    error: RunError | None = None
    """The exception, where Python reported one."""


class Gap(msgspec.Struct, frozen=True):
    """A reason why not all of both runs was compared."""

    why: GapKind
    run: str | None = None
    """A, B, or the number of a run that a hunt recorded between them; null: of no one run."""
    what: str | None = None
    """The process, what the recorder could not do, or the number of steps."""


class ComparedSteps(msgspec.Struct, frozen=True):
    first: int
    last: int
    limited: bool
    """Whether only these steps were asked for: the program has or may have more."""
    every: int = 1
    """One in so many of them was compared."""


class SettingDifference(msgspec.Struct, frozen=True):
    name: str
    a: str | None
    b: str | None
    step: int | None = None
    """From which on; null: from the start."""


class Counts(msgspec.Struct, frozen=True):
    """Records that were compared."""

    records: int = 0
    equal: int = 0
    inherited: int = 0
    absorbed: int = 0
    """Ops that got other inputs and gave equal results."""
    forks: int = 0


class First(msgspec.Struct, frozen=True):
    process: str
    step: int
    record: int
    cause: int


class ForkSide(msgspec.Struct, frozen=True):
    step: int
    record: int
    text: str
    draws: bool = False
    """Whether it draws random numbers."""


class ForkPlace(msgspec.Struct, frozen=True):
    """A place where the runs do different things; null: that run does nothing more."""

    process: str
    a: ForkSide | None
    b: ForkSide | None
    more: Literal["A", "B"] | None = None
    """The run that does more here, before both do the same again."""


class Unseen(msgspec.Struct, frozen=True):
    what: str
    process: str


class Stage(msgspec.Struct, frozen=True):
    """A stage of a hunt."""

    runs: int
    level: str
    differs_from: int | None
    steps: ComparedSteps | None = None
    """Those that were compared, of a stage that looks step by step."""


class NoDifferenceBound(msgspec.Struct, frozen=True):
    """The limit of equal runs: a difference in this share of pairs may have been missed."""

    runs: int
    pair: float


class AppliedFix(msgspec.Struct, frozen=True):
    """A fix that a hunt applied to the runs that followed."""

    cause: Cause
    fix: CauseFix
    needed: bool | None = None
    """Whether runs without it, and with all others, differ; null: not tried."""


class ModuleDifference(msgspec.Struct, frozen=True):
    """The largest differences in a module, relative to what its ops compute with."""

    module: str
    norms: float
    samples: float


class ExactCall(msgspec.Struct, frozen=True):
    """An op, computed again in float64 from what each run gave it."""

    op: str
    record: int
    a: float | str | None
    """Relative distance of run A's result from the one in float64; a text: why there is none; null:
    the run has no such call.
    """
    b: float | str | None


class Tolerance(msgspec.Struct, frozen=True):
    """Whether rounding explains the difference of two runs."""

    verdict: Literal["equal", "rounding", "above", "unknown"]
    why: str | None = None
    """Why it is unknown."""
    packages: list[SettingDifference] = []
    first: Cause | None = None
    """The first op whose difference rounding does not explain, with what is known of its cause: an
    argument, the dtype that only run `a` computes in, or numbers of elements that are not finite.
    """
    relative: float | None = None
    """The size of its difference, relative to what the op computes with."""
    explained: float | None = None
    """The size that rounding explains."""
    modules: list[ModuleDifference] = []
    """In order of execution."""
    exact: list[ExactCall] = []
    """Ops round the first one, where their tensors were kept."""


class Findings(msgspec.Struct, frozen=True, kw_only=True):
    schema_version: int = SCHEMA_VERSION
    d9m: Tool
    same: bool
    """Nothing that is learned differs."""
    complete: bool
    """Whether all that was asked for was compared."""
    incomplete: list[Gap] = []
    """Why it is not complete; empty if it is."""
    runs: list[RecordedRun]
    packages: dict[str, str] = {}
    device: str | None = None
    threads: int | None = None
    settings: list[SettingDifference]
    learned: list[str] = []
    """Which of the loss, gradients, parameters and outputs were recorded."""
    compared: Counts
    steps: ComparedSteps | None = None
    """Those that both runs have; null: no step ended in both."""
    step_rule: str | None = None
    """Rule that ended a step: optimizer, backward, forward, explicit, call; null: the program."""
    first: First | None
    causes: list[Cause]
    inside: list[Cause] = []
    """Ops that are nondeterministic when compiled graphs run op by op."""
    candidates: list[Cause] = []
    """Ops of that step that our records call nondeterministic. None of them was seen to differ."""
    harmless: list[Cause]
    forks: list[ForkPlace]
    unseen: list[Unseen]
    notes: list[str] = []
    """Limits of the comparison that a reader must know."""
    differs: dict[str, int] = {}
    """Processes that differ, each with its first step."""
    stages: list[Stage] = []
    bound: NoDifferenceBound | None = None
    fixes: list[AppliedFix] = []
    resumed_after: int | None = None
    """The step of the first run after which the second goes on."""
    lacks: list[str] = []
    """States that the second run, which goes on with a checkpoint of the first, did not restore."""
    tolerance: Tolerance | None = None
    """Only where it was asked for."""


def exit_code(found: Findings) -> ExitCode:
    """A difference wins over what could not be compared, unless it was to be fixed."""
    used_up = any(gap.why == "budget" for gap in found.incomplete)
    return exit_codes.exit_code(
        exit_codes.CommandResult(
            has_findings=bool(found.causes) and not used_up, is_incomplete=not found.complete
        )
    )


def with_gaps(found: Findings, gaps: Iterable[Gap]) -> Findings:
    """The findings with more reasons why they are not complete."""
    incomplete = list(dict.fromkeys([*found.incomplete, *gaps]))
    return msgspec.structs.replace(found, incomplete=incomplete, complete=not incomplete)
