"""What of an advice can be the trouble that a text describes, and which packages have a part."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Mapping, Sequence

import msgspec

from d9m.browse import symptoms
from d9m.browse.symptoms import Symptom
from d9m.kb.store import KnowledgeBase
from d9m.model.advice import NEVER_DIFFERS, Advice, OpAnswer, worst
from d9m.model.settings import Step
from d9m.model.when import clauses


def computes_on(kb: KnowledgeBase, package: str, device: str) -> bool:
    """Whether some record of a package is about a device."""
    for id_ in kb.sources:
        if kb.home(id_) != package:
            continue
        for clause in clauses(kb.sources[id_].when):
            named = clause.get("device", device)
            if named == device or (isinstance(named, list) and device in named):
                return True
    return False


def of_libraries(
    kb: KnowledgeBase, described: Sequence[Symptom], packages: Iterable[str]
) -> list[Symptom]:
    """The symptoms that can be of the libraries that a text names, where each of them computes
    alone: what befalls models and programs of a framework does not befall theirs.
    """
    named = [package for package in packages if package not in kb.meta.platforms]
    if not named or not all(kb.packages[package].computes_alone for package in named):
        return list(described)
    return [
        symptom
        for symptom in described
        if symptom.is_general
        or symptom.record.by_settings
        or symptom.record.scope != "run"
        or any(_speaks_of(kb, symptom, package) for package in named)
    ]


def _speaks_of(kb: KnowledgeBase, symptom: Symptom, package: str) -> bool:
    record = symptom.record
    if package in record.packages or any(
        package in point.condition.cuts for point in record.points
    ):
        return True
    names = [package, kb.packages[package].title, *kb.packages[package].synonyms]
    said = " ".join([record.title, record.advice, *(text.text for text in record.texts)]).lower()
    return any(name.lower() in said for name in names)


def is_past(kb: KnowledgeBase, symptom: Symptom, advice: Advice, newest: Sequence[str]) -> bool:
    """Whether what a symptom is about no longer happens in the newest release, which stands in for
    one that nobody named: what else differs there is no answer.
    """
    known = advice.sources()
    own = [known[id_] for id_ in symptom.record.sources if id_ in known]
    is_assumed = any(kb.home(source.id) in newest for source in own)
    return is_assumed and all(source.outcome in NEVER_DIFFERS for source in own)


def is_served(kb: KnowledgeBase, packages: Sequence[str]) -> bool:
    """Whether the packages are servers, which take no seeds of a program."""
    own = [name for name in packages if name not in kb.meta.platforms]
    return bool(own) and all(kb.packages[name].is_server for name in own)


def is_general(kb: KnowledgeBase, step: Step) -> bool:
    """Whether a setting is good for every program, as seeds are."""
    return all(solution in kb.ingredients for solution in step.solutions)


def differing(advice: Advice) -> Advice | None:
    """Without what cannot be the trouble: what never differs here. None where that is all."""
    ops: list[OpAnswer] = []
    for op in advice.ops:
        sources = [source for source in op.sources if source.outcome not in NEVER_DIFFERS]
        if sources:
            ops.append(msgspec.structs.replace(op, sources=sources))
    return msgspec.structs.replace(advice, ops=ops) if ops else None


def spoken_of(kb: KnowledgeBase, advice: Advice, text: str) -> Advice:
    """Of libraries that compute alone, only the sources whose title says what the text speaks of,
    and few other titles do: random forests, where the library has much else. All, where none does.
    """
    homes = set(map(kb.home, advice.sources()))
    if not all(kb.packages[home].computes_alone for home in homes):
        return advice
    titles = {
        source.id: symptoms.groups(kb, source.title) - symptoms.usual(kb)
        for op in advice.ops
        for source in op.sources
    }
    frequent = Counter(word for words in titles.values() for word in words)
    said = {word for word in symptoms.groups(kb, text) if 2 * frequent[word] <= len(titles)}
    meant = {id_ for id_, words in titles.items() if not said.isdisjoint(words)}
    if not meant:
        return advice
    ops: list[OpAnswer] = []
    for op in advice.ops:
        sources = [source for source in op.sources if source.id in meant]
        if sources:
            solutions = dict.fromkeys(label for source in sources for label in source.solutions)
            outcome = worst([source.outcome for source in sources])
            ops.append(
                msgspec.structs.replace(
                    op, sources=sources, solutions=list(solutions), outcome=outcome
                )
            )
    needed = {label for op in ops for label in op.solutions}
    steps = [
        step
        for step in advice.steps
        if is_general(kb, step) or not needed.isdisjoint(step.solutions)
    ]
    outcome = worst([op.outcome for op in ops])
    return msgspec.structs.replace(advice, ops=ops, steps=steps, outcome=outcome)


def without_worked_around(kb: KnowledgeBase, advice: Advice, made: Mapping[str, str]) -> Advice:
    """Without what the text gets around: it makes the settings of a way around it."""
    ops: list[OpAnswer] = []
    for op in advice.ops:
        sources = [source for source in op.sources if not _is_worked_around(kb, source.id, made)]
        if sources or not op.sources:
            ops.append(msgspec.structs.replace(op, sources=sources))
    return msgspec.structs.replace(advice, ops=ops)


def _is_worked_around(kb: KnowledgeBase, source: str, made: Mapping[str, str]) -> bool:
    for way in kb.sources[source].workarounds:
        if way.settings and all(made.get(turn.set or "") in turn.to for turn in way.settings):
            return True
    return False


def by_seeds(advice: Advice, op: OpAnswer) -> bool:
    """Whether nothing but a seed makes an op repeat."""
    steps = [step for step in advice.steps if not set(op.solutions).isdisjoint(step.solutions)]
    return all(step.any_value for step in steps)
