"""GPUs by name: ``H100``, ``NVIDIA A100-SXM4-40GB``, ``rtx4090``."""

from __future__ import annotations

import re
from collections.abc import Sequence

from d9m.errors import UsageError, nearest, quote
from d9m.kb.store import KnowledgeBase
from d9m.model.records import GpuModel

_TIP = "or say its compute capability, times ten: --fact sm=90"


def find_gpu(kb: KnowledgeBase, text: str) -> tuple[str, GpuModel]:
    """Name and record of the model that a text names. Raises UsageError for none, and for several.

    The text may hold more than the name, as nvidia-smi prints it, or less (``4090``).
    """
    file = kb.gpus[""]
    spellings: dict[str, str] = {}
    for name, gpu in file.gpus.items():
        spellings.update(dict.fromkeys((name, *gpu.aliases), name))
    words = _words(text)
    inside = [spelling for spelling in spellings if _holds(words, spelling)]
    if inside:
        name = spellings[max(inside, key=len)]
        return name, file.gpus[name]
    partly: set[str] = set()
    for spelling, name in spellings.items():
        if words and _holds(_words(spelling), " ".join(words)):
            partly.add(name)
    if len(partly) == 1:
        (name,) = partly
        return name, file.gpus[name]
    if partly:
        raise UsageError(
            f"--gpu {quote(text)} may be any of {len(partly)}", allowed=sorted(partly), tip=_TIP
        )
    raise UsageError(f"unknown GPU {quote(text)}", nearest=nearest(text, spellings), tip=_TIP)


def _words(text: str) -> list[str]:
    return re.findall(r"[a-z0-9]+", text.lower())


def _holds(words: Sequence[str], name: str) -> bool:
    """Whether the words of a name follow one another, joined or not: ``RTX4090``, ``RTX 4090``."""
    wanted = "".join(_words(name))
    for start in range(len(words)):
        joined = ""
        for word in words[start:]:
            joined += word
            if joined == wanted:
                return True
    return False
