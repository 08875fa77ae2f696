"""`d9m diff`: two recordings of a program, and the first thing that differs between them."""

from __future__ import annotations

import re
import shlex
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from d9m.cli import output
from d9m.errors import UsageError, quote
from d9m.kb.locate import open_knowledge_base

if TYPE_CHECKING:
    from d9m.render.page import Page
    from d9m.trace.report.text import FindingsView

FORMATS = ("text", "json", "markdown", "html", "junit")


def register(app: typer.Typer) -> None:
    app.command("diff")(command)


def command(
    a: Annotated[str, typer.Argument(metavar="RUN_A", help="A folder that d9m trace made.")],
    b: Annotated[str, typer.Argument(metavar="RUN_B", help="Another one, of the same program.")],
    rank: Annotated[int | None, typer.Option(metavar="N", min=0, help="Look at one rank.")] = None,
    process: Annotated[
        str | None, typer.Option(metavar="NAME", help="Look at one process: 'rank 0, process 1'.")
    ] = None,
    align: Annotated[
        str,
        typer.Option(
            metavar="auto|none|A=B", help="Step A of the first run is step B of the second."
        ),
    ] = "auto",
    everything: Annotated[
        bool, typer.Option("--all", "--verbose", "-v", help="Every cause, harmless ones too.")
    ] = False,
    format_: Annotated[str, output.formats(*FORMATS)] = "text",
    out: output.Out = None,
    color: output.Color = "auto",
) -> None:
    """Compare two recordings of a program: what differs first, why, and what to set."""
    output.one_of("--format", format_, FORMATS)
    output.one_of("--color", color, output.COLOURS)
    output.writable(out)
    steps = _steps(align)
    from d9m.trace.cause_advice import with_advice
    from d9m.trace.comparison import Wanted, compare
    from d9m.trace.findings import exit_code
    from d9m.trace.report.text import FindingsView

    kb = open_knowledge_base()
    wanted = Wanted(rank, process, steps, resume=align == "auto")
    found = with_advice(kb, compare(Path(a), Path(b), kb.meta.date, wanted))
    program = shlex.join(found.runs[0].command)
    view = FindingsView(found, kb, everything, program, output.width(out))
    output.show(rendered(view, format_), color, out)
    raise typer.Exit(exit_code(found))


def rendered(view: FindingsView, format_: str) -> str | Page:
    if format_ == "json":
        from d9m.render import as_json

        return as_json.render(view.findings)
    from d9m.trace.report import html, junit, markdown, text

    renderers = {"text": text, "markdown": markdown, "html": html, "junit": junit}
    return renderers[format_].render(view)


def _steps(align: str) -> tuple[int, int] | None:
    if align in ("auto", "none"):
        return None
    if not re.fullmatch(r"\d{1,9}=\d{1,9}", align):
        raise UsageError(f"--align {quote(align)}: expected auto, none or A=B, as in 100=0")
    first, _equals, second = align.partition("=")
    return int(first), int(second)
