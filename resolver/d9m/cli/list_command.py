"""`d9m list`: filterable lists of what is known."""

from __future__ import annotations

import importlib
from typing import TYPE_CHECKING, Annotated

import typer

from d9m.cli import output
from d9m.exit_codes import CommandResult, exit_code
from d9m.kb.locate import open_knowledge_base

if TYPE_CHECKING:
    from d9m.browse.listing import RecordList


def register(app: typer.Typer) -> None:
    app.command("list")(command)


def command(
    kind: Annotated[
        str | None,
        typer.Argument(help="differences, basics, ops, rules, …; nothing: which lists there are."),
    ] = None,
    package: Annotated[
        str | None, typer.Option("--package", metavar="NAME", help="Only records of this package.")
    ] = None,
    text: Annotated[
        str | None,
        typer.Option("--grep", metavar="TEXT", help="Only lines with this text; ignores case."),
    ] = None,
    evidence: Annotated[
        str | None,
        typer.Option(
            "--evidence", metavar="KIND", help="Only claims whose best evidence is of this kind."
        ),
    ] = None,
    format_: Annotated[str, output.formats("text", "json")] = "text",
    out: output.Out = None,
    color: output.Color = "auto",
) -> None:
    """List what is known, one line each."""
    from d9m.browse.listing import KINDS, RULES, listing, together
    from d9m.render import as_json
    from d9m.render.browse import listing as rendered

    output.one_of("--format", format_, ("text", "json"))
    output.one_of("--color", color, output.COLOURS)
    kb = open_knowledge_base()
    found: list[RecordList] = []
    for name in (*KINDS, RULES) if kind is None else (kind,):
        if name == RULES:
            rules = importlib.import_module("d9m.scan.rule_list")
            only_rules = kind is not None
            found.append(rules.rule_list(kb, package if only_rules else None, text, evidence))
        else:
            found.append(listing(kb, name, package, text, evidence))
    width = output.width(out)
    if format_ == "json":
        output.write(as_json.render(together(found, kb) if kind is None else found[0]), out)
    elif kind is None:
        output.show(rendered.overview(found, width), color, out)
    else:
        output.show(rendered.render(found[0], width), color, out)
    raise typer.Exit(exit_code(CommandResult(did_nothing=not any(each.rows for each in found))))
