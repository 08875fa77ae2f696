"""What the tests share: the knowledge base, the golden cases, and the documents that both quote."""

from __future__ import annotations

import functools
import json
from pathlib import Path
from typing import Any

from d9m.kb import build, yaml_files
from d9m.kb.store import KnowledgeBase

TESTS = Path(__file__).parent
KB = TESTS.parent / "kb"
CASES = TESTS / "cases"


@functools.cache
def records() -> yaml_files.Records:
    return yaml_files.load(KB)


@functools.cache
def knowledge_base() -> KnowledgeBase:
    return build.build(records())


def flat(text: str) -> str:
    """Text with each run of white space as one blank."""
    return " ".join(text.split())


@functools.cache
def seed(number: str) -> str:
    """Flat text of a seed document."""
    return flat((TESTS / "seeds" / f"{number}.txt").read_text(encoding="utf-8"))


@functools.cache
def _fact_text(name: str) -> str:
    return flat((TESTS / "facts" / name).read_text(encoding="utf-8"))


@functools.cache
def _fact_values(name: str) -> Any:
    return json.loads((TESTS / "facts" / name).read_text(encoding="utf-8"))


def unfounded(because: dict[str, Any]) -> str | None:
    """What is wrong with a reference to a document, if anything: the quote or the value must stand
    there.
    """
    try:
        if because.keys() == {"seed", "quote"}:
            return _unquoted(because["quote"], seed(because["seed"]))
        if because.keys() == {"fact", "quote"} and because["fact"].endswith(".md"):
            return _unquoted(because["quote"], _fact_text(because["fact"]))
        if because.keys() == {"fact", "at", "value"} and because["fact"].endswith(".json"):
            return _unequal(because)
    except OSError as error:
        return str(error)
    return f"not a reference to a seed or a fact: {because}"


def _unquoted(quote: str, text: str) -> str | None:
    return None if quote.strip() and flat(quote) in text else f"no such text: {quote!r}"


def _unequal(because: dict[str, Any]) -> str | None:
    found = _fact_values(because["fact"])
    try:
        for step in because["at"]:
            found = found[step]
    except (KeyError, IndexError, TypeError):
        return f"{because['fact']} has nothing at {because['at']}"
    if isinstance(found, (dict, list)):
        return f"{because['fact']} holds no single value at {because['at']}"
    return (
        None
        if found == because["value"]
        else f"{because['fact']} at {because['at']} is {found!r}, not {because['value']!r}"
    )
