"""`d9m scan`: a project's own code and job files, read and judged."""

from __future__ import annotations

import importlib
import os
from collections.abc import Sequence
from typing import TYPE_CHECKING, Annotated, Any

import msgspec
import typer
from typer.core import TyperCommand

from d9m.cli import options, output
from d9m.errors import ExitCode, UsageError, printable, quote
from d9m.exit_codes import CommandResult, exit_code
from d9m.kb.locate import open_knowledge_base
from d9m.scan.file_names import printable_path
from d9m.scan.result import missing, without_places

if TYPE_CHECKING:
    from d9m.environment.environment import Setup
    from d9m.kb.store import KnowledgeBase
    from d9m.render.page import Page
    from d9m.scan.configuration import Configuration
    from d9m.scan.fixes import FixedFile, RefusedFix
    from d9m.scan.result import ScanOutcome
    from d9m.scan.scanning import ScanRequest

FORMATS = ("text", "json", "sarif", "github", "markdown", "junit")
GOALS = ("auto", "repeatable")
"""The older spelling of --strict: --goal repeatable."""
FAIL_ON = ("error", "missing", "place", "never")
MOST_ROUNDS = 10
"""Rounds of fixes: a fix that overlaps another waits for the next round."""


class ScanCommand(TyperCommand):
    """A command whose `--changed` may come without a revision, which no option of typer allows."""

    def parse_args(self, ctx: Any, args: list[str]) -> list[str]:
        return super().parse_args(ctx, with_revision(args))


def with_revision(words: Sequence[str]) -> list[str]:
    """A command line in which every ``--changed`` names its revision.

    >>> with_revision(["--changed", "--jobs", "2"])
    ['--changed=HEAD', '--jobs', '2']
    >>> with_revision(["--changed", "v1.0"])
    ['--changed=v1.0']
    """
    found: list[str] = []
    waiting = False
    for word in words:
        if waiting and not word.startswith("-") and not os.path.lexists(word):
            found[-1] = f"--changed={word}"
            waiting = False
            continue
        waiting = word == "--changed"
        found.append("--changed=HEAD" if waiting else word)
    return found


def register(app: typer.Typer) -> None:
    app.command("scan", cls=ScanCommand)(command)


