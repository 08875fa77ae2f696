"""`resolve(kb, environment, ops) -> Advice`: pure, without I/O, clock or globals.

Names are already ops, and the environment already holds together: what is left
is to judge each source, choose solutions, merge their settings, and say why.
"""

from __future__ import annotations

import functools
from collections.abc import Iterable, Iterator, Mapping, Sequence
from typing import TypeAlias

import msgspec

from d9m.about import SCHEMA_VERSION, __version__
from d9m.environment.environment import Environment
from d9m.kb.store import KnowledgeBase
from d9m.model.advice import (
    Advice,
    CautionAnswer,
    ExampleCode,
    IngredientAnswer,
    OpAnswer,
    Price,
    SolutionAnswer,
    SourceAnswer,
    Surroundings,
    Tool,
    Unknown,
    worst,
)
from d9m.model.records import INCLUDED, Caution, Ingredient, Outcome, Scope, Solution
from d9m.model.settings import PlainValue
from d9m.resolve import applied_sources, helper_effects, package_verdict
from d9m.resolve.answers import choices, cite, op_answers
from d9m.resolve.applied_sources import AppliedSource
from d9m.resolve.conflicts import Chosen, across, priced
from d9m.resolve.helper_calls import Call
from d9m.resolve.merge import Demand, Merged, alone, demands, merge, total
from d9m.resolve.needs import by_label, covered, needs, turned
from d9m.resolve.op_lookup import OpItem
from d9m.resolve.select import Need, choose

OPLESS = "*"
"""Query of the entry for sources of no named op."""


def resolve(
    kb: KnowledgeBase,
    environment: Environment,
    items: Sequence[OpItem],
    scope: Scope = "run",
    used: Sequence[Call] = (),
    found: Mapping[str, PlainValue] = {},
) -> Advice:
    """The advice for these ops in this environment, to a user who makes these calls already, and
    in whose environment these settings are found.
    """
    judged = applied_sources.of_items(kb, environment, items, scope)
    packages = applied_sources.of_packages(kb, environment, scope, items)
    package_level: list[AppliedSource] = []
    for source in packages:
        if source.finding.applies or kb.packages[source.home].kind != "framework":
            package_level.append(source)
    package_level += applied_sources.of_add_ons(kb, environment, scope, items)
    every = [source for group in [*judged, package_level] for source in group]
    ingredients = _ingredients(kb, environment, scope)
    always: list[Demand] = []
    for _id, ingredient, asked in ingredients:
        if not ingredient.optional:
            always += asked
    wanted = needs(every)

    @functools.cache
    def plan(labels: frozenset[str]) -> tuple[Chosen, Merged]:
        """Some solutions with what they and the ingredients turn, before and after the user's
        calls.
        """
        asked = [*turned(kb, environment, labels, wanted), *always]
        return Chosen(labels, wanted, asked), helper_effects.with_calls(
            kb, environment, merge(asked), used
        )

    already = helper_effects.solutions_made(kb, environment, wanted, used, found)
    chosen = choose(wanted, lambda labels: not plan(labels)[1].conflicts, already)
    own, whole = plan(chosen)
    answered = [
        *zip(items, judged),
        *([(OpItem(OPLESS, ()), package_level)] if package_level else []),
    ]
    ops = op_answers(kb, answered, chosen, scope)
    for place, (item, _sources) in enumerate(answered):
        if item.text == OPLESS or package_verdict.stands_for_package(kb, item):
            ops[place] = package_verdict.limited(kb, environment, ops[place])
    counts: dict[str, dict[Outcome, int]] = {}
    if package_level:
        counts = package_verdict.known_sources(kb, environment, ops[-1])
    unknowns = _unknowns(kb, environment, ops)
    outcomes: list[Outcome] = [op.outcome for op in ops] or (
        ["unknown"] if unknowns else ["no-known-source"]
    )
    outcome = worst(outcomes)
    return Advice(
        schema_version=SCHEMA_VERSION,
        d9m=Tool(__version__, kb.meta.date),
        environment=_surroundings(environment, every),
        scope=scope,
        outcome="no-known-source" if counts and outcome == "deterministic" else outcome,
        settings=total(whole.steps),
        steps=list(whole.steps),
        conflicts=[priced(kb, environment, each, own, scope) for each in whole.conflicts],
        scope_conflicts=list(across(kb, environment, scope, own)),
        helpers=helper_effects.helper_answers(kb, environment, whole.steps, used, ops),
        solutions=_solutions(kb, environment, chosen, wanted),
        ops=ops,
        ingredients=[_ingredient_answer(kb, environment, *each) for each in ingredients],
        cautions=_cautions(kb, environment, every, chosen, ingredients),
        unknowns=unknowns,
        known_sources=counts,
        choices=choices(ops, chosen),
    )


def _surroundings(environment: Environment, judged: Iterable[AppliedSource]) -> Surroundings:
    asks: set[str] = set()
    for source in judged:
        asks.update(source.finding.asks)
    defaults: dict[str, str] = {}
    for name in sorted(asks - environment.facts.keys()):
        fact = environment.vocabulary[name]
        if fact.default is not None and not fact.argument:
            defaults[name] = fact.default
    held = environment.packages.items()
    shipped = [name for name, package in held if package.origin in ("wheel", "partner")]
    return Surroundings(
        packages={name: package.version or "any" for name, package in held},
        releases={name: list(package.candidates.releases) for name, package in held},
        container=environment.image.reference if environment.image else None,
        device=environment.device,
        facts={**defaults, **environment.facts},
        assumed=[*defaults, *shipped],
        beyond=[name for name, package in held if package.candidates.how == "newer"],
        between=[name for name, package in held if package.candidates.how == "between"],
        moving=[name for name, _package in held if environment.is_moving(name)],
        gpu=environment.gpu,
        ignored=environment.ignored,
    )


