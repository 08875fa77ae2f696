"""What a symptom means for one text: its paragraphs, and the points that concern it."""

from __future__ import annotations

from collections.abc import Collection, Sequence

import msgspec

from d9m.browse import points
from d9m.browse.explanation import Explanation, explanation, paragraphs
from d9m.browse.symptoms import Symptom
from d9m.environment.environment import Environment
from d9m.kb.store import KnowledgeBase
from d9m.model.records import ErrorPoint


def of_symptom(
    kb: KnowledgeBase,
    symptom: Symptom,
    groups: frozenset[str],
    environment: Environment,
    named: Sequence[ErrorPoint] = (),
) -> Explanation:
    """What a symptom means here, for a text whose words are of these groups, and that names what
    some points are about.
    """
    found = explanation(kb, symptom.id, symptom.record, symptom.wording, [], {}, 1)
    all_points = points.of_symptom(kb, symptom.id)
    said = [point for point in all_points if not point.said or groups.intersection(point.said)]
    own = [point for point in said if not (point.switch or point.named)]
    here = points.concerning(kb, own, environment)
    texts = [point.text for point in here if not (point.instead or point.lead)]
    answers = [point.text for point in here if point.instead]
    leads = _leads([*here, *named])
    first, *rest = answers or paragraphs(found.advice)
    opening = [*leads, first]
    listed = texts if points.are_about(own, environment) else []
    return msgspec.structs.replace(
        found,
        advice="\n\n".join([*opening, *texts, *rest]),
        certainty="open" if symptom.is_general else "likely",
        points=[*opening[1:], *listed],
        is_led=bool(leads),
    )


def with_all_settings(
    kb: KnowledgeBase, environment: Environment, named: Sequence[ErrorPoint]
) -> list[str]:
    """The paragraphs for somebody who has made all settings."""
    id_ = kb.word_lists.with_all_settings
    if id_ is None:
        return []
    record = kb.errors[id_]
    first, *rest = paragraphs(record.advice)
    return [*_leads(named), first, *points.texts(kb, record.points, environment), *rest]


def another_cause(kb: KnowledgeBase, environment: Environment) -> list[str]:
    """The paragraphs for somebody whose op or library is not the cause by the records."""
    id_ = kb.word_lists.another_cause
    if id_ is None:
        return []
    record = kb.errors[id_]
    own = [point for point in record.points if point.when]
    return [*(point.text for point in environment.among(own)), *paragraphs(record.advice)[1:]]


def _leads(found: Collection[ErrorPoint]) -> list[str]:
    """What opens an answer, before the first paragraph of the advice."""
    return [" ".join(point.text.split()) for point in found if point.lead]
