"""Calls that set things on the user's behalf: a page each with what it leaves out, and the table of
all.
"""

from __future__ import annotations

from collections.abc import Iterator

import msgspec

from d9m.api import advise
from d9m.environment.environment import Environment, Setup, describe
from d9m.kb.store import KnowledgeBase
from d9m.model.advice import Advice, HelperAnswer
from d9m.model.records import Helper, SettingChange
from d9m.model.when import When, clauses
from d9m.resolve import helper_calls, helper_effects
from d9m.resolve.helper_calls import Call
from pages import layout, phrases, proof


class Comparison(msgspec.Struct, frozen=True):
    """A call held against the advice for everything known of its package and a framework, newest
    releases.
    """

    packages: tuple[tuple[str, str | None], ...]
    told: HelperAnswer
    advice: Advice

    @property
    def command(self) -> str:
        """Options that ask for the same."""
        options: list[str] = []
        for name, release in self.packages:
            options.append(f"--with {name}={release}" if release else f"--with {name}")
        return " ".join(options)


class HelperColumn(msgspec.Struct, frozen=True):
    """What a call sets in some releases of its package, whatever else must hold."""

    span: str
    sets: tuple[tuple[SettingChange, When], ...]
    """With what else must hold."""


def pages(kb: KnowledgeBase) -> Iterator[tuple[str, str]]:
    rows: list[tuple[str, str, Helper, list[Comparison]]] = []
    for id_, name in _titles(kb):
        rows.append((id_, name, kb.helpers[id_], _compared(kb, helper_calls.call(kb, id_))))
    title = "Helper calls"
    description = "Calls that make several settings at once, and which settings each leaves out."
    yield layout.page(kb, "helpers/index.md", "helpers.md", title, description, ("toc",), rows=rows)
    for id_, title, helper, compared in rows:
        yield layout.record_page(
            kb,
            "helpers",
            id_,
            "helper.md",
            title,
            f"{helper.title}. {helper.summary}",
            helper=helper,
            exists=phrases.where(kb, helper.when),
            columns=_columns(kb, helper_calls.call(kb, id_)),
            compared=compared,
            proofs=proof.of(kb, helper.evidence),
        )


def _titles(kb: KnowledgeBase) -> list[tuple[str, str]]:
    """Each call under the name by which people search for it: as it is written, a flag with its
    package.
    """
    found: list[tuple[str, str]] = []
    for id_, helper in kb.helpers.items():
        package = id_.partition("/")[0]
        found.append((id_, helper.call if "(" in helper.call else f"{package} {helper.call}"))
    return found


def _columns(kb: KnowledgeBase, call: Call) -> list[HelperColumn]:
    """What the call sets by release, newest first; releases without it are left out."""
    groups: list[tuple[list[str], list[SettingChange]]] = []
    for release in reversed(kb.releases(call.home)):
        here = describe(kb, Setup(((call.home, release), *_any_other(kb, call))))
        if not here.holding(call.helper.condition):
            continue
        sets = [turn for turn in call.helper.sets if here.holding(turn.condition)]
        if groups and groups[-1][1] == sets:
            groups[-1][0].append(release)
        else:
            groups.append(([release], sets))
    released = kb.releases(call.home)
    if not released:
        return [HelperColumn("", tuple((turn, turn.when) for turn in call.helper.sets))]
    columns: list[HelperColumn] = []
    for group, sets in groups:
        turns = tuple((turn, _less(turn.when, call.home)) for turn in sets)
        columns.append(HelperColumn(phrases.run(group[-1], group[0], released), turns))
    return columns


def _less(when: When, home: str) -> When:
    """A condition less what the releases say already."""
    return [phrases.without(clause, home) for clause in clauses(when)]


def _any_other(kb: KnowledgeBase, call: Call) -> list[tuple[str, None]]:
    """Other packages that its conditions name, in any release."""
    named: set[str] = set()
    for part in (call.helper, *call.helper.sets):
        named.update(part.condition.cuts)
    known = {name for name in named if name in kb.meta.aliases and kb.releases(name)}
    return [(name, None) for name in sorted(known - {call.home, *kb.meta.platforms})]


def _compared(kb: KnowledgeBase, call: Call) -> list[Comparison]:
    """With each framework of which the call turns a setting, in the newest release that has the
    call.
    """
    found: list[Comparison] = []
    for framework in sorted(kb.meta.prefixes):
        packages = {framework: kb.releases(framework)[-1], call.home: _newest(kb, call)}
        asked = Setup(tuple(sorted(packages.items(), key=lambda each: each[0] != call.home)))
        environment = describe(kb, asked)
        if framework not in (call.home, *_turned(kb, environment, call)):
            continue
        advice = kb.once(("compared with", asked), lambda: advise(kb, asked))  # noqa: B023 - called at once
        (answer,) = helper_effects.helper_answers(kb, environment, advice.steps, [call], advice.ops)
        if answer.covers or answer.differs:
            found.append(Comparison(asked.packages, answer, advice))
    return found


def _newest(kb: KnowledgeBase, call: Call) -> str | None:
    """None: no release of its package is known."""
    for release in reversed(kb.releases(call.home)):
        if describe(kb, Setup(((call.home, release),))).holding(call.helper.condition):
            return release
    return None


def _turned(kb: KnowledgeBase, environment: Environment, call: Call) -> set[str]:
    """Packages of which it turns a setting there; a framework's own call is for that framework."""
    turns = [turn for turn in call.helper.sets if environment.holding(turn.condition)]
    folders = (kb.setting_ids[turn.name].partition("/")[0] for turn in turns)
    return (
        set()
        if call.home in kb.meta.prefixes
        else {kb.meta.folders.get(each, "") for each in folders}
    )
