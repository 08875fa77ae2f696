"""Shell scripts, and the commands that other job files hold: what they set and what they start."""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Iterator, Sequence
from itertools import pairwise

import msgspec

from d9m.scan.facts import EnvironmentWrite, Launch, Written
from d9m.scan.finding import Spot
from d9m.scan.jobs.launch import find_launch, ranks_of
from d9m.scan.jobs.words import Word, commands

_ASSIGNMENT = re.compile(r"([A-Za-z_]\w*)(\+?=)")
_DEFAULT = r"(?:[^{}]|\{(?:[^{}]|\{[^{}]*\})*\})*"
"""The text after ``:-``, with expansions nested two levels; of a deeper one no value is read."""
_DECLARATIONS = frozenset({"export", "declare", "typeset", "readonly", "local"})
_LEADING = frozenset(
    {
        "if", "then", "else", "elif", "do", "while", "until", "!", "{", "time", "exec", "nohup",
        "command",
    }
)  # fmt: skip
"""Words of the shell, and commands, after which the command proper begins."""

_OPENS, _CLOSES = ("if", "case"), ("fi", "esac")
"""Words of the shell around what only runs under a condition."""


class Job(msgspec.Struct, frozen=True):
    """The settings and launches of a job file, in the order of its lines."""

    variables: tuple[EnvironmentWrite, ...] = ()
    launches: tuple[Launch, ...] = ()
    sourced: tuple[tuple[str, int], ...] = ()


def joined(jobs: Sequence[Job]) -> Job:
    """Several parts of one file as one."""
    variables: list[EnvironmentWrite] = []
    launches: list[Launch] = []
    sourced: list[tuple[str, int]] = []
    for job in jobs:
        variables += job.variables
        launches += job.launches
        sourced += job.sourced
    return Job(tuple(variables), tuple(launches), tuple(sourced))


def read_shell(text: str, first_line: int = 1, first_column: int = 1) -> Job:
    """The variables and launches of a script, or of a piece of one that begins at this place."""
    reader = _Script(_uncalled_functions(text, first_line))
    for command in commands(text, first_line, first_column):
        reader.read(command)
    job = reader.job()
    if "#SBATCH" not in text:
        return job
    ranks = ranks_of(" ".join(re.findall(r"^#SBATCH\s+(.*)", text, re.MULTILINE)).split())
    launches: list[Launch] = []
    for launch in job.launches:
        known = launch.ranks or launch.launcher != "srun"
        launches.append(launch if known else msgspec.structs.replace(launch, ranks=ranks))
    variables = (*_slurm_options(text, first_line), *job.variables)
    return Job(variables, tuple(launches), job.sourced)


_FUNCTION = re.compile(r"^[ \t]*(?:function[ \t]+)?([\w-]+)[ \t]*\([ \t]*\)\s*\{", re.MULTILINE)

_FUNCTION_END = re.compile(r"^[ \t]*\}|\}[ \t]*$", re.MULTILINE)


def _uncalled_functions(text: str, first_line: int) -> list[range]:
    """Return the lines of each function of a script that no command of it calls."""
    definitions = [*_FUNCTION.finditer(text)]
    names = Counter(command[0].text for command in commands(text))
    names.subtract(match[1] for match in definitions)
    found: list[range] = []
    for match in definitions:
        if names[match[1]] <= 0:
            end = _FUNCTION_END.search(text, match.end())
            first = first_line + text.count("\n", 0, match.start(1))
            last = first_line + text.count("\n", 0, end.start() if end else len(text))
            found.append(range(first, last + 1))
    return found


def read_one_shot(text: str, first_line: int = 1, first_column: int = 1) -> Job:
    """A piece whose shell ends with it (a ``RUN``, a recipe line): what it exports is lost, unless
    it starts a program itself, or a command after it that may read it.
    """
    job = read_shell(text, first_line, first_column)
    if job.launches or not job.variables or _may_be_read(text):
        return job
    variables = list(job.variables)
    for place, variable in enumerate(variables):
        if variable.how == "exported":
            variables[place] = msgspec.structs.replace(variable, how="lost")
    return Job(tuple(variables), ())


