"""Formats of an advice."""

import importlib
from typing import cast

from d9m.render.interface import Answer, Format, Rendered

FORMATS = {
    "text": "for a person at a terminal",
    "json": "for programs; the keys are stable",
    "env": "shell lines for eval",
    "python": "a block for the top of a program",
    "dockerfile": "lines for a Dockerfile",
    "slurm": "the head of a batch script",
    "markdown": "for an issue or a wiki",
    "clara": "the part of a Clara Train configuration",
    "megatron": "environment and arguments of a Megatron launch line",
}
"""Format -> what it is for. Each is a module of this package."""

FOR_READERS = ("text", "json", "markdown")
"""Formats that list unknown ops beside known ones; the others are there to be run."""


def render(name: str, answer: Answer) -> Rendered:
    """The answer in one of `FORMATS`; only its module is imported."""
    format_ = cast(Format, importlib.import_module(f"d9m.render.advice.{name}"))
    return format_.render(answer)
