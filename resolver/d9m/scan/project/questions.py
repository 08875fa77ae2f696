"""Ask the records about a call or a setting in an environment; every answer is kept."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from typing import TypeAlias

import msgspec

from d9m import api
from d9m.environment.environment import Environment, Setup, describe
from d9m.errors import D9mError, UsageError
from d9m.kb.store import KnowledgeBase
from d9m.model.advice import Existing, OpAnswer
from d9m.model.versions import in_order
from d9m.model.when import Condition
from d9m.resolve import helper_calls
from d9m.resolve.helper_calls import Call
from d9m.scan.surroundings.surrounding import ScanEnvironment, StatedVersion

Versions: TypeAlias = tuple[tuple[str, str | None], ...]


class PackageStack(msgspec.Struct, frozen=True):
    """An environment to ask about: packages with versions, and the device."""

    packages: Versions
    device: str
    container: str | None = None
    facts: tuple[tuple[str, str], ...] = ()


class Questions:
    """Questions to the records."""

    def __init__(self, kb: KnowledgeBase) -> None:
        self.kb = kb
        self._environments: dict[PackageStack, Environment | None] = {}
        self._ops: dict[tuple[PackageStack, str], OpAnswer | None] = {}
        self._judged: dict[tuple[PackageStack, str, str], tuple[Existing, ...]] = {}
        self._calls: dict[tuple[str, str], Call | None] = {}

    # --- environments ------------------------------------------------------------------

    def stated(self, around: ScanEnvironment, package: str) -> StatedVersion:
        """The release of a package that is meant; without a word on it the newest."""
        said = around.packages.get(package)
        if said is not None and said.version is not None:
            return said
        releases = in_order(self.kb.packages[package].releases)
        return StatedVersion(releases[-1] if releases else None, "assumed")

    def world(
        self, around: ScanEnvironment, packages: Iterable[str], oldest: bool = False
    ) -> PackageStack:
        """The environment of some packages, at the newest or the oldest release allowed."""
        versions: dict[str, str | None] = {}
        for package in packages:
            said = self.stated(around, package)
            versions[package] = said.oldest if oldest and said.oldest else said.version
        return _stack(around, versions)

    def environment(self, world: PackageStack) -> Environment | None:
        """None where its packages do not hold together, or the records do not know a release."""
        if world not in self._environments:
            self._environments[world] = self._described(world)
        return self._environments[world]

    def _described(self, world: PackageStack) -> Environment | None:
        try:
            return describe(self.kb, _setup(world))
        except D9mError:
            return None

    def holds(self, world: PackageStack, when: Condition) -> bool:
        """Whether a condition can hold in an environment."""
        environment = self.environment(world)
        return environment is not None and bool(environment.holding(when))

    def surely_holds(self, world: PackageStack, when: Condition) -> bool:
        """Whether a condition holds there whatever is undecided."""
        environment = self.environment(world)
        return environment is not None and {} in environment.holding(when)

    # --- ops ---------------------------------------------------------------------------

    def op(self, world: PackageStack, text: str) -> OpAnswer | None:
        """The answer to one op item; None where it cannot be asked there."""
        if (world, text) not in self._ops:
            self._ops[world, text] = self._answered(world, text)
        return self._ops[world, text]

    def _answered(self, world: PackageStack, text: str) -> OpAnswer | None:
        try:
            answer = api.advise(self.kb, _setup(world), [text])
        except D9mError:
            return None
        return answer.ops[0] if answer.ops else None

    # --- settings ----------------------------------------------------------------------

    def judged(self, stack: PackageStack, name: str, value: str) -> tuple[Existing, ...]:
        """Return the verdicts on a setting that is already made; none where the question is not
        possible.
        """
        key = (stack, name, value)
        if key not in self._judged:
            try:
                answer = api.advise(self.kb, _setup(stack), [], settings=[{name: value}])
                self._judged[key] = tuple(answer.existing)
            except D9mError:
                self._judged[key] = ()
        return self._judged[key]

    # --- helper calls ------------------------------------------------------------------

    def helper(self, package: str, text: str) -> Call | None:
        """The helper call that a text is, as a record knows it."""
        if (package, text) not in self._calls:
            try:
                found = helper_calls.find(self.kb, [package], text)
                if found.id in self.kb.helpers:  # as its record writes it
                    helper = self.kb.helpers[found.id]
                    found = msgspec.structs.replace(found, helper=helper)
            except UsageError:
                found = None
            self._calls[package, text] = found
        return self._calls[package, text]


def _stack(around: ScanEnvironment, versions: Mapping[str, str | None]) -> PackageStack:
    facts = tuple(sorted(around.facts.items()))
    return PackageStack(tuple(sorted(versions.items())), around.device, None, facts)


def _setup(world: PackageStack) -> Setup:
    return Setup(world.packages, world.container, world.device, world.facts)
