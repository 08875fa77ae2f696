"""`d9m explain`: say what a message, a log or a complaint means, and what to do."""

from __future__ import annotations

import os
import re
import sys
from collections.abc import Generator, Iterable
from contextlib import contextmanager
from pathlib import Path
from typing import Annotated

import typer

from d9m.cli import options, output
from d9m.errors import UsageError, quote, reason
from d9m.exit_codes import CommandResult, exit_code
from d9m.kb.locate import open_knowledge_base


def register(app: typer.Typer) -> None:
    app.command("explain")(command)


@options.with_place
def command(
    place: options.EnvironmentOptions,
    text: Annotated[
        str | None,
        typer.Argument(
            help="A message, a complaint in your own words, or a file; - or nothing reads "
            "standard input."
        ),
    ] = None,
    format_: Annotated[str, output.formats("text", "json")] = "text",
    out: output.Out = None,
    color: output.Color = "auto",
) -> None:
    """Say what an error, a warning, a log or a complaint means, and what to do.

    Finds the message, else the ops, packages, settings and versions that the text names."""
    from d9m.browse.explain import explain
    from d9m.environment.detect import detect
    from d9m.render import as_json
    from d9m.render.browse import explain as rendered

    output.one_of("--format", format_, ("text", "json"))
    output.one_of("--color", color, output.COLOURS)
    kb = open_knowledge_base()
    setup = place.setup_beside_text(kb)
    with _opened(text) as given:
        explained = explain(kb, given, setup, detect(kb, dict(os.environ)))
    if format_ == "json":
        output.write(as_json.render(explained), out)
    else:
        output.show(rendered.render(kb, explained, output.width(out)), color, out)
    raise typer.Exit(exit_code(CommandResult(is_incomplete=explained.is_unknown_message)))


@contextmanager
def _opened(text: str | None) -> Generator[str | Iterable[str]]:
    """The text itself, or the blocks of the file that it names, or of standard input. Raises
    UsageError.
    """
    from d9m.browse import log

    if text is None or text == "-":
        yield log.blocks(sys.stdin.buffer)
    elif _is_file(text):
        try:
            with open(text, "rb") as file:
                yield log.blocks(file)
        except OSError as error:
            raise UsageError(f"{quote(text)} cannot be read: {reason(error)}") from None
    elif _FILE_NAME.fullmatch(text):
        raise UsageError(f"there is no file {quote(text)}")
    else:
        yield log.readable(text)


_FILE_NAME = re.compile(r"\S+\.(?:log|txt|out|err)")


def _is_file(text: str) -> bool:
    try:
        return Path(text).is_file()
    except (OSError, ValueError):  # too long for a name, or with a zero byte
        return False
