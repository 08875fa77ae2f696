"""From the names that a person wrote to the ops that the knowledge base knows."""

from __future__ import annotations

from collections.abc import Iterator, Sequence

import msgspec

from d9m.environment.environment import Environment, fact, fact_value
from d9m.errors import UsageError, nearest, quote
from d9m.kb.store import KnowledgeBase, OpEntry, PublicName, Reached
from d9m.model.op_syntax import Direction, Query, common, plain
from d9m.model.records import Clause, Existence
from d9m.model.versions import within


class OpCall(msgspec.Struct, frozen=True):
    """One op of a query, with what the query and its own name say of the call."""

    package: str
    name: str
    arguments: dict[str, str]
    when: Clause
    directions: tuple[Direction, ...]
    defaults: dict[str, str] = {}
    """What the API gives the arguments that are left out."""


class OpItem(msgspec.Struct, frozen=True):
    """One query item and the ops that it means."""

    text: str
    ops: tuple[OpCall, ...]


def catalogues(kb: KnowledgeBase, environment: Environment) -> list[str]:
    """Packages of the environment whose ops are known."""
    return [name for name in environment.packages if name in kb.meta.prefixes]


def brought_along(kb: KnowledgeBase, query: Query) -> str | None:
    """The add-on package that a name belongs to (``torch_scatter.scatter``)."""
    for prefixes in kb.meta.add_ons.values():
        for prefix, package in prefixes.items():
            if query.name.lower().startswith(prefix.lower()):
                return package
    return None


def find(kb: KnowledgeBase, environment: Environment, query: Query) -> OpItem:
    """The ops that a query item means here.

    Raises UsageError for a name that no framework of the environment has, and
    for arguments that are unknown or contradict the name.
    """
    packages = catalogues(kb, environment)
    entries = [entry for package in packages for entry in _entries(kb, package, query.name)]
    if not entries:
        return _unrecorded(kb, environment, packages, query)
    arguments = _arguments(kb, query)
    present = [entry for entry in entries if _exists(environment, entry.package, entry.exists)]
    reached = [(entry.package, each) for entry in present for each in entry.reaches]
    here = [
        (package, each)
        for package, each in reached
        if _exists(environment, package, kb.get("ops", f"{package}:{each.op}").exists)
    ]
    if not here:
        raise _absent(environment, entries[0].package, [_limits(kb, entries[0])], query)
    fitting = [(package, each) for package, each in here if _fits(each, arguments)]
    if not fitting:
        fixed = ", ".join(f"{name}={value}" for name, value in here[0][1].arguments.items())
        raise UsageError(f"{quote(query.text)} contradicts its own name, which means {fixed}")
    ops = [_asked(package, each, arguments, query) for package, each in fitting]
    return OpItem(
        query.text,
        tuple({(each.package, each.name, str(each.arguments)): each for each in ops}.values()),
    )


def _unrecorded(
    kb: KnowledgeBase, environment: Environment, packages: Sequence[str], query: Query
) -> OpItem:
    """Public names of the frameworks that no record names: ops without a known source. Raises
    UsageError.
    """
    found = [(package, each) for package in packages for each in offered(kb, package, query.name)]
    if not found:
        raise _unknown(kb, environment, packages, query)
    arguments = _arguments(kb, query)
    here = [
        OpCall(package, each.name, arguments, {}, query.directions)
        for package, each in found
        if any(_exists(environment, package, span) for span in each.spans)
    ]
    if not here:
        package, first = found[0]
        raise _absent(environment, package, first.spans, query)
    return OpItem(query.text, tuple(here))


def offered(kb: KnowledgeBase, package: str, name: str) -> list[PublicName]:
    """Public names that a written name may mean: those of its first known spelling, in full or by
    its last parts.
    """
    for spelling in _spellings(name, kb.meta.prefixes[package]):
        wanted = plain(spelling)
        ending: tuple[PublicName, ...] = (
            kb.get("public", f"{package}:{wanted.rpartition('.')[2]}") or ()
        )
        found = [each for each in ending if f".{plain(each.name)}".endswith(f".{wanted}")]
        if found:
            return [each for each in found if plain(each.name) == wanted] or found
    return []


def everything(kb: KnowledgeBase, environment: Environment) -> list[OpItem]:
    """Every catalogued op of the environment that meets a source."""
    items: list[OpItem] = []
    for package in catalogues(kb, environment):
        start = f"{package}:"
        for place in kb.keys("met"):
            entry: OpEntry | None = kb.get("ops", place) if place.startswith(start) else None
            if entry is not None and _exists(environment, package, entry.exists):
                op = OpCall(package, entry.name, {}, {}, entry.reaches[0].directions)
                items.append(OpItem(entry.name, (op,)))
    return items