def _solutions(
    kb: KnowledgeBase, environment: Environment, chosen: frozenset[str], wanted: Sequence[Need]
) -> list[SolutionAnswer]:
    found: list[SolutionAnswer] = []
    naming = by_label(wanted)
    for label, id_, solution in kb.labelled(chosen):
        found.append(
            SolutionAnswer(
                id=id_,
                label=label,
                title=solution.title,
                covers=covered(label, chosen, naming),
                includes=_included(kb, environment, solution, wanted),
                settings=alone(kb, demands(kb, environment, label, solution.settings)),
                evidence=[cite(kb, each) for each in solution.evidence],
                costs=[Price(cost.text, cost.factor) for cost in environment.among(solution.costs)],
            )
        )
    return found


def _included(
    kb: KnowledgeBase, environment: Environment, solution: Solution, wanted: Sequence[Need]
) -> list[str]:
    """Other solutions of which this one makes every setting."""
    turns = [turn for turn in solution.sets if turn.set]
    own = {turn.set for turn in turns if {} in environment.holding(turn.condition)}
    if not own:
        return []
    others: set[str] = set()
    for need in wanted:
        others.update(*need.alternatives)
    found: list[str] = []
    for label in sorted(others - {solution.label}):
        asked = demands(kb, environment, label, kb.solution(label)[1].settings)
        names = {demand.turn.set for demand in asked} - {None}
        if names and names <= own:
            found.append(label)
    return found


_Asked: TypeAlias = tuple[str, Ingredient, list[Demand]]
"""An ingredient with its id and what it turns here."""


def _ingredients(kb: KnowledgeBase, environment: Environment, scope: Scope) -> list[_Asked]:
    found: list[_Asked] = []
    for id_, ingredient in kb.ingredients.items():
        if ingredient.scope in INCLUDED[scope] and environment.holding(ingredient.condition):
            found.append((id_, ingredient, demands(kb, environment, id_, ingredient.settings)))
    return sorted(found, key=lambda asked: (asked[1].order, asked[0]))


def _ingredient_answer(
    kb: KnowledgeBase,
    environment: Environment,
    id_: str,
    ingredient: Ingredient,
    asked: Sequence[Demand],
) -> IngredientAnswer:
    examples: list[ExampleCode] = []
    for example in environment.among(ingredient.examples):
        examples.append(ExampleCode(example.language, example.code, example.note))
    settings = alone(kb, asked)
    return IngredientAnswer(
        id_, ingredient.title, ingredient.summary, ingredient.optional, settings, examples
    )


def _cautions(
    kb: KnowledgeBase,
    environment: Environment,
    judged: Sequence[AppliedSource],
    chosen: frozenset[str],
    ingredients: Sequence[_Asked],
) -> list[CautionAnswer]:
    """Return the notes that apply, whatever the defaults: assumed facts count as undecided."""
    found: dict[tuple[str, str], CautionAnswer] = {}

    def say(
        id_: str, here: Environment, cautions: Iterable[Caution], is_note: bool = False
    ) -> None:
        for caution in cautions:
            for clause in here.holding(caution.condition, assume=False):
                kind = "note" if is_note else "caution"
                answer = CautionAnswer(id_, caution.text, clause, kind)
                found.setdefault((caution.text, str(clause)), answer)

    for source in judged:
        if source.finding.applies:
            here = msgspec.structs.replace(source.environment, packages=environment.packages)
            say(source.op_source.id, here, source.op_source.source.cautions)
    for _label, id_, solution in kb.labelled(chosen):
        say(id_, environment, solution.cautions)
        say(id_, environment, solution.notes, is_note=True)
    for id_, ingredient, _asked in ingredients:
        say(id_, environment, ingredient.cautions)
    return list(found.values())


def _unknowns(
    kb: KnowledgeBase, environment: Environment, ops: Sequence[OpAnswer]
) -> list[Unknown]:
    found = list(_unknown_sources(ops))
    for op in ops:
        if op.outcome == "unknown" and op.note and (op.query == OPLESS or not op.sources):
            found.append(Unknown(op.query, op.note))
    for name, package in environment.packages.items():
        if package.candidates.how == "newer":
            newest = package.candidates.releases[-1]
            why = f"newer than {newest}, the newest release known"
            found.append(Unknown(f"{name} {package.version}", why))
    homes = environment.packages.keys() & set(kb.meta.folders.values())
    if not any(_has_records(kb, name) for name in homes):
        named = ", ".join(environment.packages) or "nothing"
        found.append(Unknown(named, "the knowledge base has no records of it yet"))
    return found


def _unknown_sources(ops: Sequence[OpAnswer]) -> Iterator[Unknown]:
    for op in ops:
        for source in op.sources:
            if source.outcome == "unknown":
                yield Unknown(f"{op.query}: {source.id}", source.note or _missing(source))


def _has_records(kb: KnowledgeBase, package: str) -> bool:
    return package in kb.meta.prefixes or package in kb.package_level


def _missing(source: SourceAnswer) -> str:
    if source.last_verified:
        return f"verification of releases after {source.last_verified.release}"
    return "evidence for this release"
