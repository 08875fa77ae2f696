"""From judged sources to the entries of an answer."""

from __future__ import annotations

import functools
from collections.abc import Iterable, Sequence

from d9m.about import REPOSITORY
from d9m.environment.environment import DEVICES, Environment
from d9m.kb.store import KnowledgeBase
from d9m.model import conditions
from d9m.model.advice import (
    DEFAULTS_WORST_LAST,
    WORST_LAST,
    LastVerified,
    OpAnswer,
    Possible,
    Price,
    Reference,
    SourceAnswer,
    Told,
    Work,
)
from d9m.model.records import Default, ErrorText, Evidence, Outcome, Source
from d9m.model.versions import key
from d9m.resolve.evaluate import Basis, Finding, Verdict
from d9m.resolve.op_lookup import OpItem
from d9m.resolve.sources_met import Judged


def worst(outcomes: Iterable[Outcome]) -> Outcome:
    return max(outcomes, key=WORST_LAST.index)


def op_answers(
    kb: KnowledgeBase, judged: Iterable[tuple[OpItem, Sequence[Judged]]], chosen: frozenset[str]
) -> list[OpAnswer]:
    """An entry for each query item with the sources that it meets."""

    @functools.cache
    def answer(each: Judged) -> SourceAnswer:
        return _source_answer(kb, each, chosen)

    return [_op_answer(item, [answer(each) for each in group]) for item, group in judged]


def _op_answer(item: OpItem, sources: list[SourceAnswer]) -> OpAnswer:
    defaults: list[Default] = [each.default for each in sources] or ["unknown"]
    return OpAnswer(
        query=item.text,
        names=list(dict.fromkeys(op.name for op in item.ops)),
        outcome=worst([each.outcome for each in sources] or ["no-known-source"]),
        default=max(defaults, key=DEFAULTS_WORST_LAST.index),
        solutions=list(dict.fromkeys(label for each in sources for label in each.solutions)),
        fixed_in=_fixed(sources),
        sources=sources,
    )


def _fixed(sources: Sequence[SourceAnswer]) -> dict[str, str] | None:
    """The latest release that any source needs; None where one is never settled."""
    fixed: dict[str, str] = {}
    for each in sources:
        if each.fixed_in is None:
            return None
        for package, release in each.fixed_in.items():
            fixed[package] = max(fixed.get(package, release), release, key=key)
    return fixed


def _source_answer(kb: KnowledgeBase, judged: Judged, chosen: frozenset[str]) -> SourceAnswer:
    source = judged.met.source
    verdict = judged.finding.worst[1]
    error = kb.get("errors", verdict.error) if verdict.error else None
    return SourceAnswer(
        id=judged.met.id,
        title=source.title,
        summary=source.summary,
        outcome=verdict.outcome,
        default=_worst_default(judged.finding),
        direction=judged.directions,
        device=kb.once(("devices", judged.met.id), lambda: _devices(source)),
        when=judged.finding.residual,
        possible=[
            Possible(clause, each.outcome, _pick(each, chosen), each.default, each.note, each.raised_by)
            for clause, each in judged.finding.possible
        ],
        solutions=_pick(verdict, chosen),
        alternatives=[list(labels) for labels in verdict.alternatives],
        raised_by=verdict.raised_by,
        error=_text_here(judged.environment, error.texts) if error else None,
        fixed_in={judged.home: judged.finding.fixed_in} if judged.finding.fixed_in else None,
        pending=verdict.pending,
        note=verdict.note,
        last_verified=LastVerified(*verdict.last_verified, _pick(verdict, chosen)) if verdict.last_verified else None,
        workarounds=[Work(each.text) for each in source.workarounds if judged.environment.holding(each.when)],
        costs=[Price(each.text, each.factor) for each in source.costs if judged.environment.holding(each.when)],
        evidence=_evidence(kb, judged, verdict),
        references=[Reference(each, _url(kb, each)) for each in source.references],
    )


def _worst_default(finding: Finding) -> Default:
    """What happens with nothing set, where the source is met at all."""
    defaults: list[Default] = [each.default for _clause, each in finding.possible if each.outcome != "no-known-source"]
    return max(defaults, key=DEFAULTS_WORST_LAST.index)


def _pick(verdict: Verdict, chosen: frozenset[str]) -> list[str]:
    """The alternative that the chosen solutions hold, else the preferred one."""
    held = (list(labels) for labels in verdict.alternatives if chosen.issuperset(labels))
    return next(held, list(verdict.alternatives[0]) if verdict.alternatives else [])


def _devices(source: Source) -> list[str]:
    clauses = conditions.parse(source.when)
    if any("device" not in clause for clause in clauses):
        return list(DEVICES)
    return [device for device in DEVICES if any(device in clause["device"].values for clause in clauses)]


def _text_here(environment: Environment, texts: Sequence[ErrorText]) -> str | None:
    return next((each.text for each in texts if environment.holding(each.when)), None)


def _evidence(kb: KnowledgeBase, judged: Judged, verdict: Verdict) -> list[Told]:
    bases = judged.finding.bases.get(verdict, ())
    image = judged.environment.image.package if judged.environment.image else None
    place = ("evidence", judged.met.id, bases, image)
    return kb.once(place, lambda: _resting_on(kb, judged.met.source, bases, image))


def _resting_on(kb: KnowledgeBase, source: Source, bases: Sequence[Basis], image: str | None) -> list[Told]:
    """Evidence of the steps that an answer rests on, then that of the source itself."""
    found: list[Evidence] = []
    for basis in bases:
        step = source.timeline[basis.track][basis.step]
        found += step.unless[basis.exception].evidence if basis.exception is not None else []
        found += step.evidence
    told = [told_of(kb, each) for each in [*found, *source.evidence]]
    if image is not None and image not in source.timeline:
        note = f"{image} is taken to behave like the stock release it is built from"
        told.append(Told("assumed", None, note, True))
    return told


def told_of(kb: KnowledgeBase, evidence: Evidence) -> Told:
    """Evidence with the address of its document, or of the run or fact file in our repository."""
    document = kb.get("documents", evidence.document) if evidence.document else None
    url = document.url if document else evidence.url
    date = evidence.date or (document.date if document else None)
    if evidence.run is not None:
        url = f"{REPOSITORY}/blob/main/kb/evidence/runs/{evidence.run}.json"
        date = date or kb.get("run_days", evidence.run)
    elif evidence.wheel is not None:
        url = f"{REPOSITORY}/blob/main/kb/evidence/wheels/{evidence.wheel}.json"
    return Told(evidence.kind, url, evidence.note, evidence.follows, evidence.where, date)


def _url(kb: KnowledgeBase, reference: str) -> str:
    id_ = reference.replace("#", "/")
    record = kb.get("pull_requests", id_) or kb.get("issues", id_)
    return record.url if record else ""