def _entries(kb: KnowledgeBase, package: str, name: str) -> list[OpEntry]:
    names = _meant(kb, package, name)
    exact = [each for each in names if each == name]
    return [kb.get("ops", f"{package}:{each}") for each in exact or names]


def _meant(kb: KnowledgeBase, package: str, name: str) -> tuple[str, ...]:
    """Names of the catalogue that a written name may mean: those of its first known spelling."""
    for spelling in _spellings(name, kb.meta.prefixes[package]):
        found: tuple[str, ...] | None = kb.get("names", f"{package}:{plain(spelling)}")
        if found:
            return found
    return ()


def _spellings(name: str, prefixes: dict[str, str]) -> Iterator[str]:
    """The name as written, and with each short prefix written out."""
    yield name
    for short, full in prefixes.items():
        if name.lower().startswith(short.lower()):
            yield full + name[len(short) :]


def _arguments(kb: KnowledgeBase, query: Query) -> dict[str, str]:
    stated = {
        name: fact_value(name, fact(kb, name), value) for name, value in query.arguments.items()
    }
    for name, value in query.pasted.items():
        known = kb.meta.facts.get(name)
        if known is not None and known.argument and name not in stated:
            stated[name] = fact_value(name, known, value)
    return stated


def _exists(environment: Environment, package: str, exists: Existence) -> bool:
    """Whether one of the releases in question has the name."""
    return any(within(each, exists) for each in environment.packages[package].candidates.releases)


def _fits(reached: Reached, arguments: dict[str, str]) -> bool:
    return all(arguments.get(name, value) == value for name, value in reached.arguments.items())


def _asked(package: str, reached: Reached, arguments: dict[str, str], query: Query) -> OpCall:
    directions = common(reached.directions, query.directions)
    return OpCall(package, reached.op, {**reached.arguments, **arguments}, reached.when, directions)


def _unknown(
    kb: KnowledgeBase, environment: Environment, packages: Sequence[str], query: Query
) -> UsageError:
    for other in kb.meta.prefixes:
        if other not in packages and _entries(kb, other, query.name):
            title = kb.package(other).title
            asked = ", ".join(environment.packages) or "no framework"
            return UsageError(
                f"{quote(query.name)} is an op of {title}, and the environment has {asked}",
                tip=f"name it too: --with {other}=VERSION",
            )
    if not packages:
        asked = ", ".join(environment.packages) or "nothing"
        return UsageError(
            f"{quote(query.name)}: no ops are known of this environment ({asked})",
            tip="name a framework: "
            + ", ".join(f"--with {name}=VERSION" for name in kb.meta.prefixes),
        )
    given = [
        name
        for name, each in environment.packages.items()
        if each.origin == "given" and name not in packages
    ]
    opless = ", ".join(name for name in given if kb.opless(name))
    tips = [_read(kb, each) for each in packages if each in kb.meta.catalogued]
    tips += (
        [f"what is known of {opless} belongs to no op, and is told without naming one"]
        if opless
        else []
    )
    return UsageError(
        f"unknown op {quote(query.name)} in {', '.join(packages)}",
        nearest=nearest(plain(query.name), _known_names(kb, packages)),
        tip="\n  ".join([*tips, "see: d9m list ops"]),
    )


def _limits(kb: KnowledgeBase, entry: OpEntry) -> Existence:
    """Where the name, or else what it reaches, begins and ends."""
    ops: list[OpEntry] = [kb.get("ops", f"{entry.package}:{each.op}") for each in entry.reaches]
    return next((each.exists for each in (entry, *ops) if each.exists != Existence()), entry.exists)


def _known_names(kb: KnowledgeBase, packages: Sequence[str]) -> Iterator[str]:
    starts = tuple(f"{package}:" for package in packages)
    yield from (each.partition(":")[2] for each in kb.keys("names") if each.startswith(starts))
    for place in kb.keys("public"):
        if place.startswith(starts):
            yield from (each.name for each in kb.get("public", place))


def _read(kb: KnowledgeBase, package: str) -> str:
    first, last = kb.meta.catalogued[package]
    return (
        f"no record names it, and no release of {package} from {first} to {last} has such a "
        "public name"
    )


def _absent(
    environment: Environment, package: str, spans: Sequence[Existence], query: Query
) -> UsageError:
    version = environment.packages[package].version
    return UsageError(f"{quote(query.name)} exists in {package} {told(spans)}, not in {version}")


def told(spans: Sequence[Existence]) -> str:
    """Releases that have a name, in words; empty for all of them."""
    limits = [
        (each.from_ and f"from {each.from_}", each.until and f"before {each.until}")
        for each in spans
    ]
    return " or ".join(" and ".join(filter(None, each)) for each in limits)
