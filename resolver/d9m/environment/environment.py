"""The environment that a question is about: packages, container, device, facts.

What is given wins over what a container holds only by agreeing with it; what a
wheel ships is a weak default. A package that nobody named is absent; a platform
part (CUDA, cuDNN, a driver) that nobody named is undecided.
"""

from __future__ import annotations

import functools
import re
from collections.abc import Mapping

import msgspec

from d9m.environment.container import Image, contents, find_image
from d9m.environment.releases import Installed, installed, shipped
from d9m.errors import UsageError, nearest, quote
from d9m.kb.store import KnowledgeBase
from d9m.model import conditions
from d9m.model.conditions import Cell, Cells, Value, intervals, releases
from d9m.model.records import Clause, Fact, When
from d9m.model.versions import FIRST, key

DEVICES = ("cuda", "rocm", "mps", "xpu", "cpu")


class Setup(msgspec.Struct, frozen=True):
    """An environment as somebody described it."""

    packages: tuple[tuple[str, str | None], ...] = ()
    """Name, and version if one was given."""
    container: str | None = None
    device: str | None = None
    facts: tuple[tuple[str, str], ...] = ()
    inference: bool = False


class Environment(msgspec.Struct, frozen=True):
    """An environment that holds together, ready to decide conditions."""

    packages: dict[str, Installed]
    image: Image | None
    device: str
    facts: dict[str, str]
    """Given ones only."""
    vocabulary: Mapping[str, Fact]
    undecided: frozenset[str]
    """Platform parts that nobody named."""
    api_defaults: Mapping[str, str] = {}
    """What the API of a call gives an argument that is left out."""

    def cells(self, name: str, cuts: tuple[str, ...], assume: bool = True) -> Cells:
        """The domain of one variable here, divided at `cuts`.

        With `assume` off, a fact that was not given is undecided in spite of its default.
        """
        if name == "device":
            return (Cell(self.device),)
        fact = self.vocabulary.get(name)
        if fact is not None:
            return self._fact_cells(name, fact, cuts, assume)
        installed = self.packages.get(name)
        if installed is not None and installed.candidates.releases:
            known = installed.candidates.releases
            if installed.candidates.how == "between":
                known = (known[0], *(each for each in cuts if key(known[0]) < key(each) < key(known[-1])), known[-1])
            return releases(cuts, known)
        return intervals(cuts, key, FIRST) if installed or name in self.undecided else _ABSENT

    def _fact_cells(self, name: str, fact: Fact, cuts: tuple[str, ...], assume: bool) -> Cells:
        value = self.facts.get(name, self._default(name) if assume else None)
        if value is not None:
            return (Cell(int(value) if fact.type == "int" else value),)
        if fact.type == "int":
            cells = intervals(cuts, int, -1)
            return tuple(cell for cell in cells if cell.high is None or int(cell.high) > int(fact.least))
        return tuple(Cell(each, name=each) for each in fact.values)

    def _default(self, name: str) -> str | None:
        return self.api_defaults.get(name, self.vocabulary[name].default)

    def assumes(self, name: str) -> bool:
        """Whether a variable has its default because nobody said otherwise."""
        return name in self.vocabulary and name not in self.facts and self._default(name) is not None

    def domains(self, cuts: Mapping[str, tuple[str, ...]], assume: bool = True) -> dict[str, Cells]:
        """The domains of several variables."""
        return {name: self.cells(name, at, assume) for name, at in cuts.items()}

    def holding(self, when: When, assume: bool = True) -> list[Clause]:
        """What would still have to hold for a condition; none: it does not hold here."""
        if when == {}:
            return [{}]
        condition, cuts = conditions.read(when)
        here: dict[str, Value] = {}
        for name, at in cuts.items():
            cells = self.cells(name, at, assume)
            if len(cells) != 1:
                domains = self.domains(cuts, assume)
                answers = conditions.by_answer(domains, functools.partial(conditions.holds, condition))
                return [clause for clause, holds in answers if holds]
            here[name] = cells[0].value
        return [{}] if conditions.holds(condition, here) else []

    def given(self, facts: Mapping[str, str], api_defaults: Mapping[str, str] = {}) -> Environment:
        """This environment with further facts, such as one call's arguments, and what it leaves to its API."""
        if not facts and not api_defaults:
            return self
        return msgspec.structs.replace(self, facts={**self.facts, **facts}, api_defaults=api_defaults)


