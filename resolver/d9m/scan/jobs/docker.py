"""Dockerfiles: ``ENV``, ``ARG``, what ``RUN`` exports, and what the image starts."""

from __future__ import annotations

import json
import re
from collections.abc import Iterator, Sequence

from d9m.scan.facts import EnvironmentWrite, Written
from d9m.scan.finding import Spot
from d9m.scan.jobs.launch import find_launch
from d9m.scan.jobs.shell import Job, joined, read_one_shot, read_shell
from d9m.scan.jobs.words import Word, commands, unquoted

_INSTRUCTION = re.compile(r"\s*(ENV|ARG|RUN|CMD|ENTRYPOINT)\s+", re.IGNORECASE)


def read_dockerfile(text: str) -> Job:
    return joined([_read(word, body, line, column) for word, body, line, column in _parts(text)])


def _parts(text: str) -> Iterator[tuple[str, str, int, int]]:
    """Instruction, what follows it, and where that begins; continued lines as one text."""
    lines = text.split("\n")
    at = 0
    while at < len(lines):
        match = _INSTRUCTION.match(lines[at])
        first = at
        while at + 1 < len(lines) and _goes_on(lines[at], at > first):
            at += 1
        if match is not None:
            body = [lines[first][match.end() :], *lines[first + 1 : at + 1]]
            commented = [re.sub(r"^\s*#.*", "\\\\", line) for line in body[1:]]
            yield match[1].upper(), "\n".join([body[0], *commented]), first + 1, match.end() + 1
        at += 1


def _goes_on(line: str, inside: bool) -> bool:
    """Whether the next line belongs to the same instruction; comments inside of one are skipped."""
    return line.rstrip().endswith("\\") or (inside and line.lstrip().startswith("#"))


def _read(instruction: str, body: str, line: int, column: int) -> Job:
    if instruction in ("ENV", "ARG"):
        how: Written = "image" if instruction == "ENV" else "build"
        return Job(tuple(_variables(body, line, column, how)))
    if body.lstrip().startswith("["):
        return _started(body, line, column)
    if instruction == "RUN":
        options = re.match(r"(?:--\w+=\S+\s+)*", body)
        skipped = options.end() if options else 0
        return read_one_shot(body[skipped:], line, column + skipped)
    return read_shell(body, line, column)


def _started(body: str, line: int, column: int) -> Job:
    """``CMD ["python", "train.py"]``; a shell with ``-c`` runs its text."""
    try:
        words = [str(word) for word in json.loads(body.replace("\\\n", " "))]
    except ValueError:
        return Job()
    if len(words) > 2 and words[1] in ("-c", "-lc"):
        found = read_shell(words[2], line)
        return Job(found.variables, found.launches)
    launch = find_launch(words, {}, Spot(line, column, line, column + 1))
    return Job((), (launch,) if launch else ())


def _variables(body: str, line: int, column: int, how: Written) -> Iterator[EnvironmentWrite]:
    """``NAME=value NAME=value``, or ``NAME value`` as old files write it."""
    words = next(commands(body.replace(";", ","), line, column), list[Word]())
    if words and "=" not in words[0].raw:
        yield from _spaced(words, how)
        return
    for word in words:
        match = re.match(r"([A-Za-z_]\w*)=", word.raw)
        if match is None:
            continue
        value, copies = _appended(match[1], unquoted(word.raw[match.end() :]))
        known = "$" not in value if copies else word.is_known
        said = value if known else None
        yield EnvironmentWrite(name=match[1], value=said, how=how, place=word.spot(), copies=copies)


def _spaced(words: Sequence[Word], how: Written) -> Iterator[EnvironmentWrite]:
    if len(words) < 2 or not re.fullmatch(r"[A-Za-z_]\w*", words[0].text):
        return
    name, last = words[0], words[-1]
    known = all(word.is_known for word in words[1:])
    yield EnvironmentWrite(
        name=name.text,
        value=" ".join(word.text for word in words[1:]) if known else None,
        how=how,
        place=Spot(name.line, name.column, last.line, last.spot().end_column),
    )


def _appended(name: str, value: str) -> tuple[str, str]:
    """A value without the variable itself, and that variable if it was in it."""
    rest = re.sub(rf"\$(?:{name}\b|\{{{name}[^}}]*\}})", "", value)
    return (rest.strip(" ,:"), name) if rest != value else (value, "")
