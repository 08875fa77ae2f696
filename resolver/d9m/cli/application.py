"""The commands, of which only the one that was asked for is imported.

Modules of the path from question to answer hold their annotations as they are, not as
strings (no ``from __future__ import annotations``): typer and msgspec read them, and
evaluating strings takes a tenth of a cold start.
"""

import importlib
from typing import Annotated

import typer

from d9m.about import __version__
from d9m.errors import ExitCode

SUMMARY = (
    "d9m: what to set, in this version, on this machine, so that the same run gives the same bits."
)

COMMANDS = {
    "advise": "The exact settings for an environment and ops.",
    "check": "Compare this machine with the advice, then probe it.",
    "trace": "Record a run of a program, to compare it with another.",
    "diff": "Compare two recordings of a program: what differs first, and why.",
    "hunt": "Run a program again and again: the first op that differs, and its fix.",
    "scan": "Read a project's code and job files, and point at what keeps it from repeating.",
    "explain": "Recognise an error or warning text, and answer it.",
    "show": "One record or op across all versions.",
    "list": "Filterable lists of what is known.",
    "kb": "For people who write records.",
}
"""Command -> its line in the overview. Each is a module of this package with a ``register(app)``.
"""


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
        importlib.import_module(f"d9m.cli.{name}_command").register(app)
    for command in app.registered_commands:
        command.short_help = COMMANDS[command.name or ""]
        if command.callback is not None and command.callback.__doc__ is None:  # python -OO
            command.help = command.short_help
    return app


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
        bool, typer.Option("--version", callback=_version, is_eager=True, help="Print it.")
    ] = False,
    explain_exit: Annotated[
        bool,
        typer.Option(
            "--explain-exit", callback=_explain_exit, is_eager=True, help="The table of exit codes."
        ),
    ] = False,
) -> None:
    """What to set, in this version, on this machine, so that the same run gives the same bits."""
