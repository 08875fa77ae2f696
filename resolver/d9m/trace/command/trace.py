"""`d9m trace`: record one run of a program, or say what a recording holds."""

from __future__ import annotations

import time
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import msgspec
import typer

from d9m.cli import output
from d9m.errors import AbsentError, DataError, ExitCode, UsageError
from d9m.exit_codes import CommandResult, exit_code
from d9m.trace.command import program as recorded_program
from d9m.trace.start import INPUTS, LEVELS

if TYPE_CHECKING:
    from d9m.trace.start import RecordingRequest

PLACE = "d9m-runs"
"""Folder of recordings without a name."""


def register(app: typer.Typer) -> None:
    app.command("trace", context_settings={"allow_interspersed_args": False})(command)


def command(
    program: recorded_program.Program = None,
    out: Annotated[
        str | None,
        typer.Option("--output", "-o", metavar="RUN", help="Folder of the recording."),
    ] = None,
    force: Annotated[bool, typer.Option("--force", help="Replace an existing recording.")] = False,
    level: Annotated[
        str | None,
        typer.Option(metavar="|".join(LEVELS), help="How much to record: step, if not given."),
    ] = None,
    steps: Annotated[
        str | None,
        typer.Option(
            metavar="N|A:B|every:K",
            help="End the program after N steps; record steps A to B; or each Kth step.",
        ),
    ] = None,
    inputs: Annotated[
        str,
        typer.Option(
            metavar="|".join(INPUTS),
            help="At level op: trust inputs seen before, or hash every input again (exact).",
        ),
    ] = "cached",
    step_by: recorded_program.StepBy = "auto",
    compiled: recorded_program.Compiled = "as-is",
    max_size: recorded_program.MaxSize = "2GB",
    samples: Annotated[
        bool,
        typer.Option(
            "--samples",
            help="At level op: record sizes and 64 elements of each tensor, for diff --tolerance.",
        ),
    ] = False,
    keep: Annotated[
        str | None,
        typer.Option(metavar="MODULE", help="With --samples: save the whole tensors of a module."),
    ] = None,
    ops: Annotated[
        str | None,
        typer.Option(
            "--ops", metavar="RUN", help="Print its ops, the ones that advise --ops @RUN looks up."
        ),
    ] = None,
    export: Annotated[
        bool, typer.Option("--export", help="Print the export lines that a job script needs.")
    ] = False,
    show: Annotated[
        str | None, typer.Option("--show", metavar="RUN", help="Say what a recording holds.")
    ] = None,
) -> None:
    """Record what a program computes, step by step, as digests; its own code is not touched."""
    given = {"--export": export, "--show": show is not None, "--ops": ops is not None}
    asked = [name for name, wanted in given.items() if wanted]
    if len(asked) > 1:
        raise UsageError(f"{asked[0]} and {asked[1]} exclude each other")
    if asked and program:
        raise UsageError(f"{asked[0]} runs no command")
    if show is not None:
        raise typer.Exit(_show(Path(show)))
    if ops is not None:
        raise typer.Exit(_ops(Path(ops)))
    level = level or ("op" if samples else "step")
    output.one_of("--level", level, LEVELS)
    if samples and level != "op":
        raise UsageError("--samples records ops", tip="leave out --level, or name op")
    if keep is not None and not (samples and keep):
        raise UsageError("--keep saves the tensors of a module for --samples", tip="name both")
    output.one_of("--inputs", inputs, INPUTS)
    request = recorded_program.request(steps, step_by, compiled, max_size)
    request = msgspec.structs.replace(
        request, level=level, inputs=inputs, samples=samples, keep=keep or ""
    )
    if request.every > 1 and level == "op":
        raise UsageError(
            f"--steps {steps} cannot be recorded at --level op",
            tip="record it at --level step or module",
        )
    path = Path(out) if out is not None else Path(PLACE) / time.strftime("%Y%m%d-%H%M%S")
    if export:
        raise typer.Exit(_export(path, request, force))
    program = recorded_program.required(program, "d9m trace -o a -- python train.py")
    raise typer.Exit(_record(program, path, request, force))


def _record(program: list[str], path: Path, request: RecordingRequest, force: bool) -> int:
    from d9m.trace import outcomes
    from d9m.trace.contents import contents, is_incomplete, lacks_level
    from d9m.trace.report import recording as trace
    from d9m.trace.start import start

    ending = start(program, path, request, force=force)
    try:
        found = contents(path)
    except DataError:
        if not ending.code:
            raise AbsentError(outcomes.nothing_recorded(path, ending.code)) from None
        typer.echo(f"d9m: {outcomes.nothing_recorded(path, ending.code)}", err=True)
        return ending.code
    typer.echo(trace.ended(found, str(path)), err=True, nl=False)
    if ending.code:
        return ending.code
    if lacks_level(found):
        raise AbsentError(
            f"a program of JAX cannot be recorded at --level {request.level}",
            tip="record it at --level step (what each jitted function gets and returns), or at "
            "--level op --compiled eager (each op in it)",
        )
    return exit_code(
        CommandResult(did_nothing=not ending.processes, is_incomplete=is_incomplete(found))
    )


def _export(path: Path, request: RecordingRequest, force: bool) -> ExitCode:
    """Make the folder, and print two lines for a job file or a container."""
    import os
    import shlex

    from d9m.trace import folder
    from d9m.trace.start import variables

    folder.make(path, folder.begun([], request.level), force)
    for name, value in variables(path, request, os.environ).items():
        output.write(f"export {name}={shlex.quote(value)}\n", None)
    return ExitCode.ANSWERED


def _show(path: Path) -> ExitCode:
    from d9m.trace.contents import contents
    from d9m.trace.report import recording as trace

    output.write(trace.shown(contents(path), str(path)), None)
    return ExitCode.ANSWERED


def _ops(path: Path) -> ExitCode:
    """Print a line for each op that a question can name; unknown ones are comments."""
    from d9m.kb.locate import open_knowledge_base
    from d9m.trace.called_ops import called_ops
    from d9m.trace.report import recording as trace

    output.write(trace.ops(called_ops(open_knowledge_base(), path)), None)
    return ExitCode.ANSWERED
