"""The commands, of which only the one that was asked for is imported.

Modules of the path from question to answer hold their annotations as they are, not as
strings (no ``from __future__ import annotations``): typer and msgspec read them, and
evaluating strings takes a tenth of a cold start.
"""

import importlib
from typing import Annotated, Any

import typer

from d9m.about import SUMMARY, __version__
from d9m.errors import ExitCode

COMMANDS = {
    "advise": ("d9m.cli.advise_command", "The exact settings for an environment and ops."),
    "check": ("d9m.check.command", "Compare this machine with the advice, then probe it."),
    "run": (
        "d9m.run.command",
        "Run a program with the settings that it needs, and report what became of them.",
    ),
    "lock": (
        "d9m.lock.command",
        "Keep the settings and results of a program, if its runs are equal.",
    ),
    "verify": (
        "d9m.lock.verify_command",
        "Run a locked program again, and compare its results with the lock.",
    ),
    "trace": ("d9m.trace.command.trace", "Record a run of a program, to compare it with another."),
    "diff": (
        "d9m.trace.command.diff",
        "Compare two recordings of a program: what differs first, and why.",
    ),
    "hunt": (
        "d9m.trace.command.hunt",
        "Run a program repeatedly to find the first op that differs, and its fix.",
    ),
    "scan": (
        "d9m.scan.command",
        "Check how each program of a project is set up: a report card, and errors by line.",
    ),
    "explain": (
        "d9m.cli.explain_command",
        "Explain an error, a warning or a complaint in your own words.",
    ),
    "show": ("d9m.cli.show_command", "Show an op, setting or record in every version."),
    "list": ("d9m.cli.list_command", "List what d9m knows: ops, settings, rules and more."),
    "mcp": (
        "d9m.agents.command",
        "Answer coding agents over the Model Context Protocol.",
    ),
    "kb": ("d9m.authoring.command", "For people who write records."),
}
"""Command -> its module, which has a ``register(app)``, and its line in the overview."""


def application(arguments: list[str]) -> typer.Typer:
    """The commands that `arguments` could mean: one, or all where help or a shell's completion is
    wanted.
    """
    first = next((word for word in arguments if not word.startswith("-")), None)
    app = typer.Typer(
        name="d9m",
        help=SUMMARY,
        rich_markup_mode=None,
        pretty_exceptions_enable=False,
        add_completion=first not in COMMANDS,
        no_args_is_help=True,
        context_settings={"help_option_names": ["-h", "--help"]},
    )
    app.callback()(_options)
    for name in [first] if first in COMMANDS else COMMANDS:
        _module(name).register(app)
    for command in app.registered_commands:
        command.short_help = COMMANDS[command.name or ""][1]
        if command.callback is not None and command.callback.__doc__ is None:  # python -OO
            command.help = command.short_help
    return app


def _module(name: str) -> Any:
    try:
        return importlib.import_module(COMMANDS[name][0])
    except ModuleNotFoundError as error:
        if error.name != "d9m.authoring":
            raise
        from d9m.cli import checkout_command

        return checkout_command


def _version(wanted: bool) -> None:
    if wanted:
        typer.echo(__version__)
        raise typer.Exit


def _explain_exit(wanted: bool) -> None:
    if wanted:
        import textwrap

        for code in ExitCode:
            typer.echo(
                textwrap.fill(code.meaning, 80, initial_indent=f"{code}  ", subsequent_indent="   ")
            )
        typer.echo("The first that applies of 5, 4, 2, 1, 3 and 0.")
        raise typer.Exit


def _options(
    version: Annotated[
        bool, typer.Option("--version", callback=_version, is_eager=True, help="Print the version.")
    ] = False,
    explain_exit: Annotated[
        bool,
        typer.Option(
            "--explain-exit", callback=_explain_exit, is_eager=True, help="Print the exit codes."
        ),
    ] = False,
) -> None:
    """Print the settings for deterministic training in your version and on your machine."""
