"""Calls that set things on the user's behalf, and which of them somebody wrote."""

from __future__ import annotations

import re
from collections.abc import Sequence

import msgspec

from d9m.environment import Environment
from d9m.failures import UsageError, nearest, quote
from d9m.kb.tables import KnowledgeBase
from d9m.query import keywords
from d9m.records import Helper


class Call(msgspec.Struct, frozen=True):
    """A call, as the knowledge base knows it."""

    id: str
    home: str
    """Package that it comes with."""
    helper: Helper


_CALL = re.compile(r"\s*(?P<name>[\w.\-/=]+)\s*(?P<arguments>\(.*\))?\s*", re.DOTALL)
_LONGEST = 500


def find(kb: KnowledgeBase, packages: Sequence[str], text: str) -> Call:
    """The call that somebody wrote: ``seed_everything``, ``Trainer(deterministic=True)``, with any further arguments.

    Where several packages have it, that of the named `packages` is meant. Raises UsageError.
    """
    written = _CALL.fullmatch(text) if len(text) <= _LONGEST else None
    if written is None:
        raise UsageError(f"{quote(text)} is no call", allowed=["seed_everything", "Trainer(deterministic=True)"])
    every = [call(kb, id_) for id_ in kb.keys("helpers")]
    named = [each for each in every if each.id == text] or _best(every, written["name"], written["arguments"])
    found = [each for each in named if each.home in packages] or named
    if len(found) == 1:
        return found[0]
    if found:
        raise UsageError(f"{quote(text)} may be any of {len(found)}", allowed=[each.helper.call for each in found])
    spellings = [spelling for each in every for spelling in (each.helper.call, *each.helper.aliases)]
    raise UsageError(
        f"unknown call {quote(text)}", nearest=_nearest(written["name"], spellings), tip="see: d9m list helpers"
    )


def call(kb: KnowledgeBase, id_: str) -> Call:
    """The call with this id."""
    return Call(id_, kb.meta.folders.get(id_.partition("/")[0], ""), kb.get("helpers", id_))


def must_exist(environment: Environment, wanted: Call) -> None:
    """Raises UsageError where no release in question has the call."""
    if wanted.home and not environment.holding(wanted.helper.when):
        version = environment.packages[wanted.home].version
        raise UsageError(f"{wanted.home} {version or ''} has no {wanted.helper.call}".replace("  ", " "))


def _nearest(name: str, spellings: Sequence[str]) -> list[str]:
    """Calls with a name like this one, with or without what comes before the last dot."""
    ends = {each.partition("(")[0].rpartition(".")[2]: each for each in spellings}
    found = [*nearest(name, spellings), *(ends[each] for each in nearest(name.rpartition(".")[2], ends))]
    return list(dict.fromkeys(found))[:3]


def _best(every: Sequence[Call], name: str, arguments: str | None) -> list[Call]:
    """Calls of this name whose arguments were written; those that ask for the most."""
    given = keywords(arguments[1:-1]) if arguments is not None else {}
    fitting = [
        (len(asked), each)
        for each in every
        for spelling in (each.helper.call, *each.helper.aliases)
        if (asked := _asked(spelling, name)) is not None and asked.items() <= given.items()
    ]
    if not fitting and arguments is None:  # the bare name of a call that always has arguments
        fitting = [
            (0, each)
            for each in every
            if any(_asked(spelling, name) is not None for spelling in (each.helper.call, *each.helper.aliases))
        ]
    most = max((number for number, _each in fitting), default=0)
    return list({each.id: each for number, each in fitting if number == most}.values())


def _asked(spelling: str, name: str) -> dict[str, str] | None:
    """The arguments that make a spelling this call and no other; None for another name.

    A number or a variable stands for any value (``seed=0``, ``seed=seed``).
    """
    known, _, rest = spelling.partition("(")
    if not f".{known}".lower().endswith(f".{name}".lower()):
        return None
    arguments = keywords(rest.rpartition(")")[0])
    return {each: value for each, value in arguments.items() if value != each and not value.isdigit()}
