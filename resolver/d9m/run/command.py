"""`d9m run`: run a program with the settings that it needs, and report what became of them."""

from __future__ import annotations

import contextlib
import os
import sys
from typing import TYPE_CHECKING, Annotated, Any, NamedTuple, TypeAlias

import typer
from typer.core import TyperCommand

from d9m.cli import output
from d9m.errors import D9mError, ExitCode, UsageError, printable

if TYPE_CHECKING:
    from d9m.environment.environment import Setup
    from d9m.kb.store import KnowledgeBase
    from d9m.run.plan import RunOptions, RunPlan
    from d9m.run.report import RunReport

FORMATS = ("text", "json", "github")
REFUSALS = ("stop", "warn")


Program: TypeAlias = Annotated[
    list[str] | None,
    typer.Argument(metavar="-- COMMAND…", help="What to run: -- python train.py --epochs 1."),
]
Seed: TypeAlias = Annotated[
    int | None, typer.Option(help="Seed Python, NumPy and the frameworks with this number.")
]
Fast: TypeAlias = Annotated[bool, typer.Option("--fast", help="Prefer settings that cost less.")]
Ranks: TypeAlias = Annotated[
    bool, typer.Option("--ranks", help="Set what several processes need, too.")
]
"""Options of d9m run that d9m lock takes, too."""


def register(app: typer.Typer) -> None:
    app.command("run", cls=RunCommand, context_settings={"allow_interspersed_args": False})(command)


def command(
    program: Program = None,
    seed: Seed = None,
    scope: Annotated[
        str, typer.Option(help="What must not change the bits: run or batch.")
    ] = "run",
    fast: Fast = False,
    ranks: Ranks = False,
    on_refusal: Annotated[
        str,
        typer.Option(metavar="|".join(REFUSALS), help="Where an op has no deterministic kernel."),
    ] = "stop",
    override: Annotated[
        bool, typer.Option("--override", help="Replace variables of yours that undo determinism.")
    ] = False,
    strict: Annotated[
        bool,
        typer.Option(
            "--strict",
            help="End with 1 if something was undone, refused, left or killed, or two runs differ.",
        ),
    ] = False,
    twice: Annotated[
        bool, typer.Option("--twice", help="Run it a second time, and compare the two runs.")
    ] = False,
    explain_only: Annotated[
        bool, typer.Option("--explain-only", help="Print the plan and start nothing.")
    ] = False,
    format_: Annotated[str, output.formats(*FORMATS)] = "text",
    out: output.Out = None,
) -> None:
    """Set what the records name for the frameworks found, before the program's Python starts and
    right after each import; watch who undoes it; report on stderr.

    The exit code is the program's; only a 0 is replaced: by 4 if a process was not reached, by 1
    with --strict, by 2 if the report cannot be written. Ops are not recorded. With --twice the
    program reads no input, and what the second run prints on stdout is dropped.
    """
    from d9m.run.plan import RunOptions

    options = RunOptions(seed, scope, fast, ranks, on_refusal, override)  # type: ignore[arg-type]
    try:
        code = _run(program, options, Request(strict, explain_only, twice, format_, out))
    except D9mError as error:
        _not_started("; ".join(line.strip() for line in error.text().splitlines()))
        raise typer.Exit(error.exit_code) from None
    except OSError as error:
        _not_started(f"the system refuses: {error.strerror or error}")
        raise typer.Exit(ExitCode.USAGE) from None
    raise typer.Exit(code)


class Request(NamedTuple):
    """Options of the command besides those of the plan."""

    strict: bool
    explain_only: bool
    twice: bool
    format_: str
    out: str | None


class RunCommand(TyperCommand):
    """A command line that cannot be read is a program that was not started."""

    def make_context(self, *arguments: Any, **named: Any) -> Any:
        try:
            return super().make_context(*arguments, **named)
        except Exception as error:
            if not hasattr(error, "format_message"):
                raise
            error.show()  # type: ignore[attr-defined]
            _not_started(error.format_message())  # type: ignore[attr-defined]
            raise typer.Exit(ExitCode.USAGE) from None


def _not_started(why: str) -> None:
    """Write the last line on stderr."""
    with contextlib.suppress(OSError):
        sys.stderr.write(printable(f"d9m run: not started: {why}\n"))
        sys.stderr.flush()


def _run(program: list[str] | None, options: RunOptions, request: Request) -> int:
    from d9m.environment.interpreter import installed_in
    from d9m.kb.locate import open_knowledge_base
    from d9m.run.interpreter import find_python
    from d9m.run.plan import VARIABLE, RunOptions, environment_for, plan

    output.one_of("--format", request.format_, FORMATS)
    output.one_of("--scope", options.scope, ("run", "batch"))
    output.one_of("--on-refusal", options.on_refusal, REFUSALS)
    output.writable(request.out)
    if not program:
        raise UsageError("name the program to run after --", tip="d9m run -- python train.py")
    outer = os.path.join(os.environ.get(VARIABLE, ""), "plan.json")
    if os.path.isfile(outer) and not request.explain_only:
        from d9m.run.start import join_outer

        if options != RunOptions() or request[:-2] != (False, False, False):
            sys.stderr.write("d9m run: inside another d9m run, whose options apply\n")
        return join_outer(program)
    kb = open_knowledge_base()
    setup = installed_in(kb, find_python(program), os.environ)
    made = plan(kb, setup, options, os.environ)
    changes = environment_for(made, os.environ, options.override)
    if request.explain_only:
        _explain(made, changes, request.format_, request.out)
        return ExitCode.ANSWERED
    if made.undoing and not options.override:
        raise UsageError(made.undone, tip="remove it, or let d9m run --override replace it")
    return _started(kb, setup, program, made, changes, options.on_refusal == "warn", request)


def _started(
    kb: KnowledgeBase,
    setup: Setup,
    program: list[str],
    made: RunPlan,
    changes: dict[str, str | None],
    collects: bool,
    request: Request,
) -> int:
    from d9m.about import __version__
    from d9m.model.advice import Tool
    from d9m.run.refusal import refused_op, warned_ops
    from d9m.run.report import report
    from d9m.run.start import start
    from d9m.run.twice import run_twice

    second = None
    if request.twice:
        run, second = run_twice(kb, program, made, changes, collects)
    else:
        run = start(program, made, changes, collects=collects)
    found = report(
        Tool(__version__, kb.meta.date), made, changes, run,
        strict=request.strict, refused=refused_op(kb, setup, run.notes),
        warned=warned_ops(kb, setup, run.notes), twice=second,
    )  # fmt: skip
    return _deliver(found, request.format_, request.out)


def _explain(made: RunPlan, changes: dict[str, str | None], format_: str, out: str | None) -> None:
    import shlex

    if format_ == "json":
        from d9m.render import as_json

        output.write(as_json.render(made), out)
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


def _deliver(found: RunReport, format_: str, out: str | None) -> int:
    """Write to a file or to stderr: stdout is the program's. A report that cannot be written to the
    file goes to stderr, with the reason.
    """
    from d9m.exit_codes import CommandResult, exit_code
    from d9m.render import as_json
    from d9m.run.report import as_github, as_text

    text = {"text": as_text, "github": as_github, "json": as_json.render}[format_](found)
    code = found.exit
    if out is not None:
        try:
            output.write(text, out)
            return code
        except D9mError as error:
            text += printable(f"d9m run: {error.what}\n")
            code = code or exit_code(CommandResult(has_usage_errors=True))
    with contextlib.suppress(OSError):
        sys.stderr.write(text)
        sys.stderr.flush()
    return code
