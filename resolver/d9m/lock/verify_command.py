"""`d9m verify`: run a locked program again, and compare what it computes with the lock."""

from __future__ import annotations

import os
import shlex
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from d9m.cli import output
from d9m.errors import UsageError, quote
from d9m.lock.lock_file import NAME, LockFile, header, is_masked, read

if TYPE_CHECKING:
    from d9m.lock.verdict import LockVerdict

FORMATS = ("text", "json")


def register(app: typer.Typer) -> None:
    app.command("verify", context_settings={"allow_interspersed_args": False})(command)


def command(
    words: Annotated[
        list[str] | None,
        typer.Argument(
            metavar="[LOCK] [-- COMMAND…]",
            help=f"A lock, by default {NAME}, and a command in place of the locked one.",
        ),
    ] = None,
    as_is: Annotated[
        bool, typer.Option("--as-is", help="Do not apply the settings of the lock.")
    ] = False,
    only_environment: Annotated[
        bool,
        typer.Option("--only-environment", help="Compare releases and variables; run nothing."),
    ] = False,
    format_: Annotated[str, output.formats(*FORMATS)] = "text",
    out: output.Out = None,
) -> None:
    """Run a program with the settings of a lock, for as many steps, and compare the results.

    Exits with 0 if they are bitwise equal, 1 if they differ, 3 if they cannot be compared: on
    another GPU model or CPU, or where the run broke off.
    """
    output.one_of("--format", format_, FORMATS)
    output.writable(out)
    lock, program = _file_and_command(words or [])
    locked = read(Path(lock))
    if not program and is_masked(locked.command):
        raise UsageError("the locked command lacks a secret", tip="name the command after --")
    program = program or locked.command
    found = _environment(locked, program) if only_environment else _verify(locked, program, as_is)
    if format_ == "json":
        from d9m.render import as_json

        output.write(as_json.render(found), out)
    else:
        output.write(found.text(lock), out)
    raise typer.Exit(found.exit)


def _file_and_command(words: list[str]) -> tuple[str, list[str]]:
    """Return the two parts of the arguments. The parser has dropped a `--` that comes first."""
    if not words or not words[0].endswith(".json"):
        return NAME, words
    if len(words) > 1 and words[1] != "--":
        raise UsageError(
            f"{quote(words[1])} after the lock", tip="d9m verify OPTIONS LOCK -- COMMAND"
        )
    return words[0], words[2:]


def _verify(locked: LockFile, program: list[str], as_is: bool) -> LockVerdict:
    from d9m.kb.locate import open_knowledge_base
    from d9m.lock.verdict import verdict_of
    from d9m.run.plan import RunPlan
    from d9m.run.recording import record, require_recorded, temporary_folder
    from d9m.trace.cause_advice import with_advice
    from d9m.trace.comparison import Wanted, compare
    from d9m.trace.contents import contents

    kb = open_knowledge_base()
    made = RunPlan(packages={}, device="", variables=locked.variables, statements=locked.statements)
    changes = {
        each.name: None if each.absent else each.value
        for each in locked.variables
        if os.environ.get(each.name) != (None if each.absent else each.value)
    }
    if as_is:
        made, changes = RunPlan(packages={}, device=""), {}
    with temporary_folder() as place:
        locked.unpack(place / "lock")
        contents(place / "lock")  # damage is found before minutes are spent
        run = record(
            kb, program, made, changes, place / "now", steps=locked.steps, ends=True, stdout=2
        )
        require_recorded(place / "now", run.code)
        found = with_advice(kb, compare(place / "lock", place / "now", kb.meta.date, Wanted()))
    return verdict_of(locked, found, shlex.join(program))


def _environment(locked: LockFile, program: list[str]) -> LockVerdict:
    """Compare what can be seen without a run."""
    from d9m.environment.interpreter import installed_in
    from d9m.kb.locate import open_knowledge_base
    from d9m.lock.verdict import verdict_of_environment
    from d9m.run.interpreter import find_python

    kb = open_knowledge_base()
    setup = installed_in(kb, find_python(program), os.environ)
    releases = {name: version for name, version in setup.packages if version is not None}
    packages = {
        name: (was, releases.get(name)) for name, was in header(locked.recording).packages.items()
    }
    variables = {
        each.name: (None if each.absent else each.value, os.environ[each.name])
        for each in locked.variables
        if each.name in os.environ
    }
    return verdict_of_environment(locked, packages, variables)
