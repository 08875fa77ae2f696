"""The GPU model and the device that a text names."""

from __future__ import annotations

import re
from collections.abc import Set

import msgspec

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


def _only(values: Set[str]) -> str | None:
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


def device(named: frozenset[str]) -> str | None:
    """The one device among those that a text names; the usual one goes without saying, and of one
    like Vulkan no record says anything.
    """
    if ANY_GPU in named:
        named -= {ANY_GPU}
        if named <= {"cpu"}:
            named |= {DEVICES[0]}
    one = _only(named)
    return one if one in DEVICES[1:] else None


def kind(named: frozenset[str]) -> str | None:
    """Whether a text names GPUs, ``gpu``, or the CPU, ``cpu``; None where it names both or none."""
    return _only({name if name == "cpu" else ANY_GPU for name in named})


def find(kb: KnowledgeBase, text: str) -> frozenset[str]:
    """The devices that a text names. A sentence in which all is well on one is about the others."""
    words = kb.word_lists
    names = kb.once("device names", lambda: _names(words))
    named: set[str] = set()
    for sentence in _SENTENCE.split(text.lower()):
        rest = sentence
        for name in names:
            if name.said in rest and name.pattern.search(rest) is not None:
                named.add(name.device)
                rest = name.pattern.sub(" ", rest)
        if rest != sentence and any(says(rest, well) for well in words.well):
            named.update(words.devices)
    return frozenset(named)


class _Name(msgspec.Struct, frozen=True):
    """What a device is called."""

    said: str
    device: str
    pattern: re.Pattern[str]


def _names(words: Words) -> list[_Name]:
    """Longest first: ``no gpu`` before ``gpu``."""
    names: list[_Name] = []
    for called, said_as in words.devices.items():
        for said in said_as:
            pattern = re.compile(rf"(?<![\w.]){re.escape(said)}(?!\w|\.\w)")
            names.append(_Name(said, called, pattern))
    return sorted(names, key=lambda name: -len(name.said))