def _may_be_read(text: str) -> bool:
    """Whether something runs after an export that is none of the tools of a shell."""
    exported = False
    for command in commands(text, 1, 1):
        name = command[0].text.rpartition("/")[2] if command else ""
        if name == "export":
            exported = True
        elif exported and name not in _TOOLS and not _ASSIGNMENT.match(name):
            return True
    return False


_TOOLS = frozenset(
    (*_DECLARATIONS, *_LEADING, "sudo", ".", "apk", "apt", "apt-get", "cat", "cd", "chmod", "chown",
     "conda", "cp", "curl", "dpkg", "echo", "find", "fi", "git", "grep", "hash", "ldconfig", "ln",
     "ls", "mamba", "mkdir", "mv", "pip", "pip3", "printenv", "printf", "rm", "sed", "set", "sleep",
     "source", "tar", "tee", "touch", "true", "unset", "unzip", "wget", "which", "yum")
)  # fmt: skip
"""Commands that install, list or move: none of them computes."""


class _Script:
    """One script as it is read, command by command."""

    def __init__(self, uncalled: Sequence[range]) -> None:
        """`uncalled`: the lines of functions that no command calls."""
        self._uncalled = uncalled
        self._is_apart = False
        """Whether the shell of the present command ends with it."""
        self._variables: list[EnvironmentWrite] = []
        self._launches: list[Launch] = []
        self._sourced: list[tuple[str, int]] = []
        self._exported: set[str] = set()
        self._used: set[str] = set()
        self._exports_all = False
        self._conditions = 0
        """How many ``if`` and ``case`` are open."""

    def job(self) -> Job:
        """Return the job; an assignment that a later line exports is an export."""
        found: list[EnvironmentWrite] = []
        for variable in self._variables:
            if variable.how == "unexported" and variable.name in self._exported:
                variable = msgspec.structs.replace(variable, how="exported")
            if variable.how != "unexported" or variable.name not in self._used:
                found.append(variable)
        return Job(tuple(found), tuple(self._launches), tuple(self._sourced))

    def read(self, command: list[Word]) -> None:
        self._is_apart = command[0].in_subshell
        for word in command:
            self._used.update(re.findall(r"\$\{?([A-Za-z_]\w*)", word.raw))
        while command and command[0].text in (*_LEADING, *_OPENS, *_CLOSES):
            self._conditions += command[0].text in _OPENS
            self._conditions -= command[0].text in _CLOSES
            command = command[1:]
        before = 0
        while before < len(command) and _ASSIGNMENT.match(command[before].raw):
            before += 1
        if command and before == len(command):
            for word in command:
                self._assign(word, "exported" if self._exports_all else "unexported")
        elif command:
            self._command(command[:before], command[before:])

    def _command(self, assignments: list[Word], rest: list[Word]) -> None:
        name = rest[0].text
        if name in _DECLARATIONS:
            self._declare(name, rest[1:])
        elif name == "set":
            self._set(rest[1:])
        elif name in ("source", ".") and len(rest) > 1:
            self._sourced.append((rest[1].text, rest[1].line))
        elif name == "setenv" and len(rest) == 3:
            value = rest[2].text if rest[2].is_known else None
            self._write(_place(rest[1:]), rest[1].text, value, "exported")
        elif name in ("unset", "unsetenv"):
            for word in rest[1:]:
                if not word.text.startswith("-"):
                    self._write(word.spot(), word.text, None, "unset")
        else:
            self._run(assignments, rest)

    def _set(self, options: list[Word]) -> None:
        for word in options:
            if word.text in ("-a", "+a"):
                self._exports_all = word.text == "-a"
        if [word.text for word in options] in (["-o", "allexport"], ["+o", "allexport"]):
            self._exports_all = options[0].text == "-o"

    def _declare(self, declaration: str, words: list[Word]) -> None:
        options = "".join(word.text for word in words if word.text.startswith("-"))
        exports = (declaration == "export" and "n" not in options) or "x" in options
        for word in words:
            if _ASSIGNMENT.match(word.raw):
                self._assign(word, "exported" if exports else "unexported")
            elif exports and re.fullmatch(r"[A-Za-z_]\w*", word.text):
                self._exported.add(word.text)

    def _run(self, assignments: list[Word], rest: list[Word]) -> None:
        """Read a command with its own variables, before it or in options of its launcher."""
        before = len(self._variables)
        for word in assignments:
            self._assign(word, "command")
        for word, offset in _passed_on(rest):
            how: Written = "command" if rest[0].text == "env" else "job"
            self._assign(word, how, offset)
        own = {write.name: write.value for write in self._variables[before:]}
        for option, word in pairwise(rest):
            if option.text in ("-c", "-lc"):
                self._launches += read_shell(word.text, word.line).launches
        launch = find_launch([word.text for word in rest], own, _place(rest))
        if launch is not None:
            self._launches.append(launch)

    def _assign(self, word: Word, how: Written, offset: int = 0) -> None:
        match = _ASSIGNMENT.match(word.raw, offset)
        if match is None:
            return
        value = word.text.partition("=")[2] if offset == 0 else word.raw[match.end() :]
        copies = match[1] if match[2] == "+=" else ""
        own = re.compile(rf"\$(?:{match[1]}\b|\{{{match[1]}(?::?[-+]{_DEFAULT})?\}})")
        if own.search(value):
            copies, value = match[1], own.sub("", value).strip(" ,:")
        known = "$" not in value and "`" not in value if copies else word.is_known
        self._write(word.spot(offset), match[1], value if known else None, how, copies)

    def _write(
        self, place: Spot, name: str, value: str | None, how: Written, copies: str = ""
    ) -> None:
        never = any(place.line in lines for lines in self._uncalled)
        arms = ((0, 0),) if self._conditions > 0 or self._is_apart or never else ()
        written = EnvironmentWrite(
            name=name, value=value, how=how, place=place, copies=copies, arms=arms
        )
        self._variables.append(written)


