"""Whether a text says that deterministic ops are switched on."""

from __future__ import annotations

from d9m.browse.mentions import Mentions
from d9m.browse.named_settings import OFF, UNSET
from d9m.browse.subject import Subject
from d9m.browse.unadvised_settings import is_of_another
from d9m.environment.environment import Environment
from d9m.kb.store import KnowledgeBase


def has_switch(
    kb: KnowledgeBase, named: Mentions, subject: Subject, environment: Environment
) -> bool:
    """Whether a switch of a framework here is made, by its own name or by a helper."""
    here = subject.advice.environment.packages
    switches: list[str] = []
    for name in kb.word_lists.switches:
        setting = kb.settings[name]
        is_here = not environment.packages.keys().isdisjoint(setting.condition.cuts)
        is_unknown = is_here and not environment.holding(setting.condition)
        if not (is_unknown or is_of_another(setting, here) or name in named.asked):
            switches.append(name)
    made = [name for name in switches if name in named.settings]
    is_on = any((named.settings[name] or "").lower() not in (*OFF, *UNSET) for name in made)
    return is_on or subject.has_made(switches)
