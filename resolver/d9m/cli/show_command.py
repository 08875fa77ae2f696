"""`d9m show`: one record or op across all versions."""

from __future__ import annotations

from typing import Annotated

import typer

from d9m.cli import output
from d9m.kb.locate import open_knowledge_base

FORMATS = ("text", "json")


def register(app: typer.Typer) -> None:
    app.command("show")(command)


def command(
    names: Annotated[
        list[str],
        typer.Argument(help="An op, a setting, a package, an error, a pull request, …"),
    ],
    format_: Annotated[str, output.formats("text", "json")] = "text",
    out: output.Out = None,
    color: output.Color = "auto",
) -> None:
    """Print everything that is known of one thing, in every release, with who says so. The name of
    a list prints that list.
    """
    from d9m.browse.listing import KINDS, PLAIN_NAMES
    from d9m.browse.show import show
    from d9m.render import as_json
    from d9m.render.browse import show as rendered

    output.one_of("--format", format_, FORMATS)
    output.one_of("--color", color, output.COLOURS)
    if len(names) == 1 and names[0] in (*KINDS, *PLAIN_NAMES.values()):
        from d9m.cli.list_command import command as print_list

        print_list(names[0], format_=format_, out=out, color=color)
        return
    kb = open_knowledge_base()
    showing = show(kb, names)
    if format_ == "json":
        output.write(as_json.render(showing), out)
    else:
        output.show(rendered.render(kb, showing, output.width(out)), color, out)
