"""Code that builds one model twice, each time with random weights of its own."""

from __future__ import annotations

import re

from d9m.model.words import TwoModelsWords

_BUILT = re.compile(
    r"(?<![\w.])(?P<name>[A-Za-z_]\w*)\s{0,9}=\s{0,9}(?P<model>[A-Za-z_][\w.]{0,99})\("
    r"[^()\n]{0,99}\)(?:\.(?P<method>\w{1,99})\()?"
)


def builds_twice(words: TwoModelsWords, text: str) -> bool:
    """Whether a text gives two names to models of one constructor, one of which goes to a device,
    and neither copies nor loads weights.
    """
    lower = text.lower()
    if any(copy in lower for copy in words.copies):
        return False
    names: dict[str, set[str]] = {}
    moved: set[str] = set()
    for built in _BUILT.finditer(text):
        model = built["model"]
        if _makes_an_array(words, model):
            continue
        names.setdefault(model, set()).add(built["name"])
        if built["method"] in words.moves:
            moved.add(model)
    return any(len(names[model]) > 1 for model in moved)


def _makes_an_array(words: TwoModelsWords, call: str) -> bool:
    library, *parts = call.split(".")
    return bool(parts) and library in words.arrays and parts[0] not in words.models
