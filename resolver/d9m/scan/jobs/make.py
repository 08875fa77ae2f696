"""Read makefiles: their exports, and their recipes, of which each line has its own shell."""

from __future__ import annotations

import re

from d9m.scan.facts import EnvironmentWrite, Written
from d9m.scan.finding import Spot
from d9m.scan.jobs.shell import Job, joined, read_one_shot, read_shell

_ASSIGNMENT = re.compile(r"(?P<export>export\s+)?(?P<name>[A-Za-z_]\w*)\s*[:?+]?=\s*(?P<value>.*)")
_REFERENCE = re.compile(r"\$(?:\((\w+)\)|\{(\w+)\})")


def read_makefile(text: str) -> Job:
    exported = set(re.findall(r"^export\s+([A-Za-z_]\w*)\s*$", text, re.MULTILINE))
    everything = ".EXPORT_ALL_VARIABLES" in text or re.search(r"^export\s*$", text, re.MULTILINE)
    one_shell = ".ONESHELL" in text
    used = {match[1] or match[2] for match in _REFERENCE.finditer(text)}
    parts: list[Job] = []
    for number, line in _logical_lines(text):
        if line.startswith("\t"):
            recipe = re.match(r"\t[@+-]*", line)
            skipped = recipe.end() if recipe else 1
            body = line[skipped:].replace("$$", "$").replace("$(", "${").replace("$@", "target")
            body = re.sub(r"\$\{([\w.]+)\)", r"${\1}", body)
            parts.append((read_shell if one_shell else read_one_shot)(body, number, skipped + 1))
            continue
        match = _ASSIGNMENT.fullmatch(line)
        if match is None:
            continue
        name, value = match["name"], re.split(r"\s#", match["value"])[0].strip()
        if match["export"] or name in exported or everything:
            parts.append(_variable(number, match, value, "exported"))
        elif name not in used:
            parts.append(_variable(number, match, value, "unexported"))
    return joined(parts)


def _logical_lines(text: str) -> list[tuple[int, str]]:
    """Lines with those that a backslash continues, each with the number of its first."""
    found: list[tuple[int, list[str]]] = []
    goes_on = False
    for number, line in enumerate(text.split("\n"), start=1):
        if goes_on:
            found[-1][1].append(line)
        else:
            found.append((number, [line]))
        goes_on = line.endswith("\\")
    return [(number, "\n".join(lines)) for number, lines in found]


def _variable(number: int, match: re.Match[str], value: str, how: Written) -> Job:
    start, end = match.start("name") + 1, match.start("value") + 1 + len(value)
    said = value if "$" not in value else None
    place = Spot(number, start, number, end)
    return Job((EnvironmentWrite(name=match["name"], value=said, how=how, place=place),))
