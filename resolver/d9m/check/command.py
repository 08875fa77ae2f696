"""`d9m check`: this machine's settings against the advice, then its ops, run and compared bit for
bit.
"""

from __future__ import annotations

import os
import sys
from typing import TYPE_CHECKING, Annotated

import typer

from d9m.cli import options, output
from d9m.environment.environment import DEVICES
from d9m.errors import ExitCode
from d9m.exit_codes import CommandResult, exit_code
from d9m.kb.locate import open_knowledge_base

if TYPE_CHECKING:
    from d9m.check.examine import CheckRequest
    from d9m.check.progress import Progress
    from d9m.check.result import Report
    from d9m.check.workers.launch import Launcher
    from d9m.kb.store import KnowledgeBase
    from d9m.render.page import Page

FORMATS = ("text", "json", "markdown", "junit")

LONGEST_LIMIT = 86_400.0
"""Seconds: a day."""


def register(app: typer.Typer) -> None:
    app.command("check")(command)


def command(
    ops: Annotated[
        list[str] | None,
        typer.Option(
            "--ops",
            metavar="LIST",
            help="Ops, probes or records: index_add,torch/conv2d; @FILE, or - for stdin.",
        ),
    ] = None,
    quick: Annotated[
        bool,
        typer.Option(
            "--quick", help="About a minute, and some on a CPU: one size of the likeliest ops."
        ),
    ] = False,
    full: Annotated[
        bool, typer.Option("--full", help="Every type and size, many more calls and processes.")
    ] = False,
    device: options.Device = None,
    framework: Annotated[
        list[str] | None,
        typer.Option(metavar="NAME", help="Probe only this one; may be given often."),
    ] = None,
    python: Annotated[str | None, typer.Option(metavar="PATH", help="Probe this Python.")] = None,
    runner: Annotated[
        str | None,
        typer.Option(
            metavar="COMMAND",
            help="Probe the Python that this starts: 'docker run --rm -i IMAGE python'.",
        ),
    ] = None,
    list_: Annotated[bool, typer.Option("--list", help="List the probes; run nothing.")] = False,
    settings: Annotated[
        bool, typer.Option("--settings", help="Check only the settings; run nothing.")
    ] = False,
    pid: Annotated[
        int | None,
        typer.Option(
            metavar="PID", min=1, help="Check the settings that a running process was started with."
        ),
    ] = None,
    selftest: Annotated[
        bool, typer.Option("--selftest", help="Test d9m itself on this CPU.")
    ] = False,
    evidence: Annotated[
        str | None, typer.Option(metavar="FILE", help="Also write the run as a record.")
    ] = None,
    digests: Annotated[
        str | None,
        typer.Option(metavar="FILE", help="Also write digests of the advised results."),
    ] = None,
    against: Annotated[
        str | None,
        typer.Option(
            metavar="FILE", help="Compare with the digests from another machine of this model."
        ),
    ] = None,
    limit: Annotated[
        float, typer.Option(metavar="SECONDS", help="Give up on a probe after this long.")
    ] = 60.0,
    verbose: Annotated[
        bool, typer.Option("--verbose", "-v", help="Show every probe, not only the notable ones.")
    ] = False,
    format_: Annotated[str, output.formats(*FORMATS)] = "text",
    out: output.Out = None,
    color: output.Color = "auto",
) -> None:
    """Compare the settings of this process with the advice, then run ops with and without it."""
    output.one_of("--format", format_, FORMATS)
    output.one_of("--color", color, output.COLOURS)
    if device is not None:
        output.one_of("--device", device, DEVICES)
    _one_question(
        {"--list": list_, "--selftest": selftest, "--settings": settings, "--pid": pid is not None},
        {"--evidence": evidence, "--digests": digests, "--against": against},
    )
    for file in (out, evidence, digests):
        output.writable(file)
    items = options.read_ops(ops)
    if list_:
        raise typer.Exit(_list(framework, device, items, format_, out, color))
    launcher = _launcher(python, runner, pid)
    if selftest:
        raise typer.Exit(_selftest(launcher, format_, out, color))
    from d9m.check import result as reports
    from d9m.check.examine import CheckRequest
    from d9m.check.plan.effort import FULL, NORMAL, QUICK
    from d9m.check.plan.selection import ProbeRequest
    from d9m.check.progress import Progress
    from d9m.errors import UsageError

    if quick and full:
        raise UsageError("--quick and --full exclude each other")
    if not 0 < limit <= LONGEST_LIMIT:
        raise UsageError(
            f"--limit must be more than 0 and at most {LONGEST_LIMIT:g} seconds, not {limit:g}"
        )
    effort = QUICK if quick else FULL if full else NORMAL
    reference = None
    if against is not None:
        from d9m.check.against import read

        reference = read(against)
        device = device or reference.digests.device
        framework = framework or list(reference.digests.frameworks)
    request = ProbeRequest(items, quick, full)
    asked = CheckRequest(launcher, device, framework or [], request, effort, limit, reference)
    progress = Progress()
    kb = open_knowledge_base()
    try:
        if settings or pid is not None:
            from d9m.check.examine import settings_alone
            from d9m.check.workers.look import look

            found = settings_alone(kb, asked, look(kb, launcher), pid is not None)
        else:
            found = _examined(kb, asked, progress)
    finally:
        progress.end()
    if found is None:
        return  # the first rank reports for all
    if digests is not None:
        from d9m.check.against import bits
        from d9m.render import as_json

        output.write(as_json.render(bits(found)), digests)
    if evidence is not None:
        from d9m.check.evidence import record
        from d9m.render import as_json

        output.write(as_json.render(record(found)), evidence)
    output.show(_rendered(kb, found, format_, verbose, output.width(out)), color, out)
    raise typer.Exit(reports.exit_code(found))


