"""Variables of the environment that a Python program sets."""

from __future__ import annotations

import ast
import re

from d9m.scan.facts import EnvironmentWrite, Written
from d9m.scan.syntax.expressions import nodes
from d9m.scan.syntax.standpoint import Standpoint

ENVIRON = "os.environ"
_EXPORT = re.compile(r"\s*(?:export|set)\s+([A-Za-z_]\w*)=(\S*)\s*;?\s*$")


class Variables:
    """Collects the variables that the calls and assignments of a file set."""

    def __init__(self, here: Standpoint) -> None:
        self._here = here
        self.found: list[EnvironmentWrite] = []

    def assigned(self, node: ast.Assign | ast.AnnAssign, target: ast.Subscript) -> None:
        """``os.environ["NAME"] = "value"``."""
        if self._here.resolve(target.value) != ENVIRON or node.value is None:
            return
        name = _text(target.slice)
        if name is not None:
            self._add(name, node.value, "assigned", node, target.slice)

    def called(self, node: ast.Call, name: str | None) -> None:
        """``setdefault``, ``update``, ``putenv``, and shells that get an export."""
        if name is None:
            return
        if name == f"{ENVIRON}.setdefault" and len(node.args) == 2:
            self._pair(node, node.args[0], node.args[1], "setdefault")
        elif name == "os.putenv" and len(node.args) == 2:
            self._pair(node, node.args[0], node.args[1], "putenv")
        elif name == f"{ENVIRON}.update":
            for part in node.args:
                if isinstance(part, ast.Dict):
                    for key, value in zip(part.keys, part.values, strict=True):
                        if key is not None:
                            self._pair(node, key, value, "update")
            for keyword in node.keywords:
                if keyword.arg is not None:
                    self._add(keyword.arg, keyword.value, "update", node, None)
        elif name == "os.system" and node.args:
            command = _text(node.args[0])
            exported = _EXPORT.match(command) if command is not None else None
            if exported is not None:
                self._write(exported[1], exported[2], "lost", node, None, None)

    def _pair(self, node: ast.Call, key: ast.expr, value: ast.expr, how: Written) -> None:
        name = _text(key)
        if name is not None:
            self._add(name, value, how, node, key)

    def _add(
        self,
        name: str,
        value: ast.expr,
        how: Written,
        node: ast.stmt | ast.expr,
        key: ast.expr | None,
    ) -> None:
        text = _text(value)
        if text is None and isinstance(value, ast.Call) and len(value.args) == 1:
            inner = value.args[0]  # str(0)
            if isinstance(inner, ast.Constant) and self._here.resolve(value.func) == (
                "builtins.str"
            ):
                text = str(inner.value)
        self._write(name, text, how, node, key, value)

    def _write(
        self,
        name: str,
        text: str | None,
        how: Written,
        node: ast.stmt | ast.expr,
        key: ast.expr | None,
        value: ast.expr | None,
    ) -> None:
        here = self._here
        inside = key is not None and isinstance(key, ast.Constant) and key.lineno == key.end_lineno
        plain = isinstance(value, ast.Constant) and isinstance(value.value, str)
        self.found.append(
            EnvironmentWrite(
                name=name,
                value=text,
                how=how,
                place=here.lines.spot(node),
                name_place=here.lines.spot(key) if key is not None and inside else None,
                value_place=here.lines.spot(value) if value is not None and plain else None,
                scope=here.scope,
                arms=here.arms,
                offered=here.offered,
                copies=_copied(value, name),
            )
        )


def _text(node: ast.expr) -> str | None:
    if isinstance(node, ast.Constant) and isinstance(node.value, str):
        return node.value
    return None


def _copied(value: ast.expr | None, name: str) -> str:
    """The variable, if its own old value is part of the new one."""
    if value is None or isinstance(value, ast.Constant):
        return ""
    for part in nodes(value):
        if isinstance(part, ast.Constant) and part.value == name:
            return name
    return ""
