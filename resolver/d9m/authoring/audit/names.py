"""Catalogues of public names: does each op exist in the releases that the records say, and is none
left out?
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator

from d9m.authoring.audit.shipped import AuditDifference, Known, Shipped, existing
from d9m.kb.kinds import OPS
from d9m.kb.store import OpEntry
from d9m.model.op_syntax import plain
from d9m.model.records import Existence
from d9m.model.wheel_facts import Catalogue


def differences(known: Known, shipped: Shipped) -> Iterator[AuditDifference]:
    """`op-not-shipped`, `op-shipped-elsewhere` and `namesake-unknown`."""
    for package, catalogue in shipped.catalogues.items():
        yield from _existences(known, shipped, catalogue)
        yield from _namesakes(known, shipped, package)


def _existences(known: Known, shipped: Shipped, catalogue: Catalogue) -> Iterator[AuditDifference]:
    package = catalogue.package
    files = known.of(OPS)
    prefixes = known.kb.meta.prefixes.get(package, {})
    reaching = _reaching(known, package)
    spelled: dict[str, set[str]] = {}
    spaces: dict[str, set[str]] = {}
    for release in catalogue.releases:
        if release in shipped.packages.get(package, {}):
            names = _all_spellings(catalogue.at(release), prefixes)
            spelled[release] = names
            spaces[release] = set(map(_space, names))
    for file in files.values():
        for name, exists in file.ops.items() if file.package == package else ():
            own = _spellings(name, prefixes)
            all_ = own | _all_spellings(reaching.get(name, ()), prefixes)
            own_spaces = set(map(_space, own))
            readable = {release for release in spaces if own_spaces & spaces[release]}
            have = {release for release in readable if own & spelled[release]}
            led = {release for release in readable if all_ & spelled[release]}
            yield from _compared(shipped, package, name, exists, readable, have, led)


def _reaching(known: Known, package: str) -> dict[str, set[str]]:
    """Op -> names that lead to it."""
    found: dict[str, set[str]] = {}
    for entry in _entries(known, package):
        for reached in entry.reaches:
            found.setdefault(reached.op, set()).add(entry.name)
    return found


def _compared(
    shipped: Shipped,
    package: str,
    name: str,
    exists: Existence,
    readable: set[str],
    have: set[str],
    led: set[str],
) -> Iterator[AuditDifference]:
    """`have`: releases with the name itself; `led`: those with any name that leads to the op."""
    said = existing(exists, readable)
    if said - led:
        spans = shipped.spans(package, said - led)
        yield AuditDifference("op-not-shipped", name, spans, f"{package}: no such name in these")
    if have - said:
        spans = shipped.spans(package, have - said)
        yield AuditDifference(
            "op-shipped-elsewhere",
            name,
            spans,
            f"{package}: the name is in these already, or still",
        )


def _namesakes(known: Known, shipped: Shipped, package: str) -> Iterator[AuditDifference]:
    """Public names of which nothing is known, and which are called like an op that has a
    source.
    """
    meeting: dict[str, list[str]] = {}
    for entry in _entries(known, package):
        if any(known.kb.sources_of(package, reached.op) for reached in entry.reaches):
            meeting.setdefault(_last(entry.name), []).append(entry.name)
    start = f"{package}:"
    for place in known.kb.public:
        for name in known.kb.public[place] if place.startswith(start) else ():
            tops = (name.name.partition(".")[0], "")
            namesakes = meeting.get(_last(name.name), [])
            alike = [other for other in namesakes if _top(other) in tops]
            if alike and not name.name.rpartition(".")[2].startswith("_"):
                releases = list(shipped.packages.get(package, {}))
                have = {release for span in name.spans for release in existing(span, releases)}
                detail = f"{package}: no record names it, but {', '.join(sorted(alike))}"
                yield AuditDifference(
                    "namesake-unknown", name.name, shipped.spans(package, have), detail
                )


def _last(name: str) -> str:
    """``ScatterNdAdd`` and ``scatter_nd_add_`` are namesakes."""
    return name.rpartition(".")[2].replace("_", "").lower()


def _top(name: str) -> str:
    """``tf`` of ``tf.nn.conv2d``; nothing of a bare name."""
    return name.partition(".")[0] if "." in name else ""


def _entries(known: Known, package: str) -> Iterator[OpEntry]:
    start = f"{package}:"
    return (known.kb.ops[place] for place in known.kb.ops if place.startswith(start))


def _space(name: str) -> str:
    """Where a name lives. A method's class is not a namespace: catalogues list modules only."""
    return name.rpartition(".")[0]


def _spellings(name: str, prefixes: dict[str, str]) -> set[str]:
    """A name as it is looked up: plain, and with its prefix written out."""
    found = {plain(name)}
    for short, full in prefixes.items():
        if name.startswith(short):
            found.add(plain(full + name[len(short) :]))
    return found


def _all_spellings(names: Iterable[str], prefixes: dict[str, str]) -> set[str]:
    return set[str]().union(*(_spellings(name, prefixes) for name in names))
