"""Small lies that a record could tell: a boundary off by one release, a solution gone, an outcome
turned round.
"""

from __future__ import annotations

import bisect
import re
from collections.abc import Iterator
from typing import Any, TypeAlias, cast

import msgspec

from d9m.kb.kinds import BY_NAME, PACKAGES
from d9m.kb.yaml_files import Loaded, Records
from d9m.model.records import Outcome
from d9m.model.versions import in_order, key
from d9m.model.when import placed

Path: TypeAlias = tuple[str | int, ...]

Plain: TypeAlias = dict[str, Any]
"""A record, or a part of one, as plain values."""


class Mutation(msgspec.Struct, frozen=True):
    """One change of a record, as a report shows it."""

    file: str
    field: str
    before: str
    after: str
    differs_in: str = ""
    """The one release whose answer changes, where it is one."""

    def __str__(self) -> str:
        where = f" (differs in {self.differs_in})" if self.differs_in else ""
        return f"{self.file}: {self.field}: {self.before} -> {self.after}{where}"


class Mutant(msgspec.Struct, frozen=True):
    """A record with one change in it."""

    edit: Mutation
    kind: str
    id: str
    record: Any
    path: Path
    package: str = ""
    release: str = ""
    """The one release whose answer a shifted boundary changes."""


class _Change(msgspec.Struct, frozen=True):
    path: Path
    value: Any
    before: str
    after: str
    package: str = ""
    release: str = ""


def mutants(loaded: Records) -> Iterator[Mutant]:
    """Every mutant of the sources, solutions and ingredients, in the order of the files."""
    known = _known_releases(loaded)
    for at in loaded.loaded:
        if at.kind in _CHANGES:
            for change in _CHANGES[at.kind](msgspec.to_builtins(at.record), known):
                yield _mutant(at, change)


def _mutant(loaded: Loaded, change: _Change) -> Mutant:
    plain = msgspec.to_builtins(loaded.record)
    part = plain
    for step in change.path[:-1]:
        part = part[step]
    part[change.path[-1]] = change.value
    record = msgspec.convert(plain, BY_NAME[loaded.kind].type)
    differs_in = f"{change.package} {change.release}".strip()
    edit = Mutation(loaded.file, _dotted(change.path), change.before, change.after, differs_in)
    return Mutant(edit, loaded.kind, loaded.id, record, change.path, change.package, change.release)


def _dotted(path: Path) -> str:
    return "".join(f"[{each}]" if isinstance(each, int) else f".{each}" for each in path)[1:]


_Known: TypeAlias = dict[str, tuple[str, ...]]


def _known_releases(loaded: Records) -> _Known:
    """Package -> releases, oldest first; without a list, the minor versions that others
    contain.
    """
    packages = loaded.of(PACKAGES)
    found = {name: dict.fromkeys(package.releases) for name, package in packages.items()}
    for package in packages.values():
        for release in package.releases.values():
            for name, version in release.with_.items():
                minor = re.match(r"\d+\.\d+", version)
                if minor and name in packages and not packages[name].releases:
                    found[name][minor[0]] = None
    return {name: in_order(releases) for name, releases in found.items()}


# --- what can be changed ---------------------------------------------------------


def _of_source(source: Plain, known: _Known) -> Iterator[_Change]:
    yield from _bounds(source, ("when",), known)
    for package, steps in source["timeline"].items():
        for place, step in enumerate(steps):
            at: Path = ("timeline", package, place)
            if place:
                yield from _shifts((*at, "from"), package, step["from"], known)
            yield from _outcomes(step, at)
            for number, exception in enumerate(step.get("unless", [])):
                here = (*at, "unless", number)
                yield from _outcomes(exception, here)
                yield from _bounds(exception, (*here, "when"), known)


def _of_solution(solution: Plain, known: _Known) -> Iterator[_Change]:
    yield _Change(("when",), [], "usable", "never usable")
    yield from _bounds(solution, ("when",), known)
    yield from _turns(solution, known)
    for place, caution in enumerate(solution.get("cautions", [])):
        if caution.get("blocks"):
            yield from _bounds(caution, ("cautions", place, "when"), known)


def _of_ingredient(ingredient: Plain, known: _Known) -> Iterator[_Change]:
    yield from _bounds(ingredient, ("when",), known)
    yield from _turns(ingredient, known)


_CHANGES = {"sources": _of_source, "solutions": _of_solution, "ingredients": _of_ingredient}


def _turns(record: Plain, known: _Known) -> Iterator[_Change]:
    for field in ("settings", "sets"):
        for place, turn in enumerate(record.get(field, [])):
            yield from _bounds(turn, (field, place, "when"), known)


_TURNED_ROUND: dict[Outcome, Outcome] = {
    "no-known-source": "unsolved",
    "deterministic": "unsolved",
    "solved": "unsolved",
    "unknown": "deterministic",
    "raises": "unsolved",
    "unsolved": "deterministic",
}


def _outcomes(rule: Plain, at: Path) -> Iterator[_Change]:
    """Another outcome, and each solution gone that has an alternative."""
    by: list[str] = rule.get("by", [])
    outcome: Outcome = rule.get("outcome") or ("solved" if by else "unknown")
    told = "as stock" if "as" in rule else outcome
    turned = "unsolved" if "as" in rule else _TURNED_ROUND[outcome]
    answer = ("as", "by", "outcome", "error")
    rest = {name: value for name, value in rule.items() if name not in answer}
    yield _Change(at, {**rest, "outcome": turned}, told, turned)
    for label in by if len(by) > 1 else ():
        fewer = [each for each in by if each != label]
        yield _Change(at, {**rule, "by": fewer}, ", ".join(by), ", ".join(fewer))


def _bounds(record: Plain, at: Path, known: _Known) -> Iterator[_Change]:
    """Every bound of the record's condition, which is at the path `at`."""
    when: Plain | list[Plain] = record.get("when", {})
    for place, clause in placed(when):
        for name, allowed in clause.items():
            for end, bound in (
                cast(dict[str, str], allowed).items() if isinstance(allowed, dict) else ()
            ):
                yield from _shifts((*at, *place, name, end), name, bound, known)


def _shifts(path: Path, package: str, bound: str, known: _Known) -> Iterator[_Change]:
    """A bound one release earlier, and one later; none where no release lies between."""
    releases = known.get(package, ())
    place = bisect.bisect_left([key(each) for each in releases], key(bound)) if releases else 0
    if place > 0:
        earlier = releases[place - 1]
        yield _Change(path, earlier, bound, earlier, package, earlier)
    if place < len(releases):
        later = releases[place + 1] if place + 1 < len(releases) else f"{releases[-1]}.1"
        yield _Change(path, later, bound, later, package, releases[place])
