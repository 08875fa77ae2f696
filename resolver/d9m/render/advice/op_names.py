"""How an op is called in a sentence: ``F.interpolate:mode=bilinear`` -> ``interpolate
(bilinear)``.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping, Sequence

from d9m.errors import UsageError
from d9m.kb.store import KnowledgeBase
from d9m.model import op_syntax
from d9m.model.advice import OpAnswer
from d9m.resolve.op_names import without_overload


def short_names(kb: KnowledgeBase, ops: Sequence[OpAnswer]) -> dict[str, str]:
    """Query -> its short name; the query itself where two would share a name."""
    return _unshared({op.query: _short(kb, op.query) for op in ops})


def blamed_names(kb: KnowledgeBase, ops: Sequence[OpAnswer]) -> dict[str, str]:
    """Short names of ops that a sentence judges: where only the gradient of an op is at fault, its
    name says so.
    """
    names = {op.query: _short(kb, op.query, blamed=_differs_backward_only(op)) for op in ops}
    return _unshared(names)


def shown_elsewhere(see: Mapping[str, str], op: OpAnswer) -> str | None:
    """The ingredient that says what to do about an op of which no record says anything."""
    if op.outcome != "no-known-source":
        return None
    return next((see[name] for name in op.names if name in see), None)


def _unshared(short: dict[str, str]) -> dict[str, str]:
    used = Counter(short.values())
    return {query: name if used[name] == 1 else query for query, name in short.items()}


def _short(kb: KnowledgeBase, query: str, blamed: bool = False) -> str:
    try:
        item = op_syntax.parse(query)
    except UsageError:
        return query
    if item.name.startswith(op_syntax.SUBSCRIPT) or not item.name.replace(".", "").isidentifier():
        return query
    words = [_argument(name, value) for name, value in item.arguments.items()]
    if len(item.directions) == 1:
        words.append(item.directions[0])
    elif blamed:
        words.append("backward")
    pasted = query[query.find("(") :] if "(" in query and not item.arguments else ""
    name = without_overload(kb, item.name).rpartition(".")[2]
    return f"{name} ({', '.join(words)})" if words else name + pasted


def _differs_backward_only(op: OpAnswer) -> bool:
    """Whether only the gradient of an op is nondeterministic."""
    worst = [source for source in op.sources if source.outcome == op.outcome]
    return (
        op.outcome in _SPOILED
        and bool(worst)
        and all(source.direction == ["backward"] for source in worst)
    )


_SPOILED = ("raises", "unsolved", "unknown", "depends")
"""Outcomes that a sentence blames an op for."""


def _argument(name: str, value: str) -> str:
    """``bilinear`` says what it is about; ``4`` and ``true`` do not: ``ndim=4``."""
    speaks = value[:1].isalpha() and value not in ("true", "false", "none")
    return value if speaks else f"{name}={value}"
