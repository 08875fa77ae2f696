"""Meanings of a written name among the names that are known of a package."""

from __future__ import annotations

from collections.abc import Iterator, Sequence

import msgspec

from d9m.kb.store import KnowledgeBase, OpEntry, PublicName
from d9m.model.op_syntax import RECEIVER, plain


class Meaning(msgspec.Struct, frozen=True):
    """The entries of one package that a name means."""

    entries: tuple[OpEntry, ...] = ()
    """The plainest of them where a bare name could mean several."""
    is_method: bool = False
    """Whether it was called on an object, which is not an argument then."""


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


def is_known(kb: KnowledgeBase, package: str, name: str) -> bool:
    """Whether a package has a name as it is written; quicker than what it means."""
    return bool(_meant(kb, package, name))


def offered(kb: KnowledgeBase, package: str, name: str) -> list[PublicName]:
    """Public names that a written name may mean: those of its first known spelling, in full or by
    its last parts.
    """
    spellings = list(_every_spelling(kb, package, name))
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


def meanings(kb: KnowledgeBase, packages: Sequence[str], name: str) -> list[Meaning]:
    """Return the meanings of a name in each package that has it. Of a bare name, a framework's own
    op comes before a library's.
    """
    found: list[Meaning] = []
    of_frameworks: list[Meaning] = []
    for package in packages:
        each = meaning(kb, package, name)
        if each.entries:
            found.append(each)
            if kb.packages[package].kind == "framework":
                of_frameworks.append(each)
    return of_frameworks if of_frameworks and "." not in name else found


def _entries(
    kb: KnowledgeBase, package: str, names: tuple[str, ...], name: str
) -> tuple[OpEntry, ...]:
    exact = tuple(known for known in names if known == name)
    meant = exact or (names if "." in name else _plainest(kb.meta.plain[package], names, name))
    return tuple(kb.ops[f"{package}:{known}"] for known in meant)


def namesakes(kb: KnowledgeBase, package: str, name: str) -> tuple[OpEntry, ...]:
    """Everything that a name could mean, the plainest first."""
    first = meaning(kb, package, name).entries
    if any(entry.name == name for entry in first):
        return first
    every = (kb.ops[f"{package}:{known}"] for known in _meant(kb, package, name))
    return (*first, *(entry for entry in every if entry not in first))


def _plainest(spaces: Sequence[str], names: tuple[str, ...], name: str) -> tuple[str, ...]:
    """Of several names that end alike the one in the plainest name space; spelled as it was
    written, if one is.
    """
    spelled = [known for known in names if known.rpartition(".")[2] == name]
    for candidates in (spelled, names):
        for space in spaces:
            found = tuple(known for known in candidates if known.rpartition(".")[0] == space[:-1])
            if found:
                return found
    return names


def _meant(kb: KnowledgeBase, package: str, name: str) -> tuple[str, ...]:
    """Names of the catalogue that a written name may mean: those of its first known spelling."""
    for spelling in _every_spelling(kb, package, name):
        found = kb.names.get(f"{package}:{plain(spelling)}")
        if found:
            return found
    return ()


def _every_spelling(kb: KnowledgeBase, package: str, name: str) -> Iterator[str]:
    """The spellings of a name; of an operator, other names for it, too."""
    for spelling in spellings(name, kb.meta.prefixes[package]):
        yield spelling
        yield from _for_operator(kb, package, spelling)


def spellings(name: str, prefixes: dict[str, str]) -> Iterator[str]:
    """The name as written, and with each short prefix written out."""
    yield name
    for short, full in prefixes.items():
        if name.lower().startswith(short.lower()):
            yield full + name[len(short) :]


def _for_operator(kb: KnowledgeBase, package: str, name: str) -> Iterator[str]:
    """Other names for an operator: the one without its overload, then those of the functions that
    call it. ``torch.ops.aten.sum`` and ``torch.sum`` for ``torch.ops.aten.sum.dim_IntList``.
    """
    for space, callers in kb.meta.operators.get(package, {}).items():
        if name.startswith(space):
            operator = name[len(space) :].partition(".")[0]
            yield space + operator
            for caller in callers:
                yield caller + operator


def without_overload(kb: KnowledgeBase, name: str) -> str:
    """The name of an operator without its overload, any other name unchanged.

    >>> from d9m import open_knowledge_base
    >>> without_overload(open_knowledge_base(), "torch.ops.aten.sum.dim_IntList")
    'torch.ops.aten.sum'
    """
    for start in starts_of_operators(kb):
        if name.startswith(start):
            return start + name[len(start) :].partition(".")[0]
    return name


def starts_of_operators(kb: KnowledgeBase) -> tuple[str, ...]:
    """``torch.ops.aten.``, and the prefixes that stand for it: ``aten.``."""
    return kb.once("starts of operators", lambda: _starts_of_operators(kb))


def _starts_of_operators(kb: KnowledgeBase) -> tuple[str, ...]:
    found: list[str] = []
    for package, spaces in kb.meta.operators.items():
        shorts = kb.meta.prefixes[package].items()
        found += [*spaces, *(short for short, full in shorts if full in spaces)]
    return tuple(found)


def _is_method(kb: KnowledgeBase, package: str, name: str) -> bool:
    """Whether a known name is that of a method: ``torch.Tensor.cumsum``, ``Tensor.cumsum``."""
    spaces = kb.meta.methods[package]
    return any(f".{space}".endswith(f".{name.rpartition('.')[0]}.") for space in spaces)


def _called_on_object(kb: KnowledgeBase, name: str) -> str | None:
    """``cumsum`` of ``x.cumsum``; None where it follows the name of a module, not an object."""
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
