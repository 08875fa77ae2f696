"""The tools that an agent can call: each runs a command of d9m and returns its JSON."""

from __future__ import annotations

import json
import sys
from collections.abc import Sequence
from pathlib import Path
from typing import Any

import anyio
from mcp.server.mcpserver import MCPServer
from mcp.server.mcpserver.exceptions import ToolError
from mcp.types import ToolAnnotations

from d9m.about import __version__
from d9m.agents.shorten import shorten, written

LIMIT = 4096
"""Bytes of an answer."""

SECONDS = 30
"""Time of a call."""

REPEATED = ("ingredients", "helpers", "solutions", "steps", "cautions", "subject")
"""Parts of an answer that others of it say, too, or that hold for every program."""

INSTRUCTIONS = (
    "Nondeterminism in deep learning: ask before you change code. Use advise for the settings that "
    "a release and its ops need, explain for an error message, show for the evidence of a record, "
    "scan for a project. An answer is cut to 4 kB; left_out names the rest: ask about fewer ops, "
    "or show an id. exit is the exit code of the command: 0 all good, 1 findings, 2 cannot be "
    "asked like this, 3 incomplete. The prompt programs says how to run a program under d9m."
)

PROGRAMS = (
    "These start a program, so run them in a shell, not as tools:\n"
    "d9m run -- python train.py: with the settings that it needs; reports what undid them.\n"
    "d9m hunt -- python train.py: runs it repeatedly; names the first op that differs, its line "
    "and a fix.\n"
    "d9m trace -o A -- python train.py: records a run; then use the tool compare_recordings."
)


def server(root: Path) -> MCPServer:
    """Return a server that reads projects and recordings under `root` only, links resolved."""
    served = MCPServer("d9m", instructions=INSTRUCTIONS, version=__version__, log_level="WARNING")
    reads = served.tool(
        annotations=ToolAnnotations(read_only_hint=True, open_world_hint=False),
        structured_output=False,
    )

    @reads
    async def advise(
        packages: dict[str, str],
        ops: list[str] | None = None,
        device: str = "",
        scope: str = "run",
        facts: dict[str, str] | None = None,
    ) -> str:
        """The settings that make a program deterministic, and what stays nondeterministic.
        packages: name -> version, '>=2.4' or 'any', such as {"torch": "2.4"}. ops: such as
        torch.cumsum or F.interpolate(mode='bilinear'); without ops, all on record. device: cuda,
        rocm, mps, xpu or cpu. scope: run, batch or hardware. facts: conditions, such as
        {"compile": "true"}.
        """
        words = _with(packages) + _ops(ops) + [f"--scope={scope}"]
        words += [f"--device={device}"] if device else []
        words += [f"--fact={name}={value}" for name, value in (facts or {}).items()]
        return await _answer(["advise", *words])

    @reads
    async def explain(text: str, packages: dict[str, str] | None = None) -> str:
        """Explain an error message, a warning, a log or a complaint, and what to do."""
        return await _answer(["explain", *_with(packages or {})], text)

    @reads
    async def show(name: str) -> str:
        """A record, op or setting in every version, with its evidence. name: torch.cumsum, TDO,
        pytorch/cumsum, CUBLAS_WORKSPACE_CONFIG or another id.
        """
        return await _answer(["show", "--", name])

    @reads
    async def scan(path: str = ".", strict: bool = False) -> str:
        """A report card for each program of a project: is it set up to be deterministic?"""
        return await _answer(["scan", *["--strict"][:strict], "--", _inside(root, path)])

    @reads
    async def diff_releases(
        package: str, from_release: str, to_release: str, ops: list[str] | None = None
    ) -> str:
        """Compare two releases of a package: what changes for ops."""
        between = f"--diff={from_release}..{to_release}"
        return await _answer(["advise", f"--with={package}", between, *_ops(ops)])

    @reads
    async def compare_recordings(a: str, b: str) -> str:
        """Compare two recordings of d9m trace: what differs first, and why."""
        return await _answer(["diff", "--", _inside(root, a), _inside(root, b)])

    @served.prompt()
    def programs() -> str:  # pyright: ignore[reportUnusedFunction]
        """The commands that run a program: run, hunt, trace."""
        return PROGRAMS

    return served


def _with(packages: dict[str, str]) -> list[str]:
    return [
        f"--with={name}={release}" if release not in ("", "any") else f"--with={name}"
        for name, release in packages.items()
    ]


def _ops(ops: Sequence[str] | None) -> list[str]:
    for op in ops or ():
        if op.startswith(("@", "-")):
            raise ToolError(f"{op!r} is not an op: files are not read here")
    return [f"--ops={op}" for op in ops or ()]


def _inside(root: Path, path: str) -> str:
    found = (root / path).resolve()
    if not found.is_relative_to(root):
        raise ToolError(f"{path} is outside {root}, which is all that may be read here")
    return str(found)


async def _answer(words: Sequence[str], stdin: str = "") -> str:
    """Run a command of d9m and return its JSON, cut; an error of the command is an answer, too."""
    command = [sys.executable, "-m", "d9m", words[0], "--format=json", *words[1:]]
    with anyio.move_on_after(SECONDS):
        done = await anyio.run_process(command, input=stdin.encode(), check=False)
        found: dict[str, Any] = {"exit": done.returncode}
        if not done.stdout:
            error = done.stderr.decode(errors="replace").strip()
            return written(found | shorten({"error": error}, LIMIT - 100)[0])
        kept, left = shorten(json.loads(done.stdout), LIMIT - 900, REPEATED)
        return written(found | {"answer": kept} | ({"left_out": left} if left else {}))
    raise ToolError(f"no answer in {SECONDS} s: ask for less")
