"""Values of settings, as the programs that read them understand their texts."""

from __future__ import annotations

import re
from collections.abc import Mapping

import msgspec

from d9m.environment.environment import Environment
from d9m.kb.store import KnowledgeBase
from d9m.model.records import Setting, SpellingRule
from d9m.model.settings import PlainValue, Step, as_text


def read(kb: KnowledgeBase, name: str, text: str, environment: Environment | None = None) -> str:
    """Return the value of a setting that a text stands for: ``1`` for ``TRUE``; of a list variable,
    with each flag in it. Without an environment only rules that have no condition count.
    """
    setting = kb.settings.get(name)
    if setting is None:
        return text
    if setting.list_ is None:
        return spelled(setting, text, environment)
    return setting.list_.join(_item(kb, item, environment) for item in listed(setting, text))


def _item(kb: KnowledgeBase, item: str, environment: Environment | None) -> str:
    name, _equals, text = item.partition("=")
    value = read(kb, name, text, environment)
    return f"{name}={value}" if value else item


def listed(setting: Setting, text: str) -> list[str]:
    """Return the items of a list variable, or the one text of another setting."""
    if setting.list_ is None:
        return [text]
    return text.split() if setting.list_.isspace() else text.split(setting.list_)


def spelled(setting: Setting, text: str, environment: Environment | None = None) -> str:
    """Return a value in the spelling of the records; a text that is none stays."""
    rule = _rule(setting, environment)
    if rule is None:
        return text
    spellings = {**{value: value for value in (*setting.accepts, *setting.refuses)}, **rule.same}
    if not rule.ignores_case:
        return "".join(spellings.get(part, part) for part in _parts(setting, text))
    spellings = {spelling.lower(): value for spelling, value in spellings.items()}
    return "".join(spellings.get(part.lower(), part) for part in _parts(setting, text))


def _rule(setting: Setting, environment: Environment | None) -> SpellingRule | None:
    for rule in setting.reading:
        condition = rule.condition
        if not condition.cuts or (environment is not None and {} in environment.holding(condition)):
            return rule
    return None


def _parts(setting: Setting, text: str) -> list[str]:
    """Return the words of a value, with the separators between them at odd places."""
    return re.split(f"([{re.escape(setting.separators)}])", text) if setting.separators else [text]


def fault(setting: Setting, text: str, environment: Environment | None = None) -> str | None:
    """Return what a setting takes, if it does not take a text: ``accepts 0 or 1``."""
    if setting.list_ is not None:
        starts = tuple(setting.flags)
        are_flags = all(item.startswith(starts) for item in listed(setting, text) if starts)
        return None if are_flags else f"accepts flags that begin with {' or '.join(starts)}"
    words = list(filter(None, _parts(setting, spelled(setting, text, environment))[::2])) or [text]
    if setting.accepts and not (set(words) <= set(setting.accepts) or setting.has_form(text)):
        rule = _rule(setting, environment)
        known = [*setting.accepts, *(rule.same if rule is not None else ()), setting.form]
        *others, last = dict.fromkeys(filter(None, known))
        case = ", in any case" if rule is not None and rule.ignores_case else ""
        return f"accepts {' or '.join([*filter(None, [', '.join(others)]), last])}{case}"
    if not all(map(setting.takes_number, words)):
        return f"must be {setting.number_wanted()}"
    return None


def suits(kb: KnowledgeBase, step: Step, text: str, environment: Environment | None = None) -> bool:
    """Return whether a value that is already set would do."""
    wanted = [read(kb, step.name, each, environment) for each in step.accepts]
    as_read = msgspec.structs.replace(step, accepts=wanted)
    return as_read.satisfied_by(read(kb, step.name, text, environment))


def is_among(
    kb: KnowledgeBase,
    step: Step,
    found: Mapping[str, PlainValue],
    environment: Environment | None = None,
) -> bool:
    """Return whether settings that are already made include a step, with a value that will do."""
    if step.kind == "unset" or step.name not in found:
        return False
    return suits(kb, step, as_text(found[step.name]), environment)
