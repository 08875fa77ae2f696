"""How an op is called in a sentence: ``F.interpolate:mode=bilinear`` -> ``interpolate
(bilinear)``.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence

from d9m.errors import UsageError
from d9m.model import op_syntax
from d9m.model.advice import OpAnswer


def short_names(ops: Sequence[OpAnswer]) -> dict[str, str]:
    """Query -> its short name; the query itself where two would share a name."""
    short = {op.query: _short(op.query) for op in ops}
    used = Counter(short.values())
    return {query: name if used[name] == 1 else query for query, name in short.items()}


def _short(query: str) -> str:
    try:
        item = op_syntax.parse(query)
    except UsageError:
        return query
    if item.name.startswith(op_syntax.SUBSCRIPT) or not item.name.replace(".", "").isidentifier():
        return query
    words = [_argument(name, value) for name, value in item.arguments.items()]
    if len(item.directions) == 1:
        words.append(item.directions[0])
    pasted = query[query.find("(") :] if "(" in query and not item.arguments else ""
    name = item.name.rpartition(".")[2]
    return f"{name} ({', '.join(words)})" if words else name + pasted


def _argument(name: str, value: str) -> str:
    """``bilinear`` says what it is about; ``4`` and ``true`` do not: ``ndim=4``."""
    speaks = value[:1].isalpha() and value not in ("true", "false", "none")
    return value if speaks else f"{name}={value}"
