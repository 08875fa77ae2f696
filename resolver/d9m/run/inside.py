"""`d9m.enable()` and `with d9m.deterministic():`: what `d9m run` sets, from inside a program."""

from __future__ import annotations

import contextlib
import functools
import os
import sys
from collections.abc import Generator, Mapping
from pathlib import Path
from typing import Any

import msgspec

from d9m.about import __version__
from d9m.environment.detect import installed_here
from d9m.errors import Refused, TooLate
from d9m.kb.locate import open_knowledge_base
from d9m.model.advice import Tool
from d9m.model.records import Scope
from d9m.run.hook import _d9m_hook
from d9m.run.plan import (
    PlannedStatement,
    PlannedVariable,
    RunOptions,
    RunPlan,
    SettingNote,
    environment_for,
    for_hook,
    plan,
)
from d9m.run.report import ProgramRun, RunReport, as_text, report

_hook: Any = _d9m_hook
"""Without types: it is read by Python 3.5, too."""

AT_START = "read when the process starts: d9m run sets it, or export {line} before Python starts"
AT_IMPORT = "read when {module} is imported, which it was: call d9m before that import"
AT_FIRST_USE = "read at first use, which was before this call ({begun}): call d9m earlier"


class Enabled:
    """The settings that were made in this process."""

    def __init__(self, options: RunOptions) -> None:
        self.options = options
        self._tool, self.planned = _planned(options, frozenset(os.environ.items()))
        self.missing = list(_missing(self.planned))
        """Settings that only the start of the process could make; no error is raised for them."""
        self._notes: list[dict[str, Any]] = []
        self._hook: Any = None
        self._changes: dict[str, str | None] = {}
        self._before: dict[str, str | None] = {}
        if self.planned.undoing:
            raise Refused(self.planned.undone)

    def __repr__(self) -> str:
        return self.report()

    def begin(self, watches: bool) -> None:
        """Set variables, then the switches of what is imported; those of the rest wait for it."""
        self._changes = environment_for(self.planned, os.environ, override=False)
        self._before = {name: os.environ.get(name) for name in self._changes}
        _write(self._changes)
        late = {each.name for each in self.missing}
        kept = [each for each in self.planned.statements if each.name not in late]
        made = msgspec.structs.replace(self.planned, statements=kept)
        what = for_hook(made, os.environ, self.options.on_refusal == "warn" and watches)
        self._hook = _hook.Hook(what, self._note, watches)
        self._hook.begin()

    def _note(self, **event: Any) -> None:
        self._notes.append(event)

    def restore(self) -> None:
        """Give flags and variables the values that they had."""
        self._hook.restore()
        _write(self._before)

    def result(self) -> RunReport:
        """Return what was set, kept, undone and left until now, as `d9m run` has it in JSON."""
        version = "{}.{}.{}".format(*sys.version_info)
        start = {"kind": "start", "pid": os.getpid(), "python": version}
        imports = [name for name in self.planned.imports if name in sys.modules]
        values: dict[str, str | None] = self._hook.values() if self._hook is not None else {}
        end: dict[str, Any] = {"kind": "end", "imports": imports, "values": values, "error": None}
        run = ProgramRun(0, [[start, *self._notes, end]])
        return report(self._tool, self.planned, self._changes, run)

    def report(self) -> str:
        """Return the same as text, and what is missing."""
        return as_text(self.result(), "d9m.enable", self.missing)


@functools.cache
def _planned(options: RunOptions, own: frozenset[tuple[str, str]]) -> tuple[Tool, RunPlan]:
    """Plan once for equal variables: a fixture of tests asks again and again."""
    kb = open_knowledge_base()
    made = plan(kb, installed_here(kb, os.environ, needed=False), options, dict(own))
    return Tool(__version__, kb.meta.date), made


_enabled: list[Enabled] = []
"""The one of this process, once it is there."""


