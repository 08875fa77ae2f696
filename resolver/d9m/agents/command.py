"""`d9m mcp`: answer coding agents over the Model Context Protocol."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import typer

from d9m.errors import AbsentError, UsageError


def register(app: typer.Typer) -> None:
    app.command("mcp")(command)


def command(
    root: Annotated[
        Path, typer.Option(metavar="DIR", help="Read projects and recordings in this folder only.")
    ] = Path("."),
) -> None:
    """Serve the answers of advise, explain, show, scan and diff on stdin and stdout. Nothing is
    changed, and no program is started.

    Needs the mcp package: pip install 'd9m[mcp]'.
    """
    if not root.is_dir():
        raise UsageError(f"--root {root} is not a folder")
    try:
        from d9m.agents.server import server
    except ModuleNotFoundError as error:
        if error.name is None or not error.name.startswith("mcp"):
            raise
        raise AbsentError(
            "the mcp package, version 2, is not installed", tip="pip install 'd9m[mcp]'"
        ) from None
    server(root.resolve()).run("stdio")
