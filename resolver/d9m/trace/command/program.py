"""Options that `trace` and `hunt` share: the program, and how it is recorded."""

from __future__ import annotations

import re
from typing import TYPE_CHECKING, Annotated

import typer

from d9m.cli import output
from d9m.errors import UsageError, quote
from d9m.trace.start import COMPILED, STEP_RULES

if TYPE_CHECKING:
    from d9m.trace.start import RecordingRequest

Program = Annotated[
    list[str] | None,
    typer.Argument(metavar="-- COMMAND…", help="What to run: -- python train.py --epochs 1."),
]
StepBy = Annotated[
    str, typer.Option("--step-by", metavar="|".join(STEP_RULES), help="What ends a step.")
]
Compiled = Annotated[
    str,
    typer.Option(
        "--compiled", metavar="|".join(COMPILED), help="eager: run compiled graphs op by op."
    ),
]
MaxSize = Annotated[
    str,
    typer.Option(
        "--max-size", metavar="SIZE", help="Largest recording of one process: 500MB, 2GB."
    ),
]


def required(program: list[str] | None, example: str) -> list[str]:
    """The program to run. Raises UsageError where none is named."""
    if not program:
        raise UsageError("name the program to run after --", tip=f"for example: {example}")
    return program


def request(steps: str | None, step_by: str, compiled: str, max_size: str) -> RecordingRequest:
    """Return how a run is recorded. Raises UsageError for a value that its option does not take."""
    from d9m.kb.locate import open_knowledge_base
    from d9m.trace.start import RecordingRequest

    output.one_of("--step-by", step_by, STEP_RULES)
    output.one_of("--compiled", compiled, COMPILED)
    first, last, stop, every = read_steps(steps)
    return RecordingRequest(
        first=first,
        last=last,
        stop=stop,
        every=every,
        step_by=step_by,
        compiled=compiled,
        max_size=read_size(max_size),
        variables=tuple(open_knowledge_base().variables()),
    )


UNITS = {"": 1, "B": 1, "KB": 10**3, "MB": 10**6, "GB": 10**9, "TB": 10**12}


def read_steps(text: str | None) -> tuple[int, int | None, int | None, int]:
    """First and last step to record, both included, the number of steps after which the program is
    ended, and of how many steps one is recorded. Raises UsageError.
    """
    if text is None or text == "all":
        return 0, None, None, 1
    if re.fullmatch(r"every:[1-9]\d{0,8}", text, re.ASCII):
        return 0, None, None, int(text[6:])
    if re.fullmatch(r"\d{1,9}", text, re.ASCII) and int(text) > 0:
        return 0, None, int(text), 1
    found = re.fullmatch(r"(\d{0,9}):(\d{0,9})", text, re.ASCII)
    if found is None:
        raise UsageError(
            f"--steps {quote(text)} is not understood",
            allowed=["20 (end the program after 20 steps)", "3:5", ":5", "3:", "every:100", "all"],
        )
    first, last = int(found[1] or 0), int(found[2]) if found[2] else None
    if last is not None and last < first:
        raise UsageError(f"--steps {text}: the last step comes before the first")
    return first, last, None, 1


def read_size(text: str) -> int:
    """Bytes. Raises UsageError."""
    found = re.fullmatch(r"(\d{1,15}(?:\.\d+)?) ?([KMGT]?B?)", text.upper(), re.ASCII)
    unit = found[2] if found else ""
    if unit and not unit.endswith("B"):
        unit += "B"
    if found is None or not float(found[1]):
        raise UsageError(f"--max-size {quote(text)} is not a size", tip="for example: 500MB, 2GB")
    return int(float(found[1]) * UNITS[unit])
