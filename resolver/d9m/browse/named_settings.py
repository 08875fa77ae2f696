"""Settings that a text names, and variables that it misspells."""

from __future__ import annotations

import re
from collections.abc import Iterator

from d9m.kb.store import KnowledgeBase
from d9m.model.records import Helper, Setting
from d9m.resolve.compare_settings import nearest_setting

NAME = re.compile(r"(?<![\w./\\<=-])[A-Za-z_]\w*(?:(?:\.|::)\w+)*")
"""A name as code has it, outside of paths and of the names of autograd nodes."""

NEAR = 60
"""Characters before the name of a variable in which ``os.environ[`` stands."""

_FLAG = re.compile(r"(?<![\w-])--[a-z]\w*(?:-\w+)*")

_VALUE = re.compile(r"['\"]?\]?\s{0,60}[=(]\s{0,60}(?:str\()?['\"]?([^\s'\"`(),]*[^\s'\"`(),.?!;])")


def find(kb: KnowledgeBase, text: str) -> Iterator[tuple[str, str | None]]:
    """Settings by their name, or by its last parts (``cudnn.benchmark``), and flags."""
    for match in _FLAG.finditer(text):
        if match[0] in kb.settings:
            value = _VALUE.match(text, match.end())
            yield match[0], value[1] if value and value[1] else None
    for match in NAME.finditer(text):
        setting = called(kb, match[0])
        if setting is not None and not _is_too_late(kb.settings[setting], text, match.start()):
            value = _VALUE.match(text, match.end())
            yield setting, value[1] if value and value[1] else None


_VARIABLE = re.compile(r"(?<![\w./-])[A-Z][A-Z0-9_]{7,}(?=['\"]?\]?\s*=|['\"]\s*,)")
"""A name in capitals that is given a value."""


def misspelt(kb: KnowledgeBase, text: str) -> Iterator[tuple[str, str]]:
    """Variables of the environment that are almost one on record."""
    for match in _VARIABLE.finditer(text):
        if match[0] in kb.settings:
            continue
        meant = nearest_setting(kb, match[0])
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


def _calls(helper: Helper) -> Iterator[str]:
    """The names of the calls of a helper."""
    for call in (helper.call, *helper.aliases):
        yield call.partition("(")[0]


def _endings(kb: KnowledgeBase) -> dict[str, str]:
    """Name, and ending that no other setting or call has -> setting."""
    found: dict[str, str | None] = {}
    calls: dict[str, set[str]] = {}
    for helper in kb.helpers.values():
        for call in _calls(helper):
            calls.setdefault(call.rpartition(".")[2], set()).add(call)
    for name, setting in kb.settings.items():
        if setting.kind not in ("env", "python", "config"):
            continue
        parts = name.split(".")
        for start in range(len(parts)):
            ending = ".".join(parts[start:])
            if start and calls.get(ending, {name}) != {name}:
                continue
            if start == 0 or "." in ending or "_" in ending:
                found[ending] = None if ending in found and start else name
    return {ending: name for ending, name in found.items() if name is not None}
