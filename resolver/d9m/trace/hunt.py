"""From "two runs differ" to the op that began it: which runs to record, and when to stop.

First whole runs, step by step, until two differ. Then the step that differs, op by op. Then the op
alone, with the values that it had in one more run. What runs a program, and what calls an op, is
given to it: this module starts nothing.
"""

from __future__ import annotations

import math
import time
from collections.abc import Callable, Mapping, Sequence
from pathlib import Path
from typing import TypeAlias

import msgspec

from d9m.errors import AbsentError, D9mError
from d9m.model.recorded import BY_OP
from d9m.trace import folder, outcomes, possible_ops
from d9m.trace.comparison import Wanted, compare
from d9m.trace.findings import (
    FROM_PYTHON,
    Cause,
    Findings,
    Gap,
    NoDifferenceBound,
    Replay,
    SettingDifference,
    Stage,
    with_gaps,
)
from d9m.trace.reading import RecordStream
from d9m.trace.replay import ReplayFailure, wanted
from d9m.trace.start import RecordingRequest, RunExit, ZoomCall
from d9m.trace.watch import RunWatch, first_step

BY_MODULE = ("torch",)
"""Those that can be recorded module by module, too."""

FEWEST = 2
"""Default number of runs that are compared."""
MOST = 8
"""Default limit of runs, all stages together."""
INSIDE = ("op", "seed", "generator", "data-order", "data-content")
"""Kinds of causes that a compiled graph can hide."""
NO_OPS = ("structure", "error")
"""Kinds of causes that no look at ops explains."""
_LOOKS_AT = {"op": "ops of ", "module": "modules of "}
MOST_REPLAYED = 5
"""Causes whose op is called again alone."""
REPLAY_SECONDS = 120.0
"""For all calls of ops alone, where no limit of the whole hunt is nearer."""


Runs: TypeAlias = Callable[[Path, RecordingRequest, Callable[[], bool] | None], RunExit]
"""Records one run of the program in a folder; it may be ended as soon as it is known to differ."""


Replays: TypeAlias = Callable[[Path, Cause, float], Replay | ReplayFailure]
"""Calls an op again and again, with the values that are saved in a folder, for so many seconds."""


class HuntLimits(msgspec.Struct, frozen=True):
    runs: int | None = None
    """Of all stages together. As many are compared step by step, as long as they are equal."""
    seconds: float | None = None
    until_found: bool = False
    """Compare more runs as long as they are equal and a limit allows it."""
    default_steps: bool = False
    """Whether the number of steps of a run is d9m's choice: one that it ends is not whole."""
    most: int = MOST
    """Where `runs` says nothing."""
    fewest: int = FEWEST
    """That are compared step by step, as long as they are equal."""


