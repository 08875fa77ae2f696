"""`d9m lock`: run a program repeatedly, and keep what it computed if that was equal."""

from __future__ import annotations

import os
import shlex
import sys
from collections.abc import Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from d9m.cli import output
from d9m.errors import ExitCode, UsageError, printable, quote
from d9m.lock.lock_file import NAME, LockFile, as_text, changed, read
from d9m.run.command import Fast, Program, Ranks, Seed

if TYPE_CHECKING:
    from d9m.run.plan import RunOptions


def register(app: typer.Typer) -> None:
    app.command("lock", context_settings={"allow_interspersed_args": False})(command)


def command(
    program: Program = None,
    runs: Annotated[int, typer.Option(min=2, metavar="N", help="Runs that must be equal.")] = 2,
    steps: Annotated[
        int, typer.Option(min=1, metavar="N", help="End each run after so many steps.")
    ] = 20,
    seed: Seed = None,
    fast: Fast = False,
    ranks: Ranks = False,
    update: Annotated[
        bool, typer.Option("--update", help="Replace the file, and show what changed.")
    ] = False,
    out: Annotated[
        Path, typer.Option("--output", "-o", metavar="FILE", help="Where to write the lock.")
    ] = Path(NAME),
) -> None:
    """Run a program with its settings in force, as d9m run does, until the runs have made the same
    steps; write a file with the settings and the digests if the runs are equal.

    Differing runs exit with 1 and write nothing. What the program prints goes to stderr.
    """
    from d9m.run.plan import RunOptions

    if not program:
        raise UsageError("name the program to run after --", tip="d9m lock -- python train.py")
    output.writable(str(out))
    before = None
    if out.exists():
        before = read(out)
        if not update:
            raise UsageError(f"{quote(str(out))} exists", tip="--update replaces it")
    options = RunOptions(seed=seed, fast=fast, ranks=ranks)
    raise typer.Exit(_lock(program, options, runs, steps, out, before))


def _lock(
    program: Sequence[str],
    options: RunOptions,
    runs: int,
    steps: int,
    out: Path,
    before: LockFile | None,
) -> int:
    from d9m.environment.interpreter import installed_in
    from d9m.kb.locate import open_knowledge_base
    from d9m.lock.locking import lock_runs
    from d9m.run.interpreter import find_python
    from d9m.run.plan import plan
    from d9m.trace.cause_advice import with_advice
    from d9m.trace.findings import exit_code
    from d9m.trace.report import verdict

    kb = open_knowledge_base()
    made = plan(kb, installed_in(kb, find_python(program), os.environ), options, os.environ)
    if made.undoing:
        raise UsageError(made.undone)
    found, lock = lock_runs(kb, program, made, runs, steps)
    if lock is None:
        tip = f"To find the cause: d9m hunt -- {shlex.join(program)}"
        _say(f"d9m lock: {verdict.sentences(with_advice(kb, found))}", "Nothing is locked.", tip)
        return exit_code(found)
    output.write(as_text(lock), str(out))
    _say(f"d9m lock: {lock.statement}", *(f"  left      {line}" for line in lock.left))
    if before is not None:
        _say(*(f"  changed   {line}" for line in changed(before, lock)))
    _say(f"Written to {out}. To compare later: d9m verify{_option(out)}")
    return ExitCode.ANSWERED


def _option(out: Path) -> str:
    return "" if str(out) == NAME else f" {shlex.quote(str(out))}"


def _say(*lines: str) -> None:
    sys.stderr.write(printable("".join(f"{line}\n" for line in lines)))
