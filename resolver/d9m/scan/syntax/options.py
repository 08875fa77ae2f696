"""Options of a command line, as the code that makes them writes them."""

from __future__ import annotations

import ast
from collections.abc import Iterator

from d9m.scan.facts import OptionDefault
from d9m.scan.syntax.expressions import last_name, literal

_WITHOUT_VALUE = {"store_true": "False", "store_false": "True"}
"""Actions of an option that takes no value, each with what it is by default."""


def option_defaults(node: ast.Call) -> Iterator[OptionDefault]:
    """``parser.add_argument("-j", "--num-workers", default=0)``, ``flags.DEFINE_bool("mix", False,
    "…")``.
    """
    given = {part.arg: literal(part.value) for part in node.keywords}
    written = [literal(part) or "" for part in node.args]
    if last_name(node.func).startswith("DEFINE"):
        if len(written) > 1 and written[1]:
            given["default"] = written[1]
        written = written[:1]
    action = (given.get("action") or "").strip("\"'")
    default, named = given.get("default") or _WITHOUT_VALUE.get(action), given.get("dest")
    long = [text for text in written if text.startswith(("'--", '"--'))]
    if default is None and long and not {"default", "required", "nargs"} & given.keys():
        default = "None" if action in ("", "store") else None
    for text in [named] if named else [*long, *written][:1]:
        if default is not None:
            yield OptionDefault(text.strip("\"'-").replace("-", "_"), default)
