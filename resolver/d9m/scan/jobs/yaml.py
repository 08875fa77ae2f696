"""YAML of workflows, compose files, clusters and launchers, line by line: variables and commands.

Templates (``{{ … }}``) and half-written files are read like any other.
"""

from __future__ import annotations

import re

import msgspec

from d9m.scan.facts import EnvironmentWrite, Launch
from d9m.scan.finding import Spot
from d9m.scan.jobs.launch import find_launch
from d9m.scan.jobs.shell import Job, joined, read_one_shot, read_shell

_LINE = re.compile(r"(?P<indent>[ ]*)(?P<dashes>(?:-[ ]+)*)(?P<rest>.*)")
_KEY = re.compile(
    r"(?P<quote>[\"']?)(?P<name>[A-Za-z_][\w.-]*)(?P=quote)[ ]*:(?:[ ]+(?P<value>.*))?"
)
_PAIR = re.compile(
    r"(?P<quote>[\"']?)(?P<name>[A-Za-z_]\w*)=(?P<value>.*?)(?P=quote)(?:(?<! ) +#.*)?"
)
_VARIABLE = re.compile(r"[A-Z][A-Z0-9]*(?:_[A-Z0-9]+)+|PYTHONHASHSEED")
"""What is taken for a variable of the environment wherever it stands."""

_ENVIRONMENT = re.compile(r"(?i).*env.*|variables|secrets")
_SCRIPT = frozenset(
    {
        "run", "script", "before_script", "after_script", "setup", "command", "commands", "cmd",
        "args", "entrypoint", "inlineScript", "bash", "pre_run", "postsetup",
    }
)  # fmt: skip


_DOTTED = re.compile(
    r"^[ ]*(?:-[ ]+)?(?:[\w-]+[ ]*:[ ]+)?(?P<quote>[\"']?)(?P<tag>![a-z]+:)?"
    r"(?P<name>[A-Za-z_]\w*(?:\.[A-Za-z_]\w*)+)(?P=quote)[ ]*(?(tag)|(?:#.*)?$)",
    re.MULTILINE,
)


def dotted_values(text: str) -> tuple[str, ...]:
    """Values that can be names of Python: ``target: agent.sac.Agent``.

    >>> dotted_values("target: agent.sac.Agent\\nlr: 0.1\\n- a.b  # c")
    ('a.b', 'agent.sac.Agent')

    >>> dotted_values("set: !apply:torch.manual_seed [!ref <seed>]")
    ('torch.manual_seed',)
    """
    return tuple(sorted({found["name"] for found in _DOTTED.finditer(text)}))


_SEED = re.compile(
    r"^[ ]*(?:-[ ]+)?[\"']?(?:\w+_)?seed(?:_everything)?[\"']?[ ]*:[ ]+\d+[ ]*(?:#.*)?$",
    re.MULTILINE | re.IGNORECASE,
)


def seed_line(text: str) -> int:
    """The first line that states a seed, such as ``seed_everything: 1``; 0 without one.

    >>> seed_line("model: small\\nrandom_seed: 1  # of all\\n")
    2

    >>> seed_line("seed: null\\nseeds: [1, 2]\\nseedling: 3\\n")
    0
    """
    found = _SEED.search(text)
    return text.count("\n", 0, found.end()) + 1 if found else 0


class _Level(msgspec.Struct):
    """A mapping that is open, and the words of a list below it."""

    indent: int
    key: str
    words: list[str]
    line: int


def read_yaml(text: str) -> Job:
    return _Yaml(text).read()


