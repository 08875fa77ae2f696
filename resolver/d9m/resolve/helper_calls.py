"""Calls that set things on the user's behalf, and which of them somebody wrote."""

from __future__ import annotations

import re
from collections.abc import Sequence

import msgspec

from d9m.environment.environment import Environment
from d9m.errors import UsageError, nearest, quote
from d9m.kb.store import KnowledgeBase
from d9m.model.records import Helper
from d9m.model.signatures import arguments


class Call(msgspec.Struct, frozen=True):
    """A call, as the knowledge base knows it."""

    id: str
    home: str
    """Package that it comes with."""
    helper: Helper


_CALL = re.compile(r"\s*(?P<name>[\w.\-/=]+)\s*(?P<arguments>\(.*\))?\s*", re.DOTALL)
_LONGEST = 500


def find(kb: KnowledgeBase, packages: Sequence[str], text: str) -> Call:
    """The call that somebody wrote: ``seed_everything``, ``Trainer(deterministic=True)``, with any
    further arguments.

    Where several packages have it, that of the named `packages` is meant. Raises UsageError.
    """
    every = [call(kb, id_) for id_ in kb.keys("helpers")]
    named = [
        each
        for each in every
        if text.strip().lower() in (each.id, *map(str.lower, spellings(each)))
    ]
    written = _CALL.fullmatch(text) if len(text) <= _LONGEST else None
    if written is None and not named:
        raise UsageError(
            f"{quote(text)} is no call", allowed=["seed_everything", "Trainer(deterministic=True)"]
        )
    if written is not None and not named:
        named = _best(every, written["name"], written["arguments"])
    found = [each for each in named if each.home in packages] or named
    if len(found) == 1:
        return found[0]
    if found:
        raise UsageError(
            f"{quote(text)} may be any of {len(found)}",
            allowed=[each.helper.call for each in found],
        )
    near = _nearest(
        text.partition("(")[0].strip(), [spelling for each in every for spelling in spellings(each)]
    )
    raise UsageError(f"unknown call {quote(text)}", nearest=near, tip="see: d9m list helpers")


def spellings(wanted: Call) -> tuple[str, ...]:
    """A call as people write it, the usual way first."""
    return (wanted.helper.call, *wanted.helper.aliases)


def call(kb: KnowledgeBase, id_: str) -> Call:
    """The call with this id."""
    return Call(id_, kb.meta.folders.get(id_.partition("/")[0], ""), kb.get("helpers", id_))


def must_exist(environment: Environment, wanted: Call) -> None:
    """Raises UsageError where no release in question has the call."""
    if wanted.home and not environment.holding(wanted.helper.when):
        version = environment.packages[wanted.home].version
        raise UsageError(
            f"{wanted.home} {version or ''} has no {wanted.helper.call}".replace("  ", " ")
        )


def _nearest(name: str, spellings: Sequence[str]) -> list[str]:
    """Calls with a name like this one, with or without what comes before the last dot."""
    ends = {each.partition("(")[0].rpartition(".")[2]: each for each in spellings}
    found = [
        *nearest(name, spellings),
        *(ends[each] for each in nearest(name.rpartition(".")[2], ends)),
    ]
    return list(dict.fromkeys(found))[:3]


def _best(every: Sequence[Call], name: str, arguments: str | None) -> list[Call]:
    """Calls of this name whose arguments were written; those that ask for the most."""
    named = [
        (each, asked)
        for each in every
        for spelling in spellings(each)
        if (asked := _asked(spelling, name))
    ]
    given = _arguments(arguments or "()")
    fitting = [(each, asked) for each, asked in named if asked.items() <= given.items()]
    if not fitting and arguments is None:  # the bare name of a call that always has arguments
        return list({each.id: each for each, _asked in named}.values())
    most = max((len(asked) for _each, asked in fitting), default=0)
    return list({each.id: each for each, asked in fitting if len(asked) == most}.values())


def _asked(spelling: str, name: str) -> dict[str, str]:
    """The name and arguments that make a spelling this call and no other; empty for another name.

    A number or a variable stands for any value (``seed=0``, ``seed=seed``).
    """
    known, bracket, rest = spelling.partition("(")
    if not f".{known}".lower().endswith(f".{name}".lower()):
        return {}
    asked = {each: value for each, value in _arguments(bracket + rest).items() if value != each}
    return {"": "", **{each: value for each, value in asked.items() if not value.isdigit()}}


def _arguments(text: str) -> dict[str, str]:
    """Keyword arguments, and texts without a keyword (``"error"``); of anything, the empty one."""
    written = arguments(text[1:].rpartition(")")[0])
    keywords = {name.lower(): _literal(said) for name, said in written.keywords.items()}
    texts = [_literal(said) for said in written.positional if said[:1] in "\"'"]
    return {"": "", **keywords, **{f"{said!r}": said for said in texts}}


def _literal(text: str) -> str:
    return text.strip("\"'").lower()
