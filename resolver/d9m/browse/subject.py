"""What the records say of the ops, packages and settings that a text names: the resolver's own
answer, asked for somebody who described a trouble instead.
"""

from __future__ import annotations

from collections.abc import Collection, Sequence

import msgspec

from d9m import api
from d9m.browse import made_settings, mentions, named_calls, suspects
from d9m.browse.mentions import Mentions
from d9m.browse.named_ops import advice_for, framework_of, meant_in
from d9m.browse.symptoms import Symptom
from d9m.browse.text_environment import adding, bases, context, packages_of, with_newest
from d9m.environment.environment import Setup, describe
from d9m.environment.version_options import VERSION_OPTIONS
from d9m.errors import UsageError
from d9m.kb.store import KnowledgeBase
from d9m.model.advice import NEVER_DIFFERS, REPEATS, Advice
from d9m.model.records import Scope
from d9m.model.settings import Step
from d9m.resolve.ways_out import with_ways_out

LONGEST_NAME = 3
"""Words of a text that names an op or a package and says nothing of it."""


class Subject(msgspec.Struct, frozen=True):
    """What a text is about, and the advice for it."""

    advice: Advice
    ops: list[str]
    """Ops that the text names and that are known to differ somewhere."""
    packages: list[str]
    """Packages that the answer is about, where no op is named."""
    applied: list[str]
    """Advised settings that the text names as made."""
    missing: list[Step]
    """Advised settings that it does not name, or with another value."""
    newest: list[str] = []
    """Packages of which a release was taken, because nobody named one: the newest, or that of the
    time of those that were named.
    """
    installed: list[str] = []
    """Packages in the release that is installed here."""
    unvalued: list[str] = []
    """Those of `applied` for which it gives no value."""
    unnamed_seeds: list[Step] = []
    """Advised seeds that it does not name, where it says that seeds are set."""
    device: str | None = None
    """The device that the text names, where nothing else does."""
    is_reported: bool = False
    """Whether the text says that runs differ."""

    @property
    def names_something(self) -> bool:
        """Whether the answer is about ops or packages of the text, not about whole frameworks."""
        return bool(self.ops or self.packages)

    @property
    def is_about_runs(self) -> bool:
        """Whether somebody reports that runs differ, and the advice is about runs."""
        return self.is_reported and self.advice.scope == "run"

    @property
    def is_reported_to_repeat(self) -> bool:
        """Whether the records say that what the text reports to differ repeats."""
        return self.names_something and self.is_about_runs and self.advice.outcome in REPEATS

    @property
    def has_other_causes(self) -> bool:
        """Whether runs that differ can have a cause that is not on record: what the text names
        repeats, or it names a whole library.
        """
        is_library = bool(self.packages) and self.is_about_runs
        return self.is_reported_to_repeat or is_library

    @property
    def is_all_switched(self) -> bool:
        """Whether the text names every advised setting, seeds and the like left out."""
        switches = [step for step in self.advice.steps if not step.any_value]
        return bool(switches) and not any(step in self.missing for step in switches)

    @property
    def is_past_settings(self) -> bool:
        """Whether what the text names differs whatever is set."""
        return self.names_something and self.advice.outcome not in (*REPEATS, "depends")

    def has_made(self, names: Collection[str]) -> bool:
        """Whether the text, or a helper that it names, makes one of some advised settings."""
        covered = [step.name for step in self.advice.steps if step.covered_by is not None]
        return not set(names).isdisjoint([*self.applied, *covered])


def about_error(kb: KnowledgeBase, setup: Setup, ops: Sequence[str]) -> Subject | None:
    """What the ops of a message do in the environment, if its release is known."""
    if not ops or not any(version for _package, version in setup.packages):
        return None
    try:
        advice = api.advise(kb, setup, ops)
    except UsageError:
        return None
    return Subject(advice, list(ops), [], [], advice.steps)


