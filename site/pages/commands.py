"""The reference of the command line, read off the commands themselves."""

from __future__ import annotations

import re
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import msgspec
import typer

from d9m.cli.application import application
from d9m.errors import ExitCode
from d9m.kb.store import KnowledgeBase
from pages import layout

PATH = "reference/commands.md"

_README = Path(__file__).parents[2] / "README.md"


class Option(msgspec.Struct, frozen=True):
    """One option or argument of a command."""

    spelled: str
    does: str
    default: str


class Command(msgspec.Struct, frozen=True):
    name: str
    """With the program's: ``d9m kb lint``."""
    does: str
    usage: str
    arguments: tuple[Option, ...]
    options: tuple[Option, ...]
    examples: tuple[str, ...]
    """Lines of the README that show it, with what they say."""


def pages(kb: KnowledgeBase) -> Iterator[tuple[str, str]]:
    title = "Command line"
    description = "Every d9m command with its options, examples and exit codes."
    found = commands()
    yield layout.page(
        kb, PATH, "commands.md", title, description, weight=2, commands=found, codes=list(ExitCode)
    )


def commands() -> list[Command]:
    """Every command, those of a group after the group."""
    shown = _examples(_README.read_text(encoding="utf-8"))
    tree = _tree("d9m", typer.main.get_command(application([])))
    return [_command(name, command, shown) for name, command in tree]


def _tree(name: str, command: Any) -> Iterator[tuple[str, Any]]:
    yield name, command
    for inner, child in getattr(command, "commands", {}).items():
        yield from _tree(f"{name} {inner}", child)


def _command(name: str, command: Any, shown: dict[str, list[str]]) -> Command:
    arguments = [each for each in command.params if each.param_type_name == "argument"]
    options = [each for each in command.params if each.param_type_name == "option"]
    words = [
        name,
        *(["COMMAND"] if hasattr(command, "commands") else []),
        *(["[OPTIONS]"] if options else []),
    ]
    return Command(
        name,
        command.help or "",
        " ".join([*words, *map(_written, arguments)]),
        tuple(Option(_written(each), each.help or "", "") for each in arguments),
        tuple(map(_option, options)),
        tuple(shown.get(name, [])),
    )


def _written(argument: Any) -> str:
    """An argument as a usage line shows it: ``[FOLDER]``, ``NAMES...``."""
    word = (argument.metavar or argument.name).upper() + ("..." if argument.nargs < 0 else "")
    return word if argument.required else f"[{word}]"


def _option(option: Any) -> Option:
    value = "" if option.is_flag else f" {option.metavar or 'VALUE'}"
    does = [option.help or ""]
    if option.multiple and "repeatable" not in does[0].lower():
        does.append("Repeatable.")
    default = (
        "" if option.default is None or option.is_flag or option.multiple else str(option.default)
    )
    return Option(", ".join(option.opts) + value, " ".join(does), default)


def _examples(text: str) -> dict[str, list[str]]:
    """Command -> lines of the shell blocks of a text that call it."""
    found: dict[str, list[str]] = {}
    for block in re.findall(r"^```sh\n(.*?)^```", text, re.MULTILINE | re.DOTALL):
        for line in block.splitlines():
            called = re.search(r"\bd9m ((?:kb )?[a-z]+)\b(?!\))", line)
            if called and "pip install" not in line:
                found.setdefault(f"d9m {called[1]}", []).append(line)
    return found
