"""From judged sources to the entries of an answer."""

from __future__ import annotations

from collections.abc import Collection, Iterable, Mapping, Sequence
from typing import Literal

import msgspec

from d9m.about import REPOSITORY
from d9m.environment.environment import DEVICES, Environment
from d9m.kb.store import WHOLE, KnowledgeBase
from d9m.model.advice import (
    NEVER_DIFFERS,
    WITHOUT_SETTINGS,
    WORST_LAST,
    Citation,
    LastVerified,
    ModeChoice,
    OpAnswer,
    Otherwise,
    Possible,
    Price,
    Reference,
    SourceAnswer,
    Work,
    worst,
    worst_default,
)
from d9m.model.records import (
    Default,
    ErrorText,
    Evidence,
    Outcome,
    Scope,
    Source,
    Workaround,
    together,
)
from d9m.model.versions import key
from d9m.model.when import Clause
from d9m.resolve.applied_sources import AppliedSource
from d9m.resolve.decide import in_order, to_decide
from d9m.resolve.evaluate import Evaluation
from d9m.resolve.merge import demands, merge
from d9m.resolve.op_lookup import OpItem
from d9m.resolve.rules import Basis, Verdict


def op_answers(
    kb: KnowledgeBase,
    judged: Iterable[tuple[OpItem, Sequence[AppliedSource]]],
    chosen: frozenset[str],
    scope: Scope,
) -> list[OpAnswer]:
    """An entry for each query item with its sources."""
    shared: dict[AppliedSource, SourceAnswer] = {}
    found: list[OpAnswer] = []
    for item, group in judged:
        sources: list[SourceAnswer] = []
        for source in group:
            if source not in shared:
                shared[source] = _source_answer(kb, source, chosen)
            sources.append(_for_item(kb, source, shared[source], item))
        found.append(_op_answer(item, sources, scope))
    return found


def _for_item(
    kb: KnowledgeBase, judged: AppliedSource, answer: SourceAnswer, item: OpItem
) -> SourceAnswer:
    """An answer with what decides between its branches, which is written as the item is."""
    if not answer.otherwise and len(answer.possible) == 1:
        return answer

    possible: list[Possible] = []
    for branch in answer.possible:
        decide = to_decide(kb, judged.environment, item, branch.when)
        possible.append(msgspec.structs.replace(branch, decide=decide))
    otherwise: list[Otherwise] = []
    for fall in answer.otherwise:
        decide = to_decide(kb, judged.environment, item, fall.when)
        otherwise.append(msgspec.structs.replace(fall, decide=decide))
    return msgspec.structs.replace(answer, possible=possible, otherwise=otherwise)


def _op_answer(item: OpItem, sources: list[SourceAnswer], scope: Scope) -> OpAnswer:
    missing: Outcome = "no-known-source" if item.lacks is None else "unknown"
    outcomes: list[Outcome] = [_outcome_in(source, scope) for source in sources] or [missing]
    defaults: list[Default] = [source.default for source in sources] or ["unknown"]
    outcome = worst(outcomes)
    return OpAnswer(
        query=item.text,
        names=list(dict.fromkeys(op.name for op in item.ops if op.name != WHOLE)),
        outcome=outcome,
        default=worst_default(defaults),
        solutions=list(dict.fromkeys(label for source in sources for label in source.solutions)),
        fixed_in=_fixed(sources),
        otherwise=_otherwise(outcome, sources),
        sources=sources,
        note=item.lacks,
        could_mean=list(item.could_mean),
        without_mode=_without_mode(sources) if outcome == "raises" else None,
    )


def _without_mode(sources: Sequence[SourceAnswer]) -> Outcome:
    """Return the outcome of an op without the switch that refuses it."""
    refused = {label for source in sources for label in together(source.raised_by or "")}
    return worst(outcome_without(source, refused) for source in sources)


def outcome_without(source: SourceAnswer, labels: Collection[str]) -> Outcome:
    """Return the outcome of a source where some solutions are not used."""
    if source.outcome == "raises":
        alternatives = [together(source.raised_by or "")]
    else:
        alternatives = source.alternatives
    lost = [each for each in alternatives if not set(each).isdisjoint(labels)]
    if lost and len(lost) == len(alternatives):
        return WITHOUT_SETTINGS[source.default]
    return source.outcome


def choices(ops: Sequence[OpAnswer], chosen: frozenset[str]) -> list[ModeChoice]:
    """Return what a deterministic mode costs that some ops need and others refuse."""
    labels: set[str] = set()
    for op in ops:
        for source in op.sources if op.outcome == "raises" else ():
            labels.update(together(source.raised_by or ""))
    labels &= chosen
    if not labels:
        return []
    on: dict[str, Outcome] = {op.query: op.outcome for op in ops}
    off: dict[str, Outcome] = {}
    for op in ops:
        off[op.query] = worst(
            [outcome_without(each, labels) for each in op.sources] or [op.outcome]
        )
    return [_choice("on", labels, on), _choice("off", labels, off)]