def enable(
    *,
    seed: int | None = None,
    scope: Scope = "run",
    fast: bool = False,
    on_refusal: str = "stop",
    strict: bool = False,
) -> Enabled:
    """Set in this process what the records name for what is installed, for good.

    Frameworks that are imported later are set right after their import; none is imported. Children
    inherit the variables. What only the start of the process could set is in `missing`; with
    `strict` that raises `d9m.TooLate`, and nothing is set. A second call returns the same object.
    Raises `d9m.Refused` for a variable that undoes determinism, and for other arguments.
    """
    options = RunOptions(seed, scope, fast, on_refusal=on_refusal)
    if _enabled:
        if _enabled[0].options != options:
            raise Refused(f"enable() was called before, {_said(_enabled[0].options)}")
        return _enabled[0]
    made = Enabled(options)
    _require_start(made, strict)
    made.begin(watches=True)
    _enabled.append(made)
    return made


def _said(options: RunOptions) -> str:
    usual = msgspec.structs.asdict(RunOptions())
    given = msgspec.structs.asdict(options).items()
    said = [f"{name}={value!r}" for name, value in given if value != usual[name]]
    return f"with {', '.join(said)}" if said else "without arguments, as %load_ext d9m does"


@contextlib.contextmanager
def deterministic(
    *,
    scope: Scope = "run",
    fast: bool = False,
    on_refusal: str = "stop",
    strict: bool = False,
) -> Generator[Enabled]:
    """Make the settings of `enable` inside a `with` block, and restore flags and variables after.

    Raises `d9m.Refused` before anything is set where a setting could not be undone. Generators keep
    their states.
    """
    made = Enabled(RunOptions(None, scope, fast, on_refusal=on_refusal))
    _require_start(made, strict)
    made.planned = _restorable(made.planned)
    made.begin(watches=False)
    try:
        yield made
    finally:
        made.restore()


def _write(values: Mapping[str, str | None]) -> None:
    for name, value in values.items():
        if value is None:
            os.environ.pop(name, None)
        else:
            os.environ[name] = value


def _require_start(made: Enabled, strict: bool) -> None:
    if strict and made.missing:
        first = made.missing[0]
        raise TooLate(f"{first.name}: {first.why}")


def _restorable(made: RunPlan) -> RunPlan:
    """The plan without what cannot be undone. Raises Refused where that would be set at once."""
    known = {each.name for each in made.watched if each.restore is not None}
    lasting = [each for each in made.statements if each.name not in known]
    for each in lasting:
        if each.module in sys.modules:
            raise Refused(
                f"{each.lines[-1]} cannot be undone",
                tip="d9m.enable() sets it for good; d9m run sets it for a whole program",
            )
    notes = [SettingNote(each.name, "could not be undone", module=each.module) for each in lasting]
    return msgspec.structs.replace(
        made,
        statements=[each for each in made.statements if each.name in known],
        refused=[*made.refused, *notes],
    )


def _missing(made: RunPlan) -> Generator[SettingNote]:
    """Settings for which it is too late."""
    start = _started_with()
    begun = next((name for name in made.begun if _hook.read(name)), None)
    for each in made.variables:
        in_force = _hook.suits(msgspec.to_builtins(each), start.get(each.name))
        why = _why_late(each, [each.module] if each.module else [*made.imports], begun)
        is_ignored = each.name.startswith("PYTHON") and sys.flags.ignore_environment
        if why and (is_ignored or not in_force):
            yield SettingNote(each.name, why.format(line=f"{each.name}={each.value}"))
    for statement in made.statements:
        why = _why_late(statement, [], begun)
        if why:
            yield SettingNote(statement.name, why, module=statement.module)


def _why_late(
    each: PlannedVariable | PlannedStatement, modules: list[str], begun: str | None
) -> str | None:
    if each.read_at == "process-start":
        return AT_START
    imported = next((name for name in modules if name in sys.modules), None)
    if each.read_at == "import" and imported is not None:
        return AT_IMPORT.format(module=imported)
    if each.read_at == "first-use" and begun is not None:
        return AT_FIRST_USE.format(begun=begun)
    return None


def _started_with() -> Mapping[str, str]:
    """The variables with which the process was started; where that cannot be told, those of now."""
    try:
        data = Path("/proc/self/environ").read_bytes()
    except OSError:
        return os.environ
    pairs = (os.fsdecode(item).partition("=") for item in data.split(b"\0"))
    return {name: value for name, _equals, value in pairs}
