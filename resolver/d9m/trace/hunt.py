"""From "two runs differ" to the op that began it: which runs to record, and when to stop.

First whole runs, step by step, until two differ. Then the step that differs, op by op. Then the op
alone, with the values that it had in one more run. What runs a program, and what calls an op, is
given to it: this module starts nothing.
"""

from __future__ import annotations

import time
from collections.abc import Callable
from pathlib import Path
from typing import TypeAlias

import msgspec

from d9m.errors import AbsentError, D9mError
from d9m.trace import folder
from d9m.trace.comparison import Wanted, compare
from d9m.trace.findings import Cause, Findings, Replay, Silence, Stage
from d9m.trace.replay import ReplayFailure, wanted
from d9m.trace.start import Ending, Wish, ZoomCall

FRAMEWORKS = ("torch",)
"""Packages whose programs can be recorded."""

FEWEST = 2
"""Runs that are compared where nobody wants more."""
MOST = 6
"""Runs of a hunt, all stages together, where nobody says otherwise."""
LOOK = 1.0
"""Seconds between two looks at a run that is watched."""
MOST_REPLAYED = 5
"""Causes whose op is called again alone."""


Runs: TypeAlias = Callable[[Path, Wish, Callable[[], bool] | None], Ending]
"""Records one run of the program in a folder; it may be ended as soon as it is known to differ."""


Replays: TypeAlias = Callable[[Path, Cause], Replay | ReplayFailure]
"""Calls an op again and again, with the values that are saved in a folder."""


class HuntLimits(msgspec.Struct, frozen=True):
    runs: int | None = None
    """Of all stages together. As many are compared step by step, as long as they are equal."""
    seconds: float | None = None
    until_found: bool = False
    """Compare more runs as long as they are equal and a limit allows it."""


