"""Settings that a text names, and variables that it misspells."""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator

from d9m.kb.store import KnowledgeBase
from d9m.model.records import Helper, Setting
from d9m.model.words import AskedWords
from d9m.resolve import op_names
from d9m.resolve.compare_settings import nearest_setting

NAME = re.compile(r"(?<![\w./\\<=-])[A-Za-z_]\w*(?:(?:\.|::)\w+)*")
"""A name as code has it, outside of paths and of the names of autograd nodes."""

NEAR = 60
"""Characters before the name of a variable in which ``os.environ[`` stands."""

OFF = ("false", "0", "no", "off")
"""Values that switch a setting off, in lower case."""

UNSET = ("none", "unset")
"""Values that leave it as if nobody had named it."""

_FLAG = re.compile(r"(?<![\w-])--[a-z]\w*(?:-\w+)*")

_VALUE = re.compile(r"['\"]?\]?\s{0,60}[=(]\s{0,60}(?:str\()?['\"]?([^\s'\"`(),]*[^\s'\"`(),.?!;])")


def find(kb: KnowledgeBase, text: str) -> Iterator[tuple[str, str | None]]:
    """Settings by their name, or by its last parts (``cudnn.benchmark``), and flags."""
    for name, match in _named(kb, text):
        value = _VALUE.match(text, match.end())
        yield name, value[1] if value and value[1] else None


def in_words(kb: KnowledgeBase, text: str, packages: Iterable[str]) -> Iterator[str]:
    """The settings that a text says to have made without their names, next to a package that reads
    them.
    """
    here = set(packages)
    said = " ".join(text.lower().split())
    for name, setting in kb.settings.items():
        is_said = any(phrase in said for phrase in setting.synonyms)
        if is_said and not here.isdisjoint(setting.condition.cuts):
            yield name


def _named(kb: KnowledgeBase, text: str) -> Iterator[tuple[str, re.Match[str]]]:
    """Settings, and where a text names them."""
    for match in _FLAG.finditer(text):
        if match[0] in kb.settings:
            yield match[0], match
    for match in NAME.finditer(text):
        setting = called(kb, match[0])
        if setting is not None and not _is_too_late(kb.settings[setting], text, match.start()):
            yield setting, match


_CLOSES = r"[)\]\"'”’`*_]"
_SENTENCE = re.compile(rf"(?:[^.!?\n]|\n(?![^\S\n]*\n)|[.!?](?!{_CLOSES}*(?:\s|\Z)))+[.!?]?")
_NOT_WORDS = re.compile(r"[^\w'’/-]+")


def asked(kb: KnowledgeBase, text: str) -> frozenset[str]:
    """The settings that a text names in questions only, and without a value: ``Should I set
    CUBLAS_WORKSPACE_CONFIG?``
    """
    words = kb.word_lists.asked
    in_questions: set[str] = set()
    elsewhere: set[str] = set()
    for sentence in _sentences(words, text):
        is_question = sentence.endswith("?") and _begins_as_question(words, sentence)
        for name, value in find(kb, sentence):
            is_asked = is_question and value is None and not _is_said_made(kb, sentence, name)
            (in_questions if is_asked else elsewhere).add(name)
    return frozenset(in_questions - elsewhere)


def _sentences(words: AskedWords, text: str) -> Iterator[str]:
    """The sentences of a text. One without an end, as a title is, stops before a line that begins
    as a question does.
    """
    for sentence in _SENTENCE.findall(text):
        lines = sentence.split("\n")
        first = 0
        while first < len(lines) and not _begins_as_question(words, lines[first]):
            first += 1
        yield "\n".join(lines[:first])
        yield "\n".join(lines[first:])


def _begins_as_question(words: AskedWords, sentence: str) -> bool:
    said = _NOT_WORDS.sub(" ", sentence.lower()).split()
    while said and said[0] in words.opens:
        said = said[1:]
    return f"{' '.join(said)} ".startswith(tuple(f"{word} " for word in words.begins))


def _is_said_made(kb: KnowledgeBase, question: str, name: str) -> bool:
    """Whether a question says that a setting is made all the same: ``with it``."""
    said = question
    for setting, match in _named(kb, question):
        if setting == name:
            said = said.replace(match[0], " it ")
    said = " ".join(_NOT_WORDS.sub(" ", said.lower()).split())
    return any(f" {phrase} " in f" {said} " for phrase in kb.word_lists.asked.made)


