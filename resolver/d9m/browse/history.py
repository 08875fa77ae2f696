"""Tell what a source does in every release, as the resolver answers it: for pages, JSON and the
command line.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence

import msgspec

from d9m.browse import spans
from d9m.environment.container import tag
from d9m.environment.environment import Environment, Setup, describe
from d9m.environment.packages import framework_of
from d9m.kb.store import KnowledgeBase, OpSource, Pattern
from d9m.model.advice import WORST_LAST
from d9m.model.op_syntax import BOTH
from d9m.model.records import Source, Unless
from d9m.model.versions import key, within
from d9m.model.when import ABSENT, Allowed, Clause, Range, clauses
from d9m.resolve.evaluate import judge
from d9m.resolve.rules import Verdict


class ReleaseRow(msgspec.Struct, frozen=True):
    """Releases with one answer."""

    releases: tuple[str, ...]
    """For a package without a list of releases: the first one for which it holds."""
    span: str
    when: Clause
    """The releases, and what else must hold."""
    where: Clause
    """The other conditions."""
    verdict: Verdict

    @property
    def newest(self) -> str:
        return self.releases[-1]


class ReleaseTrack(msgspec.Struct, frozen=True):
    """One package's releases, newest first, under one assumption."""

    package: str
    title: str
    under: Clause
    """The assumptions other than the defaults; empty for the usual case."""
    rows: tuple[ReleaseRow, ...]


class History(msgspec.Struct, frozen=True):
    """All that is known of a source's answers."""

    title: str
    home: str
    device: str
    usual: ReleaseTrack
    others: tuple[ReleaseTrack, ...]
    """Vendor builds, then other assumptions."""
    fixed_in: str | None

    @property
    def today(self) -> ReleaseRow | None:
        """Return the worst row of the newest release; None where the source does not apply."""
        released = self.usual.rows[0].newest if self.usual.rows else None
        now = [row for row in self.usual.rows if row.newest == released]
        return max(now, key=lambda row: WORST_LAST.index(row.verdict.outcome)) if now else None


def of(kb: KnowledgeBase, id_: str) -> History:
    """The history of a source, made once."""
    return kb.once(("history", id_), lambda: _history(kb, id_))


def _history(kb: KnowledgeBase, id_: str) -> History:
    op_source = OpSource(id_, kb.sources[id_], (Pattern(),))
    home = kb.home(id_)
    first, *more = clauses(op_source.source.when) or [{}]
    device = _device(first)
    usual = _stock(kb, op_source, home, first, {})
    builds = [package for package in op_source.source.timeline if package != home]
    found = [_vendor(kb, op_source, package, device) for package in builds]
    for under in [*more, *_exceptions(kb, op_source.source, home)]:
        other = _stock(kb, op_source, home, {**first, **under}, under)
        rows = tuple(row for row in other.rows if _differs(row, usual))
        found.append(msgspec.structs.replace(other, rows=rows))
    finding, _directions = judge(kb, _environment(kb, home, first), op_source, {}, BOTH)
    return History(
        op_source.source.title,
        home,
        device,
        usual,
        tuple(track for track in found if track.rows),
        finding.fixed_in,
    )


def _differs(row: ReleaseRow, usual: ReleaseTrack) -> bool:
    """Whether a row says something else than the usual case of its releases."""
    same: set[str] = set()
    for known in usual.rows:
        if known.verdict == row.verdict and known.where in ({}, row.where):
            same.update(known.releases)
    return not same.issuperset(row.releases)


def _device(clause: Clause) -> str:
    named = clause.get("device", "cuda")
    return named if isinstance(named, str) else named[0] if isinstance(named, list) else "cuda"


def _environment(kb: KnowledgeBase, home: str, clause: Clause) -> Environment:
    """Any release of the home package and of the framework that it runs, where a clause holds as
    far as facts and packages go.
    """
    packages = {home}
    framework = framework_of(kb, home)
    if framework is not None and clause.get(framework) != ABSENT:
        packages.add(framework)
    facts: dict[str, str] = {}
    for name, allowed in clause.items():
        if name in kb.meta.aliases and name not in kb.meta.platforms and allowed != ABSENT:
            packages.add(name)
        value = _value(kb, name, allowed) if name in kb.meta.facts else None
        if value is not None:
            facts[name] = value
    asked = Setup(tuple((name, None) for name in sorted(packages)), device=_device(clause))
    return describe(kb, asked).given(facts)


def _value(kb: KnowledgeBase, name: str, allowed: Allowed) -> str | None:
    """One value that a clause allows, the default if it can be; None where only a range is
    known.
    """
    if isinstance(allowed, Range):
        return None
    values = [allowed] if isinstance(allowed, str) else allowed
    default = kb.meta.facts[name].default
    return default if default in values else values[0]