def about_complaint(
    kb: KnowledgeBase,
    text: str,
    named: Mentions,
    described: Sequence[Symptom],
    setup: Setup | None,
    here: Setup | None,
) -> Subject | None:
    """What the records say of what a complaint names; None where they say nothing of it."""
    if not described and named.words > LONGEST_NAME and not _is_meant(kb, named):
        return None
    whole = context(kb, setup, named.packages, here)
    whole = msgspec.structs.replace(whole, facts=(*named.facts.items(), *whole.facts))
    device = None
    if whole.gpu is None and whole.device is None:
        device = named.device
        gpu = None if device else named.gpu
        whole = msgspec.structs.replace(whole, gpu=gpu, device=device)
    found = _about(kb, whole, text, named, described, here)
    if found is None:
        return None
    is_reported = any(symptom.record.on_runs for symptom in described)
    said = made_settings.seeds_said(kb, text, named, found.missing) if described else []
    missing = [step for step in found.missing if step not in said]
    if found.is_past_settings and all(suspects.is_general(kb, step) for step in missing):
        said, missing = [], []  # they are not what is lacking
    return msgspec.structs.replace(
        found, device=device, is_reported=is_reported, unnamed_seeds=said, missing=missing
    )


def _about(
    kb: KnowledgeBase,
    whole: Setup,
    text: str,
    named: Mentions,
    described: Sequence[Symptom],
    here: Setup | None,
) -> Subject | None:
    if described and not any(symptom.record.on_runs for symptom in described):
        scope = _scope(described)
        if scope == "run":
            return _of_ops(kb, whole, named, described)
        return (
            _of_ops_in(kb, whole, named, scope)
            or _of_packages(kb, whole, text, named, described, scope)
            or _of_ops(kb, whole, named, described)
        )
    found = _of_ops(kb, whole, named, described)
    if found is not None:
        return found
    is_bare = all(package in kb.meta.platforms for package in packages_of(kb, whole))
    if is_bare and any(symptom.record.by_settings for symptom in described):
        whole = adding(whole, ((name, None) for name in framework_of(kb, whole, named)))
    return (
        _of_packages(kb, whole, text, named, described, _scope(described))
        or _of_packages(kb, whole, text, named, described, "run")
        or _of_frameworks(kb, whole, text, named, described, here)
    )


def _is_meant(kb: KnowledgeBase, named: Mentions) -> bool:
    """Whether a text that describes no trouble on record is about what it names."""
    for package in named.packages:
        if package not in VERSION_OPTIONS and package not in kb.meta.platforms:
            return True
    return any(op.is_code for op in named.ops)


def _of_ops(
    kb: KnowledgeBase, setup: Setup, named: Mentions, described: Sequence[Symptom]
) -> Subject | None:
    """The ops that are named; of a complaint, those that do not simply repeat."""
    asked, meant = meant_in(kb, setup, named)
    asides = [name for name, op in meant.items() if op.is_aside]
    if asides and described and not all(symptom.record.by_settings for symptom in described):
        meant = {name: op for name, op in meant.items() if not op.is_aside}
    ops = list(meant)
    if not ops:
        return None
    advice = advice_for(kb, asked, ops)
    plain = _hidden(described)
    general = bool(described) and described[0].record.by_settings
    reported: list[str] = []
    for op in advice.ops:
        is_answer = op.query in ops and op.sources and op.outcome not in plain
        is_aside = op.query in asides or (
            _scope(described) == "hardware" and suspects.by_seeds(advice, op)
        )
        is_word = op.query in meant and not meant[op.query].is_code and "[" not in op.query
        is_seeded = op.outcome == "solved" and suspects.by_seeds(advice, op)
        is_vague = general and is_word and (op.outcome == "depends" or is_seeded)
        if is_answer and not (described and is_aside and op.outcome in REPEATS) and not is_vague:
            reported.append(op.query)
    if not reported and len(ops) == 1 and _says_no_cause(described) and meant[ops[0]].is_code:
        return None if asides else _subject(advice, named, ops=ops)
    if not reported:
        return None
    if len(reported) < len(ops):
        advice = advice_for(kb, asked, reported)
    newest: list[str] = []
    if advice.outcome == "depends":
        known = packages_of(kb, asked)
        stand_on = [base for base in bases(kb, known) if base not in known] if described else []
        assumed, latest = with_newest(kb, adding(asked, ((base, None) for base in stand_on)))
        decided = advice_for(kb, latest, reported)
        if decided.outcome == "solved" or (
            general and decided.outcome not in ("depends", "unknown")
        ):
            newest, asked, advice = assumed, latest, decided
    is_wrapper = any(name in kb.meta.judged for op in advice.ops for name in op.names)
    subject = _subject(advice, named, ops=reported, newest=newest)
    is_on_runs = bool(described) and (is_wrapper or described[0].record.by_settings)
    if is_on_runs and not subject.is_all_switched:
        whole = _with_switches(kb, asked, named, advice)
        subject = _subject(whole, named, ops=reported, newest=newest)
    return subject


