"""What stands next to a message, and what the answer to the message leaves open."""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence

import msgspec

from d9m.browse import symptoms
from d9m.browse.explanation import Explanation, paragraphs
from d9m.browse.known_texts import Match
from d9m.kb.store import KnowledgeBase

_FILE = re.compile(r"-packages/(\w+)/[^\s'\"]+\.py:\d+: \w*Warning: $")
"""What Python prints before a warning: the file whose line gave it, in an installed package."""


def added(
    kb: KnowledgeBase, found: Explanation, text: str, matches: Sequence[Match]
) -> Explanation:
    """An answer to the last message of a text, with what else the text says and names."""
    advice = [found.advice, *_said(kb, text, matches), *_of_callers(kb, matches)]
    return msgspec.structs.replace(found, advice="\n\n".join(advice))


def _said(kb: KnowledgeBase, text: str, matches: Sequence[Match]) -> Iterator[str]:
    """What to say of other troubles that stand next to the messages."""
    rest = text
    for match in matches:
        rest = rest.replace(match.text, "\n")
    said = symptoms.groups(kb, rest)
    for group, symptom in kb.word_lists.next_to_message.items():
        if group in said:
            yield from paragraphs(kb.errors[symptom].advice)[:1]


def _of_callers(kb: KnowledgeBase, matches: Sequence[Match]) -> Iterator[str]:
    """The libraries whose code gave a warning and that have differences of their own."""
    homes = {kb.home(source) for source in kb.sources}
    for package in dict.fromkeys(filter(None, (_caller(kb, match) for match in matches))):
        if package in homes and kb.packages[package].kind == "library":
            yield (
                f"The warning comes from code of {kb.packages[package].title}, whose own kernels "
                f"give none: d9m advise --with {package}=VERSION"
            )


def _caller(kb: KnowledgeBase, match: Match) -> str | None:
    """The installed package whose file gave a warning."""
    file = _FILE.search(match.prefix)
    return kb.once("packages by import", lambda: _by_import(kb)).get(file[1]) if file else None


def _by_import(kb: KnowledgeBase) -> dict[str, str]:
    return {name: id_ for id_, package in kb.packages.items() for name in package.imports}
