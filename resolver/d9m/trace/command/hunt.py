"""`d9m hunt`: run a program again and again, and find the first thing that differs."""

from __future__ import annotations

import contextlib
import shlex
import shutil
import subprocess
import time
from collections.abc import Callable, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import msgspec
import typer

from d9m.cli import output
from d9m.errors import UsageError, quote
from d9m.kb.locate import open_knowledge_base
from d9m.trace.command import program as recorded_program
from d9m.trace.command.diff import FORMATS, rendered
from d9m.trace.command.two import Commands, command_or_recording
from d9m.trace.inject._d9m_recorder.core.private import masked

if TYPE_CHECKING:
    from d9m.kb.store import KnowledgeBase
    from d9m.trace.findings import AppliedFix, Cause, Findings, Replay
    from d9m.trace.hunt import Replays
    from d9m.trace.hunt_folder import RecordingsFolder
    from d9m.trace.replay import ReplayFailure
    from d9m.trace.settings_made import MadeSettings
    from d9m.trace.start import RecordingRequest, RunExit

STEPS = 20
"""Default steps of a run."""

MOST = "2GB"
"""Default size limit of a recording."""

STEP_BY, COMPILED = "auto", "as-is"
"""Defaults of what ends a step, and of how compiled graphs run."""


def register(app: typer.Typer) -> None:
    app.command("hunt", context_settings={"allow_interspersed_args": False})(command)


def command(
    program: recorded_program.Program = None,
    a: Annotated[
        str | None,
        typer.Option("--a", metavar="COMMAND", help="Compare two commands; or a recording's RUN."),
    ] = None,
    b: Annotated[
        str | None, typer.Option("--b", metavar="COMMAND", help="The other command.")
    ] = None,
    steps: Annotated[
        str | None,
        typer.Option(
            metavar="N|A:B|every:K|all",
            help="Stop each run after N steps (20), compare only A to B, or first each Kth step.",
        ),
    ] = None,
    runs: Annotated[
        int | None,
        typer.Option(
            metavar="N",
            min=2,
            help="Record at most N runs; by default 8, and those that try a fix.",
        ),
    ] = None,
    compare: Annotated[
        int, typer.Option(min=2, metavar="N", help="Compare N runs before calling them equal.")
    ] = 2,
    limit: Annotated[
        float | None,
        typer.Option("--time", metavar="SECONDS", help="Start nothing new after this long."),
    ] = None,
    until_found: Annotated[
        bool, typer.Option("--until-found", help="Keep running until two runs differ.")
    ] = False,
    set_: Annotated[
        list[str] | None,
        typer.Option(
            "--set", metavar="NAME", help="Run with the settings of a solution: d9m list solutions."
        ),
    ] = None,
    before: Annotated[
        str | None,
        typer.Option(metavar="COMMAND", help="Run this before each run: 'rm -rf out'."),
    ] = None,
    keep: Annotated[
        str | None, typer.Option(metavar="DIR", help="Keep all recordings in this folder.")
    ] = None,
    replay: Annotated[
        bool,
        typer.Option(
            "--replay/--no-replay", help="Call the first op that differs many times, alone."
        ),
    ] = True,
    fix: Annotated[
        bool, typer.Option("--fix", help="Apply each fix that is found and hunt on.")
    ] = False,
    step_by: recorded_program.StepBy = STEP_BY,
    compiled: recorded_program.Compiled = COMPILED,
    max_size: recorded_program.MaxSize = MOST,
    everything: Annotated[
        bool,
        typer.Option("--all", "--verbose", "-v", help="Show every cause, harmless ones too."),
    ] = False,
    format_: Annotated[str, output.formats(*FORMATS)] = "text",
    out: output.Out = None,
    color: output.Color = "auto",
) -> None:
    """Run a program twice, look closer at the step that differs, then call its op alone.

    The program's own output is printed, too; -o FILE writes only the report."""
    output.one_of("--format", format_, FORMATS)
    output.one_of("--color", color, output.COLOURS)
    output.writable(out)
    two = a is not None or b is not None
    if two and (program or set_ or fix or runs or until_found):
        raise UsageError(
            "--a and --b are run once each, without --set, --fix, --runs or -- COMMAND"
        )
    sides = [command_or_recording(*side) for side in (("--a", a), ("--b", b))] if two else []
    program = [] if two else recorded_program.required(program, "d9m hunt -- python train.py")
    request = recorded_program.request(steps or str(STEPS), step_by, compiled, max_size)
    first = _split(before)
    from d9m.trace.cause_advice import with_advice
    from d9m.trace.findings import CauseFix, exit_code
    from d9m.trace.fixing import fixed
    from d9m.trace.hunt import FEWEST, Hunt, HuntLimits
    from d9m.trace.hunt import MOST as MOST_RUNS
    from d9m.trace.report.text import FindingsView
    from d9m.trace.settings_made import MadeSettings, made
    from d9m.trace.trials import Trials

    kb = open_knowledge_base()
    settings = made(kb, set_, program) if set_ else MadeSettings()
    place = _place(keep)
    most = MOST_RUNS + compare - FEWEST
    limits = HuntLimits(runs, limit, until_found, steps is None, most, compare)
    to_stderr = format_ != "text" and out is None
    request = _to_the_last(request)
    runner = _runner(program, settings, first, to_stderr)
    again = _again(steps, step_by, compiled, max_size, before, set_)
    hunts: list[Hunt] = []
    applied: list[AppliedFix] = []

    def begin(base: CauseFix, limits: HuntLimits) -> Hunt:
        path = place.path / f"fix-{len(hunts)}" if hunts else place.path
        based = msgspec.structs.replace(request, env=base.env, python=tuple(base.python))
        hunts.append(Hunt(runner, path, based, limits, kb.meta.date, _on_progress))
        return hunts[-1]

    def answer(hunt: Hunt, base: CauseFix, proves: bool) -> Findings:
        found = with_advice(kb, hunt.found())
        if replay:
            found = hunt.replayed(found, _replayer(kb, settings, program, keep is not None))
        return Trials(hunt, _advised(kb, program), base).explained(found, proves)

    def compared() -> Findings:
        commands = Commands(
            sides[0], sides[1], lambda words: _runner(words, settings, first, to_stderr)
        )
        return with_advice(
            kb, commands.compared(place.path, request, limits, kb.meta.date, _on_progress)
        )

    def report(found: Findings) -> None:
        shown = shlex.join(masked(program))
        view = FindingsView(found, kb, everything, shown, output.width(out), again)
        output.show(rendered(view, format_), color, out)

    found = None
    try:
        if two:
            found = compared()
        elif not fix:
            found = answer(begin(CauseFix(), limits), CauseFix(), True)
        else:
            found = fixed(begin, answer, limits, applied)
        report(found)
        code = exit_code(found)
    except KeyboardInterrupt:
        known = hunts[-1].so_far() if hunts else None
        if known is None:
            _on_progress("interrupted before two runs could be compared")
        else:
            found = msgspec.structs.replace(with_advice(kb, known), fixes=applied)
            report(found)
        raise
    finally:
        place.close(keep=found is not None and bool(found.causes))
    raise typer.Exit(code)