class Hunt:
    """One hunt. Recordings go into `place`, `on_progress` hears what is going on."""

    def __init__(
        self,
        run: Runs,
        place: Path,
        request: RecordingRequest,
        limits: HuntLimits,
        kb_date: str,
        on_progress: Callable[[str], None],
    ) -> None:
        self._run = run
        self._place = place
        self.request = request
        self._limits = limits
        self._kb_date = kb_date
        self._on_progress = on_progress
        self._began = time.monotonic()
        self._count = 0
        self._stages: list[Stage] = []
        self._notes: list[str] = []
        self._closer_look: Path | None = None
        """The first run of which ops were recorded, as `_closer_request` says."""
        self.closer_request = request
        self._known: Findings | None = None
        """Results so far."""
        self._gaps: list[Gap] = []
        """Of pairs of runs that were compared before the last one."""

    def so_far(self) -> Findings | None:
        """Return what is known of a hunt that was interrupted; None: no two runs were compared."""
        known = self._known or self._begun()
        if known is None:
            return None
        stages = self._stages or [Stage(self._count, "step", first_step(known))]
        notes = [*known.notes, *(note for note in self._notes if note not in known.notes)]
        known = msgspec.structs.replace(known, stages=stages, notes=notes, bound=None)
        return with_gaps(known, [*self._gaps_of_others(known), Gap("interrupted")])

    def _begun(self) -> Findings | None:
        """The comparison of the first two runs, of which the second was interrupted."""
        if self._count != FEWEST:
            return None
        try:
            found = self.compared(self._place / "run-1", self._place / f"run-{FEWEST}")
        except D9mError:
            return None
        kept = [gap for gap in found.incomplete if gap.why != "killed"]
        return msgspec.structs.replace(found, incomplete=kept)

    def found(self) -> Findings:
        """Return what came of it. Raises AbsentError where the program cannot be recorded."""
        first = self.record("step", self.request)
        found = self._until_different(first)
        step = first_step(found)
        compared = self._count
        self._stages.append(Stage(compared, "step", step, found.steps))
        if step is None:
            bound = NoDifferenceBound(compared, 1 - 0.05 ** (1 / (compared - 1)))
            return self._answer(found, bound)
        if self.request.every > 1 and self._may_run(2):
            found = self._between(found, step)
            step = first_step(found) or step
        if found.first is None or found.causes[found.first.cause].kind in NO_OPS:
            return self._answer(found, None)
        if any(name in found.packages for name in BY_OP):
            try:
                found = self._zoomed(found, step)
            except AbsentError:
                self._notes.append(
                    "The ops of that step could not be recorded: that run's stderr says why."
                )
            return self._answer(found, None)
        self.closer_request = self._closer(step)
        return self._answer(self._looked_inside(found), None)

    def replayed(self, found: Findings, replay: Replays) -> Findings:
        """The findings with what each op that began a difference does alone; where none was seen
        to, each op that could have.
        """
        step = found.first.step if found.first is not None else None
        if step is None or self._closer_look is None:
            return found
        began = [cause for cause in found.causes if cause.kind == "op" and cause.step == step]
        inside = [cause for cause in found.inside if cause.kind == "op"]
        began = began or inside or found.candidates
        calls: dict[int, ZoomCall] = {}
        for place, cause in enumerate(began[:MOST_REPLAYED]):
            call = wanted(self._closer_look, cause)
            if call is not None:
                calls[place] = call
        if not calls:
            return found
        if not self._may_run(1):
            note = "No run was left to save the inputs of the op and call it alone: --runs"
            return msgspec.structs.replace(found, notes=[*found.notes, note])
        before = len(self._notes)
        request = msgspec.structs.replace(self.closer_request, zoom=tuple(calls.values()))
        try:
            saved = self.record("op", request)
        except AbsentError as error:
            note = f"No op was called alone: {error.what}."
            return msgspec.structs.replace(found, notes=[*found.notes, note])
        alone: dict[int, Replay] = {}
        until = time.monotonic() + min(REPLAY_SECONDS, self._seconds_left())
        for number, place in enumerate(calls):
            cause = began[place]
            left = until - time.monotonic()
            if left <= 0:
                self._notes.append(f"{cause.op} was not called alone: the time was up.")
                continue
            self._on_progress(f"{cause.op} alone")
            came = replay(saved / folder.ZOOM / str(number), cause, left)
            if isinstance(came, Replay):
                alone[id(cause)] = came
            else:
                self._notes.append(f"{cause.op} was not called alone: {came.why}.")
        return msgspec.structs.replace(
            found,
            causes=_with_replays(found.causes, alone),
            inside=_with_replays(found.inside, alone),
            candidates=_with_replays(found.candidates, alone),
            stages=[*found.stages, Stage(1, "replay", None)],
            notes=[*found.notes, *self._notes[before:]],
        )

    def _between(self, found: Findings, step: int) -> Findings:
        """The comparison of the steps after the last recorded one that was equal."""
        begin = max(step - self.request.every + 1, self.request.first)
        request = msgspec.structs.replace(
            self.request, every=1, first=begin, last=step, stop=step + 1
        )
        closer = self.compared(self.record("step", request), self.record("step", request))
        self._stages.append(Stage(2, "step", first_step(closer)))
        if closer.causes:
            return closer
        self._notes.append(f"Another pair of runs was equal in steps {begin} to {step}.")
        return found

    def _until_different(self, first: Path) -> Findings:
        """The comparison of the first run with the first one that differs; else with the last."""
        while True:
            other = self._next_path()
            look = RunWatch(first, other, self._kb_date)
            self.record("step", self.request, look, must=False)
            if self._known is not None:
                self._gaps += _renamed(self._known.incomplete, self._count - 1)
            found = self._known = self.compared(first, other)
            wanted = self._limits.runs or self._limits.fewest
            more = self._count < wanted or self._limits.until_found
            if found.causes or not more or not self._may_run(1):
                return found

    def _zoomed(self, found: Findings, step: int, begin: int | None = None) -> Findings:
        """Ops of the step that differs, of as many runs as it takes until they differ; if they do
        not, its modules. Those come first where there are too many ops to record. If they differed
        before that step began, once more from the start.
        """
        if not self._may_run(2):
            self._notes.append("No runs were left to look at the ops of that step: --runs")
            return found
        request = self.closer_request = self._closer(step, begin)
        before = self._count
        first = self._closer_look = self.record("op", request)
        by_module = None
        has_modules = any(name in found.packages for name in BY_MODULE)
        too_large = _ended(first, "size")
        if too_large and not has_modules:
            self._notes.append(
                "The ops of that step are larger than --max-size: those that come after it were "
                "not recorded."
            )
        elif too_large and self._may_run(4):
            self._stages.append(Stage(1, "op", None))
            by_module = self._of_modules(step)
            modules = possible_ops.modules(by_module)
            request = self.closer_request = msgspec.structs.replace(request, modules=modules)
            if modules:
                self._notes.append(
                    f"The ops of that step are larger than --max-size: only those in {modules[0]} "
                    "and in what encloses it were recorded."
                )
            before = self._count
            first = self._closer_look = self.record("op", request)
        modules_left = has_modules and by_module is None
        while self._may_look_again(self._count - before, modules_left):
            closer = self.compared(first, self.record("op", request))
            if closer.causes:
                if began_earlier(closer) and begin is None and self._may_run(2):
                    self._stages.append(Stage(self._count - before, "op", step))
                    return self._zoomed(found, step, 0)
                self._stages.append(Stage(self._count - before, "op", first_step(closer)))
                closer = msgspec.structs.replace(closer, settings=_with_steps(closer, found))
                return self._looked_inside(closer)
        self._stages.append(Stage(self._count - before, "op", None))
        if has_modules or not too_large:
            self._notes.append(
                "The difference did not show again while ops were recorded one by one. It is rare "
                "(--until-found, --runs), a race between streams, threads or processes, or the "
                "first run left files (a checkpoint, a cache) that the later runs read."
            )
        if modules_left and self._may_run(3):
            by_module = self._of_modules(step)
        able = possible_ops.called(first, possible_ops.modules(by_module))
        if by_module is not None and by_module.causes:
            found = by_module
        return msgspec.structs.replace(found, candidates=able)

    def _looked_inside(self, found: Findings) -> Findings:
        """The findings with the ops that differ where compiled graphs are run op by op, if it is
        a compiled graph that begins the difference.
        """
        kinds = {cause.kind for cause in found.causes}
        if "compiled" not in kinds:
            return found
        if not self._may_run(2):
            self._notes.append("No runs were left to run the compiled graphs op by op: --runs")
            return found
        request = msgspec.structs.replace(self.closer_request, compiled="eager")
        first = self.record("op", request)
        inside = self.compared(first, self.record("op", request))
        ops = [cause for cause in inside.causes if cause.kind in INSIDE]
        self._notes += [note for note in inside.notes if note not in found.notes]
        self._stages.append(Stage(2, "eager", first_step(inside)))
        if not ops:
            self._notes.append(
                "Run op by op, no op of the compiled graphs differed. The difference is rare or in "
                "the kernels that the compiler generates."
            )
        elif "op" not in kinds:
            self._closer_look, self.closer_request = first, request
        return msgspec.structs.replace(found, inside=ops)

    def _may_look_again(self, looked: int, modules_left: bool) -> bool:
        """Whether the ops may be recorded once more: the last run is for replays, and the two
        before it for modules, where there are so many.
        """
        if looked == 1:
            return self._may_run(1)
        kept_for_modules = modules_left and self._may_run(3) and not self._may_run(4)
        return self._may_run(2) and not kept_for_modules

    def _of_modules(self, step: int) -> Findings:
        """Return what the modules of a step returned and got back, in two runs."""
        request = msgspec.structs.replace(self._closer(step), level="module")
        found = self.compared(self.record("module", request), self.record("module", request))
        self._stages.append(Stage(2, "module", first_step(found)))
        return found

    def _closer(self, step: int, first: int | None = None) -> RecordingRequest:
        """The ops of one step, or from an earlier one on; the program ends with it."""
        return msgspec.structs.replace(
            self.request,
            level="op",
            inputs="exact",
            first=step if first is None else first,
            last=step,
            stop=step + 1,
            every=1,
            varying=True,
        )

    @property
    def count(self) -> int:
        """Runs so far."""
        return self._count

    def may_try(self, runs: int) -> bool:
        """Whether so many more runs may be recorded to find out where a cause comes from."""
        limit = self._limits.runs
        return self._seconds_left() > 0 and (limit is None or self._count + runs <= limit)

    def record(
        self,
        level: str,
        request: RecordingRequest,
        watch: Callable[[], bool] | None = None,
        must: bool = True,
        why: str = "",
    ) -> Path:
        """The folder of one more run. `must`: raises AbsentError where nothing was recorded."""
        path = self._next_path()
        self._count += 1
        steps = f"step {request.first}" if request.first == request.last else "step by step"
        steps = f"every {request.every} steps" if request.every > 1 else steps
        what = "saves what the op gets in " if request.zoom else _LOOKS_AT.get(level, "")
        what = f"{why}, " if why else what
        inside = f", in {', '.join(request.modules)}" if request.modules else ""
        inside += ", compiled graphs op by op" if request.compiled == "eager" else ""
        self._on_progress(f"run {self._count}, {what}{steps}{inside}")
        ending = self._run(path, request, watch)
        if must and not ending.processes:
            raise outcomes.unrecorded(path, ending.code)
        failed = ending.code and not ending.stopped and not _ended(path, "steps")
        if failed and level != "step":
            self._notes.append(f"Run {self._count} {outcomes.run_ending(path, ending.code)}.")
        return path

    def _next_path(self) -> Path:
        return self._place / f"run-{self._count + 1}"

    def _seconds_left(self) -> float:
        if self._limits.seconds is None:
            return math.inf
        return self._limits.seconds - (time.monotonic() - self._began)

    def _may_run(self, runs: int) -> bool:
        limit = self._limits.runs or self._limits.most
        late = self._seconds_left() < 0
        endless = self._limits.until_found and self._limits.runs is None
        return not late and (endless or self._count + runs <= max(limit, FEWEST))

    def compared(self, first: Path, other: Path) -> Findings:
        return compare(first, other, self._kb_date, Wanted(resume=False))

    def _answer(self, found: Findings, bound: NoDifferenceBound | None) -> Findings:
        found = msgspec.structs.replace(
            found, stages=self._stages, bound=bound, notes=[*found.notes, *self._notes]
        )
        gaps = self._gaps_of_others(found)
        cut = any(run.ended == "steps" for run in found.runs)
        if cut and self._limits.default_steps and not found.causes:
            gaps.append(Gap("steps", None, str(self.request.stop)))
        found = self._known = with_gaps(found, gaps)
        return found

    def _gaps_of_others(self, found: Findings) -> list[Gap]:
        """Return those of runs that are not in the answer's pair, if they say more than the
        pair's.
        """
        known = {(gap.why, gap.what) for gap in found.incomplete}
        return [gap for gap in self._gaps if (gap.why, gap.what) not in known]