_ABSENT: Cells = (Cell(None),)
"""The domain of a package that is not here."""


def describe(kb: KnowledgeBase, asked: Setup) -> Environment:
    """The environment that was asked about.

    Raises UsageError for an unknown name or version, and for things that
    contradict each other.
    """
    packages: dict[str, Installed] = {}
    image = None
    if asked.container is not None:
        image = find_image(kb, asked.container)
        packages = contents(kb, image)
    for text, version in asked.packages:
        _add(kb, packages, kb.package_named(text), version, image)
    device = asked.device or "cuda"
    if device not in DEVICES:
        makers = "NVIDIA GPUs are cuda, those of AMD rocm, of Apple mps, of Intel xpu"
        raise UsageError(f"unknown device {quote(device)}", allowed=DEVICES, tip=makers)
    facts = _facts(kb, asked)
    if image is None and device == "cuda":
        _add_shipped(kb, packages)
    undecided = frozenset(kb.meta.platforms) - packages.keys()
    return Environment(packages, image, device, facts, kb.meta.facts, undecided)


def _add(
    kb: KnowledgeBase, packages: dict[str, Installed], name: str, version: str | None, image: Image | None
) -> None:
    new = installed(kb, name, version)
    old = packages.get(name)
    if old is None or old.version is None:
        packages[name] = new
    elif version is not None and not set(new.candidates.releases) & set(old.candidates.releases):
        where = f"the container {image.reference} holds" if old.origin == "container" and image else "it was given as"
        raise UsageError(f"{name} {quote(version)} contradicts the rest: {where} {name} {old.version}")
    elif version is not None and old.origin == "given":
        packages[name] = new


def _add_shipped(kb: KnowledgeBase, packages: dict[str, Installed]) -> None:
    """What every release in question ships, unless something says otherwise; the newest stands in for a newer one."""
    for name, each in list(packages.items()):
        known = kb.package(name).releases
        wheels = [known[release].with_ for release in each.candidates.releases if release in known]
        for part in wheels[0] if wheels and each.candidates.how in ("exactly", "newer") else ():
            versions = [wheel[part] for wheel in wheels if part in wheel]
            if part not in packages and len(versions) == len(wheels):
                packages[part] = shipped(kb, part, versions)


def _facts(kb: KnowledgeBase, asked: Setup) -> dict[str, str]:
    facts: dict[str, str] = {}
    for name, value in asked.facts:
        known = fact(kb, name)
        if facts.get(name, value) != value:
            raise UsageError(f"fact {name} is given as {quote(facts[name])} and as {quote(value)}")
        facts[name] = fact_value(name, known, value)
    if asked.inference:
        if facts.get("training") == "true":
            raise UsageError("--inference contradicts --fact training=true")
        facts["training"] = "false"
    return facts


def fact(kb: KnowledgeBase, name: str) -> Fact:
    """A word of the vocabulary. Raises UsageError."""
    known = kb.meta.facts.get(name)
    if known is None:
        raise UsageError(f"unknown fact {quote(name)}", nearest=nearest(name, kb.meta.facts), allowed=kb.meta.facts)
    return known


def fact_value(name: str, known: Fact, value: str) -> str:
    """`value` as the vocabulary spells it. Raises UsageError."""
    if known.type == "int":
        if not re.fullmatch(r"\d{1,9}", value):
            raise UsageError(f"{name} must be a whole number, not {quote(value)}")
        return value
    spelled = {each.lower(): each for each in known.values}.get(value.lower())
    if spelled is None:
        raise UsageError(f"{name} cannot be {quote(value)}", nearest=nearest(value, known.values), allowed=known.values)
    return spelled
