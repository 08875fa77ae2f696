# pyright: basic
"""The private parts of a recording: the values of secrets, and the files themselves."""

from __future__ import annotations

import contextlib
import os
import re
from collections.abc import Iterable

FILE, FOLDER = 0o600, 0o700
"""Modes of what a recording consists of."""

MASK = "***"

_NAME = r"[A-Za-z0-9_.-]*[A-Za-z0-9]"
_OPTION = re.compile(rf"--?({_NAME})")
_BEGINNING = re.compile(rf"""(["'+~]*({_NAME})[=:])(.+)""", re.DOTALL)
_NAMED = re.compile(rf"""(?<![A-Za-z0-9_.-])(?:({_NAME})["'\])]*\s*[=:]\s*|--?({_NAME})\s+(?!-))""")
_VALUE = re.compile(
    r"""(?:(?:bearer|basic|token)\s+)?(?:'[^']*'|"(?:\\.|[^"\\])*"|['"].*|[^\s'"])+""",
    re.IGNORECASE | re.DOTALL,
)
_SHELL_OPTION = re.compile(r"-[a-z]*c")
_URL_USER = re.compile(r"(\b[a-z][a-z0-9+.-]{0,20}://)[^\s/]+@", re.IGNORECASE)
_WORD_END = re.compile(r"[^A-Za-z0-9]+|(?<=[a-z0-9])(?=[A-Z])")
_NUMBER = re.compile(r"[-+]?(\d+\.?\d*|\.\d+)(e[-+]?\d+)?", re.IGNORECASE)

_WORDS = {"auth", "authorization", "key", "apikey", "passphrase", "pwd"}
_ENDS = ("token", "secret", "password", "passwd", "credential")


def masked(arguments: Iterable[str]) -> list[str]:
    """A command line with `***` for the values of secrets.

    The value of an option or of NAME=VALUE is secret where a word of its name ends with token,
    secret, password, passwd or credential, or is key, apikey, auth, authorization, passphrase or
    pwd, or the plural. Words of a name end at `-`, `_`, `.` and before a capital letter, so
    `--tokenizer` and `--monkey` are not secret. Nor is a number, unless the name ends with such a
    word in the singular: `--num-tokens 8`, `--key-frames 3`. The same holds within an argument, as
    of `sh -c`; the user and the password in a URL are secret, too.
    """
    found: list[str] = []
    before = ""
    for argument in arguments:
        option = _OPTION.fullmatch(before)
        if option and not argument.startswith("-") and _is_secret(option[1], argument):
            found.append(MASK)
        elif _SHELL_OPTION.fullmatch(before):
            found.append(masked_text(argument))
        else:
            found.append(_masked_argument(argument))
        before = argument
    return found


def masked_text(text: str) -> str:
    """A text with `***` for the values of secrets, as in a command line."""
    parts, end = [], 0
    for named in _NAMED.finditer(text):
        name = named[1] or named[2]
        if named.start() < end or not _may_be_secret(name):
            continue
        value = _VALUE.match(text, named.end())
        if value and _is_secret(name, value[0]):
            parts += [text[end : named.end()], MASK]
            end = value.end()
    return _URL_USER.sub(rf"\g<1>{MASK}@", "".join([*parts, text[end:]]))


def masked_variable(name: str, value: str) -> str:
    """The value of an environment variable, with `***` for what is secret."""
    return MASK if _is_secret(name, value) else masked_text(value)


def _masked_argument(argument: str) -> str:
    """Of NAME=VALUE, the value ends with the argument: it may hold spaces."""
    found = _BEGINNING.fullmatch(argument)
    if found and _is_secret(found[2], found[3]):
        return found[1] + MASK
    return masked_text(argument)


def _is_secret(name: str, value: str) -> bool:
    return _may_be_secret(name) and (
        _is_secret_word(_words(name)[-1]) or not _NUMBER.fullmatch(value)
    )


def _may_be_secret(name: str) -> bool:
    singular = (word[:-1] if word.endswith("s") else word for word in _words(name))
    return any(_is_secret_word(word) for word in singular)


def _words(name: str) -> list[str]:
    return [word.lower().rstrip("0123456789") for word in _WORD_END.split(name) if word]


def _is_secret_word(word: str) -> bool:
    return word in _WORDS or word.endswith(_ENDS)


def open_file(path: str, flags: int) -> int:
    """Open for the owner alone, as `opener` of `open`."""
    return os.open(path, flags, FILE)


def make_folder(path: str) -> None:
    """Make a folder for the owner alone, and those above it that are missing. One that is there
    becomes private.
    """
    path = os.path.abspath(path)
    above = os.path.dirname(path)
    if not os.path.isdir(above):
        make_folder(above)
    try:
        os.mkdir(path, FOLDER)
    except FileExistsError:
        if not os.path.isdir(path):
            raise
        with contextlib.suppress(PermissionError):  # another user's: its files are private anyway
            os.chmod(path, FOLDER)
