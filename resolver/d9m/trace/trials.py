"""Where a cause comes from, and what fixes it: found out by pairs of runs, never guessed."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from pathlib import Path

import msgspec

from d9m.errors import AbsentError
from d9m.trace import folder
from d9m.trace.findings import (
    FROM_PYTHON_KINDS,
    Cause,
    CauseFix,
    Findings,
    Origin,
    OriginKind,
    Stage,
)
from d9m.trace.hunt import Hunt
from d9m.trace.reading import read_header
from d9m.trace.settings_made import MadeSettings
from d9m.trace.start import RecordingRequest
from d9m.trace.varying_calls import calls, hypotheses, origin_lines

RUNS = 3
"""That are compared with one another before a cause is said to be gone."""

SET: Mapping[OriginKind, CauseFix] = {
    "hash": CauseFix(env={"PYTHONHASHSEED": "0"}),
    "torch": CauseFix(python=["torch.manual_seed(0)"]),
    "random": CauseFix(python=["random.seed(0)"]),
    "numpy.random": CauseFix(python=["numpy.random.seed(0)"]),
}
"""Origins that settings remove, from outside of the program."""

Advised = Callable[[Cause], MadeSettings | None]
"""Returns the settings of the solutions that are advised; None: nothing can be set from outside."""


class Trials:
    """Pairs of runs of a hunted program in which something is held or set."""

    def __init__(self, hunt: Hunt, advised: Advised, base: CauseFix | None = None) -> None:
        self._hunt = hunt
        self._advised = advised
        self._base = base or CauseFix()
        """Set in all of these runs."""

    def explained(self, found: Findings, proves: bool) -> Findings:
        """The findings with the origin and the fix of the first cause, where a trial shows them."""
        if not found.causes or found.causes[0].kind in ("settings", "error"):
            return found
        cause, before = found.causes[0], self._hunt.count
        try:
            explained = self._explained(cause, found)
        except AbsentError:
            return found
        if explained.fix is not None and proves:
            explained = msgspec.structs.replace(explained, fix=self.proved(explained.fix))
        made = self._hunt.count - before
        stages = [*found.stages, *([Stage(made, "trial", None)] if made else [])]
        causes = [explained, *found.causes[1:]]
        return msgspec.structs.replace(found, causes=causes, stages=stages)

    def _explained(self, cause: Cause, found: Findings) -> Cause:
        if cause.kind not in FROM_PYTHON_KINDS:
            settings = self._advised(cause)
            if settings is None or not (settings.env or settings.python):
                return cause
            fix = CauseFix(dict(settings.env), list(settings.python))
            is_gone = self._is_gone(cause, found, fix, (), "with the fix")
            return msgspec.structs.replace(cause, fix=fix) if is_gone else cause
        paths = [Path(run.path) for run in found.runs]
        noted = calls(*paths)
        if not self._closer.varying:
            if not self._hunt.may_try(1):
                return cause
            noted = calls(self._record(CauseFix(), (), "notes calls that vary"))
        possible = [
            kinds
            for kinds in hypotheses(cause, noted, _pids(paths))
            if kinds != ("hash",) or not _has_hashseed(paths)
        ]
        for kinds in (*possible, *_together(possible)):
            fix = joined([SET[kind] for kind in kinds]) if SET.keys() >= {*kinds} else None
            held = () if fix else kinds
            tried = fix or (SET["hash"] if kinds == ("addresses",) else CauseFix())
            title = f"with {' '.join(shown(fix))}" if fix else f"with fixed {' and '.join(kinds)}"
            if self._is_gone(cause, found, tried, held, title):
                functions, lines = origin_lines(noted, kinds, cause)
                origin = Origin(list(kinds), functions, lines)
                return msgspec.structs.replace(cause, origin=origin, fix=fix)
        return cause

    @property
    def _closer(self) -> RecordingRequest:
        return self._hunt.closer_request

    def _is_gone(
        self, cause: Cause, found: Findings, fix: CauseFix, held: Sequence[str], title: str
    ) -> bool:
        """Whether the cause is in none of a few runs, which end as those did that have it."""
        if not self._hunt.may_try(RUNS):
            return False
        first = self._record(fix, held, title)
        steps = min(run.steps for run in found.runs)
        for _ in range(RUNS - 1):
            other = self._hunt.compared(first, self._record(fix, held, title))
            differs = any(_same_place(cause, each) for each in other.causes)
            shorter = min(run.steps for run in other.runs) < steps
            if differs or shorter or any(run.failed for run in other.runs):
                return False
        return True

    def _record(self, fix: CauseFix, held: Sequence[str], title: str) -> Path:
        request = msgspec.structs.replace(self._closer, varying=True, held=tuple(held))
        return self._hunt.record(request.level, self._with(request, fix), why=title)

    def _with(self, request: RecordingRequest, fix: CauseFix) -> RecordingRequest:
        both = joined([self._base, fix])
        return msgspec.structs.replace(request, env=both.env, python=tuple(both.python))

    def proved(self, fix: CauseFix) -> CauseFix:
        """The fix, and whether whole runs with it end normally, after the same steps, equal."""
        if not self._hunt.may_try(RUNS):
            return fix
        request = self._with(self._hunt.request, fix)
        title = f"with {' '.join(shown(joined([self._base, fix])))}"
        first = self._hunt.record("step", request, why=title)
        for number in range(1, RUNS):
            other = self._hunt.compared(first, self._hunt.record("step", request, why=title))
            a, b = other.runs
            if not other.same or a.failed or b.failed or a.steps != b.steps:
                return msgspec.structs.replace(fix, runs=number + 1)
        return msgspec.structs.replace(fix, proved=True, runs=RUNS)


def _together(possible: Sequence[tuple[OriginKind, ...]]) -> list[tuple[OriginKind, ...]]:
    """Return all origins that settings remove, where each alone may leave another."""
    found: tuple[OriginKind, ...] = tuple(
        kinds[0] for kinds in possible if len(kinds) == 1 and kinds[0] in SET
    )
    return [found] if len(found) > 1 else []


def joined(fixes: Sequence[CauseFix]) -> CauseFix:
    """Return all settings of several fixes."""
    env: dict[str, str] = {}
    python: dict[str, None] = {}
    for fix in fixes:
        env |= fix.env
        python |= dict.fromkeys(fix.python)
    return CauseFix(env, list(python))


def shown(fix: CauseFix) -> list[str]:
    """Return the settings of a fix, as a reader types them."""
    return [*(f"{name}={value}" for name, value in fix.env.items()), *fix.python]


def _same_place(one: Cause, other: Cause) -> bool:
    return _place(one) == _place(other)


def _place(cause: Cause) -> tuple[object, ...]:
    argument = cause.argument if cause.kind == "argument" else None
    return cause.kind, cause.process, cause.op, cause.module, cause.phase, cause.source, argument


def _headers(paths: Sequence[Path]) -> list[tuple[int | None, str | None]]:
    firsts = [folder.streams(path)[:1] for path in paths]
    headers = [read_header(stream[0]) for stream in firsts if stream]
    return [(header.pid, header.hashseed) for header in headers]


def _pids(paths: Sequence[Path]) -> list[int | None]:
    return [pid for pid, _hashseed in _headers(paths)]


def _has_hashseed(paths: Sequence[Path]) -> bool:
    return any(hashseed not in (None, "random") for _pid, hashseed in _headers(paths))
