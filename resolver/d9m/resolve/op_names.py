"""What a written name may mean among the names that are known of a package."""

from __future__ import annotations

from collections.abc import Iterator

import msgspec

from d9m.kb.store import KnowledgeBase, OpEntry, PublicName
from d9m.model.op_syntax import RECEIVER, plain


class Meaning(msgspec.Struct, frozen=True):
    """The entries of one package that a name means."""

    entries: tuple[OpEntry, ...] = ()
    is_method: bool = False
    """Whether it was called on an object, which is no argument then."""


def meaning(kb: KnowledgeBase, package: str, name: str) -> Meaning:
    """The entries that a name means: the one that is spelled so, else those of its first known
    spelling, else the methods of this name.
    """
    names = _meant(kb, package, name)
    if names:
        return Meaning(_entries(kb, package, names, name), _is_method(kb, package, name))
    method = _called_on_object(kb, name)
    if method is None:
        return Meaning()
    for space in (*kb.meta.methods[package], ""):
        if names := _meant(kb, package, space + method):
            return Meaning(_entries(kb, package, names, space + method), True)
    return Meaning()


def offered(kb: KnowledgeBase, package: str, name: str) -> list[PublicName]:
    """Public names that a written name may mean: those of its first known spelling, in full or by
    its last parts.
    """
    spellings = list(_spellings(name, kb.meta.prefixes[package]))
    method = _called_on_object(kb, name)
    if method is not None:
        spellings += [space + method for space in kb.meta.methods[package]]
    for spelling in spellings:
        wanted = plain(spelling)
        ending: tuple[PublicName, ...] = (
            kb.public.get(f"{package}:{wanted.rpartition('.')[2]}") or ()
        )
        found = [public for public in ending if f".{plain(public.name)}".endswith(f".{wanted}")]
        if found:
            return [public for public in found if plain(public.name) == wanted] or found
    return []


def _entries(
    kb: KnowledgeBase, package: str, names: tuple[str, ...], name: str
) -> tuple[OpEntry, ...]:
    exact = [known for known in names if known == name]
    return tuple(kb.ops[f"{package}:{known}"] for known in exact or names)


def _meant(kb: KnowledgeBase, package: str, name: str) -> tuple[str, ...]:
    """Names of the catalogue that a written name may mean: those of its first known spelling."""
    for spelling in _spellings(name, kb.meta.prefixes[package]):
        found = kb.names.get(f"{package}:{plain(spelling)}")
        if found:
            return found
    return ()


def _spellings(name: str, prefixes: dict[str, str]) -> Iterator[str]:
    """The name as written, and with each short prefix written out."""
    yield name
    for short, full in prefixes.items():
        if name.lower().startswith(short.lower()):
            yield full + name[len(short) :]


def _is_method(kb: KnowledgeBase, package: str, name: str) -> bool:
    """Whether a known name is that of a method: ``torch.Tensor.cumsum``, ``Tensor.cumsum``."""
    spaces = kb.meta.methods[package]
    return any(f".{space}".endswith(f".{name.rpartition('.')[0]}.") for space in spaces)


def _called_on_object(kb: KnowledgeBase, name: str) -> str | None:
    """``cumsum`` of ``x.cumsum``; None where what stands before it is a module, not an object."""
    head, dot, rest = name.partition(".")
    if name.startswith(RECEIVER):
        return name.rpartition(".")[2]
    return rest.rpartition(".")[2] if dot and head.lower() not in modules(kb) else None


def modules(kb: KnowledgeBase) -> frozenset[str]:
    """First words of names that are modules, not objects, in lower case."""
    return kb.once("modules", lambda: frozenset(_module_names(kb)))


def _module_names(kb: KnowledgeBase) -> Iterator[str]:
    starts = list(kb.meta.aliases)
    for prefixes in (*kb.meta.prefixes.values(), *kb.meta.add_ons.values()):
        starts += [*prefixes, *prefixes.values()]
    for start in starts:
        yield start.partition(".")[0].lower().replace("-", "_")