def _choice(
    mode: Literal["on", "off"], labels: Iterable[str], outcomes: Mapping[str, Outcome]
) -> ModeChoice:
    raising = [query for query, outcome in outcomes.items() if outcome == "raises"]
    bad = [query for query, outcome in outcomes.items() if outcome == "unsolved"]
    return ModeChoice(mode, sorted(labels), raising, bad)


def _outcome_in(source: SourceAnswer, scope: Scope) -> Outcome:
    """The outcome of a source; what does not differ between runs may differ between machines."""
    is_silent = source.outcome == "deterministic" and source.scope != scope
    return "no-known-source" if is_silent else source.outcome


def _otherwise(outcome: Outcome, sources: Sequence[SourceAnswer]) -> list[Otherwise]:
    """Return what makes an op worse: of each condition the worst that any source has to say, worst
    first.
    """
    found: dict[tuple[str, ...], Otherwise] = {}
    for source in sources:
        for deviation in source.otherwise:
            place = tuple(deviation.decide)
            badness = WORST_LAST.index(deviation.outcome)
            known = WORST_LAST.index(found[place].outcome if place in found else outcome)
            if badness > known:
                found[place] = deviation
    return sorted(found.values(), key=lambda deviation: -WORST_LAST.index(deviation.outcome))


def _fall(kb: KnowledgeBase, judged: AppliedSource, clause: Clause, outcome: Outcome) -> Otherwise:
    """Return what happens where an assumption does not hold. A call that raises names its switch,
    if all that raise there have the same one.
    """
    raised_by, default = None, "unknown"
    if outcome == "raises" and len(judged.finding.refused) == 1:
        ((raised_by, default),) = judged.finding.refused
    return Otherwise(
        when=clause,
        outcome=outcome,
        decide=[],
        direction=judged.directions,
        default=default,
        raised_by=raised_by,
        workarounds=_ways_there(kb, judged, clause),
        is_frequent=_is_frequent(judged, clause),
    )


def _is_frequent(judged: AppliedSource, clause: Clause) -> bool:
    """Whether many programs have the values of a clause."""
    environment = judged.environment
    for name, value in clause.items():
        fact = environment.vocabulary.get(name)
        often = environment.among(fact.often) if fact is not None else []
        values = value if isinstance(value, list) else [value]
        if any(one not in [each.value for each in often] for one in values):
            return False
    return True


def _ways_there(kb: KnowledgeBase, judged: AppliedSource, clause: Clause) -> list[Work]:
    """The workarounds that apply under a clause, and not to this program."""
    environment, ways = judged.environment, judged.op_source.source.workarounds
    if not ways:
        return []
    facts = {name: value for name, value in clause.items() if isinstance(value, str)}
    here = [] if judged.finding.outcome in NEVER_DIFFERS else environment.among(ways)
    given = environment.given(facts)
    there = [way for way in given.among(ways) if way not in here]
    return _works(kb, given, judged.op_source.id, there)


def _works(
    kb: KnowledgeBase, environment: Environment, source: str, ways: Iterable[Workaround]
) -> list[Work]:
    """Work-arounds of a source, with what each of them sets here."""
    found: list[Work] = []
    for way in ways:
        asked = demands(kb, environment, source, way.settings)
        found.append(Work(way.text, list(merge(asked).steps)))
    return found


def _fixed(sources: Sequence[SourceAnswer]) -> dict[str, str] | None:
    """The latest release that any source needs; None where one never stops changing."""
    fixed: dict[str, str] = {}
    for source in sources:
        if source.fixed_in is None:
            return None
        for package, release in source.fixed_in.items():
            fixed[package] = max(fixed.get(package, release), release, key=key)
    return fixed