def _place(words: Sequence[Word]) -> Spot:
    first, last = words[0], words[-1]
    return Spot(first.line, first.column, last.line, last.spot().end_column)


_NAMED_OPTIONS = frozenset(
    {
        "-e", "--env", "-env", "-x", "--genv", "--export", "--env-vars", "--launcher-env",
    }
)  # fmt: skip


def _passed_on(words: Sequence[Word]) -> Iterator[tuple[Word, int]]:
    """The assignments that ``env``, ``docker run -e``, ``srun --export=`` or ``mpirun -x`` hand on:
    the word, and where the assignment begins in it.
    """
    tool = words[0].text.rpartition("/")[2]
    expected = tool == "env"
    for before, word in pairwise(words):
        option, equals, _value = word.raw.partition("=")
        if word.text in _NAMED_OPTIONS:
            expected = True
        elif option in _NAMED_OPTIONS and equals:
            yield from _listed(word, len(option) + 1)
        elif expected and _ASSIGNMENT.match(word.raw):
            yield word, 0
            expected = tool == "env"
        elif tool == "env" and not word.raw.startswith("-") and before.text != "-u":
            return


def _listed(word: Word, start: int) -> Iterator[tuple[Word, int]]:
    """Assignments of ``ALL,NAME=value,NAME=value``."""
    for part in re.finditer(r"[^,]+", word.raw[start:]):
        if _ASSIGNMENT.match(part[0]):
            cut = msgspec.structs.replace(
                word, raw=word.raw[: start + part.end()], text=word.text[: start + part.end()]
            )
            yield cut, start + part.start()


def _slurm_options(text: str, first_line: int) -> Iterator[EnvironmentWrite]:
    """``#SBATCH --export=ALL,NAME=value``."""
    for number, line in enumerate(text.split("\n"), start=first_line):
        match = re.match(r"#SBATCH\s+(--export=\S+)", line)
        if match is None:
            continue
        for part in re.finditer(r"(?<=[=,])([A-Za-z_]\w*)=([^,\s]*)", match[1]):
            start, end = match.start(1) + part.start() + 1, match.start(1) + part.end() + 1
            value = part[2] if "$" not in part[2] else None
            place = Spot(number, start, number, end)
            yield EnvironmentWrite(name=part[1], value=value, how="job", place=place)
