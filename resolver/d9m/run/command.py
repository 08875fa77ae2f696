"""`d9m run`: run a program with the settings that it needs, and report what became of them."""

from __future__ import annotations

import os
import sys
from typing import TYPE_CHECKING, Annotated, Any

import msgspec
import typer

from d9m.cli import output
from d9m.errors import D9mError, ExitCode, UsageError, printable

if TYPE_CHECKING:
    from d9m.run.plan import RunOptions, RunPlan
    from d9m.run.report import RunReport

FORMATS = ("text", "json", "github")
REFUSALS = ("stop", "warn")


def register(app: typer.Typer) -> None:
    app.command("run", context_settings={"allow_interspersed_args": False})(command)


def command(
    program: Annotated[
        list[str] | None,
        typer.Argument(metavar="-- COMMAND…", help="What to run: -- python train.py --epochs 1."),
    ] = None,
    seed: Annotated[
        int | None, typer.Option(help="Seed Python, NumPy and the frameworks with this number.")
    ] = None,
    scope: Annotated[
        str, typer.Option(help="What must not change the bits: run or batch.")
    ] = "run",
    fast: Annotated[bool, typer.Option("--fast", help="Do not fill uninitialized memory.")] = False,
    ranks: Annotated[
        bool, typer.Option("--ranks", help="Set what several processes need, too.")
    ] = False,
    on_refusal: Annotated[
        str,
        typer.Option(metavar="|".join(REFUSALS), help="Where an op has no deterministic kernel."),
    ] = "stop",
    override: Annotated[
        bool, typer.Option("--override", help="Replace variables of yours that undo determinism.")
    ] = False,
    strict: Annotated[
        bool, typer.Option("--strict", help="End with 1 if something was undone, refused or left.")
    ] = False,
    explain_only: Annotated[
        bool, typer.Option("--explain-only", help="Print the plan and start nothing.")
    ] = False,
    format_: Annotated[str, output.formats(*FORMATS)] = "text",
    out: output.Out = None,
) -> None:
    """Set what the records name for the frameworks found, before the program's Python starts and
    right after each import; watch who undoes it; report on stderr.

    The exit code is the program's; only a 0 is replaced: by 4 if no process was reached, by 1 with
    --strict. Ops are not recorded.
    """
    from d9m.run.plan import RunOptions

    options = RunOptions(seed, scope, fast, ranks, on_refusal, override)  # type: ignore[arg-type]
    try:
        raise typer.Exit(_run(program, options, strict, explain_only, format_, out))
    except D9mError as error:
        sys.stderr.write(printable(f"d9m: {error.text()}\n"))
        what = error.what.partition("\n")[0]
        sys.stderr.write(printable(f"d9m run: not started: {what}\n"))
        raise typer.Exit(error.exit_code) from None


def _run(
    program: list[str] | None,
    options: RunOptions,
    strict: bool,
    explain_only: bool,
    format_: str,
    out: str | None,
) -> int:
    from d9m.environment.interpreter import installed_in
    from d9m.kb.locate import open_knowledge_base
    from d9m.model.advice import Tool
    from d9m.run.interpreter import find_python
    from d9m.run.plan import environment_for, plan
    from d9m.run.report import report
    from d9m.run.start import join_outer, start

    output.one_of("--format", format_, FORMATS)
    output.one_of("--scope", options.scope, ("run", "batch"))
    output.one_of("--on-refusal", options.on_refusal, REFUSALS)
    output.writable(out)
    if not program:
        raise UsageError("name the program to run after --", tip="d9m run -- python train.py")
    joined = None if explain_only else join_outer(program)
    if joined is not None:
        return joined
    kb = open_knowledge_base()
    made = plan(kb, installed_in(kb, find_python(program), os.environ), options, os.environ)
    changes = environment_for(made, os.environ, options.override)
    if explain_only:
        _explain(made, changes, format_, out)
        return ExitCode.ANSWERED
    if made.undoing and not options.override:
        first = made.undoing[0]
        raise UsageError(
            f"{first.name}={first.value} undoes determinism: {first.why}",
            tip="remove it, or let d9m run --override replace it",
        )
    code, notes = start(program, made, changes)
    from d9m.about import __version__

    tool = Tool(__version__, kb.meta.date)
    found = report(tool, made, changes, code, notes, strict)
    _deliver(found, format_, out)
    return found.exit


def _explain(made: RunPlan, changes: dict[str, str | None], format_: str, out: str | None) -> None:
    import shlex

    if format_ == "json":
        output.write(_json(made), out)
        return
    lines = [
        f"unset {name}" if value is None else f"export {name}={shlex.quote(value)}"
        for name, value in changes.items()
    ]
    for each in made.statements:
        lines += [f"# after import {each.module}: {line}" for line in each.lines[-1:]]
    lines += [f"# {each.name}={each.value} (yours) undoes it: {each.why}" for each in made.undoing]
    lines += [f"# refused: {each.name}: {each.why}" for each in made.refused]
    output.write("\n".join(lines) + "\n", out)


def _deliver(found: RunReport, format_: str, out: str | None) -> None:
    """Write to a file or to stderr: stdout is the program's. Its exit code wins over a failure."""
    from d9m.run.report import as_github, as_text

    text = {"text": as_text, "github": as_github, "json": _json}[format_](found)
    try:
        if out is not None:
            output.write(text, out)
        else:
            sys.stderr.write(text)
            sys.stderr.flush()
    except (D9mError, OSError):
        return


def _json(value: Any) -> str:
    return msgspec.json.format(msgspec.json.encode(value), indent=2).decode() + "\n"
