"""`d9m diff`: two recordings of a program, and the first thing that differs between them."""

from __future__ import annotations

import re
import shlex
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from d9m.cli import output
from d9m.errors import D9mError, ExitCode, UsageError, quote
from d9m.exit_codes import bisect_code
from d9m.kb.locate import open_knowledge_base

if TYPE_CHECKING:
    from d9m.render.page import Page
    from d9m.trace.comparison import Wanted
    from d9m.trace.findings import Findings
    from d9m.trace.report.text import FindingsView

FORMATS = ("text", "json", "markdown", "html", "junit")


def register(app: typer.Typer) -> None:
    app.command("diff")(command)


def command(
    paths: Annotated[
        list[str] | None,
        typer.Argument(metavar="RUN_A RUN_B", help="Folders that d9m trace made of one program."),
    ] = None,
    bisect: Annotated[
        str | None,
        typer.Option(
            metavar="RUN",
            help="Record the command after -- and compare it with RUN, for git bisect run: "
            "0 if equal, 1 if not, else 125.",
        ),
    ] = None,
    resume: Annotated[
        bool,
        typer.Option("--resume", help="RUN_B goes on with a checkpoint of RUN_A: what it lacks."),
    ] = False,
    tolerance: Annotated[
        bool,
        typer.Option(
            "--tolerance",
            help="Of two runs of trace --samples: the first op whose difference exceeds rounding.",
        ),
    ] = False,
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
    if tolerance and format_ not in ("text", "json"):
        raise UsageError("--tolerance is written as text or json", tip="leave out --format")
    if bisect is not None:
        raise typer.Exit(_bisected(Path(bisect), paths))
    a, b = _two(paths)
    from d9m.trace.cause_advice import with_advice
    from d9m.trace.comparison import Wanted, compare
    from d9m.trace.findings import exit_code
    from d9m.trace.report.text import FindingsView

    kb = open_knowledge_base()
    wanted = Wanted(rank, process, steps, resume=align == "auto")
    found = with_advice(kb, compare(Path(a), Path(b), kb.meta.date, wanted))
    if resume and found.resumed_after is None:
        raise UsageError(
            "--resume: the second run does not begin with parameters that the first one had",
            tip="the checkpoint lacks parameters, or the recordings are in the other order",
        )
    if tolerance:
        raise typer.Exit(_within(found, wanted, format_, color, out))
    program = shlex.join(found.runs[0].command)
    view = FindingsView(found, kb, everything, program, output.width(out))
    output.show(rendered(view, format_), color, out)
    raise typer.Exit(exit_code(found))


def _within(found: Findings, wanted: Wanted, format_: str, color: str, out: str | None) -> ExitCode:
    """Write whether rounding explains the difference of two runs."""
    import msgspec

    from d9m.render import as_json
    from d9m.trace import exact, tolerance
    from d9m.trace.comparison import paired
    from d9m.trace.report import tolerance as report

    a, b = (Path(run.path) for run in found.runs)
    judged, kept = tolerance.tolerance(found, paired(a, b, wanted), wanted.steps)
    judged = exact.with_exact(judged, (a, b), kept)
    found = msgspec.structs.replace(found, tolerance=judged)
    page = report.render(found, judged, output.width(out))
    output.show(as_json.render(found) if format_ == "json" else page, color, out)
    return tolerance.exit_code(judged)


def _two(paths: list[str] | None) -> list[str]:
    if paths is None or len(paths) != 2:
        raise UsageError("name two recordings: RUN_A RUN_B", tip="for example: d9m diff a b")
    return paths


def _bisected(reference: Path, program: list[str] | None) -> int:
    """Return the exit code for `git bisect run`: what is neither equal nor different is 125."""
    import tempfile

    from d9m.trace.command import program as recorded_program
    from d9m.trace.command.two import like
    from d9m.trace.comparison import Wanted, compare
    from d9m.trace.findings import exit_code
    from d9m.trace.report import verdict
    from d9m.trace.start import start

    try:
        words = recorded_program.required(program, "d9m diff --bisect good -- python train.py")
        request = like(reference, recorded_program.request(None, "auto", "as-is", "2GB"))
        with tempfile.TemporaryDirectory(prefix="d9m-bisect-") as place:
            path = Path(place) / "run"
            ending = start(words, path, request)
            found = compare(reference, path, "", Wanted(resume=False))
    except D9mError as error:
        typer.echo(f"d9m: {error.what}", err=True)
        return bisect_code(ExitCode.UNKNOWN)
    typer.echo(verdict.sentences(found))
    failed = not ending.processes or any(run.failed for run in found.runs)
    return bisect_code(ExitCode.UNKNOWN if failed else exit_code(found))


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
