"""Calls of code out of sight that say that they seed: by their name, or by the seed that they get.
They may seed any generator, and turn on any switch.
"""

from __future__ import annotations

import ast
import re
import sys

from d9m.scan.syntax.expressions import dotted
from d9m.scan.syntax.names import LOCAL
from d9m.scan.vocabulary import Vocabulary

_SEEDS = re.compile(r"(?i)seed|determin|reprod")
_REPEATS = re.compile(r"(?i)determin|reprod")
_SEED = re.compile(r"(?i)(^|[._])seed$")


def says_that_it_seeds(vocabulary: Vocabulary, node: ast.Call, last: str, name: str | None) -> bool:
    """Whether a call says that it seeds, and is at most known as a helper, which may be called in a
    way that is not: ``init_seeds(1)``, ``determinism.init(seed)``. A library whose generator is
    known has no further ones. `name`: its qualified name, of which `last` is the last part.
    """
    if f".{last}" in vocabulary.reseeds or (name and name.startswith(LOCAL)):
        return False
    if name is not None:
        package = vocabulary.package(name)
        if package in vocabulary.with_generator:
            return False
        if vocabulary.keeps(name):
            return (package, last) in vocabulary.helpers
    if _SEEDS.search(last):
        return True
    root = (name or "").partition(".")[0]
    owner = dotted(node.func.value) if isinstance(node.func, ast.Attribute) else None
    is_foreign = root != "" and root not in sys.stdlib_module_names
    return (is_foreign or bool(_REPEATS.search(owner or ""))) and _gets_seed(node)


def _gets_seed(node: ast.Call) -> bool:
    """Whether a seed is the first thing that a call gets, or the only one."""
    first = node.args[0] if node.args else None
    if not node.args and len(node.keywords) == 1:
        first = node.keywords[0].value
    return first is not None and bool(_SEED.search(dotted(first) or ""))