_PARAMETER = re.compile(
    r"(?<![\w.])(?:([a-z]\w*)(?:['\"]\])?\s*=(?!=)|['\"]([a-z]\w*)['\"]\s*:)\s*['\"]?(\w+)"
)
_AT_CALL = re.compile(r"\w+\((\w+)\)")
_CALL = re.compile(r"[A-Za-z_][\w.]*$")

LONGEST_CALL = 400
"""Characters from the name of a call to a parameter in it."""


def parameters(kb: KnowledgeBase, text: str) -> Iterator[tuple[str, str]]:
    """The settings at calls whose parameter a text gives a value: of ``seed=0`` every
    ``library(seed)``; in a call those of its library.
    """
    known = kb.once("parameters of calls", lambda: _at_calls(kb))
    for match in _PARAMETER.finditer(text):
        given = match[1] or match[2]
        if given in known:
            call = _call_around(text, match.start())
            for setting in known[given]:
                if call is None or _is_of_library(kb, setting, call):
                    yield setting, match[3]


_FLAG_VALUE = re.compile(r"(?<![\w-])(--[a-z]\w*(?:-\w+)*)(?:=|\s{1,4})([\w.:]+)")


def flags(kb: KnowledgeBase, text: str) -> Iterator[tuple[str, str]]:
    """The settings that are a flag of one program, where a text gives this flag a value: of
    ``--seed 1`` every ``program --seed``.
    """
    known = kb.once("flags of programs", lambda: _flags_of_programs(kb))
    for match in _FLAG_VALUE.finditer(text):
        for setting in known.get(match[1], ()):
            yield setting, match[2]


def _flags_of_programs(kb: KnowledgeBase) -> dict[str, list[str]]:
    """Flag -> the settings that are this flag of some program."""
    found: dict[str, list[str]] = {}
    for name in kb.settings:
        program, _space, flag = name.partition(" ")
        if program and flag.startswith("--"):
            found.setdefault(flag, []).append(name)
    return found


def statements(kb: KnowledgeBase, text: str) -> Iterator[tuple[str, str]]:
    """The settings that are a call of their own, where a text writes it with a value:
    ``env.action_space.seed(seed)``.
    """
    known = kb.once("statements of settings", lambda: _statements(kb))
    for head, found in known.items():
        if head in text:
            for setting, pattern in found:
                match = re.search(pattern, text)
                if match is not None:
                    yield setting, match[1]


def _statements(kb: KnowledgeBase) -> dict[str, list[tuple[str, str]]]:
    """What is called -> the settings that this call makes, and how it is written."""
    found: dict[str, list[tuple[str, str]]] = {}
    for name, setting in kb.settings.items():
        head, bracket, rest = (setting.statement or "").partition("(")
        if setting.kind == "code" and bracket and "." in head and rest.count("{value}") == 1:
            inside = re.escape(rest).replace(re.escape("{value}"), r"(\w+)")
            found.setdefault(head, []).append((name, rf"(?<![\w.]){re.escape(head)}\({inside}"))
    return found


def _at_calls(kb: KnowledgeBase) -> dict[str, list[str]]:
    """Parameter -> the settings that are this parameter of some call."""
    found: dict[str, list[str]] = {}
    for name in kb.settings:
        at_call = parameter(name)
        if at_call is not None:
            found.setdefault(at_call, []).append(name)
    return found


def parameter(setting: str) -> str | None:
    """``seed`` of ``library(seed)``; None for a setting that is not the parameter of a call."""
    at_call = _AT_CALL.fullmatch(setting)
    return at_call[1] if at_call is not None else None


def _call_around(text: str, at: int) -> str | None:
    """What is called with what stands at a place; a call of ``dict`` only writes parameters."""
    closed = 0
    for place in range(at - 1, max(-1, at - LONGEST_CALL), -1):
        if text[place] == ")":
            closed += 1
        elif text[place] == "(" and closed:
            closed -= 1
        elif text[place] == "(":
            call = _CALL.search(text, max(0, place - LONGEST_CALL), place)
            if call is not None and call[0] != "dict":
                return call[0]
    return None


def _is_of_library(kb: KnowledgeBase, setting: str, call: str) -> bool:
    """Whether a call belongs to a library that reads a setting: ``lgb.train``."""
    head, _dot, _rest = call.partition(".")
    last = call.rpartition(".")[2]
    if last == setting.partition("(")[0]:
        return True
    for package in kb.settings[setting].condition.cuts:
        said = kb.packages[package].synonyms
        is_op = package in kb.meta.prefixes and op_names.is_known(kb, package, call)
        if is_op or last.lower() in said or (head != call and kb.find_package(head) == package):
            return True
    return False


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
