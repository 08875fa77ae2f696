"""Ops that a text names, as the resolver takes them."""

from __future__ import annotations

from collections.abc import Iterable, Sequence

import msgspec

from d9m import api
from d9m.browse import mentions
from d9m.browse.mentions import Mentions, OpMention
from d9m.browse.text_environment import adding, bases, packages_of
from d9m.environment.environment import Setup
from d9m.environment.packages import partners
from d9m.errors import UsageError
from d9m.kb.store import KnowledgeBase
from d9m.model.advice import Advice
from d9m.model.records import Scope
from d9m.resolve.op_lookup import OpItem


def advice_for(kb: KnowledgeBase, setup: Setup, ops: Sequence[str], scope: Scope = "run") -> Advice:
    """The advice for ops of a sentence: one that is not written as a call says nothing of its
    arguments, not even that it leaves them out.
    """
    question = api.understand(kb, setup, ops, scope)
    items: list[OpItem] = []
    for item in question.items:
        if "(" not in item.text:
            calls = tuple(msgspec.structs.replace(op, defaults={}) for op in item.ops)
            item = msgspec.structs.replace(item, ops=calls)
        items.append(item)
    return api.answer(kb, msgspec.structs.replace(question, items=tuple(items)))


def meant_in(
    kb: KnowledgeBase, setup: Setup, named: Mentions
) -> tuple[Setup, dict[str, OpMention]]:
    """The environment with the packages of the ops that are meant, and these ops as the resolver
    takes them.
    """
    known = packages_of(kb, setup)
    near = [op for op in named.ops if op.is_code or _is_near(kb, op, known)]
    at_home: dict[str, None] = {}
    for op in near:
        at_home.update(dict.fromkeys(_homes(kb, op, [*known, *bases(kb, known)])))
    asked = adding(setup, ((home, None) for home in at_home if home not in known))
    meant: dict[str, OpMention] = {}
    for op in near:
        written = _op_called(kb, asked, op, named)
        if written is not None:
            meant[written] = op
    return asked, meant


def _homes(kb: KnowledgeBase, op: OpMention, known: Iterable[str]) -> list[str]:
    """The packages of an op that are meant: named ones, else frameworks, else those after which it
    is called, ``flash_attn_func``, else all that have it.
    """
    return (
        [package for package in op.packages if package in known]
        or mentions.frameworks(op.packages)
        or [package for package in op.packages if _is_called_after(kb, op, package)]
        or list(op.packages)
    )


def _is_called_after(kb: KnowledgeBase, op: OpMention, package: str) -> bool:
    return any(op.name.startswith(f"{name}_") for name in kb.packages[package].imports)


def _is_near(kb: KnowledgeBase, op: OpMention, known: Sequence[str]) -> bool:
    """Whether a plain word is the op of a package that is named, or of one for the framework that
    is named; where none is, of any framework.
    """
    if not mentions.frameworks(known):
        return bool(mentions.frameworks(op.packages)) or any(home in known for home in op.packages)
    return any(not {home, *partners(kb, home)}.isdisjoint(known) for home in op.packages)


def _op_called(kb: KnowledgeBase, setup: Setup, op: OpMention, named: Mentions) -> str | None:
    """An op with the arguments that the text gives it; None where it is none here."""
    given = {**_said(kb, setup, op, named), **named.arguments}
    arguments = ",".join(f"{name}={value}" for name, value in given.items())
    names = [*_names_at_home(kb, op, named), op.name]
    written = [f"{name.removesuffix('()')}[{arguments}]" for name in names] if arguments else []
    return next((text for text in [*written, *names] if _is_op(kb, setup, text)), None)


def _names_at_home(kb: KnowledgeBase, op: OpMention, named: Mentions) -> list[str]:
    """Return a plain name as a call of the libraries that the text names, with their defaults: next
    to torch_scatter ``scatter`` is theirs, and alone the framework's.
    """
    homes = [home for home in op.packages if home in named.packages]
    if "." in op.name or mentions.frameworks(homes):
        return []
    imports = [name for home in homes for name in kb.packages[home].imports[:1]]
    return [f"{name}.{op.name}()" for name in imports]


def _said(kb: KnowledgeBase, setup: Setup, op: OpMention, named: Mentions) -> dict[str, str]:
    """The argument that a word of the text is a value of, if the op differs by it: bilinear."""
    if not named.values or not _is_op(kb, setup, op.name):
        return {}
    deciding: set[str] = set()
    for item in api.understand(kb, setup, [op.name]).items:
        for call in item.ops:
            for op_source in kb.sources_of(call.package, call.name):
                deciding.update(*(pattern.when for pattern in op_source.patterns))
                deciding.update(op_source.source.condition.cuts)
    facts = {name: kb.meta.facts[name] for name in deciding & kb.meta.facts.keys()}
    said = [value for value in named.values if any(value in fact.values for fact in facts.values())]
    if len(said) != 1:
        return {}
    return {name: said[0] for name, fact in facts.items() if said[0] in fact.values}


def _is_op(kb: KnowledgeBase, setup: Setup, name: str) -> bool:
    try:
        api.understand(kb, setup, [name])
    except UsageError:
        return False
    return True
