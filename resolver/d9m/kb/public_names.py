"""Public names of the frameworks: which there are besides those that records name, and when.

Wheels were read for one release of each minor release, so a name comes and goes
with a minor release here. A namespace may move to a separate wheel: where nothing of
it is left, that says nothing of its names, and they are taken to be there.
"""

from __future__ import annotations

from collections.abc import Container, Iterable, Iterator, Mapping, Sequence, Set

from d9m.kb.store import PublicName
from d9m.model.op_syntax import plain
from d9m.model.records import Existence
from d9m.model.versions import minor
from d9m.model.wheel_facts import Catalogue


def table(
    catalogues: Iterable[Catalogue],
    prefixes: Mapping[str, Mapping[str, str]],
    recorded: Container[str],
) -> dict[str, tuple[PublicName, ...]]:
    """``package:last part of the name`` -> the names that end so, each with its prefix written out.

    `recorded`: ``package:name`` of those that records name, which are left out.
    """
    found: dict[str, list[PublicName]] = {}
    for catalogue in catalogues:
        package = catalogue.package
        for name in _public_names(catalogue, prefixes.get(package, {}), recorded):
            key = f"{package}:{plain(name.name).rpartition('.')[2]}"
            found.setdefault(key, []).append(name)
    return {key: tuple(sorted(names, key=lambda name: name.name)) for key, names in found.items()}


def _public_names(
    catalogue: Catalogue, prefixes: Mapping[str, str], recorded: Container[str]
) -> Iterator[PublicName]:
    spelled: dict[str, dict[str, frozenset[int]]] = {}
    read: dict[str, frozenset[int]] = {}
    known: set[str] = set()
    for name, places in catalogue.present():
        if _is_public(name):
            full = _written_out(name, prefixes)
            wanted = plain(full)
            space = wanted.rpartition(".")[0]
            spellings = spelled.setdefault(wanted, {})
            spellings[full] = spellings.get(full, frozenset()) | places
            read[space] = read.get(space, frozenset()) | places
            if any(f"{catalogue.package}:{each}" in recorded for each in (wanted, plain(name))):
                known.add(wanted)
    for wanted in spelled.keys() - known:
        spellings = spelled[wanted]
        have = frozenset[int]().union(*spellings.values())
        shown = read[wanted.rpartition(".")[0]]
        silent = frozenset(range(min(shown), len(catalogue.releases))) - shown
        usual = max(
            spellings, key=lambda each: (len(spellings[each]), not each.endswith("_"), each)
        )
        yield PublicName(usual, tuple(spans_of(catalogue.releases, have | silent)))


def _is_public(name: str) -> bool:
    """Not a framework's own business; a tensor's ``__getitem__`` is everybody's."""
    spaces = name.split(".")[:-1]
    return not any(each.startswith("_") for each in spaces)


def _written_out(name: str, prefixes: Mapping[str, str]) -> str:
    for short, full in prefixes.items():
        if name.startswith(short):
            return full + name[len(short) :]
    return name


def spans_of(releases: Sequence[str], present: Set[int]) -> Iterator[Existence]:
    """Runs of releases, by their minor release; open at the ends of what was read."""
    start: str | None = None
    for place, release in enumerate(releases):
        before = place - 1 in present
        if place in present and not before:
            start = minor(release) if place else None
        elif before and place not in present:
            yield Existence(from_=start, until=minor(release))
    if len(releases) - 1 in present:
        yield Existence(from_=start)
