"""From the names that a person wrote to the ops that the knowledge base knows."""

from __future__ import annotations

import functools
from collections.abc import Iterable, Sequence

import msgspec

from d9m.environment.environment import Environment, fact, fact_value
from d9m.errors import UsageError, nearest, quote
from d9m.kb.store import WHOLE, KnowledgeBase, OpEntry, PublicName, Reached
from d9m.model import op_syntax
from d9m.model.literals import kind, value
from d9m.model.op_syntax import Direction, Query, common
from d9m.model.records import Existence
from d9m.model.signatures import Arguments, decide_facts
from d9m.model.versions import key, within
from d9m.model.when import Clause
from d9m.resolve import op_names
from d9m.resolve.call_arguments import CallFacts, call_facts, takes
from d9m.resolve.op_names import meanings, offered
from d9m.resolve.unknown_ops import unknown_op


class OpCall(msgspec.Struct, frozen=True):
    """One op of a query, with what the query and its own name say of the call."""

    package: str
    name: str
    arguments: dict[str, str]
    when: Clause
    directions: tuple[Direction, ...]
    defaults: dict[str, str] = {}
    """Values that the API gives the arguments that are left out."""
    exists: tuple[Existence, ...] = ()
    """Releases that have the op and the name that was asked."""


class OpItem(msgspec.Struct, frozen=True):
    """One query item and the ops that it means."""

    text: str
    ops: tuple[OpCall, ...]
    lacks: str | None = None
    """Why it means none here: the releases that have the name, and the one in question."""
    could_mean: tuple[str, ...] = ()
    """Other ops of that bare name, which have their own records."""
    is_listed: bool = False
    """Whether the question names no ops, and gets this one with all others."""


class _Path(msgspec.Struct, frozen=True):
    """One way from a name to an op."""

    entry: OpEntry
    target: Reached
    said: CallFacts
    """The facts of the call of the name."""


def catalogues(kb: KnowledgeBase, environment: Environment) -> list[str]:
    """Packages of the environment whose ops are known."""
    return [name for name in environment.packages if name in kb.meta.prefixes]


def is_add_on(kb: KnowledgeBase, environment: Environment, package: str) -> bool:
    """Whether the user names a package that is there for a few ops next to a framework:
    FlashAttention.
    """
    if package not in kb.meta.stands_for or environment.packages[package].origin != "given":
        return False
    return any(kb.packages[name].kind == "framework" for name in environment.packages)


def brought_along(kb: KnowledgeBase, query: Query, named: Sequence[str] = ()) -> str | None:
    """The add-on package that a name belongs to (``torch_scatter.scatter``), unless one of those
    that the question names has it. A prefix with a capital letter is a separate name:
    ``ROIAlign`` is not torchvision's ``RoIAlign``.
    """
    add_ons = kb.once("add-ons", lambda: _AddOns(kb))
    own = [package for package in named if package in add_ons.with_ops]
    if meanings(kb, own, query.name):
        return None
    lower = query.name.lower()
    for prefix, package in add_ons.by_prefix:
        if (lower if prefix.islower() else query.name).startswith(prefix):
            return package
    return None


class _AddOns:
    """Return the prefixes of the names of add-on packages."""

    def __init__(self, kb: KnowledgeBase) -> None:
        pairs = [pair for prefixes in kb.meta.add_ons.values() for pair in prefixes.items()]
        self.by_prefix = sorted(pairs, key=lambda pair: -len(pair[0]))
        """Longest first, each with its package."""
        self.with_ops = {package for _prefix, package in pairs if package in kb.meta.prefixes}


def decided_facts(
    kb: KnowledgeBase, environment: Environment, queries: Sequence[Query]
) -> dict[str, str]:
    """Facts of the program that the named ops decide: who uses ``torch.compile`` compiles."""
    found: dict[str, str] = {}
    for query in queries:
        for meaning in meanings(kb, catalogues(kb, environment), query.name):
            for entry in meaning.entries:
                if entry.facts and _reached(kb, environment, entry):
                    found.update(entry.facts)
    return found


def _reached(kb: KnowledgeBase, environment: Environment, entry: OpEntry) -> list[Reached]:
    """Those that a name reaches which exist here."""
    package = entry.package
    return [target for target in entry.reaches if _has(kb, environment, package, target)]


