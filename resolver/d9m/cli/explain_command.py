"""`d9m explain`: recognise an error or warning text and answer it."""

from __future__ import annotations

import sys
from typing import Annotated

import typer

from d9m.cli import options, output
from d9m.kb.locate import open_knowledge_base


def register(app: typer.Typer) -> None:
    app.command("explain")(command)


@options.with_place
def command(
    place: options.Place,
    text: Annotated[str | None, typer.Argument(help="The text; without it, or as -, a log on standard input.")] = None,
    format_: Annotated[str, typer.Option("--format", help="text or json.")] = "text",
    out: Annotated[str | None, typer.Option("--output", "-o", metavar="FILE", help="Write there, unstyled.")] = None,
    color: Annotated[str, typer.Option(help="auto, always or never.")] = "auto",
) -> None:
    """Recognise an error or warning text (or one in a whole log), and say what to do."""
    from d9m.browse.explain import explain
    from d9m.environment.environment import describe
    from d9m.render import as_json
    from d9m.render.browse import explain as rendered

    output.one_of("--format", format_, ("text", "json"))
    output.one_of("--color", color, output.COLOURS)
    kb = open_knowledge_base()
    setup = place.setup()
    given = sys.stdin.read() if text in (None, "-") else text
    explained = explain(kb, given or "", describe(kb, setup) if setup else None)
    if format_ == "json":
        output.write(as_json.render(explained), out)
    else:
        output.write(output.styled(rendered.render(kb, explained, output.width(out)), color, out), out)