def _of_ops_in(kb: KnowledgeBase, setup: Setup, named: Mentions, scope: Scope) -> Subject | None:
    """The ops that are named and can differ with the batch or the machine; not one that never
    does: somebody has seen a difference.
    """
    asked, meant = meant_in(kb, setup, named)
    ops = [name for name, op in meant.items() if not op.is_aside]
    if not ops:
        return None
    newest, asked = with_newest(kb, asked)
    advice = advice_for(kb, asked, ops, scope)
    reported = [
        op
        for op in advice.ops
        if op.query in ops and op.sources and op.outcome not in NEVER_DIFFERS
    ]
    if not reported:
        return None
    needed = {label for op in reported for label in op.solutions}
    steps = [step for step in advice.steps if not needed.isdisjoint(step.solutions)]
    advice = msgspec.structs.replace(advice, ops=reported, steps=steps)
    return _subject(advice, named, ops=[op.query for op in reported], newest=newest)


def _with_switches(
    kb: KnowledgeBase, setup: Setup, named: Mentions, advice: Advice, calls: Sequence[str] = ()
) -> Advice:
    """The settings of the whole framework as well: the other ops of the model need them. A switch
    that reaches few of them does not stand in for the one that reaches all.
    """
    if any(op.outcome == "raises" for op in advice.ops):  # the switch would stop the program
        return advice
    frameworks = [name for name in packages_of(kb, setup) if name in VERSION_OPTIONS]
    if not frameworks:
        return advice
    question = api.understand(kb, setup, calls=calls)
    made = made_settings.values(kb, named)
    narrow = kb.word_lists.narrow_switches
    wide = {name: value for name, value in made.items() if name not in narrow}
    whole = api.answer(kb, question, made=wide)
    names = {step.name for step in whole.steps}
    own = [step for step in advice.steps if step.name not in names]
    return msgspec.structs.replace(advice, steps=[*whole.steps, *own], helpers=whole.helpers)


