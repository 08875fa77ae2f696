"""`d9m kb` where the tools for records are not installed: they come with a checkout."""

from __future__ import annotations

from typing import Annotated

import typer

from d9m.errors import UsageError


def register(app: typer.Typer) -> None:
    app.command("kb", context_settings={"ignore_unknown_options": True})(command)


def command(words: Annotated[list[str] | None, typer.Argument(hidden=True)] = None) -> None:
    """Work on the records of d9m, in a checkout of its repository."""
    raise UsageError(
        "d9m kb works in a checkout of d9m: the installed package has no records to edit",
        tip="pip install -e . in the checkout, then d9m kb lint",
    )
