"""Magics of a notebook: what its cells set, and what they hand to a shell."""

from __future__ import annotations

import re

from d9m.scan.facts import EnvironmentWrite
from d9m.scan.finding import Spot
from d9m.scan.jobs.shell import Job, joined, read_one_shot, read_shell

_ENV = re.compile(r"\s*%(?:set_)?env\s+(?P<name>[A-Za-z_]\w*)(?:\s*=\s*|\s+)(?P<value>.*)")
_SHELL_CELL = re.compile(r"\s*%%(?:bash|sh|script\s+(?:ba)?sh)\b.*")


def read_magics(cell: str, first_line: int) -> Job:
    """The magics of one code cell whose first line has this number; the rest of it is Python's."""
    lines = cell.split("\n")
    opening = next((at for at, line in enumerate(lines) if line.strip()), 0)
    if lines and _SHELL_CELL.fullmatch(lines[opening]):
        return read_one_shot("\n".join(lines[opening + 1 :]), first_line + opening + 1)
    parts: list[Job] = []
    for number, line in enumerate(lines, start=first_line):
        shell = re.match(r"\s*(?:!|%sx |%system )", line)
        variable = _ENV.fullmatch(line.rstrip())
        if shell is not None:
            parts.append(read_one_shot(line[shell.end() :], number, shell.end() + 1))
        elif variable is not None:
            parts.append(Job((_magic(variable, number),)))
        elif re.match(r"\s*%run\s+", line):
            parts.append(read_shell(re.sub(r"%run\s+(-\w\s+)*", "python ", line.strip()), number))
    return joined(parts)


def _magic(match: re.Match[str], number: int) -> EnvironmentWrite:
    """``%env`` takes quotes into the value."""
    value = match["value"]
    known = value[:1] not in ("'", '"') and "$" not in value and "{" not in value
    place = Spot(number, match.start("name") + 1, number, match.end("value") + 1)
    said = value if known else None
    return EnvironmentWrite(name=match["name"], value=said, how="magic", place=place)
