"""Files in which Python projects state their dependencies: pyproject.toml, setup.cfg, setup.py,
Pipfile and its lock.
"""

from __future__ import annotations

import ast
import configparser
import re
from collections.abc import Iterator, Mapping
from typing import TypeAlias, cast

import msgspec

from d9m.environment.package_files import requirement
from d9m.files import UNREADABLE
from d9m.scan.file_kinds import Kind

Pair: TypeAlias = tuple[str, str | None]


_CONFLICT = re.compile(r"^<{7} .*$", re.MULTILINE)
_TAB = re.compile(r"^ *\t\s*\S", re.MULTILINE)
_INLINE = re.compile(r"^dependencies:[ \t]*(?!\[\s*\])[^\s#]", re.MULTILINE)
LARGEST_LOCK = 1 << 20
"""Characters of a lock file that is parsed to find faults; a program writes it."""


def parse_fault(kind: Kind, name: str, text: str) -> str:
    """Return why a file that states packages or runs jobs cannot be parsed; empty if it can. A
    template and a part of a script are read like any other.
    """
    if _CONFLICT.search(text):
        return "it holds an unresolved merge conflict"
    if kind != "packages":
        return ""
    if name.endswith((".yml", ".yaml")):
        if _TAB.search(text):
            return "it is not valid YAML: tabs indent it"
        return "its dependencies are not one on a line" if _INLINE.search(text) else ""
    try:
        if name == "Pipfile.lock":
            msgspec.json.decode(text)
        elif name == "setup.cfg":
            configparser.ConfigParser(interpolation=None, strict=False).read_string(text)
        elif name.endswith((".toml", ".lock", "Pipfile")) and len(text) <= LARGEST_LOCK:
            msgspec.toml.decode(text)
    except (*UNREADABLE, configparser.Error):
        return "it is not valid JSON, TOML or INI, which its name says that it is"
    return ""


def pyproject(text: str) -> list[Pair]:
    """Return the dependencies of the project: PEP 621 and its extras, dependency groups, and
    Poetry.
    """
    tree = _toml(text)
    found: list[Pair] = []
    project = _table(tree, "project")
    found += _requirements(project.get("dependencies"))
    for extra in _table(project, "optional-dependencies").values():
        found += _requirements(extra)
    for group in _table(tree, "dependency-groups").values():
        found += _requirements(group)
    poetry = _table(_table(tree, "tool"), "poetry")
    found += _poetry(_table(poetry, "dependencies"))
    for group in _table(poetry, "group").values():
        found += _poetry(_table({"group": group}, "group", "dependencies"))
    return found


def pipfile(text: str) -> list[Pair]:
    tree = _toml(text)
    return [*_poetry(_table(tree, "packages")), *_poetry(_table(tree, "dev-packages"))]


def pipfile_lock(text: str) -> list[Pair]:
    try:
        tree = msgspec.json.decode(text)
    except UNREADABLE:
        return []
    return [*_poetry(_table(tree, "default")), *_poetry(_table(tree, "develop"))]


def setup_cfg(text: str) -> list[Pair]:
    parser = configparser.ConfigParser(interpolation=None, strict=False)
    try:
        parser.read_string(text)
    except configparser.Error:
        return []
    lines = parser.get("options", "install_requires", fallback="").splitlines()
    if parser.has_section("options.extras_require"):
        for _name, value in parser.items("options.extras_require"):
            lines += value.splitlines()
    return _requirements(lines)


def setup_py(text: str) -> list[Pair]:
    """The requirements that are written out in setup.py, which is not run."""
    try:
        tree = ast.parse(text)
    except (SyntaxError, ValueError, RecursionError, MemoryError):
        return []
    found: list[Pair] = []
    for node in ast.walk(tree):
        if isinstance(node, (ast.List, ast.Tuple)) and _is_requirement_list(node):
            found += _requirements([_text(item) for item in node.elts])
    return found


def _is_requirement_list(node: ast.List | ast.Tuple) -> bool:
    """A list of texts, one of which has a comparison, or is a bare name of a package."""
    texts = [_text(item) for item in node.elts]
    return bool(texts) and all(requirement(text) is not None for text in texts)


def _text(node: ast.expr) -> str:
    return node.value if isinstance(node, ast.Constant) and isinstance(node.value, str) else "?"


def _requirements(values: object) -> list[Pair]:
    if not isinstance(values, list):
        return []
    found: list[Pair] = []
    for value in cast("list[object]", values):
        package = requirement(value) if isinstance(value, str) else None
        if package is not None:
            found.append(package)
    return found


def _poetry(table: Mapping[str, object]) -> Iterator[Pair]:
    """Poetry's and Pipenv's tables: ``torch = "^2.1"``, ``torch = {version = "==2.1.0"}``."""
    for name, value in table.items():
        if isinstance(value, dict):
            value = cast("dict[str, object]", value).get("version")
        if isinstance(value, str):
            yield name, poetry_range(value)


def poetry_range(text: str) -> str | None:
    """A version as pip writes it; None where any will do.

    >>> poetry_range("^2.1"), poetry_range("~1.13"), poetry_range("2.4.1"), poetry_range("*")
    ('>=2.1,<3', '>=1.13,<1.14', '2.4.1', None)
    >>> poetry_range("==2.4.1"), poetry_range(">=2.1, <2.4")
    ('2.4.1', '>=2.1,<2.4')
    """
    plain = text.replace(" ", "")
    match = re.fullmatch(r"([\^~])(\d{1,9})(?:\.(\d{1,9}))?(?!\d)(.*)", plain)
    if match is not None and not plain.startswith("~="):
        major, second = int(match[2]), int(match[3] or 0)
        narrow = match[3] and (match[1] == "~" or major == 0)
        end = f"{major}.{second + 1}" if narrow else f"{major + 1}"
        return f">={plain[1:]},<{end}"
    if plain in ("*", ""):
        return None
    pinned = re.fullmatch(r"={2,3}([^,*]+)", plain)
    return pinned[1] if pinned else plain


def _toml(text: str) -> Mapping[str, object]:
    try:
        return msgspec.toml.decode(text)
    except UNREADABLE:
        return {}


def _table(tree: object, *keys: str) -> Mapping[str, object]:
    """The table under these keys; an empty one where there is none."""
    for key in keys:
        tree = cast("dict[str, object]", tree).get(key) if isinstance(tree, dict) else None
    return cast("dict[str, object]", tree) if isinstance(tree, dict) else {}
