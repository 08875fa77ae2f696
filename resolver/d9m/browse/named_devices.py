"""The GPU model and the device that a text names."""

from __future__ import annotations

import re

from d9m.environment.environment import DEVICES
from d9m.kb.store import KnowledgeBase
from d9m.model.words import Words

_SENTENCE = re.compile(r"(?<=[.!?;])\s+|\n+")

ANY_GPU = "gpu"
"""What names no device, but says that it is a GPU."""


def says(text: str, name: str) -> bool:
    """Whether a text in lower case has a name as a word of its own."""
    bounded = rf"(?<![\w.]){re.escape(name)}(?!\w)" if name.isascii() else re.escape(name)
    return re.search(bounded, text) is not None


def _only(values: set[str]) -> str | None:
    return next(iter(values)) if len(values) == 1 else None


def gpu(kb: KnowledgeBase, text: str) -> str | None:
    """The model that a text names; None where it compares several, if by their numbers alone."""
    file = kb.gpus[""]
    joined = re.sub(r"[\s-]+", "", text.lower())
    spaced = " ".join(re.findall(r"[a-z0-9]+", text.lower()))
    numbers = set(re.findall(r"(?<![a-z0-9.])(\d{4})s?(?![a-z0-9.])", text.lower()))
    named: set[str] = set()
    by_number: set[str] = set()
    for name in file.gpus:
        words = re.findall(r"[a-z0-9]+", name.lower())
        by_number.update(numbers.intersection(words))
        if "".join(words) in joined and re.search(rf"\b{' ?'.join(words)}\b", spaced):
            named.add(name)
    longest = {name for name in named if not any(name != one and name in one for one in named)}
    others = {number for number in by_number if not any(number in name for name in longest)}
    return _only(longest) if not others else None


def device(words: Words, text: str) -> str | None:
    """The device that a text names. A sentence in which all is well on it is about another one."""
    named = _named(words, text)
    if ANY_GPU in named:
        named.remove(ANY_GPU)
        if named <= {"cpu"}:
            named.add(DEVICES[0])
    one = _only(named)
    return None if one == DEVICES[0] else one


def kind(words: Words, text: str) -> str | None:
    """Whether a text names GPUs, ``gpu``, or the CPU, ``cpu``; None where it names both or none."""
    return _only({name if name == "cpu" else ANY_GPU for name in _named(words, text)})


def _named(words: Words, text: str) -> set[str]:
    named: set[str] = set()
    for sentence in _SENTENCE.split(text.lower()):
        rest = sentence
        for name, called in _longest_first(words):
            pattern = rf"(?<![\w.]){re.escape(name)}(?!\w|\.\w)"
            if re.search(pattern, rest) is not None:
                named.add(called)
                rest = re.sub(pattern, " ", rest)
        if rest != sentence and any(says(rest, name) for name in words.well):
            named.update(words.devices)
    return named


def _longest_first(words: Words) -> list[tuple[str, str]]:
    """What devices are called, with the device: ``no gpu`` before ``gpu``."""
    pairs: list[tuple[str, str]] = []
    for called, names in words.devices.items():
        pairs += [(name, called) for name in names]
    return sorted(pairs, key=lambda pair: -len(pair[0]))
