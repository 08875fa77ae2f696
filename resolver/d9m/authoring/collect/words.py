"""Which texts of a binary or a Python file bear on determinism: messages, variables, flags."""

from __future__ import annotations

import ast
import re
import warnings
from collections.abc import Iterable, Iterator

import msgspec

from d9m.authoring.collect.image import Content

_TOPICS = (
    "DETERMINIS",
    "CUBLAS",
    "CUDNN",
    "AUTOTUN",
    "BATCH_INVARIANT",
    "CBWR",
    "LAUNCH_BLOCKING",
    "NCCL_ALGO",
    "NCCL_PROTO",
    "NUM_INTEROP",
    "NUM_INTRAOP",
    "NUM_THREADS",
    "ONEDNN_OPTS",
    "TF32",
    "XLA_FLAGS",
)
"""Parts of the names of environment variables that decide which kernel runs, in what order, or with
what precision.
"""

_NEEDLES = [*(each.encode() for each in _TOPICS), b"eterminis", b"autotun"]

_VARIABLE = re.compile(r"[A-Z][A-Z0-9]*(?:_[A-Z0-9]+)+")
_ENUMERATOR = re.compile(
    r"(?:UNKNOWN|INVALID)_|(?:CUBLAS|CUBLASLT|CUDNN)_(?!WORKSPACE|LOG|ERRATA|FRONTEND)"
)
"""Values of the libraries' own enumerations, spelt like variables."""
_FLAG = re.compile(r"(?:tf_)?xla_\w*(?:determinis|autotun)\w*")
_MESSAGE = re.compile(r"\b(?:in|non-?)?determinis(?:m|sim|tic|tically)\b", re.IGNORECASE)
_CODE = re.compile(
    r"bool \w*determinis|%\w*determinis|determinis\w*\s?[=:]|\w+\(.*\w\(|Kernel<|::|FromEnvVar"
)
"""Signatures, graph texts and stringified source lines, which are not messages."""
_INLINE_CODE = re.compile(r"`[^`]*`")
_LONGEST_MESSAGE = 600
_QUOTED = re.compile(r"""["']([A-Z][A-Z0-9]*(?:_[A-Z0-9]+)+)["']""")


class FoundWords(msgspec.Struct, frozen=True):
    messages: set[str] = set()
    variables: set[str] = set()
    flags: set[str] = set()

    def add(self, other: FoundWords) -> None:
        self.messages.update(other.messages)
        self.variables.update(other.variables)
        self.flags.update(other.flags)


def in_binary(content: Content, areas: Iterable[tuple[int, int]]) -> FoundWords:
    """Words among the zero-ended texts between the given places."""
    found = FoundWords(set(), set(), set())
    for start, end in areas:
        for needle in _NEEDLES:
            for text in _around(content, needle, start, end):
                _sort(text, found)
    return found


def _around(content: Content, needle: bytes, start: int, end: int) -> Iterator[str]:
    """Every zero-ended text with `needle` in it, if it is plain."""
    place = content.find(needle, start, end)
    while place >= 0:
        low, high = max(start, place - _LONGEST_MESSAGE), min(end, place + _LONGEST_MESSAGE)
        around = bytes(content[low:high])
        first = around.rfind(b"\0", 0, place - low) + 1
        last = around.find(b"\0", place - low)
        text = around[first : last if last >= 0 else None]
        whole = (first > 0 or low == start) and (last >= 0 or high == end)
        if whole and text.isascii() and text.decode().replace("\n", " ").isprintable():
            yield text.decode()
        place = content.find(needle, place + len(needle), end)


def _sort(text: str, found: FoundWords) -> None:
    if is_variable(text):
        found.variables.add(text)
    elif _FLAG.fullmatch(text):
        found.flags.add(text)
    elif " " in text and _MESSAGE.search(text) and not _CODE.search(_INLINE_CODE.sub("", text)):
        found.messages.add(" ".join(text.split()))


def is_variable(text: str) -> bool:
    """Whether this is the name of an environment variable that collectors look for."""
    return (
        _VARIABLE.fullmatch(text) is not None
        and any(topic in text for topic in _TOPICS)
        and not _ENUMERATOR.match(text)
    )


def in_python(source: str) -> FoundWords:
    """Variables that a Python file names, and messages that it raises, warns or logs."""
    variables = {name for name in _QUOTED.findall(source) if is_variable(name)}
    return FoundWords(set(_messages(source)), variables, set(_FLAG.findall(source)))


def _messages(source: str) -> Iterator[str]:
    if not _MESSAGE.search(source):
        return
    tree = parsed(source)
    for node in ast.walk(tree) if tree else ():
        if isinstance(node, ast.Raise) or (isinstance(node, ast.Call) and _tells(node.func)):
            for text in _texts(node):
                if _MESSAGE.search(text) and " " in text and len(text) <= _LONGEST_MESSAGE:
                    yield " ".join(text.split())


def parsed(source: str) -> ast.Module | None:
    """The module; None for a file in another Python's syntax."""
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        try:
            return ast.parse(source)
        except (SyntaxError, ValueError):
            return None


def _tells(function: ast.expr) -> bool:
    name = function.attr if isinstance(function, ast.Attribute) else getattr(function, "id", "")
    return re.search(r"warn|error|info|raise", name, re.IGNORECASE) is not None


def _shown(part: ast.expr) -> str:
    return str(part.value) if isinstance(part, ast.Constant) else "{…}"


def _texts(node: ast.AST) -> Iterator[str]:
    """Texts below a node; a part that is computed is shown as ``{…}``."""
    if isinstance(node, ast.JoinedStr):
        yield "".join(map(_shown, node.values))
    elif isinstance(node, ast.Constant):
        if isinstance(node.value, str):
            yield node.value
    else:
        for child in ast.iter_child_nodes(node):
            yield from _texts(child)
