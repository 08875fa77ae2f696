"""`d9m advise`: the exact settings for an environment and ops."""

import os
import sys
from typing import TYPE_CHECKING, Annotated, get_args

import msgspec
import typer

from d9m.api import advise, brings_packages
from d9m.cli import options, output
from d9m.environment.environment import Setup
from d9m.errors import DataError, UsageError, printable, quote, reason
from d9m.kb.locate import open_knowledge_base
from d9m.kb.store import KnowledgeBase
from d9m.model.advice import Advice, exit_code
from d9m.model.records import Scope
from d9m.model.settings import PlainValue
from d9m.render.advice import FOR_READERS, FORMATS, render
from d9m.render.interface import Answer

if TYPE_CHECKING:
    from d9m.browse.changes import ReleaseChanges


def register(app: typer.Typer) -> None:
    app.command("advise")(command)


@options.with_place
def command(
    place: options.EnvironmentOptions,
    ops: options.Ops = None,
    inference: options.Inference = False,
    fact: options.Facts = None,
    calls: options.Calls = None,
    scope: Annotated[
        str,
        typer.Option(help="What must not change the bits: run, batch or hardware."),
    ] = "run",
    env_file: Annotated[
        str | None,
        typer.Option(
            metavar="FILE", help="Check the settings in this file: NAME=value lines or JSON."
        ),
    ] = None,
    from_env: Annotated[
        bool, typer.Option("--from-env", help="Check the settings in this environment.")
    ] = False,
    diff: Annotated[
        str | None, typer.Option(metavar="A..B", help="Show what changes between two releases.")
    ] = None,
    fast: Annotated[
        bool, typer.Option("--fast", help="Prefer settings that cost less; a note says what for.")
    ] = False,
    format_: Annotated[str, output.formats(*FORMATS)] = "text",
    out: output.Out = None,
    quiet: Annotated[bool, typer.Option("--quiet", "-q", help="Print only the verdict.")] = False,
    everything: Annotated[
        bool, typer.Option("--all", help="Show every op and every note.")
    ] = False,
    allow_unknown: Annotated[
        bool,
        typer.Option(
            "--allow-unknown",
            help="Exit with 0 if part of the answer is unknown or depends on more.",
        ),
    ] = False,
    exit_zero: Annotated[
        bool,
        typer.Option("--exit-zero", help="Exit with 0 instead of 1 or 3; 2, 4 and 5 stay."),
    ] = False,
    color: output.Color = "auto",
) -> None:
    """Print the exact settings for an environment and ops. Without an environment: for what is
    installed here.
    """
    output.one_of("--format", format_, tuple(FORMATS))
    output.one_of("--color", color, output.COLOURS)
    output.one_of("--scope", scope, get_args(Scope))
    items = options.read_ops(ops)
    made = options.read_calls(calls)
    kb = open_knowledge_base()
    setup = place.setup_or_installed(kb, fact, inference, not brings_packages(kb, items or ()))
    if diff is not None:
        from d9m.browse import changes

        given = {
            "--calls": made,
            "--env-file": env_file,
            "--from-env": from_env,
            "--quiet": quiet,
            "--fast": fast,
            "--all": everything,
        }
        ignored = [option for option, value in given.items() if value]
        if ignored:
            raise UsageError(f"--diff compares two releases: it has no use for {ignored[0]}")
        change = _diff(kb, setup, items, diff, scope, format_, out, color)
        code = changes.exit_code(change, allow_unknown=allow_unknown, exit_zero=exit_zero)
        raise typer.Exit(code)
    of_file = _read_settings(kb, env_file) if env_file is not None else None
    places = [*([os.environ] if from_env else []), *([of_file] if of_file is not None else [])]
    advice = advise(kb, setup, items, scope, made, places or None, format_ in FOR_READERS, fast)  # type: ignore[arg-type]
    if quiet and format_ != "text":
        raise UsageError(f"--quiet shortens the text; --format {format_} has one length")
    is_foreign = of_file is not None and of_file.keys().isdisjoint(
        each.name for each in advice.existing if each.status != "unknown"
    )
    foreign_file = env_file if is_foreign else None
    _write(kb, advice, format_, items is not None, everything, quiet, color, out, foreign_file)
    raise typer.Exit(exit_code(advice, allow_unknown=allow_unknown, exit_zero=exit_zero))


def _read_settings(kb: KnowledgeBase, file: str) -> dict[str, PlainValue]:
    """Read the settings to check. Raises DataError."""
    from d9m import files
    from d9m.environment import env_file

    try:
        found = env_file.read(files.text(file), file)
    except (OSError, UnicodeDecodeError) as error:
        raise DataError(f"--env-file {quote(file)}: cannot be read: {reason(error)}") from None
    for name in found:
        outer, _dot, inner = name.rpartition(".")
        setting = kb.settings.get(inner)
        if outer and name not in kb.settings and setting is not None and setting.kind == "env":
            raise DataError(
                f"{file}: {inner} is inside {quote(outer)}",
                tip='put variables at the top level, {"NAME": "value"}, or write NAME=value lines',
            )
    return found


def _write(
    kb: KnowledgeBase,
    advice: Advice,
    format_: str,
    named_ops: bool,
    everything: bool,
    quiet: bool,
    color: str,
    out: str | None,
    foreign_file: str | None,
) -> None:
    import shlex

    frameworks: list[str] = []
    for package in advice.environment.packages:
        frameworks += kb.packages[package].imports
    unknown = [op for op in advice.ops if op.error is not None]
    if unknown and format_ != "json":
        known = [op for op in advice.ops if op.error is None]
        advice = msgspec.structs.replace(advice, ops=known)
    answer = Answer(
        advice,
        kb,
        unknown=tuple(unknown),
        command=printable(shlex.join(["d9m", *sys.argv[1:]])).replace("\n", "?"),
        frameworks=tuple(frameworks),
        named_ops=named_ops,
        everything=everything,
        quiet=quiet,
        width=output.width(out),
        foreign_file=foreign_file,
    )
    rendered = render(format_, answer)
    output.show(rendered.body, color, out)
    for line in rendered.left_out:
        print(printable(f"d9m: not in this format: {line.removeprefix('# ')}"), file=sys.stderr)  # noqa: T201


def _diff(
    kb: KnowledgeBase,
    setup: Setup,
    items: list[str] | None,
    text: str,
    scope: str,
    format_: str,
    out: str | None,
    color: str,
) -> "ReleaseChanges":
    from d9m.browse import changes
    from d9m.render import as_json
    from d9m.render.browse import changes as changes_text

    output.one_of("--format", format_, ("text", "json"))
    change = changes.compare(kb, setup, items, text, scope)  # type: ignore[arg-type]
    if format_ == "json":
        output.write(as_json.render(change), out)
    else:
        output.show(changes_text.render(kb, change, output.width(out)), color, out)
    return change
