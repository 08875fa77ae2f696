"""YAML of workflows, compose files, clusters and launchers, line by line: variables and commands.

Templates (``{{ … }}``) and half-written files are read like any other.
"""

from __future__ import annotations

import re

from d9m.scan.facts import EnvironmentWrite
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
_FLOW = re.compile(
    r"[{,][ ]*(?:name:[ ]*)?[\"']?(?P<name>[A-Z]\w+)[\"']?(?:[ ]*:|,[ ]*value:)[ ]*"
    r"(?P<value>\"[^\"]*\"|'[^']*'|[^,}]*)"
)
"""A variable between braces: ``{NAME: value}``, ``{name: NAME, value: value}``."""
_VARIABLE = re.compile(r"[A-Z][A-Z0-9]*(?:_[A-Z0-9]+)+|PYTHONHASHSEED")
"""A name that is taken for an environment variable anywhere."""

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


def read_yaml(text: str) -> Job:
    """Read the settings and launches of a file of pairs, lists and scripts, line by line."""
    return _Yaml(text).read()


class _Yaml:
    """One file, with the key that is open at the line that is read."""

    def __init__(self, text: str) -> None:
        self._lines = text.split("\n")
        self._parts: list[Job] = []
        self._key = ""
        self._words: list[str] = []
        """Of a command whose words are items of a list."""
        self._words_line = 0
        self._named: tuple[int, int, str] | None = None
        """A ``name:`` that is waiting for its ``value:``."""

    def read(self) -> Job:
        at = 0
        while at < len(self._lines):
            at = self._read_line(at)
        self._end_words()
        read = joined(self._parts)
        return Job(
            tuple(sorted(read.variables, key=lambda variable: variable.place)),
            tuple(sorted(read.launches, key=lambda launch: launch.place)),
            read.sourced,
        )

    def _read_line(self, at: int) -> int:
        """Read the line `at`, and what belongs to it; gives the line to go on with."""
        match = _LINE.fullmatch(self._lines[at])
        if match is None or not match["rest"] or match["rest"].startswith(("#", "---")):
            return at + 1
        column = match.start("rest")
        key = _KEY.fullmatch(match["rest"])
        if key is None:
            self._item(at, column, match["rest"])
            return at + 1
        self._end_words()
        self._key = key["name"]
        value = (key["value"] or "").strip()
        if re.match(r"[|>][+-]?\d?\s*(#.*)?$", value):
            return self._block(at, column)
        self._pair(at, column, key)
        return at + 1

    def _end_words(self) -> None:
        launch = find_launch(self._words, {}, Spot(self._words_line)) if self._words else None
        self._parts += [Job((), (launch,))] if launch is not None else []
        self._words = []

    def _pair(self, at: int, column: int, key: re.Match[str]) -> None:
        name, value = key["name"], key["value"] or ""
        plain, start = _plain(value), column + key.start("value")
        if value.startswith("{"):
            self._flow(at, column + key.start("value"), value)
        elif name in ("name", "key") and _VARIABLE.fullmatch(plain):
            self._named = (at, start, plain)
        elif name == "value" and self._named is not None:
            self._write(*self._named, value)
            self._named = None
        elif _VARIABLE.fullmatch(name) and plain:
            self._write(at, column + key.start("name"), name, value)
        elif name in _SCRIPT and plain.startswith("["):
            self._words = [word.strip(" \"'") for word in plain.strip("[]").split(",")]
            self._words_line = at + 1
            self._end_words()
        elif name in _SCRIPT and plain and "://" not in plain:
            self._parts.append(read_shell(plain, at + 1, start + 1 + (value[:1] in "\"'")))

    def _item(self, at: int, column: int, text: str) -> None:
        """An item of a list: ``NAME=value``, a line of a script, a word of a command."""
        if text.startswith("{"):
            return self._flow(at, column, text)
        pair = _PAIR.fullmatch(text)
        if pair is not None and _VARIABLE.fullmatch(pair["name"]) and " " not in pair["value"]:
            value = pair["value"] if self._key in _SCRIPT else repr(pair["value"])
            self._write(at, column + pair.start("name"), pair["name"], value)
        elif self._key in _SCRIPT:
            plain = _plain(text)
            if re.search(r"\s", plain) and not self._words:
                self._parts.append(read_shell(plain, at + 1, column + 1 + (text[:1] in "\"'")))
            else:
                self._words_line = self._words_line if self._words else at + 1
                self._words.append(plain)

    def _flow(self, at: int, column: int, text: str) -> None:
        for pair in _FLOW.finditer(text):
            if _VARIABLE.fullmatch(pair["name"]):
                self._write(at, column + pair.start("name"), pair["name"], pair["value"])

    def _block(self, at: int, column: int) -> int:
        """A text of several lines: a script, if its key or its words say so."""
        end = at + 1
        while end < len(self._lines):
            line = self._lines[end]
            if line.strip() and len(line) - len(line.lstrip()) <= column:
                break
            end += 1
        text = "\n".join(self._lines[at + 1 : end])
        is_script = re.search(r"^(?:[^\S\n]*export |.*\bpython\b)", text, re.MULTILINE)
        if self._key in _SCRIPT or is_script:
            self._parts.append((read_one_shot if self._key == "run" else read_shell)(text, at + 2))
        return end

    def _write(self, at: int, column: int, name: str, value: str) -> None:
        """A variable of a job. Lines and columns count from 0 here."""
        plain = _plain(value)
        said = None if not plain or "$" in plain or "{{" in plain else plain
        place = Spot(at + 1, column + 1, at + 1, column + 1 + len(name))
        written = EnvironmentWrite(name=name, value=said, how="job", place=place)
        self._parts.append(Job((written,)))


def _plain(value: str) -> str:
    """A value without its comment and quotes."""
    value = value.strip()
    if value[:1] in ("'", '"') and value:
        end = value.find(value[0], 1)
        return value[1:end] if end > 0 else value[1:]
    return re.split(r"(?:^|\s)#", value)[0].strip()
