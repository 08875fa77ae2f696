"""The entry point: only the command that was asked for is imported."""

from __future__ import annotations

import importlib
import os
import sys
from typing import Annotated

import typer

import d9m
from d9m.failures import EXIT_CODES, D9mError

COMMANDS = {
    "advise": "the exact settings for an environment and ops",
    "check": "compare this machine with the advice, then probe what repeats",
    "explain": "recognise an error or warning text and answer it",
    "show": "one record or op across all versions",
    "list": "filterable lists of what is known",
    "kb": "for people who write records",
}
"""Command -> what it does. Each is a module of this package with a ``register(app)``."""


def application(arguments: list[str]) -> typer.Typer:
    """The commands that `arguments` could mean: one, or all where help is wanted."""
    app = typer.Typer(
        name="d9m",
        help=d9m.__doc__,
        rich_markup_mode=None,
        pretty_exceptions_enable=False,
        add_completion=False,
        no_args_is_help=True,
        context_settings={"help_option_names": ["-h", "--help"]},
    )
    app.callback()(_options)
    first = next((each for each in arguments if not each.startswith("-")), None)
    for name in [first] if first in COMMANDS else COMMANDS:
        importlib.import_module(f"d9m.cli.{name}_command").register(app)
    return app


def _version(wanted: bool) -> None:
    if wanted:
        typer.echo(d9m.__version__)
        raise typer.Exit


def _explain_exit(wanted: bool) -> None:
    if wanted:
        for code, meaning in EXIT_CODES.items():
            typer.echo(f"{code}  {meaning}")
        raise typer.Exit


def _options(
    version: Annotated[bool, typer.Option("--version", callback=_version, is_eager=True, help="Print it.")] = False,
    explain_exit: Annotated[
        bool, typer.Option("--explain-exit", callback=_explain_exit, is_eager=True, help="The table of exit codes.")
    ] = False,
) -> None:
    """What to set, in this version, on this machine, so that the same run gives the same bits."""


def main() -> None:
    """Run the command line; the process ends with an exit code of the table."""
    try:
        application(sys.argv[1:])()
    except D9mError as error:
        _complain(f"d9m: {error.text()}")
        sys.exit(error.exit_code)
    except BrokenPipeError:
        os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())
        sys.exit(0)
    except KeyboardInterrupt:
        _complain("d9m: interrupted")
        sys.exit(130)


def _complain(text: str) -> None:
    typer.echo(text, err=True)