class _Yaml:
    """One file, with the keys that are open at the line that is read."""

    def __init__(self, text: str) -> None:
        self._lines = text.split("\n")
        self._levels: list[_Level] = []
        self._variables: list[EnvironmentWrite] = []
        self._launches: list[Launch] = []
        self._parts: list[Job] = []
        self._named: EnvironmentWrite | None = None
        """A ``name:`` that is waiting for its ``value:``."""

    def read(self) -> Job:
        at = 0
        while at < len(self._lines):
            at = self._read_line(at)
        self._close(-1)
        own = Job(tuple(self._variables), tuple(self._launches))
        read = joined([own, *self._parts])
        return Job(
            tuple(sorted(read.variables, key=lambda variable: variable.place)),
            tuple(sorted(read.launches, key=lambda launch: launch.place)),
        )

    def _read_line(self, at: int) -> int:
        """Read the line `at`, and what belongs to it; gives the line to go on with."""
        line = self._lines[at]
        match = _LINE.fullmatch(line)
        if match is None or not match["rest"] or match["rest"].startswith(("#", "---")):
            return at + 1
        column = match.start("rest")
        self._close(column if match["dashes"] else len(match["indent"]), bool(match["dashes"]))
        key = _KEY.fullmatch(match["rest"])
        if key is None:
            self._item(at, column, match["rest"])
            return at + 1
        value = (key["value"] or "").strip()
        if re.match(r"[|>][+-]?\d?\s*(#.*)?$", value):
            return self._block(at, column, key["name"])
        self._pair(at, column, key)
        if not _plain(value):
            self._levels.append(_Level(column, key["name"], [], at + 1))
        return at + 1

    def _close(self, indent: int, in_list: bool = False) -> None:
        """Leave the mappings that are not around this indentation; a list may stand right below
        its key.
        """
        while self._levels and (
            self._levels[-1].indent > indent or (self._levels[-1].indent == indent and not in_list)
        ):
            level = self._levels.pop()
            launch = find_launch(level.words, {}, Spot(level.line, 1)) if level.words else None
            if launch is not None:
                self._launches.append(launch)

    def _in_environment(self) -> bool:
        return any(_ENVIRONMENT.fullmatch(level.key) for level in self._levels[-2:])

    def _pair(self, at: int, column: int, key: re.Match[str]) -> None:
        name, value = key["name"], key["value"] or ""
        start = column + key.start("value")
        if name in ("name", "key") and self._in_environment():
            if _VARIABLE.fullmatch(_plain(value)):
                self._named = _write(at, start, value, "")
        elif name == "value" and self._named is not None:
            place, name = self._named.place, self._named.name
            self._variables.append(_write(place.line - 1, place.column - 1, name, value))
            self._named = None
        elif _VARIABLE.fullmatch(name) and _plain(value):
            self._variables.append(_write(at, column + key.start("name"), name, value))
        elif name in _SCRIPT and _plain(value):
            self._script(value, at, start)

    def _script(self, value: str, at: int, start: int) -> None:
        plain = _plain(value)
        if plain.startswith("["):
            words = [word.strip(" \"'") for word in plain.strip("[]").split(",")]
            launch = find_launch(words, {}, Spot(at + 1, start + 1, at + 1, start + 1 + len(value)))
            if launch is not None:
                self._launches.append(launch)
        elif "://" not in plain:
            quoted = value[:1] in "\"'"
            self._parts.append(read_shell(plain, at + 1, start + 1 + quoted))

    def _item(self, at: int, column: int, text: str) -> None:
        """An item of a list: ``NAME=value``, a line of a script, a word of a command."""
        pair = _PAIR.fullmatch(text)
        around = self._in_environment()
        if pair is not None and (
            around or (_VARIABLE.fullmatch(pair["name"]) and " " not in pair["value"].strip())
        ):
            at_name = column + pair.start("name")
            self._variables.append(_write(at, at_name, pair["name"], pair["value"]))
            return
        if self._levels and self._levels[-1].key in _SCRIPT:
            plain = _plain(text)
            if re.search(r"\s", plain) and not self._levels[-1].words:
                self._parts.append(read_shell(plain, at + 1, column + 1 + (text[:1] in "\"'")))
            else:
                self._levels[-1].words.append(plain)

    def _block(self, at: int, column: int, key: str) -> int:
        """A text of several lines: a script, if its key or its words say so."""
        end = at + 1
        while end < len(self._lines):
            line = self._lines[end]
            if line.strip() and len(line) - len(line.lstrip()) <= column:
                break
            end += 1
        text = "\n".join(self._lines[at + 1 : end])
        if key in _SCRIPT or re.search(r"^(?:[^\S\n]*export |.*\bpython\b)", text, re.MULTILINE):
            in_step = key == "run" and any(level.key == "steps" for level in self._levels)
            read = read_one_shot if in_step else read_shell
            self._parts.append(read(text, at + 2))
        return end


def _plain(value: str) -> str:
    """A value without its comment and quotes."""
    value = value.strip()
    if value[:1] in ("'", '"') and value:
        end = value.find(value[0], 1)
        return value[1:end] if end > 0 else value[1:]
    return re.split(r"(?:^|\s)#", value)[0].strip()


def _write(at: int, column: int, name: str, value: str) -> EnvironmentWrite:
    """A variable of a job. Lines and columns count from 0 here."""
    name, plain = _plain(name), _plain(value)
    said = None if not plain or "$" in plain or "{{" in plain else plain
    place = Spot(at + 1, column + 1, at + 1, column + 1 + len(name))
    return EnvironmentWrite(name=name, value=said, how="job", place=place)