class Hunt:
    """One hunt. Recordings go into `place`, `tell` hears what is going on."""

    def __init__(
        self,
        run: Runs,
        place: Path,
        wish: Wish,
        limits: HuntLimits,
        kb_date: str,
        tell: Callable[[str], None],
    ) -> None:
        self._run = run
        self._place = place
        self._wish = wish
        self._limits = limits
        self._kb_date = kb_date
        self._tell = tell
        self._began = time.monotonic()
        self._count = 0
        self._stages: list[Stage] = []
        self._notes: list[str] = []

    def found(self) -> Findings:
        """What came of it. Raises AbsentError where the program cannot be recorded."""
        first = self._record("step", self._wish)
        found = self._until_different(first)
        step = _first_step(found)
        compared = self._count
        self._stages.append(Stage(compared, "step", step))
        if step is None:
            bound = Silence(compared, 1 - 0.05 ** (1 / (compared - 1)))
            return self._answer(found, bound)
        if any(cause.kind == "structure" for cause in found.causes):
            return self._answer(found, None)
        return self._answer(self._zoomed(found, step), None)

    def replayed(self, found: Findings, replay: Replays) -> Findings:
        """The findings with what each op that began a difference does alone."""
        step = found.first.step if found.first is not None else None
        path = Path(found.runs[0].path)
        calls: dict[int, ZoomCall] = {}
        for place, cause in enumerate(found.causes):
            if cause.kind == "op" and cause.step == step and len(calls) < MOST_REPLAYED:
                call = wanted(path, cause)
                if call is not None:
                    calls[place] = call
        if step is None or not calls:
            return found
        if not self._may_run(1):
            note = "No run was left to save what the op was given, and to call it alone: --runs"
            return msgspec.structs.replace(found, notes=[*found.notes, note])
        before = len(self._notes)
        wish = self._closer(step)
        saved = self._record("op", msgspec.structs.replace(wish, zoom=tuple(calls.values())))
        causes = list(found.causes)
        for number, place in enumerate(calls):
            cause = causes[place]
            self._tell(f"{cause.op} alone")
            came = replay(saved / folder.ZOOM / str(number), cause)
            if isinstance(came, Replay):
                causes[place] = msgspec.structs.replace(cause, replay=came)
            else:
                self._notes.append(f"{cause.op} was not called alone: {came.why}.")
        return msgspec.structs.replace(
            found,
            causes=causes,
            stages=[*found.stages, Stage(1, "replay", None)],
            notes=[*found.notes, *self._notes[before:]],
        )

    def _until_different(self, first: Path) -> Findings:
        """The comparison of the first run with the first one that differs; else with the last."""
        while True:
            other = self._next_path()
            look = _Watch(first, other, self._kb_date)
            self._record("step", self._wish, look)
            found = self._compared(first, other)
            wanted = self._limits.runs or FEWEST
            more = self._count < wanted or self._limits.until_found
            if found.causes or not more or not self._may_run(1):
                return found

    def _zoomed(self, found: Findings, step: int) -> Findings:
        """Ops of the step that differs, of as many runs as it takes until they differ."""
        wish = self._closer(step)
        if not self._may_run(2):
            self._notes.append("No runs were left to look at the ops of that step: --runs")
            return found
        before = self._count
        first = self._record("op", wish)
        while self._may_run(1):
            closer = self._compared(first, self._record("op", wish))
            if closer.causes:
                self._stages.append(Stage(self._count - before, "op", _first_step(closer)))
                return closer
        self._stages.append(Stage(self._count - before, "op", None))
        self._notes.append(
            "The difference did not come back while ops were recorded one by one. It is rare "
            "(--until-found, --runs), or a race between streams, threads or processes."
        )
        return found

    def _closer(self, step: int) -> Wish:
        """The ops of one step; the program ends with it."""
        return msgspec.structs.replace(
            self._wish, level="op", inputs="exact", first=step, last=step, stop=step + 1
        )

    def _record(self, level: str, wish: Wish, watch: Callable[[], bool] | None = None) -> Path:
        path = self._next_path()
        self._count += 1
        steps = f"step {wish.first}" if wish.first == wish.last else "step by step"
        what = "saves what the op gets in " if wish.zoom else "ops of " if level == "op" else ""
        self._tell(f"run {self._count}, {what}{steps}")
        ending = self._run(path, wish, watch)
        if not ending.processes:
            raise AbsentError(
                f"nothing was recorded: the program ended with {ending.code} and started no Python "
                "that imports a framework d9m can record, or started it with -I, -E or -S"
            )
        if ending.code and not ending.stopped:
            self._notes.append(f"Run {self._count} ended with exit code {ending.code}.")
        return path

    def _next_path(self) -> Path:
        return self._place / f"run-{self._count + 1}"

    def _may_run(self, runs: int) -> bool:
        limit = self._limits.runs or MOST
        late = (
            self._limits.seconds is not None
            and time.monotonic() - self._began > self._limits.seconds
        )
        endless = self._limits.until_found and self._limits.runs is None
        return not late and (endless or self._count + runs <= max(limit, FEWEST))

    def _compared(self, first: Path, other: Path) -> Findings:
        return compare(first, other, self._kb_date, Wanted(resume=False))

    def _answer(self, found: Findings, bound: Silence | None) -> Findings:
        return msgspec.structs.replace(
            found, stages=self._stages, bound=bound, notes=[*found.notes, *self._notes]
        )


def _first_step(found: Findings) -> int | None:
    """The first step with any difference, a generator's included."""
    generators = [cause for cause in found.harmless if cause.kind == "generator"]
    causes = found.causes or None
    if causes is None:
        return None
    return min(cause.step for cause in [*causes, *generators])


class _Watch:
    """Whether a run that is being recorded need not go on: it has differed for a whole step."""

    def __init__(self, first: Path, other: Path, kb_date: str) -> None:
        self._paths = first, other
        self._kb_date = kb_date
        self._looked = 0.0
        self._size: int = 0

    def __call__(self) -> bool:
        now = time.monotonic()
        size = sum(stream.stat().st_size for stream in folder.streams(self._paths[1]))
        if now - self._looked < LOOK or size == self._size:
            return False
        self._looked, self._size = now, size
        try:
            found = compare(*self._paths, self._kb_date, Wanted(resume=False))
        except D9mError:  # it has only begun
            return False
        step = _first_step(found)
        return step is not None and found.runs[1].steps > step + 1
