"""Options that `trace` and `hunt` share: the program, and how it is recorded."""

from __future__ import annotations

from typing import TYPE_CHECKING, Annotated

import typer

from d9m.cli import output
from d9m.errors import UsageError
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


def wish(steps: str | None, step_by: str, compiled: str, max_size: str) -> RecordingRequest:
    """How a run is recorded. Raises UsageError for a value that its option does not take."""
    from d9m.kb.locate import open_knowledge_base
    from d9m.trace.start import RecordingRequest
    from d9m.trace.wishes import read_size, read_steps

    output.one_of("--step-by", step_by, STEP_RULES)
    output.one_of("--compiled", compiled, COMPILED)
    first, last, stop = read_steps(steps)
    return RecordingRequest(
        first=first,
        last=last,
        stop=stop,
        step_by=step_by,
        compiled=compiled,
        max_size=read_size(max_size),
        variables=tuple(open_knowledge_base().variables()),
    )
