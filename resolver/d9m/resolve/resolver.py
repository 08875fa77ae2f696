"""`resolve(kb, environment, ops) -> Advice`: pure, without I/O, clock or globals.

Names are already ops, and the environment already holds together: what is left
is to judge each source, choose solutions, merge their settings, and say why.
"""

from __future__ import annotations

import functools
from collections.abc import Iterable, Iterator, Sequence
from typing import TypeAlias

from d9m.about import __version__
from d9m.environment.environment import Environment
from d9m.kb.store import KnowledgeBase
from d9m.model.advice import (
    SCHEMA_VERSION,
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
from d9m.model.records import Caution, Ingredient, Outcome, Scope, Solution
from d9m.resolve import helper_effects, sources_met
from d9m.resolve.answers import op_answers, told_of
from d9m.resolve.conflicts import Chosen, across, priced
from d9m.resolve.helper_calls import Call
from d9m.resolve.merge import Demand, Settled, alone, demands, settle, total
from d9m.resolve.needs import covered, needs, turned
from d9m.resolve.op_lookup import OpItem
from d9m.resolve.select import Need, choose
from d9m.resolve.sources_met import Judged

OPLESS = "*"
"""Query of the entry for sources that no named op meets."""


def resolve(
    kb: KnowledgeBase,
    environment: Environment,
    items: Sequence[OpItem],
    scope: Scope = "run",
    used: Sequence[Call] = (),
) -> Advice:
    """The advice for these ops in this environment, to a user who makes these calls already."""
    judged = sources_met.of_items(kb, environment, items, scope)
    packages = sources_met.of_packages(kb, environment, scope, items)
    opless = [
        source
        for source in packages
        if source.finding.applies or kb.packages[source.home].kind != "framework"
    ]
    opless += sources_met.of_add_ons(kb, environment, scope, items)
    every = [source for group in [*judged, opless] for source in group]
    ingredients = _ingredients(kb, environment, scope)
    always: list[Demand] = []
    for _id, ingredient, asked in ingredients:
        if not ingredient.optional:
            always += asked
    wanted = needs(every)

    @functools.cache
    def plan(labels: frozenset[str]) -> tuple[Chosen, Settled]:
        """Some solutions with what they and the ingredients turn, before and after the user's
        calls.
        """
        asked = [*turned(kb, environment, labels, wanted), *always]
        return Chosen(labels, wanted, asked), helper_effects.met(
            kb, environment, settle(asked), used
        )

    already = helper_effects.solutions_made(kb, environment, wanted, used)
    chosen = choose(wanted, lambda labels: not plan(labels)[1].contests, already)
    own, whole = plan(chosen)
    met = [*zip(items, judged), *([(OpItem(OPLESS, ()), opless)] if opless else [])]
    ops = op_answers(kb, met, chosen)
    unknowns = _unknowns(kb, environment, ops)
    outcomes: list[Outcome] = [op.outcome for op in ops] or (
        ["unknown"] if unknowns else ["no-known-source"]
    )
    return Advice(
        schema_version=SCHEMA_VERSION,
        d9m=Tool(__version__, kb.meta.date),
        environment=_surroundings(environment, every),
        scope=scope,
        outcome=worst(outcomes),
        settings=total(whole.steps),
        steps=list(whole.steps),
        conflicts=[priced(kb, environment, each, own, scope) for each in whole.contests],
        scope_conflicts=list(across(kb, environment, scope, own)),
        helpers=helper_effects.helper_answers(kb, environment, whole.steps, used, ops),
        solutions=_solutions(kb, environment, chosen, wanted),
        ops=ops,
        ingredients=[_ingredient_answer(kb, environment, *each) for each in ingredients],
        cautions=_cautions(kb, environment, every, chosen, ingredients),
        unknowns=unknowns,
    )


def _surroundings(environment: Environment, judged: Iterable[Judged]) -> Surroundings:
    asks = {name for each in judged for name in each.finding.asks} - environment.facts.keys()
    known = {name: environment.vocabulary[name] for name in sorted(asks)}
    defaults = {
        name: fact.default
        for name, fact in known.items()
        if fact.default is not None and not fact.argument
    }
    shipped = [name for name, each in environment.packages.items() if each.origin == "wheel"]
    return Surroundings(
        packages={name: each.version or "any" for name, each in environment.packages.items()},
        releases={
            name: list(each.candidates.releases) for name, each in environment.packages.items()
        },
        container=environment.image.reference if environment.image else None,
        device=environment.device,
        facts={**defaults, **environment.facts},
        assumed=[*defaults, *shipped],
        beyond=[
            name for name, each in environment.packages.items() if each.candidates.how == "newer"
        ],
        between=[
            name for name, each in environment.packages.items() if each.candidates.how == "between"
        ],
        gpu=environment.gpu,
        ignored=environment.ignored,
    )


def _solutions(
    kb: KnowledgeBase, environment: Environment, chosen: frozenset[str], wanted: Sequence[Need]
) -> list[SolutionAnswer]:
    found: list[SolutionAnswer] = []
    for label, id_, solution in kb.with_required(chosen):
        found.append(
            SolutionAnswer(
                id=id_,
                label=label,
                title=solution.title,
                covers=covered(label, chosen, wanted),
                includes=_included(kb, environment, solution, wanted),
                settings=alone(kb, demands(kb, environment, label, solution.settings)),
                evidence=[told_of(kb, each) for each in solution.evidence],
                costs=[
                    Price(cost.text, cost.factor)
                    for cost in solution.costs
                    if environment.holding(cost.condition)
                ],
            )
        )
    return found


def _included(
    kb: KnowledgeBase, environment: Environment, solution: Solution, wanted: Sequence[Need]
) -> list[str]:
    """Other solutions whose every setting here this one surely turns by itself."""
    own = {
        turn.set for turn in solution.sets if turn.set and {} in environment.holding(turn.condition)
    }
    if not own:
        return []
    others = sorted(
        {label for need in wanted for labels in need.alternatives for label in labels}
        - {solution.label}
    )
    turned_by = {
        label: {
            each.turn.set
            for each in demands(kb, environment, label, kb.solution(label)[1].settings)
        }
        - {None}
        for label in others
    }
    return [label for label, knobs in turned_by.items() if knobs and knobs <= own]


_Asked: TypeAlias = tuple[str, Ingredient, list[Demand]]
"""An ingredient with its id and what it turns here."""


def _ingredients(kb: KnowledgeBase, environment: Environment, scope: Scope) -> list[_Asked]:
    here = [
        (id_, ingredient)
        for id_, ingredient in kb.ingredients.items()
        if ingredient.scope == scope and environment.holding(ingredient.condition)
    ]
    ordered = sorted(here, key=lambda each: (each[1].order, each[0]))
    return [(id_, each, demands(kb, environment, id_, each.settings)) for id_, each in ordered]


def _ingredient_answer(
    kb: KnowledgeBase,
    environment: Environment,
    id_: str,
    ingredient: Ingredient,
    asked: Sequence[Demand],
) -> IngredientAnswer:
    examples = [
        ExampleCode(each.language, each.code, each.note)
        for each in ingredient.examples
        if environment.holding(each.condition)
    ]
    settings = alone(kb, asked)
    return IngredientAnswer(
        id_, ingredient.title, ingredient.summary, ingredient.optional, settings, examples
    )


def _cautions(
    kb: KnowledgeBase,
    environment: Environment,
    judged: Sequence[Judged],
    chosen: frozenset[str],
    ingredients: Sequence[_Asked],
) -> list[CautionAnswer]:
    """What to know here, whatever the defaults: assumed facts count as undecided."""
    told: list[tuple[str, Environment, Caution, bool]] = []
    for source in judged:
        if source.finding.applies:
            told += [
                (source.met.id, source.environment, caution, False)
                for caution in source.met.source.cautions
            ]
    for _label, id_, solution in kb.with_required(chosen):
        told += [(id_, environment, each, False) for each in solution.cautions]
        told += [(id_, environment, each, True) for each in solution.notes]
    for id_, ingredient, _asked in ingredients:
        told += [(id_, environment, each, False) for each in ingredient.cautions]
    found: dict[tuple[str, str], CautionAnswer] = {}
    for id_, here, caution, is_note in told:
        for clause in here.holding(caution.condition, assume=False):
            kind = "note" if is_note else "caution"
            found.setdefault(
                (caution.text, str(clause)), CautionAnswer(id_, caution.text, clause, kind)
            )
    return list(found.values())


def _unknowns(
    kb: KnowledgeBase, environment: Environment, ops: Sequence[OpAnswer]
) -> list[Unknown]:
    found = list(_unknown_sources(ops))
    for op in ops:
        if op.outcome == "unknown" and not op.sources and op.note:
            found.append(Unknown(op.query, op.note))
    for name, package in environment.packages.items():
        if package.candidates.how == "newer":
            newest = package.candidates.releases[-1]
            why = f"newer than {newest}, the newest release known"
            found.append(Unknown(f"{name} {package.version}", why))
    covered = {
        name
        for name in environment.packages
        if name in kb.meta.folders.values() and _has_records(kb, name)
    }
    if not covered:
        named = ", ".join(environment.packages) or "nothing"
        found.append(Unknown(named, "the knowledge base has no records of it yet"))
    return found


def _unknown_sources(ops: Sequence[OpAnswer]) -> Iterator[Unknown]:
    for op in ops:
        for source in op.sources:
            if source.outcome == "unknown":
                yield Unknown(f"{op.query}: {source.id}", source.note or _missing(source))


def _has_records(kb: KnowledgeBase, package: str) -> bool:
    return package in kb.meta.prefixes or package in kb.opless


def _missing(source: SourceAnswer) -> str:
    if source.last_verified:
        return f"somebody to look at releases after {source.last_verified.release}"
    return "evidence: nobody has confirmed what happens here"
