"""A common question starts fast because of what it does not import."""

from __future__ import annotations

import re
import subprocess

import pytest

from process import COMMAND, LONGEST, environment

HEAVY = {
    "yaml",
    "rich",
    "packaging",
    "hatchling",
    "pydantic",
    "importlib.metadata",
    "asyncio",
    "json",
}
FRAMEWORKS = {"torch", "tensorflow", "jax", "numpy"}


def imported(*arguments: str) -> set[str]:
    """Names of all modules that the process imports."""
    done = subprocess.run(
        [COMMAND[0], "-X", "importtime", *COMMAND[1:], *arguments],
        capture_output=True, text=True, env=environment(), check=False, timeout=LONGEST,
    )  # fmt: skip
    return set(re.findall(r"\| +(\S+)$", done.stderr, re.MULTILINE))


def test_a_common_question_imports_nothing_heavy() -> None:
    names = imported("advise", "--tf", "2.0", "--ops", "conv,bias_add")
    assert {"d9m.resolve.resolver", "msgspec", "typer"} <= names, (
        "the list of imports is not what it seems"
    )
    assert names & HEAVY == set()
    assert {name for name in names if name.startswith("d9m.cli.")} == {
        "d9m.cli.main", "d9m.cli.application", "d9m.cli.output", "d9m.cli.options",
        "d9m.cli.signals",
    }  # fmt: skip


@pytest.mark.parametrize(
    "command",
    [
        "advise",
        "advise --torch 2.4",
        "check --list",
        "explain x",
        "show TDO",
        "list",
        "kb stats",
        "--help",
    ],
)
def test_no_command_imports_a_framework(command: str) -> None:
    names = imported(*command.split())
    assert "d9m.cli.main" in names
    assert {name for name in names if name.partition(".")[0] in FRAMEWORKS} == set()