def _one_question(asked: dict[str, bool], of_a_run: dict[str, str | None]) -> None:
    """Raises UsageError for two options of which one would be passed over in silence."""
    from d9m.errors import UsageError

    given = [name for name, wanted in asked.items() if wanted]
    if len(given) > 1 and given != ["--settings", "--pid"]:
        raise UsageError(f"{given[0]} and {given[1]} exclude each other")
    for name, file in of_a_run.items():
        if given and file is not None:
            raise UsageError(f"{given[0]} runs no probes that {name} could use")


def _examined(kb: KnowledgeBase, asked: CheckRequest, progress: Progress) -> Report | None:
    """Return what this process found, or all ranks together; None on every rank but the first."""
    from d9m.check.examine import examine
    from d9m.check.ranks import meeting
    from d9m.check.ranks.group_run import unite
    from d9m.check.workers.look import look

    rank, seen = meeting.find(os.environ), look(kb, asked.launcher)
    if rank is None:
        return examine(kb, asked, seen, progress)
    os.environ.update(
        meeting.own_device(rank, asked.device or seen.asked.device or "cpu", os.environ)
    )
    return unite(kb, asked, seen, rank, examine(kb, asked, seen, progress), progress)


def _launcher(python: str | None, runner: str | None, pid: int | None) -> Launcher:
    from d9m.check.workers import launch, process
    from d9m.errors import AbsentError, UsageError

    given = [name for name, value in (("--python", python), ("--pid", pid)) if value is not None]
    if runner is not None and given:
        raise UsageError(f"--runner and {given[0]} exclude each other")
    if runner is not None:
        return launch.runner(runner)
    if pid is None:
        return launch.interpreter(python or sys.executable)
    found = process.find(pid)
    runs = python or found.python
    if runs is None:
        raise AbsentError(
            f"process {pid} does not look like a Python", tip="say which one it runs: --python PATH"
        )
    return launch.interpreter(runs, found.variables)


def _rendered(
    kb: KnowledgeBase, found: Report, format_: str, verbose: bool, width: int
) -> str | Page:
    if format_ == "json":
        from d9m.render import as_json

        return as_json.render(found)
    if format_ == "junit":
        from d9m.check.report import junit

        return junit.render(kb, found)
    from d9m.check.report import markdown, text

    if format_ == "markdown":
        return markdown.render(kb, found)
    return text.render(kb, found, verbose, width)


def _list(
    framework: list[str] | None,
    device: str | None,
    ops: list[str] | None,
    format_: str,
    out: str | None,
    color: str,
) -> ExitCode:
    from d9m.check.plan import catalogue
    from d9m.check.plan.selection import named
    from d9m.check.report import prober
    from d9m.environment.environment import Setup, describe

    output.one_of("--format", format_, ("text", "json"))
    kb = open_knowledge_base()
    names = [catalogue.framework_named(kb, name) for name in framework or catalogue.FRAMEWORKS]
    every: list[catalogue.Probe] = []
    for name in names:
        every += [*catalogue.probes(name), *catalogue.collectives(name)]
    found = [probe for probe in every if device is None or device in probe.devices]
    if ops is not None:
        anything = describe(kb, Setup(tuple((name, None) for name in names)))
        found = named(kb, anything, found, ops)
    page = prober.catalogue(found, output.width(out))
    _show(catalogue.probe_list(kb, found), page, format_, out, color)
    return exit_code(CommandResult(did_nothing=not found))


def _show(found: object, page: Page, format_: str, out: str | None, color: str) -> None:
    """Show an answer as JSON or as a page."""
    from d9m.render import as_json

    output.show(as_json.render(found) if format_ == "json" else page, color, out)


def _selftest(launcher: Launcher, format_: str, out: str | None, color: str) -> ExitCode:
    from d9m.check.progress import Progress
    from d9m.check.report import prober
    from d9m.check.selftest import selftest

    output.one_of("--format", format_, ("text", "json"))
    progress = Progress()
    try:
        found = selftest(open_knowledge_base(), launcher, progress)
    finally:
        progress.end()
    _show(found, prober.selftest(found.facts, output.width(out)), format_, out, color)
    can_be_trusted = bool(found.facts) and all(each.holds for each in found.facts)
    return exit_code(CommandResult(did_nothing=not can_be_trusted))
