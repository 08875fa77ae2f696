"""The GPU model and the device that a text names."""

from __future__ import annotations

import re
from collections.abc import Set

from d9m.environment.environment import DEVICES
from d9m.kb.store import KnowledgeBase

_SENTENCE = re.compile(r"(?<=[.!?;])\s+|\n+")

ANY_GPU = "gpu"
"""A device that is not named, but said to be a GPU."""


def says(text: str, name: str) -> bool:
    """Whether a text in lower case has a name as a whole word."""
    bounded = rf"(?<![\w.]){re.escape(name)}(?!\w)" if name.isascii() else re.escape(name)
    return name in text and re.search(bounded, text) is not None


def _only(values: Set[str]) -> str | None:
    return next(iter(values)) if len(values) == 1 else None


def gpu(kb: KnowledgeBase, text: str) -> str | None:
    """The model that a text names; None where it compares several."""
    joined = re.sub(r"[\s-]+", "", text.lower())
    spaced = " ".join(re.findall(r"[a-z0-9]+", text.lower()))
    named: set[str] = set()
    for name in kb.gpus[""].gpus:
        words = re.findall(r"[a-z0-9]+", name.lower())
        if "".join(words) in joined and re.search(rf"\b{' ?'.join(words)}\b", spaced):
            named.add(name)
    return _only({name for name in named if not any(name != one and name in one for one in named)})


def device(named: frozenset[str]) -> str | None:
    """The one device among those that a text names; the usual one goes without saying, and of one
    like Vulkan no record says anything.
    """
    one = _only(named - {ANY_GPU} if named - {ANY_GPU, "cpu"} else named)
    return one if one in DEVICES[1:] else None


def kind(named: frozenset[str]) -> str | None:
    """Whether a text names GPUs, ``gpu``, or the CPU, ``cpu``; None where it names both or none."""
    return _only({name if name == "cpu" else ANY_GPU for name in named})


def find(kb: KnowledgeBase, text: str) -> frozenset[str]:
    """The devices that a text names, ``no gpu`` before ``gpu``. A sentence in which all is well on
    one is about the others.
    """
    words = kb.word_lists
    names = [(said, name) for name, called in words.devices.items() for said in called]
    longest_first = sorted(names, key=lambda each: -len(each[0]))
    found: set[str] = set()
    for sentence in _SENTENCE.split(text.lower()):
        rest = sentence
        for said, name in longest_first:
            if said in rest:
                left = re.sub(rf"(?<![\w.]){re.escape(said)}(?!\w|\.\w)", " ", rest)
                if left != rest:
                    found.add(name)
                    rest = left
        if rest != sentence and any(says(rest, well) for well in words.well):
            found.update(words.devices)
    return frozenset(found)