def _again(
    steps: str | None,
    step_by: str,
    compiled: str,
    max_size: str,
    before: str | None,
    set_: Sequence[str] | None,
) -> str:
    """The options that a hunt of the same program needs to record the same."""
    words: list[str] = []
    for option, value, default in (
        ("--steps", steps, None),
        ("--step-by", step_by, STEP_BY),
        ("--compiled", compiled, COMPILED),
        ("--max-size", max_size, MOST),
        ("--before", before, None),
    ):
        if value is not None and value != default:
            words += [option, value]
    for name in set_ or ():
        words += ["--set", name]
    return shlex.join(masked(words))


def _to_the_last(request: RecordingRequest) -> RecordingRequest:
    """A run that ends behind the last step to look at."""
    return (
        request if request.last is None else msgspec.structs.replace(request, stop=request.last + 1)
    )


def _split(before: str | None) -> list[str]:
    try:
        words = shlex.split(before or "")
    except ValueError as error:
        raise UsageError(f"--before {quote(before or '')}: {error}") from None
    if before is not None and not words:
        raise UsageError("--before is empty", tip="for example: --before 'rm -rf out'")
    return words


def _place(keep: str | None) -> RecordingsFolder:
    """The folder of the recordings."""
    from d9m.trace.hunt_folder import RecordingsFolder

    if keep is None:
        return RecordingsFolder.temporary()
    place = Path(keep)
    if place.exists() and (not place.is_dir() or any(place.iterdir())):
        raise UsageError(f"--keep {quote(keep)}: it exists and is not an empty folder")
    return RecordingsFolder(place)


def _runner(
    program: Sequence[str], settings: MadeSettings, before: Sequence[str], stdout_to_stderr: bool
) -> Callable[[Path, RecordingRequest, Callable[[], bool] | None], RunExit]:
    from d9m.trace.start import start

    def run(path: Path, request: RecordingRequest, watch: Callable[[], bool] | None) -> RunExit:
        if before:
            _run_before(before)
        python = tuple(dict.fromkeys([*settings.python, *request.python]))
        request = msgspec.structs.replace(request, python=python)
        return start(
            program,
            path,
            request,
            env=settings.env,
            watch=watch or _never,
            stdout_to_stderr=stdout_to_stderr,
        )

    return run


def _advised(kb: KnowledgeBase, program: Sequence[str]) -> Callable[[Cause], MadeSettings | None]:
    """Return the settings that are advised for a cause, where they can be made from outside."""
    from d9m.trace.settings_made import made

    def advised(cause: Cause) -> MadeSettings | None:
        if cause.advice is None or not cause.advice.solutions or cause.advice.already:
            return None
        with contextlib.suppress(UsageError):
            return made(kb, cause.advice.solutions, program)
        return None

    return advised


def _replayer(
    kb: KnowledgeBase, settings: MadeSettings, program: Sequence[str], keep: bool
) -> Replays:
    from d9m.trace.replay import replayed

    def replay(place: Path, cause: Cause, seconds: float) -> Replay | ReplayFailure:
        fix = _advised(kb, program)(cause)
        advised = None if fix is None else (fix.env, fix.python)
        found = replayed(place, settings.env, advised, seconds)
        if not keep:
            shutil.rmtree(place, ignore_errors=True)
        return found

    return replay


def _never() -> bool:
    """Watched in any case: a program that is hunted reads no input, in no run."""
    return False


def _run_before(command: Sequence[str]) -> None:
    try:
        code = subprocess.run(command, check=False, stdin=subprocess.DEVNULL).returncode  # noqa: S603  their own
    except (OSError, ValueError) as error:
        why = error.strerror if isinstance(error, OSError) else str(error)
        raise UsageError(f"--before {quote(command[0])} cannot be run: {why}") from None
    if code:
        raise UsageError(f"--before {quote(shlex.join(command))} ended with {code}")


def _on_progress(text: str) -> None:
    typer.echo(f"d9m hunt: {time.strftime('%H:%M:%S')} {text}", err=True)
