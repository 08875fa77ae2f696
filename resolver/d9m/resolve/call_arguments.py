"""The facts that a call decides: by its arguments, and by those that it leaves to its API."""

from __future__ import annotations

from collections.abc import Mapping, Sequence, Set

import msgspec

from d9m.environment.environment import Environment
from d9m.kb.store import KnowledgeBase, OpEntry
from d9m.model.literals import value
from d9m.model.records import Fact
from d9m.model.signatures import (
    Arguments,
    Signature,
    bind,
    decide_facts,
    drop_first,
    given_parameters,
    parameter_names,
)


class CallFacts(msgspec.Struct, frozen=True):
    """The facts of one call, in every release of an environment alike."""

    given: dict[str, str] = {}
    """Decided by arguments."""
    defaults: dict[str, str] = {}
    """Decided by the defaults of arguments that are left out."""
    unread: frozenset[str] = frozenset()
    """Facts of arguments whose value the text does not say, such as ``mode=self.mode``."""


def call_facts(
    kb: KnowledgeBase,
    environment: Environment,
    entry: OpEntry,
    call: Arguments | None,
    is_method: bool,
) -> CallFacts:
    """Return the facts of a call of this name; without a call, what the name alone does.

    Where releases read a call differently, it says what they agree on.
    """
    written = call or Arguments()
    stated = signatures(kb, environment, entry, is_method)
    if not stated:
        found = _of_keywords(kb.meta.facts, written)
    else:
        found = _agreed([_reading(kb, signature, written) for signature in stated])
    silent = entry.defaults.keys() - found.given.keys() - found.unread
    own = {name: entry.defaults[name] for name in silent}
    return msgspec.structs.replace(found, defaults={**found.defaults, **own})


def signatures(
    kb: KnowledgeBase, environment: Environment, entry: OpEntry, is_method: bool
) -> list[Signature]:
    """How a name is called in the releases of the environment, each once. A mere alias is called
    as what it stands for; a name in a message is not called.
    """
    if entry.is_message:
        return []
    names = [f"{space}{entry.name.rpartition('.')[2]}" for space in _spaces(kb, entry, is_method)]
    names.append(entry.name)
    if not entry.catalogued and len(entry.reaches) == 1:
        names.append(entry.reaches[0].op)
    releases = environment.packages[entry.package].candidates.releases
    for name in names:
        found = kb.signatures_in(entry.package, name, releases)
        if found and is_method and name == entry.name and not _is_method(kb, entry):
            return [_without_object(signature) for signature in found]
        if found:
            return found
    return []


def takes(
    kb: KnowledgeBase, environment: Environment, entry: OpEntry, is_method: bool, name: str
) -> bool:
    """Whether a call of this name has a parameter, in some release of the environment."""
    for signature in signatures(kb, environment, entry, is_method):
        for overload in signature.overloads:
            if name in parameter_names(overload):
                return True
    return False


def _is_method(kb: KnowledgeBase, entry: OpEntry) -> bool:
    return entry.name.startswith(kb.meta.methods[entry.package])


def _without_object(signature: Signature) -> Signature:
    overloads = tuple(drop_first(overload) for overload in signature.overloads)
    return msgspec.structs.replace(signature, overloads=overloads)


def _spaces(kb: KnowledgeBase, entry: OpEntry, is_method: bool) -> tuple[str, ...]:
    return kb.meta.methods[entry.package] if is_method else ()


def _reading(kb: KnowledgeBase, signature: Signature, call: Arguments) -> CallFacts:
    """Return the facts of a call in one release; those of a bare name are cached."""
    if call.positional or call.keywords:
        return _read(kb.meta.facts, signature, call)
    return kb.once(("name alone", signature), lambda: _read(kb.meta.facts, signature, call))


def _read(facts: Mapping[str, Fact], signature: Signature, call: Arguments) -> CallFacts:
    bound = bind(signature, call.positional, call.keywords)
    named = given_parameters(signature, call.positional, call.keywords)
    given = decide_facts(facts, {name: said for name, said in bound.items() if name in named})
    left = {name: said for name, said in bound.items() if name not in named}
    unread = _asked_of(facts, named) - given.keys()
    defaults = decide_facts(facts, left)
    silent = defaults.keys() - given.keys() - unread
    return CallFacts(given, {name: defaults[name] for name in silent}, unread)


def _of_keywords(facts: Mapping[str, Fact], call: Arguments) -> CallFacts:
    """Return the facts of the keywords of a call without a known signature."""
    given = decide_facts(facts, {name: value(said) for name, said in call.keywords.items()})
    return CallFacts(given, {}, _asked_of(facts, call.keywords.keys()) - given.keys())


def _asked_of(facts: Mapping[str, Fact], parameters: Set[str]) -> frozenset[str]:
    return frozenset(name for name, fact in facts.items() if fact.parameters.keys() & parameters)


def _agreed(readings: list[CallFacts]) -> CallFacts:
    first, *others = readings
    if not others:
        return first
    given = _alike(first.given, [other.given for other in others])
    defaults = _alike(first.defaults, [other.defaults for other in others])
    unread = frozenset[str]().union(*(reading.unread for reading in readings))
    return CallFacts(given, defaults, unread)


def _alike(first: Mapping[str, str], others: Sequence[Mapping[str, str]]) -> dict[str, str]:
    """Return the facts of all of them."""
    found = dict(first)
    for other in others:
        for name, said in first.items():
            if other.get(name) != said:
                found.pop(name, None)
    return found
