"""An invented stack: a framework, a trainer with helper calls, a server that wants another
algorithm.
"""

from __future__ import annotations

import functools
from pathlib import Path

from d9m.api import advise
from d9m.environment.environment import Setup
from d9m.kb import locate
from d9m.kb.store import KnowledgeBase
from d9m.model.advice import Advice
from d9m.model.records import Scope

KB = Path(__file__).parent / "layers"


@functools.cache
def knowledge_base() -> KnowledgeBase:
    return locate.from_yaml(KB)


def ask(packages: str, *ops: str, calls: tuple[str, ...] = (), scope: Scope = "run") -> Advice:
    """`packages` as in ``frame=1.1 train``."""
    named = tuple(
        (name, version or None)
        for name, _, version in (each.partition("=") for each in packages.split())
    )
    return advise(knowledge_base(), Setup(named), list(ops) or None, scope, calls)
