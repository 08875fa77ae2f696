"""Which of the advised settings a text names as made, and the seeds that it says are set."""

from __future__ import annotations

import re
from collections.abc import Sequence

from d9m.browse.mentions import Mentions
from d9m.browse.named_settings import OFF, UNSET
from d9m.kb.store import KnowledgeBase
from d9m.model.settings import Step
from d9m.model.words import SeededWords

_SEED = "seed"


def values(kb: KnowledgeBase, named: Mentions) -> dict[str, str]:
    """Settings that the text names as made, spelled as records do; a name without a value says that
    it is on.
    """
    said = {**named.parameters, **named.settings}
    found: dict[str, str] = {}
    for name, value in said.items():
        if name not in named.asked:
            found[name] = value or "True"
            if kb.settings[name].kind != "python" and found[name] in ("True", "False"):
                found[name] = found[name].lower()
    return found


def is_made(step: Step, named: Mentions) -> bool:
    """Whether the text names a setting as made. A value that is a name of the program's may be any
    value, unless the setting takes words.
    """
    made = {**named.parameters, **named.settings}
    if step.name not in made or step.kind == "unset" or step.name in named.asked:
        return False
    value = made[step.name]
    if value in step.refuses:
        return False
    is_for_off = str(step.value).lower() in OFF
    if value is None:
        return not (step.setting_kind == "config" and is_for_off)  # whoever names it has it on
    said, wanted = value.lower(), str(step.value).lower()
    if said == wanted:
        return True
    if said in UNSET:
        return False
    if step.value and wanted.isidentifier() and wanted not in ("true", *OFF):
        return said in (accepted.lower() for accepted in step.accepts)
    if value.replace(".", "").isidentifier() and said not in ("true", *OFF):
        return True
    return (is_for_off and said in OFF) or step.satisfied_by(value)


def seeds_said(
    kb: KnowledgeBase, text: str, named: Mentions, missing: Sequence[Step]
) -> list[Step]:
    """The seeds among some settings that a text does not name, where it says that seeds are set and
    not by which calls.
    """
    if any(_SEED in name and kb.settings[name].kind != "env" for name in named.settings):
        return []
    return [step for step in missing if _is_seed(step)] if says_seeded(kb, text) else []


def _is_seed(step: Step) -> bool:
    return step.any_value and step.kind != "env" and _SEED in step.name


def says_seeded(kb: KnowledgeBase, text: str) -> bool:
    """Whether a text says that seeds are set: ``with a fixed random seed``, ``--seed 100``."""
    words = kb.word_lists.seeded
    pattern = kb.once("words for seeds that are set", lambda: _pattern(words))
    return pattern is not None and pattern.search(text.lower()) is not None


def _pattern(words: SeededWords) -> re.Pattern[str] | None:
    if not words.before:
        return None
    denied = "".join(rf"(?<!\b{re.escape(word)}\s)" for word in words.not_before)
    between = rf"(?:{_any(words.between)}){_SPACE}"
    said = rf"{denied}\b(?:{_any(words.before)}){_SPACE}(?:{between}){{0,4}}{_SEEDS}\b"
    fixed = rf"\b{_SEEDS}{_SPACE}(?:{_any(words.behind)})\b"
    return re.compile(rf"{said}|{fixed}|{_GIVEN}")


_SPACE = r"[\s`'\"]{1,4}"
_SEEDS = r"(?:seeds?|random[_ ]states?)"
_GIVEN = r"(?<![\w.])(?:--)?(?:(?:manual|random|global)[ _-]?)?seed\s{0,4}[=:\s]\s{0,4}\d"


def _any(words: Sequence[str]) -> str:
    return "|".join(map(re.escape, sorted(words, key=len, reverse=True)))