def began_earlier(found: Findings) -> bool:
    """Whether the runs differed before the first step of which ops were recorded."""
    start = found.steps.first if found.steps is not None else 0
    began = [cause for cause in found.causes if cause.step == start]
    return start > 0 and any(
        cause.kind == "generator" or (cause.kind == "outside-value" and cause.op != FROM_PYTHON)
        for cause in began
    )


def _renamed(gaps: Sequence[Gap], number: int) -> list[Gap]:
    """Return those of a run that is not in the answer's pair, by its number."""
    return [msgspec.structs.replace(gap, run=str(number)) for gap in gaps if gap.run == "B"]


def _ended(path: Path, how: str) -> bool:
    """Whether a process of a recording ended like that: its size limit, or the steps wanted."""
    for file in folder.streams(path):
        stream = RecordStream(file)
        stream.read_to_end()
        if stream.ended == how:
            return True
    return False


def _with_steps(closer: Findings, whole: Findings) -> list[SettingDifference]:
    """The settings of one step, each with the step that whole runs say it differs from."""
    begun = {(setting.name, setting.a, setting.b): setting for setting in whole.settings}
    return [begun.get((setting.name, setting.a, setting.b), setting) for setting in closer.settings]


def _with_replays(causes: Sequence[Cause], alone: Mapping[int, Replay]) -> list[Cause]:
    """The causes, with what came of calling those that `alone` has by their identity."""
    return [
        msgspec.structs.replace(cause, replay=alone[id(cause)]) if id(cause) in alone else cause
        for cause in causes
    ]
