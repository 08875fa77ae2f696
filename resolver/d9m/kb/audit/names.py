"""Catalogues of public names: does each op exist in the releases that the records say?"""

from __future__ import annotations

from collections.abc import Iterator

from d9m.kb.audit.shipped import Difference, Known, Shipped, existing
from d9m.query import plain
from d9m.records import Existence, OpFile


def differences(known: Known, shipped: Shipped) -> Iterator[Difference]:
    """`op-not-shipped` and `op-shipped-elsewhere`."""
    files: dict[str, OpFile] = known.of("ops")
    for package, catalogue in shipped.catalogues.items():
        prefixes = known.kb.meta.prefixes.get(package, {})
        spelled = {
            release: {each for name in catalogue.at(release) for each in _spellings(name, prefixes)}
            for release in catalogue.releases
            if release in shipped.packages.get(package, {})
        }
        spaces = {release: {name.rpartition(".")[0] for name in names} for release, names in spelled.items()}
        for file in files.values():
            for name, exists in file.ops.items() if file.package == package else ():
                ours = _spellings(name, prefixes)
                readable = {release for release, names in spaces.items() if any(_space(each) in names for each in ours)}
                have = {release for release in readable if ours & spelled[release]}
                yield from _compared(shipped, package, name, exists, readable, have)


def _compared(
    shipped: Shipped, package: str, name: str, exists: Existence, readable: set[str], have: set[str]
) -> Iterator[Difference]:
    said = existing(exists, readable)
    if said - have:
        spans = shipped.spans(package, said - have)
        yield Difference("op-not-shipped", name, spans, f"{package}: no such name in these")
    if have - said:
        spans = shipped.spans(package, have - said)
        yield Difference("op-shipped-elsewhere", name, spans, f"{package}: the name is in these already, or still")


def _space(name: str) -> str:
    """Where a name lives. A method's class is no namespace: catalogues list modules only."""
    return name.rpartition(".")[0]


def _spellings(name: str, prefixes: dict[str, str]) -> set[str]:
    """A name as it is looked up: plain, and with its prefix written out."""
    written_out = [full + name[len(short) :] for short, full in prefixes.items() if name.startswith(short)]
    return {plain(each) for each in (name, *written_out)}