@options.with_place
def command(
    place: options.EnvironmentOptions,
    paths: Annotated[
        list[str] | None,
        typer.Argument(help="Folders and files; default: the current folder."),
    ] = None,
    facts: options.Facts = None,
    strict: Annotated[
        bool, typer.Option("--strict", help="Exit with 1 for a missing line of a card, too.")
    ] = False,
    goal: Annotated[
        str | None, typer.Option(metavar="|".join(GOALS), help="repeatable: the same as --strict.")
    ] = None,
    select: Annotated[
        list[str] | None,
        typer.Option("--select", metavar="CODE", help="Only these codes or families."),
    ] = None,
    ignore: Annotated[
        list[str] | None,
        typer.Option("--ignore", metavar="CODE", help="Leave out these codes or families."),
    ] = None,
    places: Annotated[
        bool,
        typer.Option("--places", "--hints", help="List all places where order or chance enters."),
    ] = False,
    fix: Annotated[bool, typer.Option("--fix", help="Make the safe fixes.")] = False,
    unsafe: Annotated[
        bool, typer.Option("--unsafe", help="With --fix or --diff: also the unsafe fixes.")
    ] = False,
    diff: Annotated[
        bool, typer.Option("--diff", help="Print the fixes as a patch; change nothing.")
    ] = False,
    baseline: Annotated[
        str | None,
        typer.Option(
            "--baseline", metavar="FILE", help="Report only findings that are not in this file."
        ),
    ] = None,
    write_baseline: Annotated[
        bool, typer.Option("--write-baseline", help="Write all findings to the baseline.")
    ] = False,
    fail_on: Annotated[
        str | None,
        typer.Option(
            "--fail-on",
            metavar="error|missing|never",
            help="What exits with 1; missing is --strict.  [default: error]",
        ),
    ] = None,
    format_: Annotated[str, output.formats(*FORMATS)] = "text",
    out: output.Out = None,
    color: output.Color = "auto",
    statistics: Annotated[
        bool, typer.Option("--statistics", help="Count by rule; list contradicting versions.")
    ] = False,
    changed: Annotated[
        str | None,
        typer.Option(
            "--changed", metavar="[REV]", help="Only files that differ from REV, default HEAD."
        ),
    ] = None,
    tests: Annotated[bool, typer.Option("--tests", help="Also scan tests.")] = False,
    no_cache: Annotated[
        bool, typer.Option("--no-cache", help="Read every file anew; write no .d9m_cache.")
    ] = False,
    jobs: Annotated[
        int | None,
        typer.Option(metavar="N", min=1, max=256, help="Worker processes; default: as needed."),
    ] = None,
    allow_unknown: Annotated[
        bool, typer.Option("--allow-unknown", help="Exit with 0 instead of 3.")
    ] = False,
    explain: Annotated[
        str | None,
        typer.Option(
            "--explain",
            metavar="CODE",
            autocompletion=output.offered(
                lambda _kb: importlib.import_module("d9m.scan.selection").CODES
            ),
            help="What a rule wants, and why.",
        ),
    ] = None,
) -> None:
    """Print a report card for each program of a project: is it set up to be deterministic?"""
    output.one_of("--format", format_, FORMATS)
    output.one_of("--color", color, output.COLOURS)
    if fail_on is not None:
        output.one_of("--fail-on", fail_on, FAIL_ON)
    if goal is not None:
        output.one_of("--goal", goal, GOALS)
    if unsafe and not (fix or diff):
        raise UsageError("--unsafe goes with --fix or --diff")
    if statistics and format_ != "text":
        raise UsageError("--statistics goes with --format text")
    if diff and format_ != "text":
        raise UsageError("--diff prints a patch, which has no other --format")
    if explain is not None:
        _explain(explain, color, out)
        return
    output.writable(out)

    from d9m.scan.baseline import read_baseline, render_baseline
    from d9m.scan.scanning import ScanRequest, configured, scan

    kb = open_knowledge_base()
    request = ScanRequest(
        paths=tuple(paths or ()),
        setup=_setup(kb, place, facts),
        strict=strict or fail_on == "missing" or goal == "repeatable",
        select=_words(select),
        ignore=_words(ignore),
        tests=tests,
        changed=changed,
        cache=not no_cache,
        jobs=jobs,
    )
    configuration = configured(kb, request)
    file = baseline or _of_project(configuration)
    if write_baseline:
        _whole(request, file)
        outcome = scan(kb, request, configuration)
        if not outcome.report.did_nothing:
            unread = {each.path for each in outcome.report.files.unreadable if each.needed}
            known = [one for one in outcome.every if one.path not in unread]
            output.write(render_baseline(known), file)
            typer.echo(f"{file}: {len(known)} findings", err=True)
        _say_unread(outcome)
        raise _end(outcome, False, allow_unknown)
    old = None if file is None else read_baseline(file)
    outcome = scan(kb, request, configuration, old)
    if diff:
        patch, refusals = _patch(outcome, unsafe, places)
        output.write_bytes(patch, out)
        _say_refused(refusals)
        _say_unread(outcome)
        raise _end(outcome, fail_on != "never", allow_unknown, bool(refusals))
    refusals: list[RefusedFix] = []
    for _round in range(MOST_ROUNDS if fix else 0):
        count, refusals = _make_fixes(outcome, unsafe, places)
        if not count:
            break
        outcome = scan(kb, request, configuration, old)
        report = msgspec.structs.replace(outcome.report, did_nothing=False)
        outcome = msgspec.structs.replace(outcome, report=report)
    _say_refused(refusals)
    _deliver(outcome, format_, color, out, statistics, places)
    raise _end(outcome, fail_on != "never", allow_unknown, bool(refusals))


def _explain(code: str, color: str, out: str | None) -> None:
    from d9m.scan.card_line import LINES
    from d9m.scan.report import explain
    from d9m.scan.selection import find_rule

    width = output.width(out)
    is_line = code in LINES
    page = explain.render_line(code, width) if is_line else explain.render(find_rule(code), width)
    output.show(page, color, out)


def _setup(
    kb: KnowledgeBase, place: options.EnvironmentOptions, facts: Sequence[str] | None
) -> Setup | None:
    """The environment as typed; a device or a fact alone is one, too."""
    from d9m.environment.environment import Setup

    setup = place.setup(kb, facts)
    if setup is not None or not (place.device or place.gpu or facts):
        return setup
    return Setup(device=place.device, facts=options.read_facts(facts), gpu=place.gpu)


def _words(lists: Sequence[str] | None) -> tuple[str, ...]:
    """Codes of a repeated option, each a list with commas."""
    found = [word.strip() for text in lists or () for word in text.split(",")]
    return tuple(word for word in found if word)


def _of_project(configuration: Configuration) -> str | None:
    if configuration.baseline is None:
        return None
    return os.path.relpath(os.path.join(configuration.folder, configuration.baseline))


