"""Settings that a text names, those that its code sets, and variables that it misspells."""

from __future__ import annotations

import re
from collections.abc import Collection, Iterator

import msgspec

from d9m.browse.prose import code
from d9m.kb.store import KnowledgeBase
from d9m.model.records import Setting
from d9m.model.settings import Step
from d9m.resolve.compare_settings import nearest_setting

NAME = re.compile(r"(?<![\w./\\<=-])[A-Za-z_]\w*(?:(?:\.|::)\w+)*")
"""A name as code has it, outside of paths and of the names of autograd nodes."""

NEAR = 60
"""Characters before the name of a variable in which ``os.environ[`` is looked for."""

OFF = ("false", "0", "no", "off")
"""Values that switch a setting off, in lower case."""

UNSET = ("none", "unset")
"""Values that mean the variable is not set."""

_FLAG = re.compile(r"(?<![\w-])--[a-z]\w*(?:-\w+)*")
_VALUE = re.compile(
    r"['\"]?\]?\s{0,60}(?:[=(:]|(?<=\w)\s(?=\d))\s{0,60}(?:str\()?['\"]?([^\s'\"`(),]*[^\s'\"`(),.?!;])"
)
_VARIABLE = re.compile(r"(?<![\w./-])[A-Z][A-Z0-9_]{7,}(?=['\"]?\]?\s*=|['\"]\s*,)")
"""A name in capitals that is given a value."""


class SetInText(msgspec.Struct, frozen=True):
    """A setting that code, configuration or a log in a text sets."""

    value: str | None
    """None for a call or flag without one."""
    line: int


def named(kb: KnowledgeBase, text: str) -> dict[str, str | None]:
    """Settings by their name, or by its last parts (``cudnn.benchmark``), and flags, each with the
    value behind it.
    """
    found: dict[str, str | None] = {}
    for pattern in (_FLAG, NAME):
        for match in pattern.finditer(text):
            setting = called(kb, match[0])
            if setting is not None and not _is_too_late(kb.settings[setting], text, match.start()):
                value = _VALUE.match(text, match.end())
                found[setting] = value[1] if value else None
    return found


def in_code(kb: KnowledgeBase, text: str, packages: Collection[str]) -> dict[str, SetInText]:
    """The settings that code in a text sets, also by a parameter or flag of a package that the
    text names: ``seed=0``.
    """
    found: dict[str, SetInText] = {}
    parameters = kb.once("parameters", lambda: _parameters(kb))
    for line, part in code(text):
        for setting, value in named(kb, part).items():
            found[setting] = SetInText(value, line)
        for match in re.finditer(r"-{0,2}[a-z][\w-]*", part):
            for setting in parameters.get(match[0], ()):
                value = _VALUE.match(part, match.end())
                if value and not kb.settings[setting].condition.cuts.keys().isdisjoint(packages):
                    found[setting] = SetInText(value[1], line)
    return found


def _parameters(kb: KnowledgeBase) -> dict[str, list[str]]:
    """Parameter or flag -> the settings that are this one of some call or program."""
    found: dict[str, list[str]] = {}
    for name in kb.settings:
        at_call = parameter(name) or (name.partition(" ")[2] or None)
        if at_call is not None:
            found.setdefault(at_call, []).append(name)
    return found


def parameter(setting: str) -> str | None:
    """``seed`` of ``library(seed)``; None for a setting that is not the parameter of a call."""
    at_call = re.fullmatch(r"[\w.]+\((\w+)\)", setting)
    return at_call[1] if at_call is not None else None


def is_made(step: Step, said: SetInText | None) -> bool:
    """Whether what code in a text sets is what a step wants. A name of the program's may be any
    value, unless the setting takes words.
    """
    if said is None or step.kind == "unset" or said.value in step.refuses:
        return False
    if said.value is None:
        return not (step.setting_kind == "config" and str(step.value).lower() in OFF)
    value, wanted = said.value.lower(), str(step.value).lower()
    if value == wanted or value in UNSET:
        return value == wanted
    if step.value and wanted.isidentifier() and wanted not in ("true", *OFF):
        return value in (accepted.lower() for accepted in step.accepts)
    if value.replace(".", "").isidentifier() and value not in ("true", *OFF):
        return True
    return (wanted in OFF and value in OFF) or step.satisfied_by(said.value)


def misspelt(kb: KnowledgeBase, text: str) -> Iterator[tuple[str, str]]:
    """Variables of the environment that are almost one on record."""
    for match in _VARIABLE.finditer(text):
        meant = None if match[0] in kb.settings else nearest_setting(kb, match[0])
        if meant is not None and kb.settings[meant].kind == "env":
            yield match[0], meant


def _is_too_late(setting: Setting, text: str, at: int) -> bool:
    """Whether a program makes for itself what was read before it began."""
    before = text[max(0, at - NEAR) : at]
    return setting.read == "process-start" and before.rstrip("'\"[( ").endswith("environ")


def called(kb: KnowledgeBase, name: str) -> str | None:
    """The setting that a name in code is: its whole name, or its last parts."""
    endings = kb.once("setting endings", lambda: _endings(kb))
    return endings.get(re.sub(r"^np\.", "numpy.", name))


def _endings(kb: KnowledgeBase) -> dict[str, str]:
    """Name, and ending that no other setting or call has -> setting."""
    calls: dict[str, set[str]] = {}
    for helper in kb.helpers.values():
        for call in (helper.call, *helper.aliases):
            name = call.partition("(")[0]
            calls.setdefault(name.rpartition(".")[2], set()).add(name)
    found: dict[str, str | None] = {}
    for name, setting in kb.settings.items():
        parts = name.split(".") if setting.kind in ("env", "python", "config") else [name]
        for start in range(len(parts)):
            ending = ".".join(parts[start:])
            if start and calls.get(ending, {name}) != {name}:
                continue
            if start == 0 or "." in ending or "_" in ending:
                found[ending] = None if ending in found and start else name
    return {ending: name for ending, name in found.items() if name is not None}
