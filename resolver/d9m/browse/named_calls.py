"""Helper calls that a text says its program makes: `seed_everything`, `deterministic=True`."""

from __future__ import annotations

import re
from collections.abc import Collection

from d9m.kb.store import KnowledgeBase
from d9m.model import signatures
from d9m.resolve.helper_calls import call, spellings

_SEED = "seed"


def find(kb: KnowledgeBase, text: str, packages: Collection[str]) -> list[str]:
    """The helpers of some packages that a text names, each as its record writes it. Of those that
    differ in their arguments, the one with the most that the text has.
    """
    best: dict[str, tuple[int, str]] = {}
    for id_ in kb.helpers:
        known = call(kb, id_)
        if known.home not in packages:
            continue
        for spelling in spellings(known):
            name, _bracket, inside = spelling.partition("(")
            last = name.rpartition(".")[2]
            said = _arguments_said(kb, text, inside.rpartition(")")[0])
            if said is None or (not said and not _is_named(kb, text, last)):
                continue
            if last not in best or said > best[last][0]:
                best[last] = (said, known.helper.call)
    return list(dict.fromkeys(named for _said, named in best.values()))


def _is_named(kb: KnowledgeBase, text: str, name: str) -> bool:
    """Whether a text has a name that is none of everyday English. With its module it may be that of
    a setting: ``tf.set_random_seed`` is not ``keras.utils.set_random_seed``.
    """
    if "_" not in name and not name.startswith("--"):
        return False
    whole = re.finditer(rf"(?<![\w.])(?:\w+\.)*{re.escape(name)}(?!\w)", text)
    return any(match[0] not in kb.settings for match in whole)


def _arguments_said(kb: KnowledgeBase, text: str, inside: str) -> int | None:
    """How many of a call's keyword arguments a text has; None if one is absent. A seed is none, nor
    is the last part of a setting: ``cudnn.deterministic = True``.
    """
    endings = kb.once("last parts of settings", lambda: _last_parts(kb))
    count = 0
    for name, value in signatures.arguments(inside).keywords.items():
        if name == _SEED:
            continue
        value = re.escape(value.strip("'\""))
        before = r"(?<![\w.])" if name in endings else r"(?<!\w)"
        pattern = rf"{before}{name}(?:\s+\w+)?\s*=\s*['\"]?{value}(?!\w)"
        if re.search(pattern, text, re.IGNORECASE) is None:
            return None
        count += 1
    return count


def _last_parts(kb: KnowledgeBase) -> frozenset[str]:
    """``deterministic`` of ``torch.backends.cudnn.deterministic``, and so on."""
    return frozenset(name.rpartition(".")[2] for name in kb.settings if "." in name)
