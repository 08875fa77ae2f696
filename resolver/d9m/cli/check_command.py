"""`d9m check`: this machine's settings against the advice."""

from __future__ import annotations

import os
from typing import Annotated

import typer

from d9m.cli import output, question
from d9m.kb.locate import open_knowledge_base


def register(app: typer.Typer) -> None:
    app.command("check")(command)


def command(
    ops: question.Ops = None,
    device: question.Device = None,
    format_: Annotated[str, typer.Option("--format", help="text or json.")] = "text",
    out: Annotated[str | None, typer.Option("--output", "-o", metavar="FILE", help="Write there, unstyled.")] = None,
    color: Annotated[str, typer.Option(help="auto, always or never.")] = "auto",
) -> None:
    """Compare the settings of this process with the advice for what is installed here."""
    from d9m.ask import advise, understand
    from d9m.check import host, report, settings
    from d9m.detect import detect
    from d9m.environment import Asked
    from d9m.existing import judge_existing
    from d9m.failures import AbsentError
    from d9m.render import as_json
    from d9m.render import check as rendered

    output.one_of("--format", format_, ("text", "json"))
    output.one_of("--color", color, output.COLOURS)
    kb = open_knowledge_base()
    variables = dict(os.environ)
    found = detect(kb, variables)
    if device is not None and device != found.device and device != "cpu":
        raise AbsentError(f"no {device} device here: this machine has {found.device}")
    if not found.packages and found.container is None:
        raise AbsentError("no framework that d9m knows is installed here", tip="ask about another: d9m advise")
    asked = Asked(found.packages, found.container, device or found.device)
    environment = understand(kb, asked)
    advice = advise(kb, asked, question.read_ops(ops))
    lines = settings.compare(advice, judge_existing(kb, environment, advice, variables), variables)
    packages = {name: each.version or "?" for name, each in environment.packages.items() if each.origin != "wheel"}
    result = report.report(advice, host.look(packages, found.container), lines)
    if format_ == "json":
        output.write(as_json.render(result), out)
    else:
        output.write(output.styled(rendered.render(result), color, out), out)
    raise typer.Exit(report.exit_code(result))