def _stock(
    kb: KnowledgeBase, op_source: OpSource, home: str, clause: Clause, under: Clause
) -> ReleaseTrack:
    finding, _directions = judge(kb, _environment(kb, home, clause), op_source, {}, BOTH)
    released = kb.releases(home)
    first = op_source.source.timeline[home][0].from_
    rows: list[ReleaseRow] = []
    for when, verdict in finding.possible:
        bounds = _bounds(when.get(home))
        inside = _inside(released, bounds) if released else (bounds.from_ or first,)
        if verdict.outcome != "no-known-source" and inside:
            span = spans.span(bounds, released)
            rows.append(ReleaseRow(inside, span, when, _without(when, home), verdict))
    rows = _unchecked_together(rows, home)
    return ReleaseTrack(home, kb.packages[home].title, under, _newest_first(rows))


def _unchecked_together(rows: Sequence[ReleaseRow], home: str) -> list[ReleaseRow]:
    """Return the rows, with all unverified releases merged into one row, whatever their other
    conditions.
    """
    found: list[ReleaseRow] = []
    unchecked: dict[tuple[str, ...], list[ReleaseRow]] = {}
    for row in rows:
        if row.verdict.last_verified is None:
            found.append(row)
        else:
            unchecked.setdefault(row.releases, []).append(row)
    for alike in unchecked.values():
        found.append(alike[0] if len(alike) == 1 else _as_one(alike, home))
    return found


def _as_one(rows: Sequence[ReleaseRow], home: str) -> ReleaseRow:
    """Without what only some of the rows say."""
    first = rows[0]
    verdict = msgspec.structs.replace(first.verdict, note=None)
    if any(row.verdict.alternatives != verdict.alternatives for row in rows):
        verdict = msgspec.structs.replace(verdict, alternatives=(), raised_by=None, error=None)
    when = {home: first.when[home]}
    return msgspec.structs.replace(first, when=when, where={}, verdict=verdict)


def _without(clause: Clause, home: str) -> Clause:
    return {name: allowed for name, allowed in clause.items() if name != home}


def _bounds(allowed: object) -> Range:
    return allowed if isinstance(allowed, Range) else Range()


def _inside(released: Sequence[str], bounds: Range) -> tuple[str, ...]:
    return tuple(release for release in released if within(release, bounds))


def _newest_first(rows: list[ReleaseRow]) -> tuple[ReleaseRow, ...]:
    return tuple(sorted(rows, key=lambda row: (key(row.newest), -len(row.where)), reverse=True))


def _vendor(kb: KnowledgeBase, op_source: OpSource, package: str, device: str) -> ReleaseTrack:
    """Images are asked one by one, because each holds its own stock release."""
    released = kb.releases(package)
    groups: list[tuple[list[str], list[tuple[Clause, Verdict]]]] = []
    for release in released:
        finding, _directions = judge(kb, _image(kb, package, release, device), op_source, {}, BOTH)
        possible = list(finding.possible)
        if groups and groups[-1][1] == possible:
            groups[-1][0].append(release)
        else:
            groups.append(([release], possible))
    rows: list[ReleaseRow] = []
    for group, possible in groups:
        bounds = spans.bounds(group[0], group[-1], released)
        span = spans.span(bounds, released)
        for where, verdict in possible:
            if verdict.outcome != "no-known-source":
                when: Clause = {package: bounds, **where}
                rows.append(ReleaseRow(tuple(group), span, when, where, verdict))
    return ReleaseTrack(package, kb.packages[package].title, {}, _newest_first(rows))


def _image(kb: KnowledgeBase, package: str, release: str, device: str) -> Environment:
    image = kb.packages[package]
    asked = Setup(container=f"{image.image}:{tag(image, release)}", device=device)
    return kb.once(("image", package, release, device), lambda: describe(kb, asked))


def _exceptions(kb: KnowledgeBase, source: Source, home: str) -> Iterator[Clause]:
    """Yield the conditions for which some step makes an exception, and which the usual case
    assumes.
    """
    seen: list[Clause] = []
    for clause in _exception_clauses(source):
        under: Clause = {}
        for name, allowed in clause.items():
            assumed = _assumption(kb, name, allowed)
            if assumed:
                under[name] = assumed
        if under and home not in under and under not in seen:
            seen.append(under)
            yield under


def _exception_clauses(source: Source) -> Iterator[Clause]:
    for ruling in source.rulings():
        if isinstance(ruling, Unless):
            yield from clauses(ruling.when) or [{}]


def _assumption(kb: KnowledgeBase, name: str, allowed: Allowed) -> Allowed | None:
    """Return the value that makes a variable unusual; None where the rows tell, because nothing
    decides it.
    """
    fact = kb.meta.facts.get(name)
    if fact is None:
        return None if name in kb.meta.platforms else allowed if name == "device" else Range()
    return None if fact.default is None or isinstance(allowed, Range) else allowed
