"""Command lines made from the app itself: a new command or option is in them without a list."""

from __future__ import annotations

import random
from collections.abc import Iterator, Sequence
from typing import Any

import msgspec
import typer

from d9m.cli.application import application

COMMON = ("torch", "tensorflow", "2.4", ">=2.4,<2.7", "index_add", "nn.Linear", "TDO", "xla=true",
          "H100", "NCCL_ALGO", "pytorch/index-add", "cuda", "cpu", "all", "1:3", "2GB")  # fmt: skip
"""Words that some option or argument takes."""

UNKNOWN = "--no-such-option"


class CommandLine(msgspec.Struct, frozen=True):
    words: list[str]
    is_understood: bool
    """Whether every option is one of the command, with a value of its kind."""


def commands() -> dict[tuple[str, ...], Any]:
    """Every command by its words, as click has it."""
    return dict(_commands(typer.main.get_command(application([])), ()))


def _commands(command: Any, words: tuple[str, ...]) -> Iterator[tuple[tuple[str, ...], Any]]:
    inner = getattr(command, "commands", {})
    if not inner:
        yield words, command
    for name, each in inner.items():
        yield from _commands(each, (*words, name))


def command_line(
    chance: random.Random, every: dict[tuple[str, ...], Any], files: Sequence[str],
    hostile: Sequence[str],
) -> CommandLine:  # fmt: skip
    """A command with some of its options. One in four holds something that it does not take."""
    first = chance.choice(list(dict.fromkeys(words[0] for words in every)))
    name = chance.choice([words for words in every if words[0] == first])
    options = [each for each in every[name].params if each.param_type_name == "option"]
    arguments = [each for each in every[name].params if each.param_type_name == "argument"]
    words: list[str] = []
    is_understood = True
    for option in chance.sample(options, min(len(options), chance.choice((0, 1, 1, 2, 3, 5)))):
        option_words, is_fit = _option(chance, option, files, hostile)
        words += option_words
        is_understood = is_understood and is_fit
    if chance.random() < 0.08:
        words.insert(chance.randrange(len(words) + 1), UNKNOWN)
        is_understood = False
    for argument in arguments:
        if argument.required or chance.random() < 0.6:
            count = 1 if argument.nargs == 1 else chance.choice((1, 1, 2))
            words += [_free(chance, files, hostile) for _ in range(count)]
    return CommandLine([*name, *filter(_is_harmless, words)], is_understood)


def _option(
    chance: random.Random, option: Any, files: Sequence[str], hostile: Sequence[str]
) -> tuple[list[str], bool]:
    word = chance.choice([*option.opts, *option.secondary_opts])
    if option.is_flag:
        return [word], True
    values = [_value(chance, option, files, hostile) for _ in range(max(1, option.nargs))]
    return [word, *(value for value, _is_fit in values)], all(is_fit for _value, is_fit in values)


def _value(
    chance: random.Random, option: Any, files: Sequence[str], hostile: Sequence[str]
) -> tuple[str, bool]:
    """A value, and whether it is of the option's kind as far as help tells it."""
    kind, metavar = option.type.name, option.metavar or ""
    if kind.startswith(("int", "float")):
        if chance.random() < 0.15:
            return "one", False
        return str(chance.choice((0, 1, 2, 3, 40, -1, 10**9))), True
    choices = metavar.split("|")
    if len(choices) > 1 and all(each.islower() and each.isalpha() for each in choices):
        if chance.random() < 0.15:
            return "nothing-like-it", False
        return chance.choice(choices), True
    if any(opt in ("-o", "--output") for opt in option.opts):
        return chance.choice(("answer.txt", "-", ".", "none/answer.txt")), True
    return _free(chance, files, hostile), True


def _free(chance: random.Random, files: Sequence[str], hostile: Sequence[str]) -> str:
    pool = chance.choice((files, files, COMMON, COMMON, hostile))
    word = chance.choice(pool)
    return f"@{word}" if pool is files and chance.random() < 0.1 else word


def _is_harmless(word: str) -> bool:
    """Some options write files, and some replace folders: only what lies in the sandbox."""
    path = word.lstrip("@")
    return not path.startswith(("/", "~")) and ".." not in path and "\0" not in path
