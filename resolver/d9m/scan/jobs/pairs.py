"""Files of plain pairs: ``.env``, and the ``env`` of an editor's launch.json."""

from __future__ import annotations

import re

from d9m.scan.facts import EnvironmentWrite
from d9m.scan.finding import Spot
from d9m.scan.jobs.shell import Job

_ENV_LINE = re.compile(r"\s*(?:export\s+)?(?P<name>[A-Za-z_]\w*)\s*=\s*(?P<value>.*)")
_JSON_PAIR = re.compile(r'"(?P<name>[A-Z][A-Z0-9]*(?:_[A-Z0-9]+)*)"\s*:\s*"(?P<value>[^"\\]*)"')


def read_env(text: str) -> Job:
    """``NAME=value`` lines, as Docker and systemd read them. What is none is left out."""
    found: list[EnvironmentWrite] = []
    for number, line in enumerate(text.split("\n"), start=1):
        match = _ENV_LINE.fullmatch(line.rstrip())
        if match is not None and not line.lstrip().startswith("#"):
            value = match["value"]
            quoted = len(value) > 1 and value[0] in "'\"" and value[-1] == value[0]
            plain = value[1:-1] if quoted else re.split(r"\s#", value)[0]
            found.append(_variable(number, match, plain))
    return Job(tuple(found))


def read_launch_json(text: str) -> Job:
    """The variables of a launch.json or devcontainer.json, which are JSON with comments."""
    found: list[EnvironmentWrite] = []
    for number, line in enumerate(text.split("\n"), start=1):
        if not line.lstrip().startswith("//"):
            for match in _JSON_PAIR.finditer(line):
                found.append(_variable(number, match, match["value"]))
    return Job(tuple(found))


def _variable(number: int, match: re.Match[str], value: str) -> EnvironmentWrite:
    place = Spot(number, match.start("name") + 1, number, match.end("value") + 1)
    said = None if "$" in value else value
    return EnvironmentWrite(name=match["name"], value=said, how="job", place=place)