def _source_answer(
    kb: KnowledgeBase, judged: AppliedSource, chosen: frozenset[str]
) -> SourceAnswer:
    source, finding = judged.op_source.source, judged.finding
    environment = judged.environment
    branches = in_order(environment, finding.possible)
    verdict = finding.lead[1] if finding.lead else _undecided(branches)
    error = kb.errors[verdict.error] if verdict.error else None
    return SourceAnswer(
        id=judged.op_source.id,
        title=source.title,
        summary=source.summary,
        scope=source.scope,
        outcome=finding.outcome,
        default=_worst_default(finding),
        direction=judged.directions,
        device=kb.once(("devices", judged.op_source.id), lambda: _devices(source)),
        when=finding.residual,
        possible=[_possible(clause, branch, chosen) for clause, branch in branches],
        otherwise=[_fall(kb, judged, clause, outcome) for clause, outcome in finding.otherwise],
        solutions=_pick(verdict, chosen),
        alternatives=[list(labels) for labels in verdict.alternatives],
        raised_by=verdict.raised_by,
        error=_text_here(environment, error.texts) if error else None,
        fixed_in={judged.home: finding.fixed_in} if finding.fixed_in else None,
        fixed_with=list(finding.fixed_with),
        note=verdict.note,
        last_verified=LastVerified(*verdict.last_verified, _pick(verdict, chosen))
        if verdict.last_verified
        else None,
        workarounds=_works(
            kb, environment, judged.op_source.id, environment.among(source.workarounds)
        ),
        costs=[Price(cost.text, cost.factor) for cost in environment.among(source.costs)],
        evidence=_evidence(
            kb, judged, [verdict] if finding.lead else [branch for _clause, branch in branches]
        ),
        references=[Reference(each, _url(kb, each)) for each in source.references],
    )


def _undecided(branches: Sequence[tuple[Clause, Verdict]]) -> Verdict:
    """Return what can be said where it depends: what solves the first branch that can be solved."""
    alternatives = next(
        (verdict.alternatives for _clause, verdict in branches if verdict.alternatives), ()
    )
    return Verdict("unknown", "unknown", alternatives)


def _worst_default(finding: Evaluation) -> Default:
    """Return what happens with nothing set, where the source applies at all."""
    present = [
        verdict for _clause, verdict in finding.possible if verdict.outcome != "no-known-source"
    ]
    return worst_default(verdict.default for verdict in present)


def _pick(verdict: Verdict, chosen: frozenset[str]) -> list[str]:
    """The alternative that the chosen solutions hold, else the preferred one."""
    held = (list(labels) for labels in verdict.alternatives if chosen.issuperset(labels))
    return next(held, list(verdict.alternatives[0]) if verdict.alternatives else [])


def _possible(clause: Clause, branch: Verdict, chosen: frozenset[str]) -> Possible:
    solutions = _pick(branch, chosen)
    return Possible(
        clause, branch.outcome, solutions, branch.default, branch.note, branch.raised_by
    )


def _devices(source: Source) -> list[str]:
    allowed: set[str] = set()
    for clause in source.condition.clauses:
        allowed.update(clause["device"].values if "device" in clause else DEVICES)
    return [device for device in DEVICES if device in allowed]


def _text_here(environment: Environment, texts: Sequence[ErrorText]) -> str | None:
    here = environment.among(texts)
    return here[0].text if here else None


def _evidence(
    kb: KnowledgeBase, judged: AppliedSource, verdicts: Sequence[Verdict]
) -> list[Citation]:
    found: dict[Basis, None] = {}
    for verdict in verdicts:
        found.update(dict.fromkeys(judged.finding.bases.get(verdict, ())))
    bases = tuple(found)
    image = judged.environment.image.package if judged.environment.image else None
    place = ("evidence", judged.op_source.id, bases, image)
    return kb.once(place, lambda: _resting_on(kb, judged.op_source.source, bases, image))


def _resting_on(
    kb: KnowledgeBase, source: Source, bases: Sequence[Basis], image: str | None
) -> list[Citation]:
    """Evidence of the steps that an answer rests on, then that of the source itself."""
    found: list[Evidence] = []
    for basis in bases:
        step = source.timeline[basis.track][basis.step]
        found += step.unless[basis.exception].evidence if basis.exception is not None else []
        found += step.evidence
    told = [cite(kb, each) for each in [*found, *source.evidence]]
    if image is not None and image not in source.timeline and kb.packages[image].stock is not None:
        note = f"{image} is taken to behave like the stock release it is built from"
        told.append(Citation("assumed", None, note, True))
    return told


def cite(kb: KnowledgeBase, evidence: Evidence) -> Citation:
    """Evidence with the address of its document, or of the run or fact file in our repository."""
    document = kb.documents[evidence.document] if evidence.document else None
    url = document.url if document else evidence.url
    date = evidence.date or (document.date if document else None)
    if evidence.run is not None:
        url = f"{REPOSITORY}/blob/main/kb/evidence/runs/{evidence.run}.json"
        date = date or kb.run_days.get(evidence.run)
    elif evidence.wheel is not None:
        url = f"{REPOSITORY}/blob/main/kb/evidence/wheels/{evidence.wheel}.json"
    read = evidence.read or (document.read if document else None)
    return Citation(evidence.kind, url, evidence.note, evidence.follows, evidence.where, date, read)


def _url(kb: KnowledgeBase, reference: str) -> str:
    id_ = reference.replace("#", "/")
    record = kb.pull_requests.get(id_) or kb.issues.get(id_)
    return record.url if record else ""