def _whole(request: ScanRequest, file: str | None) -> None:
    if file is None:
        raise UsageError("--write-baseline needs --baseline FILE, or baseline in the configuration")
    if request.changed is not None or not all(map(os.path.isdir, request.paths)):
        raise UsageError(
            "--write-baseline needs the whole project",
            tip="leave out --changed and names of files",
        )
    output.writable(file)


def _fixed(
    outcome: ScanOutcome, unsafe: bool, places: bool
) -> tuple[list[FixedFile], list[RefusedFix]]:
    """Return the files with the fixes of errors, and with `places` of places as well."""
    from d9m.scan.fixes import fixed_files

    root, kinds = outcome.walk.root, dict(outcome.walk.files)
    report = outcome.report if places else without_places(outcome.report)
    return fixed_files(root, kinds, report.findings, unsafe)


def _patch(outcome: ScanOutcome, unsafe: bool, places: bool) -> tuple[bytes, list[RefusedFix]]:
    fixed, refusals = _fixed(outcome, unsafe, places)
    return b"".join(file.diff(outcome.walk.root) for file in fixed), refusals


def _make_fixes(outcome: ScanOutcome, unsafe: bool, places: bool) -> tuple[int, list[RefusedFix]]:
    """Return how many fixes were made, and the files that were not fixed."""
    from d9m.scan.fixes import write_fixed

    fixed, refusals = _fixed(outcome, unsafe, places)
    count = 0
    for file in fixed:
        refusal = write_fixed(outcome.walk.root, file)
        if refusal is not None:
            refusals.append(refusal)
            continue
        count += file.count
        _say(f"fixed {file.count} in {printable_path(file.path)}")
    return count, refusals


def _say_refused(refusals: Sequence[RefusedFix]) -> None:
    for refusal in refusals:
        _say(f"not fixed: {printable_path(refusal.path)}: {refusal.why}")


def _say_unread(outcome: ScanOutcome) -> None:
    """Say on stderr what is missing from an output that has no place for it."""
    if outcome.report.nothing:
        _say(outcome.report.nothing)
    for file in outcome.report.files.unreadable:
        _say(f"not read: {printable_path(file.path)}: {file.why}")


def _say(sentence: str) -> None:
    typer.echo(printable(sentence), err=True)


def _deliver(
    outcome: ScanOutcome,
    format_: str,
    color: str,
    out: str | None,
    statistics: bool,
    places: bool,
) -> None:
    if format_ not in ("json", "text") and not places:
        report = without_places(outcome.report)
        hidden = tuple(one for one in outcome.hidden if one.finding.severity != "place")
        outcome = msgspec.structs.replace(outcome, report=report, hidden=hidden)
    output.show(_rendered(outcome, format_, out, statistics, places), color, out)
    summary = os.environ.get("GITHUB_STEP_SUMMARY")
    if format_ == "github" and summary:
        from d9m.scan.report import markdown

        try:
            with open(summary, "a", encoding="utf-8") as file:
                file.write(markdown.render(outcome.report))
        except OSError as error:
            raise UsageError(f"cannot write {quote(summary)}: {error.strerror or error}") from None


def _rendered(
    outcome: ScanOutcome, format_: str, out: str | None, statistics: bool, places: bool
) -> str | Page:
    report = outcome.report
    if format_ == "json":
        from d9m.render import as_json

        return as_json.render(report)
    if format_ == "sarif":
        from d9m.scan.report import sarif

        return sarif.render(outcome)
    if format_ == "text":
        from d9m.scan.report import text

        return text.render(report, output.width(out), statistics, places)
    from d9m.scan.report import github, junit, markdown

    module = {"github": github, "markdown": markdown, "junit": junit}[format_]
    return module.render(report)


def _end(
    outcome: ScanOutcome, is_failing: bool, allow_unknown: bool, is_refused: bool = False
) -> typer.Exit:
    return typer.Exit(ending(outcome, is_failing, allow_unknown, is_refused))


def ending(
    outcome: ScanOutcome,
    is_failing: bool = True,
    allow_unknown: bool = False,
    is_refused: bool = False,
) -> ExitCode:
    """Return how the command ends. `is_failing`: errors and, where they count, missing lines are
    findings; `is_refused`: a fix was not made that was asked for.
    """
    from d9m.scan.report.words import is_incomplete

    report = outcome.report
    is_missing = report.strict and bool(missing(report))
    result = CommandResult(
        did_nothing=report.did_nothing,
        has_findings=is_failing and (is_missing or bool(without_places(report).findings)),
        is_incomplete=is_incomplete(report) or is_refused,
    )
    return exit_code(result, allow_unknown=allow_unknown)
