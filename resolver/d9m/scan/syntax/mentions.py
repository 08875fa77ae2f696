"""Names that a text mentions: a definition whose name stands nowhere is never called."""

from __future__ import annotations

import ast
import re
from collections.abc import Iterator

import msgspec

from d9m.scan.syntax.expressions import nodes

_WORD = re.compile(r"[A-Za-z_]\w*")
_OPTION = re.compile(r"(?<![\w-])--?([A-Za-z][\w-]*)")
_LONGEST_TEXT = 200
_BETWEEN_VALUES = re.compile(r"[\s\"'`=,:;()\[\]{}<>|]+")


class MentionedWords(msgspec.Struct, frozen=True):
    """What a Python file mentions."""

    names: tuple[str, ...]
    """Names, also in short texts, imports and keywords, but for attributes that it only assigns. A
    definition of the module does not mention itself, unless a decorator or a base class gets hold
    of it.
    """
    texts: tuple[str, ...]
    """Words in short texts, such as the choices of an option, but for the list of what it exports.
    """
    values: tuple[str, ...]
    """What texts may give to something, but for those that are only compared with it."""


def mentions(tree: ast.Module) -> MentionedWords:
    """What a file mentions, found in one walk."""
    names: set[str] = set()
    texts: set[str] = set()
    stated: set[str] = set()
    for statement in tree.body:
        here, words_here, values_here = _mentioned(statement)
        stated |= values_here
        if isinstance(statement, ast.FunctionDef | ast.AsyncFunctionDef | ast.ClassDef):
            here.discard(statement.name)
            if statement.decorator_list or getattr(statement, "bases", ()):
                here.add(statement.name)
        names |= here
        if not (isinstance(statement, ast.Assign) and _is_export(statement.targets[0])):
            texts |= words_here
    return MentionedWords(tuple(sorted(names)), tuple(sorted(texts)), tuple(sorted(stated)))


def _is_export(target: ast.expr) -> bool:
    return isinstance(target, ast.Name) and target.id == "__all__"


def _mentioned(statement: ast.stmt) -> tuple[set[str], set[str], set[str]]:
    """The names in a statement, the words in its short texts, and the values that texts give."""
    names: set[str] = set()
    texts: set[str] = set()
    stated: set[str] = set()
    only_asked: set[int] = set()
    for node in nodes(statement):
        if isinstance(node, ast.Name):
            names.add(node.id)
        elif isinstance(node, ast.Attribute):
            if not isinstance(node.ctx, ast.Store):
                names.add(node.attr)
        elif isinstance(node, ast.alias):
            names.add(node.name.rpartition(".")[2])
        elif isinstance(node, ast.Constant) and isinstance(node.value, str):
            found = _WORD.findall(node.value[:_LONGEST_TEXT])
            names.update(found)
            if len(node.value) <= _LONGEST_TEXT and "\n" not in node.value:
                texts.update(found)
            if id(node) not in only_asked:
                stated.add(node.value[:_LONGEST_TEXT])
                stated.update(values(node.value))
        else:
            only_asked.update(map(id, _asked(node)))
    return names, texts, stated


def _asked(node: ast.AST) -> Iterator[ast.expr]:
    """Texts below a node that state no value: ``kind == "coco"``."""
    if isinstance(node, ast.Compare):
        for part in node.comparators:
            yield from getattr(part, "elts", (part,))
    elif isinstance(node, ast.MatchValue):
        yield node.value


def values(text: str) -> tuple[str, ...]:
    """What a text may give as a value: what stands between blanks, quotes and commas in it.

    >>> values("train.py --data=coco")
    ('coco', 'data', 'train.py')
    """
    return tuple(sorted({part.lstrip("-") for part in _BETWEEN_VALUES.split(text)}))


def words(text: str) -> tuple[str, ...]:
    """Whatever may be a name in a text that is not Python, and the options that it gives."""
    return tuple(sorted({*_WORD.findall(text), *_options(text)}))


def options(text: str) -> tuple[str, ...]:
    """The options of the commands in a text that people read: ``--mix_up`` for ``--mix-up 1``."""
    return tuple(sorted({f"--{name}" for name in _options(text)}))


def _options(text: str) -> set[str]:
    return {name.replace("-", "_") for name in _OPTION.findall(text)}
