"""Options of a command line, as the code that makes them writes them."""

from __future__ import annotations

import ast
from collections.abc import Iterator

from d9m.scan.expressions import literal
from d9m.scan.facts import OptionDefault


def option_defaults(node: ast.Call) -> Iterator[OptionDefault]:
    """``parser.add_argument("-j", "--num-workers", default=0)``."""
    given = {part.arg: literal(part.value) for part in node.keywords}
    default, named = given.get("default"), given.get("dest")
    written = [literal(part) or "" for part in node.args]
    long = [text for text in written if text.startswith(("'--", '"--'))]
    for text in [named] if named else [*long, *written][:1]:
        if default is not None:
            yield OptionDefault(text.strip("\"'-").replace("-", "_"), default)