def find(kb: KnowledgeBase, environment: Environment, query: Query) -> OpItem:
    """The ops that a query item means here.

    Raises UsageError for a name that no framework of the environment has, and
    for arguments that are unknown or contradict the name.
    """
    packages = catalogues(kb, environment)
    found = meanings(kb, packages, query.name)
    entries = [(entry, each.is_method) for each in found for entry in each.entries]
    if not entries:
        return _unrecorded(kb, environment, packages, query)
    query = _with_parameters(kb, environment, query, entries)
    _check_values(kb, query, [entry for entry, _is_method in entries])
    stated = _stated(kb, query)
    paths: list[_Path] = []
    for entry, is_method in entries:
        spans = [entry.exists, _of_arguments(kb, entry.package, stated)]
        if all(exists_in(environment, entry.package, span) for span in spans):
            said = call_facts(kb, environment, entry, query.call, is_method)
            paths += [_Path(entry, target, said) for target in _reached(kb, environment, entry)]
    if not paths:
        entry = entries[0][0]
        limits = _of_arguments(kb, entry.package, stated)
        if exists_in(environment, entry.package, limits):
            limits = _limits(kb, entry)
        return _lacking(environment, entry.package, [limits], query)
    calls: dict[str, OpCall] = {}
    for path in paths:
        for part in path.entry.parts:
            if part in environment.packages:
                calls[part] = OpCall(part, WHOLE, {}, {}, query.directions)
        arguments = {**path.said.given, **stated}
        if _fits(path.target, arguments):
            call = _call(kb, environment, path, arguments, query)
            calls.setdefault(str((call.package, call.name, call.arguments, call.when)), call)
    if not calls:
        fixed = ", ".join(f"{name}={said}" for name, said in paths[0].target.arguments.items())
        raise UsageError(f"{quote(query.text)} contradicts its own name, which means {fixed}")
    others = _namesakes(kb, environment, packages, query) if "." not in query.name else []
    return OpItem(query.text, tuple(calls.values()), could_mean=tuple(others))


def _namesakes(
    kb: KnowledgeBase, environment: Environment, packages: Sequence[str], query: Query
) -> list[str]:
    """Full names that a bare name could stand for as well, if records know more of them."""
    found: list[str] = []
    for package in packages:
        meant = op_names.meaning(kb, package, query.name).entries
        known = _differences(kb, meant)
        for entry in op_names.namesakes(kb, package, query.name):
            is_other = entry not in meant and not entry.is_message
            if is_other and exists_in(environment, package, entry.exists):
                found += [entry.name] if _differences(kb, [entry]) - known else []
    return found


def _differences(kb: KnowledgeBase, entries: Sequence[OpEntry]) -> set[str]:
    """Ids of the sources of some names."""
    found: set[str] = set()
    for entry in entries:
        for reached in entry.reaches:
            found.update(op_source.id for op_source in kb.sources_of(entry.package, reached.op))
    return found


def _call(
    kb: KnowledgeBase,
    environment: Environment,
    path: _Path,
    arguments: dict[str, str],
    query: Query,
) -> OpCall:
    entry, target = path.entry, path.target
    return OpCall(
        entry.package,
        target.op,
        {**target.arguments, **arguments},
        target.when,
        common(target.directions, query.directions),
        {} if entry.is_message else _defaults(kb, environment, path),
        (entry.exists, kb.ops[f"{entry.package}:{target.op}"].exists),
    )


def _defaults(kb: KnowledgeBase, environment: Environment, path: _Path) -> dict[str, str]:
    """The defaults of the name that was called, and of what it calls in turn."""
    outer, target = path.said, path.target
    if target.op == path.entry.name:
        return outer.defaults
    op = kb.ops[f"{path.entry.package}:{target.op}"]
    inner = call_facts(kb, environment, op, None, False).defaults
    decided = outer.given.keys() | outer.unread
    return {**{name: inner[name] for name in inner.keys() - decided}, **outer.defaults}


def _unrecorded(
    kb: KnowledgeBase, environment: Environment, packages: Sequence[str], query: Query
) -> OpItem:
    """Public names of the frameworks that no record names: ops without a known source. Raises
    UsageError.
    """
    found: list[tuple[str, PublicName]] = []
    for package in packages:
        found += [(package, public) for public in offered(kb, package, query.name)]
    if not found:
        raise unknown_op(kb, environment, packages, query)
    arguments = _stated(kb, query)
    here: list[OpCall] = []
    for package, public in found:
        if any(exists_in(environment, package, span) for span in public.spans):
            here.append(OpCall(package, public.name, arguments, {}, query.directions))
    if not here:
        package, first = found[0]
        return _lacking(environment, package, first.spans, query)
    return OpItem(query.text, tuple(here))


def everything(kb: KnowledgeBase, environment: Environment) -> list[OpItem]:
    """Every catalogued op of the environment that has a source, but for those of an add-on that
    was named next to a framework, which is asked about as a whole, and for those that bring a
    package along in programs of another kind, such as collectives.
    """
    items: list[OpItem] = []
    for package in catalogues(kb, environment):
        if not is_add_on(kb, environment, package):
            releases = environment.packages[package].candidates.releases
            held, given = tuple(environment.packages), tuple(environment.facts.items())
            place = ("everything", package, releases, held, given)
            items += kb.once(place, functools.partial(_with_sources, kb, environment, package))
    return items


