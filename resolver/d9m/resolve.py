"""`resolve(kb, environment, ops) -> Advice`: pure, without I/O, clock or globals.

Names are already ops, and the environment already holds together: what is left
is to judge each source, choose solutions, merge their settings, and say why.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence

import d9m
from d9m.advice import (
    SCHEMA_VERSION,
    WORST_LAST,
    Advice,
    CautionAnswer,
    Example,
    IngredientAnswer,
    OpAnswer,
    SolutionAnswer,
    SourceAnswer,
    Surroundings,
    Tool,
    Unknown,
)
from d9m.answers import Judged, op_answer, told_of, worst
from d9m.choose import Need, choose
from d9m.environment import Environment
from d9m.judge import Finding, judge
from d9m.kb.tables import KnowledgeBase
from d9m.lookup import AskedItem
from d9m.query import BOTH
from d9m.records import Caution, Ingredient, Outcome, Scope, Solution
from d9m.settle import Demand, Settled, demands, settle, total

OPLESS = "*"
"""Query of the entry for sources that belong to no op."""


def resolve(kb: KnowledgeBase, environment: Environment, items: Sequence[AskedItem], scope: Scope = "run") -> Advice:
    """The advice for these ops in this environment."""
    judged = [(item, _judge_item(kb, environment, item, scope)) for item in items]
    opless = _judge_opless(kb, environment, scope)
    every = [each for _item, group in judged for each in group] + opless
    ingredients = _ingredients(kb, environment, scope)
    wanted_by_ingredients = [
        demand
        for id_, ingredient in ingredients
        if not ingredient.optional
        for demand in demands(kb, environment, id_, ingredient.settings)
    ]
    needs = _needs(every)

    def consistent(labels: frozenset[str]) -> bool:
        return not settle([*_demands(kb, environment, labels, needs), *wanted_by_ingredients]).conflicts

    chosen = choose(needs, consistent)
    settled = settle([*_demands(kb, environment, chosen, needs), *wanted_by_ingredients])
    ops = [op_answer(kb, item, group, chosen) for item, group in judged]
    if opless:
        ops.append(op_answer(kb, AskedItem(OPLESS, ()), opless, chosen))
    unknowns = _unknowns(kb, environment, ops)
    outcomes: list[Outcome] = [op.outcome for op in ops] or (["unknown"] if unknowns else ["no-known-source"])
    return Advice(
        schema_version=SCHEMA_VERSION,
        d9m=Tool(d9m.__version__, kb.meta.date),
        environment=_surroundings(environment, every),
        outcome=worst(outcomes),
        settings=total(settled.steps),
        steps=list(settled.steps),
        conflicts=list(settled.conflicts),
        solutions=_solutions(kb, environment, chosen, needs),
        ops=ops,
        ingredients=[_ingredient_answer(kb, environment, *each) for each in ingredients],
        cautions=_cautions(kb, environment, every, chosen, ingredients),
        unknowns=unknowns,
    )


# --- judging -------------------------------------------------------------------


def _judge_item(kb: KnowledgeBase, environment: Environment, item: AskedItem, scope: Scope) -> list[Judged]:
    found: dict[str, Judged] = {}
    for op in item.ops:
        for met in kb.met_by(op.package, op.name):
            if met.source.scope != scope:
                continue
            call = environment.given(op.arguments)
            finding, directions = judge(kb, call, op.name, met, op.when, op.directions)
            new = Judged(met, op.package, call, finding, directions)
            if _is_met(finding) and (met.id not in found or _worse(finding, found[met.id].finding)):
                found[met.id] = new
    return sorted(found.values(), key=lambda each: (-WORST_LAST.index(each.finding.worst[1].outcome), each.met.id))


def _judge_opless(kb: KnowledgeBase, environment: Environment, scope: Scope) -> list[Judged]:
    found: list[Judged] = []
    for package, installed in environment.packages.items():
        if package in kb.meta.platforms and installed.origin != "given":
            continue  # every wheel and image ships CUDA, cuDNN and NCCL: only who names one asks about it
        for met in kb.opless(package):
            if met.source.scope == scope:
                finding, directions = judge(kb, environment, "", met, {}, BOTH)
                if _is_met(finding):
                    found.append(Judged(met, package, environment, finding, directions))
    return found


def _is_met(finding: Finding) -> bool:
    return any(verdict.outcome != "no-known-source" for _clause, verdict in finding.possible)


def _worse(first: Finding, second: Finding) -> bool:
    return WORST_LAST.index(first.worst[1].outcome) > WORST_LAST.index(second.worst[1].outcome)


# --- choosing ------------------------------------------------------------------


def _needs(judged: Iterable[Judged]) -> list[Need]:
    """What has to be solved, where it can be: the answer of a newest verified release counts too."""
    found: list[Need] = []
    for each in judged:
        possible = each.finding.possible
        found += [
            Need(each.met.id, verdict.alternatives, clause) for clause, verdict in possible if verdict.alternatives
        ]
    return found


def _closure(kb: KnowledgeBase, labels: Iterable[str]) -> list[tuple[str, str, Solution]]:
    """Solutions with all that they require: label, id, record."""
    found: dict[str, tuple[str, str, Solution]] = {}
    todo = sorted(labels, reverse=True)
    while todo:
        label = todo.pop()
        if label not in found:
            id_, solution = kb.solution(label)
            found[label] = (label, id_, solution)
            todo.extend(solution.requires)
    return list(found.values())


def _served(label: str, labels: frozenset[str], needs: Sequence[Need]) -> list[Need]:
    """Needs that a chosen solution helps to meet."""
    return [
        need
        for need in needs
        if any(label in alternative and labels.issuperset(alternative) for alternative in need.alternatives)
    ]


def _demands(
    kb: KnowledgeBase, environment: Environment, labels: frozenset[str], needs: Sequence[Need]
) -> list[Demand]:
    found: list[Demand] = []
    for label, _id, solution in _closure(kb, labels):
        served = _served(label, labels, needs)
        clauses = [] if not served or any(not need.when for need in served) else [need.when for need in served]
        found += demands(kb, environment, label, solution.settings, clauses)
        found += demands(kb, environment, label, solution.sets, clauses, of_itself=True)
    return found


def _surroundings(environment: Environment, judged: Iterable[Judged]) -> Surroundings:
    asks = {name for each in judged for name in each.finding.asks} - environment.facts.keys()
    known = {name: environment.vocabulary[name] for name in sorted(asks)}
    defaults = {name: fact.default for name, fact in known.items() if fact.default is not None and not fact.argument}
    shipped = [name for name, each in environment.packages.items() if each.origin == "wheel"]
    return Surroundings(
        packages={name: each.version or "any" for name, each in environment.packages.items()},
        releases={name: list(each.candidates.releases) for name, each in environment.packages.items()},
        container=environment.image.reference if environment.image else None,
        device=environment.device,
        facts={**defaults, **environment.facts},
        assumed=[*defaults, *shipped],
        beyond=[name for name, each in environment.packages.items() if each.candidates.how == "newer"],
        between=[name for name, each in environment.packages.items() if each.candidates.how == "between"],
    )


def _solutions(
    kb: KnowledgeBase, environment: Environment, chosen: frozenset[str], needs: Sequence[Need]
) -> list[SolutionAnswer]:
    found: list[SolutionAnswer] = []
    for label, id_, solution in _closure(kb, chosen):
        settled: Settled = settle(demands(kb, environment, label, solution.settings))
        found.append(
            SolutionAnswer(
                id=id_,
                label=label,
                title=solution.title,
                covers=list(dict.fromkeys(need.source for need in _served(label, chosen, needs))),
                includes=_included(kb, solution, needs),
                settings=total(settled.steps),
                evidence=[told_of(kb, each) for each in solution.evidence],
            )
        )
    return found


def _included(kb: KnowledgeBase, solution: Solution, needs: Sequence[Need]) -> list[str]:
    """Other solutions whose every setting this one turns by itself."""
    own = {turn.set for turn in solution.sets if turn.set}
    others = sorted({label for need in needs for labels in need.alternatives for label in labels} - {solution.label})
    return [
        label for label in others if own and {turn.set for turn in kb.solution(label)[1].settings if turn.set} <= own
    ]


def _ingredients(kb: KnowledgeBase, environment: Environment, scope: Scope) -> list[tuple[str, Ingredient]]:
    found = [(id_, kb.get("ingredients", id_)) for id_ in kb.keys("ingredients")]
    here = [(id_, each) for id_, each in found if each.scope == scope and environment.holding(each.when)]
    return sorted(here, key=lambda each: (each[1].order, each[0]))


def _ingredient_answer(
    kb: KnowledgeBase, environment: Environment, id_: str, ingredient: Ingredient
) -> IngredientAnswer:
    settled = settle(demands(kb, environment, id_, ingredient.settings))
    examples = [
        Example(each.language, each.code, each.note) for each in ingredient.examples if environment.holding(each.when)
    ]
    return IngredientAnswer(
        id_, ingredient.title, ingredient.summary, ingredient.optional, total(settled.steps), examples
    )


def _cautions(
    kb: KnowledgeBase,
    environment: Environment,
    judged: Sequence[Judged],
    chosen: frozenset[str],
    ingredients: Sequence[tuple[str, Ingredient]],
) -> list[CautionAnswer]:
    """What to know here, whatever the defaults: assumed facts count as undecided."""
    told: list[tuple[str, Environment, Caution, bool]] = []
    for each in judged:
        told += [(each.met.id, each.environment, caution, False) for caution in each.met.source.cautions]
    for _label, id_, solution in _closure(kb, chosen):
        told += [(id_, environment, each, False) for each in solution.cautions]
        told += [(id_, environment, each, True) for each in solution.notes]
    for id_, ingredient in ingredients:
        told += [(id_, environment, each, False) for each in ingredient.cautions]
    found: dict[tuple[str, str], CautionAnswer] = {}
    for id_, here, caution, is_note in told:
        for clause in here.holding(caution.when, assume=False):
            kind = "note" if is_note else "caution"
            found.setdefault((caution.text, str(clause)), CautionAnswer(id_, caution.text, clause, kind))
    return list(found.values())


def _unknowns(kb: KnowledgeBase, environment: Environment, ops: Sequence[OpAnswer]) -> list[Unknown]:
    found = [
        Unknown(f"{op.query}: {source.id}", source.note or _missing(source))
        for op in ops
        for source in op.sources
        if source.outcome == "unknown"
    ]
    for name, each in environment.packages.items():
        if each.candidates.how == "newer":
            newest = each.candidates.releases[-1]
            found.append(Unknown(f"{name} {each.version}", f"newer than {newest}, the newest release known"))
    covered = {name for name in environment.packages if name in kb.meta.folders.values() and _has_records(kb, name)}
    if not covered:
        named = ", ".join(environment.packages) or "nothing"
        found.append(Unknown(named, "the knowledge base has no records of it yet"))
    return found


def _has_records(kb: KnowledgeBase, package: str) -> bool:
    return package in kb.meta.prefixes or bool(kb.opless(package))


def _missing(source: SourceAnswer) -> str:
    if source.last_verified:
        return f"somebody to look at releases after {source.last_verified.release}"
    return "evidence: nobody has confirmed what happens here"
