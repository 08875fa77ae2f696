"""Packages that a text names, with the releases that it gives of each."""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence

import msgspec

from d9m.errors import UsageError
from d9m.kb.store import KnowledgeBase
from d9m.model.versions import candidates, key

_PACKAGE = re.compile(r"(?<![\w./\\])[A-Za-z][A-Za-z0-9]*(?:[-_.][A-Za-z0-9]+)*")
_VERSION = re.compile(
    r"(?:\.__version__\)?)?['\"]?(?:\s{1,60}(?:framework|(?:versions?|releases?)"
    r"(?:\s(?:used|installed|number|is))?|from))?"
    r"\s{0,60}(?:==|[:=-]|v|(?<=\s)|(?=\d+\.))\s{0,60}['\"]?v?(\d+\.\d+[\w.+]*)",
    re.IGNORECASE,
)
"""The text between a package and its version: ``torch==2.4``, ``PyTorch version: 2.4``, ``tf1.8``,
``torch.__version__ == '2.4'``.
"""

_ANOTHER = re.compile(
    r"\s*(?:,|/|->|→|\band\b|\bto\b|\bor\b|\bvs\b\.?|\bversus\b|\bthan\b)\s*v?(\d+\.\d+[\w.+]*)",
    re.IGNORECASE,
)
"""The text between two versions of the same package: ``1.8.0 and 1.1.0``."""


_COMPARED = re.compile(
    r"\b(?:unlike|others?(?:\s\w+){0,3}\s?(?:\(|like|such as)\s?(?:e\.g\.,?|i\.e\.,?)?"
    r"|(?:something|anything|way|option|switch|setting|equivalent)(?:\s\w+){0,3}\s(?:like|of|to))\s*$",
    re.IGNORECASE,
)
"""The text before a package that others are compared with: ``in other engines (llama.cpp)``."""

_LOOSE = re.compile(
    r"(?:(?P<noun>\bversions?(?:\s(?:used|installed|number|is)){0,2}\s{0,9}[:=]?\s{0,9}v?"
    r"|(?<![\w.@/-])v)"
    r"|\b(?:i'm|i am|we're|we are|still|currently)\s(?:still\s)?(?:on|using|running)\sv?)"
    r"(?P<version>\d+\.\d+[\w.+]*)",
    re.IGNORECASE,
)
"""A version without the name of its package: ``version used: 0.6``, ``I'm on 2.1``."""

_WORD_BEFORE = re.compile(r"([\w+-]+)['\"]?[ \t]{1,9}$")
"""The word before a version, which may be the name of what has it: ``gcc version 9.4``."""

_MODEL = re.compile(r"/[\w.]*[-_\d][\w.-]*")
"""The end of the name of a model, after an organisation's name: ``/all-MiniLM-L6-v2``."""

LONGEST_NAME = 60
"""Characters of a package's name with what may hang on it. A path of a thousand parts is none."""


def find(kb: KnowledgeBase, text: str, everyday: frozenset[str]) -> dict[str, list[str]]:
    """Packages with the releases of each, in the order of the text. A name in everyday use counts
    where a version follows. A package that others are only compared with counts where it is alone.
    """
    found: dict[str, dict[str, None]] = {}
    compared: dict[str, dict[str, None]] = {}
    names = kb.once("package phrases", lambda: _phrases(kb))
    for match in names.pattern.finditer(text):
        package = names.packages[" ".join(match[0].lower().split())]
        named = compared if _is_compared(text, match.start()) else found
        named.setdefault(package, {}).update(dict.fromkeys(_versions(text, match.end())))
    rest = names.pattern.sub(lambda match: " " * len(match[0]), text)
    for match in _PACKAGE.finditer(rest):
        if _MODEL.match(rest, match.end()):
            continue
        for name in _spellings(match[0]):
            package = kb.find_package(name)
            if package is None or (package in kb.meta.platforms and name != match[0]):
                continue
            stated = dict.fromkeys(_versions(rest, match.start() + len(name)))
            if stated or name.lower() not in everyday:
                named = compared if _is_compared(text, match.start()) else found
                named.setdefault(package, {}).update(stated)
            break
    known = {package: list(versions) for package, versions in (found or compared).items()}
    return _with_loose(kb, text, known)


def _is_compared(text: str, at: int) -> bool:
    return _COMPARED.search(text, max(0, at - LONGEST_NAME), at) is not None


def _with_loose(kb: KnowledgeBase, text: str, named: dict[str, list[str]]) -> dict[str, list[str]]:
    """Return the packages with a version without a name, where only one of them has it."""
    known = {version for versions in named.values() for version in versions}
    loose = [version for version in _loose(kb, text) if version not in known]
    without = [
        package
        for package, versions in named.items()
        if not versions and package not in kb.meta.platforms and listed(kb, package, loose)
    ]
    if len(without) != 1 or len(listed(kb, without[0], loose)) < len(loose):
        return named
    return {**named, without[0]: loose}


def _loose(kb: KnowledgeBase, text: str) -> list[str]:
    """The versions of a text of which none says what has it."""
    found: dict[str, None] = {}
    for match in _LOOSE.finditer(text):
        before = _WORD_BEFORE.search(text, max(0, match.start() - LONGEST_NAME), match.start())
        is_named = before is not None and before[1].lower() not in kb.word_lists.empty
        if match["noun"] is None or not is_named:
            found[match["version"].rstrip(".")] = None
    return list(found)


class _Phrases(msgspec.Struct, frozen=True, eq=False):
    """The names that sentences use for packages."""

    packages: dict[str, str]
    pattern: re.Pattern[str]


def _phrases(kb: KnowledgeBase) -> _Phrases:
    packages: dict[str, str] = {}
    for name, package in kb.packages.items():
        packages.update(dict.fromkeys(package.synonyms, name))
    longest_first = sorted(packages, key=len, reverse=True)
    written = [r"\s{1,9}".join(map(re.escape, phrase.split())) for phrase in longest_first]
    either = "|".join(written) or r"(?!)"
    pattern = rf"(?<![\w.-])(?:{either})(?!\w)(?!{_MODEL.pattern})"
    return _Phrases(packages, re.compile(pattern, re.IGNORECASE))


def listed(kb: KnowledgeBase, package: str, versions: Sequence[str]) -> list[str]:
    """Those of some versions that the knowledge base lists, oldest first."""
    found: dict[str, tuple[int, ...]] = {}
    for version in versions:
        try:
            releases = candidates(package, version, kb.releases(package)).releases
        except UsageError:
            continue
        if releases:
            found[version] = key(releases[-1])
    return sorted(found, key=found.__getitem__)


def is_older(kb: KnowledgeBase, package: str, version: str) -> bool:
    """Whether a version came before all that the knowledge base lists."""
    numbers = tuple(int(number[:9]) for number in re.findall(r"\d+", version)[:2])
    first = next(iter(kb.releases(package)), None)
    return first is not None and numbers < key(first)[:2]


def _versions(text: str, at: int) -> Iterator[str]:
    match = _VERSION.match(text, at)
    while match is not None:
        yield match[1].rstrip(".+")
        match = _ANOTHER.match(text, match.start(1) + len(match[1].rstrip(".+")))


def _spellings(name: str) -> Iterator[str]:
    """A name as written, and without what hangs on it: ``torch-2``, ``tf1.8``,
    ``flash_attn.layers``.
    """
    yield name
    for cut in range(min(len(name), LONGEST_NAME) - 1, 1, -1):
        if name[cut] in ".-" or (name[cut].isdigit() and name[cut - 1].isalpha()):
            yield name[:cut]