def _with_sources(kb: KnowledgeBase, environment: Environment, package: str) -> list[OpItem]:
    """Every op of one package that has a source in some of its releases here."""
    items: list[OpItem] = []
    start = f"{package}:"
    for place in kb.op_sources:
        entry = kb.ops.get(place) if place.startswith(start) else None
        if entry is None or not exists_in(environment, package, entry.exists):
            continue
        if not entry.parts or entry.facts.items() <= environment.facts.items():
            item = find(kb, environment, op_syntax.parse(entry.name))
            items.append(msgspec.structs.replace(item, is_listed=True))
    return items


def _with_parameters(
    kb: KnowledgeBase,
    environment: Environment,
    query: Query,
    entries: Sequence[tuple[OpEntry, bool]],
) -> Query:
    """A query whose stated arguments are facts: those that only the API of the call knows
    (``nn.LSTM[dropout=0.5]``) are arguments of the call.
    """
    foreign: dict[str, str] = {}
    stated: dict[str, str] = {}
    for name, said in query.arguments.items():
        is_fact = name in kb.meta.facts
        takers = () if is_fact else entries
        if any(takes(kb, environment, entry, is_method, name) for entry, is_method in takers):
            foreign[name] = said
        else:
            stated[name] = said
    if not foreign:
        return query
    call = query.call or Arguments()
    keywords = {**call.keywords, **foreign}
    called = msgspec.structs.replace(call, keywords=keywords)
    return msgspec.structs.replace(query, arguments=stated, call=called)


def _check_values(kb: KnowledgeBase, query: Query, entries: Sequence[OpEntry]) -> None:
    """Raise UsageError for a value that is known to be no value of these ops."""
    call = query.call.keywords if query.call else {}
    written = {name: value(text) for name, text in call.items() if kind(text) == "str"}
    ops = {target.op for entry in entries for target in entry.reaches}
    for name, said in {**written, **query.arguments}.items():
        takes = kb.meta.facts[name].takes if name in kb.meta.facts else {}
        allowed = [each for op, values in takes.items() if op in ops for each in values]
        if allowed and said not in allowed:
            raise UsageError(
                f"{name} of {query.name} cannot be {quote(said)}",
                nearest=nearest(said, allowed),
                allowed=allowed,
            )


def _stated(kb: KnowledgeBase, query: Query) -> dict[str, str]:
    """Return the facts of the item itself; an argument of the API that decides a
    fact of its name says it, too (``median[dim=0]``). Raises UsageError.
    """
    stated: dict[str, str] = {}
    for name, said in query.arguments.items():
        known = fact(kb, name)
        meant = decide_facts({name: known}, {name: said}) if name in known.parameters else {}
        stated[name] = fact_value(name, known, meant.get(name, said))
    return stated


def _has(kb: KnowledgeBase, environment: Environment, package: str, target: Reached) -> bool:
    op = kb.ops[f"{package}:{target.op}"]
    return exists_in(environment, package, op.exists)


def exists_in(environment: Environment, package: str, exists: Existence) -> bool:
    """Whether one of the releases in question has the name."""
    if package not in environment.packages:
        return False
    releases = environment.packages[package].candidates.releases
    return any(within(release, exists) for release in releases)


def _fits(target: Reached, arguments: dict[str, str]) -> bool:
    return all(arguments.get(name, said) == said for name, said in target.arguments.items())


def _of_arguments(kb: KnowledgeBase, package: str, arguments: Iterable[str]) -> Existence:
    """Where all arguments of a call exist."""
    firsts = [kb.meta.facts[name].since.get(package) for name in arguments]
    return Existence(from_=max(filter(None, firsts), key=key, default=None))


def _limits(kb: KnowledgeBase, entry: OpEntry) -> Existence:
    """Where the name, or else what it reaches, begins and ends."""
    reached = [kb.ops[f"{entry.package}:{target.op}"] for target in entry.reaches]
    ops: list[OpEntry] = [entry, *reached]
    return next((op.exists for op in ops if op.exists != Existence()), entry.exists)


def _lacking(
    environment: Environment, package: str, spans: Sequence[Existence], query: Query
) -> OpItem:
    version = environment.packages[package].version or "this release"
    return OpItem(query.text, (), f"exists in {package} {spans_in_words(spans)}, not in {version}")


def spans_in_words(spans: Sequence[Existence]) -> str:
    """Releases that have a name; empty for all of them."""
    return " or ".join(map(_span_in_words, spans))


def _span_in_words(span: Existence) -> str:
    limits = (span.from_ and f"from {span.from_}", span.until and f"before {span.until}")
    return " and ".join(filter(None, limits))