def _of_packages(
    kb: KnowledgeBase,
    setup: Setup,
    text: str,
    named: Mentions,
    described: Sequence[Symptom],
    scope: Scope,
) -> Subject | None:
    """What belongs to the libraries that are named, or that have a part in the symptom."""
    parts = list(described[0].record.packages) if described else []
    said = described[0].record.facts if described else {}
    known = packages_of(kb, setup)
    if setup.device is not None:
        parts = [
            part for part in parts if part in known or suspects.computes_on(kb, part, setup.device)
        ]
    stand_on = bases(kb, [*known, *parts]) if described and described[0].record.on_runs else []
    added = tuple((name, None) for name in [*parts, *stand_on] if name not in known)
    facts = tuple({**said, **dict(setup.facts)}.items())
    libraries = [package for package in [*known, *parts] if package not in VERSION_OPTIONS]
    if not libraries:
        return None
    asked = msgspec.structs.replace(
        setup,
        packages=(*setup.packages, *added),
        facts=facts,
        inference=setup.inference or suspects.is_served(kb, [*known, *parts]),
    )
    newest, asked = with_newest(kb, asked, made_settings.values(kb, named))
    calls = _calls_made(kb, asked, text) if scope == "run" else []
    question = api.understand(kb, asked, scope=scope, calls=calls)
    items = [item for item in question.items if item.ops[0].package in libraries]
    question = msgspec.structs.replace(question, items=tuple(items))
    made = made_settings.values(kb, named)
    advice = suspects.without_worked_around(kb, api.answer(kb, question, made=made), made)
    if described and suspects.is_past(kb, described[0], advice, newest):
        return None
    if described or named.words > LONGEST_NAME:
        differing = suspects.differing(advice)
        if differing is None and not set(known).intersection(libraries):
            return None  # nobody named them, and they are not the trouble
        advice = suspects.spoken_of(kb, differing or advice, text)
    if not advice.ops:
        return None
    homes = set(map(kb.home, advice.sources()))
    about = [package for package in dict.fromkeys(libraries) if package in homes]
    if not about:
        return None
    if scope == "run" and described:
        advice = _with_switches(kb, asked, named, advice, calls)
    if suspects.is_served(kb, [*known, *parts]):
        steps = [step for step in advice.steps if not suspects.is_general(kb, step)]
        advice = msgspec.structs.replace(advice, steps=steps)
    return _subject(advice, named, packages=about, newest=newest)


def _says_no_cause(described: Sequence[Symptom]) -> bool:
    """Whether a text says no more than that something differs."""
    return bool(described) and all(symptom.is_general for symptom in described)


def _hidden(described: Sequence[Symptom]) -> tuple[str, ...]:
    """Outcomes of an op that are no answer: to a complaint that it repeats, to a complaint about
    something else than runs that it would with some settings.
    """
    if not described:
        return ()
    on_runs = any(symptom.record.on_runs for symptom in described)
    return (
        NEVER_DIFFERS if on_runs or _scope(described) == "hardware" else (*NEVER_DIFFERS, "solved")
    )


def _of_frameworks(
    kb: KnowledgeBase,
    setup: Setup,
    text: str,
    named: Mentions,
    described: Sequence[Symptom],
    here: Setup | None,
) -> Subject | None:
    """The settings of the frameworks that are named, else of those that are installed here."""
    if not any(symptom.record.by_settings for symptom in described):
        return None
    names = packages_of(kb, setup)
    parts = described[0].record.packages if described else []
    own = mentions.frameworks(names) or bases(kb, [*names, *parts])
    found = {} if own or here is None else dict(here.packages)
    installed = mentions.frameworks(list(found))
    if not own and not installed:
        return None
    added = [(package, None) for package in own if package not in names]
    asked = adding(setup, [*added, *((package, found[package]) for package in installed)])
    newest, asked = with_newest(kb, asked)
    advice = api.advise(kb, asked, calls=_calls_made(kb, asked, text))
    subject = _subject(advice, named, newest=newest)
    return msgspec.structs.replace(subject, installed=installed)


def _calls_made(kb: KnowledgeBase, setup: Setup, text: str) -> list[str]:
    """The helpers that the text names, as far as the releases have them."""
    made: list[str] = []
    for call in named_calls.find(kb, text, describe(kb, setup).packages):
        try:
            api.understand(kb, setup, [], calls=[call])
        except UsageError:  # of another release
            continue
        made.append(call)
    return made


def _scope(described: Sequence[Symptom]) -> Scope:
    return described[0].record.scope if described else "run"


def _subject(
    advice: Advice,
    named: Mentions,
    ops: Sequence[str] = (),
    packages: Sequence[str] = (),
    newest: Sequence[str] = (),
) -> Subject:
    if ops or packages:
        advice = with_ways_out(advice, advice.sources().values())
    missing = [
        step
        for step in advice.steps
        if step.covered_by is None and not made_settings.is_made(step, named)
    ]
    made = [step.name for step in advice.steps if step.covered_by is None and step not in missing]
    unvalued = [name for name in made if named.settings.get(name) is None]
    return Subject(
        advice, list(ops), list(packages), made, missing, list(newest), unvalued=unvalued
    )
