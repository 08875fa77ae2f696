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


_SENTENCE = re.compile(r"(?:[^.!?\n]|[.!?](?=\S))*[.!?]?")
_GREETING = re.compile(r"^\W*(?:(?:so|and|but|also|then|hi|hello)\W+)*")


def asked(kb: KnowledgeBase, text: str) -> frozenset[str]:
    """The settings that a text names in questions only, and without a value: ``Should I set
    CUBLAS_WORKSPACE_CONFIG?``
    """
    words = kb.word_lists.asked
    in_questions: set[str] = set()
    elsewhere: set[str] = set()
    for sentence in _SENTENCE.findall(text):
        said = " ".join(sentence.lower().split())
        begins = _GREETING.sub("", said, count=1)
        is_question = said.endswith("?") and begins.startswith(
            tuple(f"{word} " for word in words.begins)
        )
        is_made = any(f" {word} " in f" {said} " for word in words.made)
        for name, value in find(kb, sentence):
            is_asked = is_question and not is_made and value is None
            (in_questions if is_asked else elsewhere).add(name)
    return frozenset(in_questions - elsewhere)


_PARAMETER = re.compile(r"(?<![\w.])([a-z]\w*)['\"]?\s*[:=]\s*['\"]?(\w+)")
_AT_CALL = re.compile(r"\w+\((\w+)\)")
_OPEN_CALL = re.compile(r"(\w+)\([^()]*$")


def parameters(kb: KnowledgeBase, text: str) -> Iterator[tuple[str, str]]:
    """The settings at calls whose parameter a text gives a value: of ``seed=0`` every
    ``library(seed)``. What stands in the call of a helper is the helper's.
    """
    known = kb.once("parameters of calls", lambda: _at_calls(kb))
    helpers = kb.once("names of helpers", lambda: _helper_names(kb))
    for match in _PARAMETER.finditer(text):
        if match[1] in known:
            call = _OPEN_CALL.search(text, 0, match.start())
            if call is None or call[1] not in helpers:
                for setting in known[match[1]]:
                    yield setting, match[2]


def _at_calls(kb: KnowledgeBase) -> dict[str, list[str]]:
    """Parameter -> the settings that are this parameter of some call."""
    found: dict[str, list[str]] = {}
    for name in kb.settings:
        parameter = _AT_CALL.fullmatch(name)
        if parameter is not None:
            found.setdefault(parameter[1], []).append(name)
    return found


def _helper_names(kb: KnowledgeBase) -> frozenset[str]:
    """What helpers are called, without their modules."""
    names: set[str] = set()
    for helper in kb.helpers.values():
        names.update(call.rpartition(".")[2] for call in _calls(helper))
    return frozenset(names)


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
