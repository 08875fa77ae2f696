"""Variables of the environment that a Python program sets."""

from __future__ import annotations

import ast
import re

from d9m.scan.facts import EnvironmentWrite, Written
from d9m.scan.reading.expressions import nodes
from d9m.scan.reading.state import ReadingState

ENVIRON = "os.environ"
_EXPORT = re.compile(r"\s*(?:export|set)\s+([A-Za-z_]\w*)=(\S*)\s*;?\s*$")


class Variables:
    """Collects the variables that the calls and assignments of a file set."""

    def __init__(self, here: ReadingState) -> None:
        self._here = here
        self.found: list[EnvironmentWrite] = []

    def assigned(self, node: ast.stmt, key: ast.expr, value: ast.expr) -> None:
        """``os.environ["NAME"] = "value"``."""
        self._add(key, value, "assigned", node)

    def called(self, node: ast.Call, name: str | None) -> None:
        """``setdefault``, ``update``, ``putenv``, and shells that get an export."""
        if name == f"{ENVIRON}.setdefault" and len(node.args) == 2:
            self._add(node.args[0], node.args[1], "setdefault", node)
        elif name == "os.putenv" and len(node.args) == 2:
            self._add(node.args[0], node.args[1], "putenv", node)
        elif name == f"{ENVIRON}.update":
            for part in node.args:
                if isinstance(part, ast.Dict):
                    for key, value in zip(part.keys, part.values, strict=True):
                        self._add(key, value, "update", node)
            for keyword in node.keywords:
                self._add(keyword.arg, keyword.value, "update", node)
        elif name == "os.system" and node.args:
            exported = _EXPORT.match(_text(node.args[0]) or "")
            if exported is not None:
                self._add(exported[1], ast.Constant(exported[2]), "lost", node)

    def _add(
        self,
        key: ast.expr | str | None,
        value: ast.expr,
        how: Written,
        node: ast.stmt | ast.expr,
    ) -> None:
        name = _text(key) if isinstance(key, ast.expr) else key
        if name is None:
            return
        inside = isinstance(key, ast.Constant) and key.lineno == key.end_lineno
        self.found.append(
            EnvironmentWrite(
                name=name,
                value=_said(value),
                how=how,
                place=self._here.spot(node),
                name_place=self._here.spot(key) if inside and isinstance(key, ast.expr) else None,
                scope=self._here.scope,
                arms=self._here.arms,
                copies=_copied(value, name),
            )
        )


def _text(node: ast.expr) -> str | None:
    said = node.value if isinstance(node, ast.Constant) else None
    return said if isinstance(said, str) else None


def _said(value: ast.expr) -> str | None:
    """A text, also that of ``str(0)``."""
    if isinstance(value, ast.Call) and len(value.args) == 1 and not value.keywords:
        inner = value.args[0]
        if isinstance(value.func, ast.Name) and value.func.id == "str":
            return str(inner.value) if isinstance(inner, ast.Constant) else None
    return _text(value)


def _copied(value: ast.expr, name: str) -> str:
    """The variable, if its own old value is part of the new one."""
    if isinstance(value, ast.Constant):
        return ""
    same = (isinstance(part, ast.Constant) and part.value == name for part in nodes(value))
    return name if any(same) else ""
