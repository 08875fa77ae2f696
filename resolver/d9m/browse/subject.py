"""What the records say of the ops, packages and settings that a text names: the resolver's own
answer, asked for somebody who described a trouble instead.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence

import msgspec

from d9m import api
from d9m.browse import mentions
from d9m.browse.mentions import Mentions, OpMention
from d9m.browse.symptoms import Symptom
from d9m.environment.environment import Setup, describe
from d9m.environment.packages import partners
from d9m.environment.version_options import VERSION_OPTIONS
from d9m.errors import UsageError
from d9m.kb.store import KnowledgeBase
from d9m.model.advice import NEVER_DIFFERS, Advice, OpAnswer
from d9m.model.records import Scope, Words
from d9m.model.settings import Step
from d9m.resolve.op_lookup import OpItem

LONGEST_NAME = 3
"""Words of a text that names an op or a package and says nothing of it."""


class Subject(msgspec.Struct, frozen=True):
    """What a text is about, and the advice for it."""

    advice: Advice
    ops: list[str]
    """Ops that the text names and that are known to differ somewhere."""
    packages: list[str]
    """Packages that the answer is about, where no op is named."""
    made: list[str]
    """Advised settings that the text names as made."""
    missing: list[Step]
    """Advised settings that it does not name, or with another value."""
    newest: list[str] = []
    """Packages of which the newest release was taken, because nobody named one."""
    installed: list[str] = []
    """Packages in the release that is installed here."""

    @property
    def is_all_switched(self) -> bool:
        """Whether the text names every advised setting, seeds and the like left out."""
        switches = [step for step in self.advice.steps if not step.free]
        return bool(switches) and not any(step in self.missing for step in switches)


def context(
    kb: KnowledgeBase, setup: Setup | None, named: Mapping[str, str | None], here: Setup | None
) -> Setup:
    """The environment of a text: what was named wins over the text, and the text over what is
    installed here.
    """
    setup = setup or Setup()
    known = describe(kb, setup).packages
    installed = dict(here.packages) if here else {}
    added: list[tuple[str, str | None]] = []
    for package, version in named.items():
        if package not in known:
            added.append((package, version or installed.get(package)))
    return _adding(setup, added)


def with_partners(kb: KnowledgeBase, setup: Setup) -> Setup:
    """A setup with what its packages need: torchvision stands on PyTorch."""
    known = describe(kb, setup).packages
    wanted = dict.fromkeys(part for package in known for part in partners(kb, package))
    return _adding(setup, ((part, None) for part in wanted if part not in known))


def _adding(setup: Setup, packages: Iterable[tuple[str, str | None]]) -> Setup:
    return msgspec.structs.replace(setup, packages=(*setup.packages, *packages))


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
    if whole.gpu is None and whole.device is None:
        gpu = None if named.device else named.gpu
        whole = msgspec.structs.replace(whole, gpu=gpu, device=named.device)
    if described and not any(symptom.record.on_runs for symptom in described):
        scope = _scope(described)
        ops = _of_ops(kb, whole, named, described)
        if ops is not None or scope == "run":
            return ops
        return _of_packages(kb, whole, named, described, scope)
    return (
        _of_ops(kb, whole, named, described)
        or _of_packages(kb, whole, named, described, _scope(described))
        or _of_packages(kb, whole, named, described, "run")
        or _of_frameworks(kb, whole, named, described, here)
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
    known = _names(kb, setup)
    homes: dict[str, None] = {}
    meant = [op for op in named.ops if op.is_code or _is_near(kb, op, known)]
    for op in meant:
        homes.update(dict.fromkeys(_homes(op, known)))
    asked = _adding(setup, ((home, None) for home in homes if home not in known))
    ops = [called for op in meant if (called := _called(kb, asked, op, named)) is not None]
    if not ops:
        return None
    advice = _advice(kb, asked, ops)
    plain = _hidden(described)
    answered = [op for op in advice.ops if op.query in ops]
    met = [op.query for op in answered if op.sources and op.outcome not in plain]
    if not met and len(ops) == 1 and _says_no_cause(described) and meant[0].is_code:
        return _subject(advice, named, ops=ops)
    if not met:
        return None
    if len(met) < len(ops):
        advice = _advice(kb, asked, met)
    of_frameworks = all(kb.home(source) in VERSION_OPTIONS for source in advice.sources())
    unsolved = of_frameworks and advice.outcome == "unsolved"
    if described and described[0].record.by_settings and unsolved:
        advice = _with_switches(kb, asked, advice)
    return _subject(advice, named, ops=met)


def _with_switches(kb: KnowledgeBase, setup: Setup, advice: Advice) -> Advice:
    """The settings of the whole framework, for a model of which one op has no way out: its other
    ops need them.
    """
    frameworks = [name for name in _names(kb, setup) if name in VERSION_OPTIONS]
    versions = {kb.package_named(name): version for name, version in setup.packages}
    if any(versions[framework] is None for framework in frameworks):
        return advice
    whole = api.advise(kb, setup).steps
    names = {step.name for step in whole}
    own = [step for step in advice.steps if step.name not in names]
    return msgspec.structs.replace(advice, steps=[*whole, *own])


def _advice(kb: KnowledgeBase, setup: Setup, ops: Sequence[str]) -> Advice:
    """The advice for ops of a sentence: one that is not written as a call says nothing of its
    arguments, not even that it leaves them out.
    """
    question = api.understand(kb, setup, ops)
    items: list[OpItem] = []
    for item in question.items:
        if "(" not in item.text:
            calls = tuple(msgspec.structs.replace(op, defaults={}) for op in item.ops)
            item = msgspec.structs.replace(item, ops=calls)
        items.append(item)
    return api.answer(kb, msgspec.structs.replace(question, items=tuple(items)))


def _homes(op: OpMention, known: Iterable[str]) -> list[str]:
    """The packages of an op that are meant: named ones, else frameworks, else all that have it."""
    return (
        [package for package in op.packages if package in known]
        or mentions.frameworks(op.packages)
        or list(op.packages)
    )


def _is_near(kb: KnowledgeBase, op: OpMention, known: Sequence[str]) -> bool:
    """Whether a plain word is the op of a package that is named, or of one for the framework that
    is named; where none is, of any framework.
    """
    if not mentions.frameworks(known):
        return bool(mentions.frameworks(op.packages)) or any(home in known for home in op.packages)
    return any(not {home, *partners(kb, home)}.isdisjoint(known) for home in op.packages)


def _called(kb: KnowledgeBase, setup: Setup, op: OpMention, named: Mentions) -> str | None:
    """An op with the arguments that the text gives it; None where it is none here."""
    arguments = ",".join(f"{name}={value}" for name, value in named.arguments.items())
    for called in (f"{op.name}[{arguments}]", op.name) if arguments else (op.name,):
        if _is_op(kb, setup, called):
            return called
    return None


def _is_op(kb: KnowledgeBase, setup: Setup, name: str) -> bool:
    try:
        api.understand(kb, setup, [name])
    except UsageError:
        return False
    return True


def _of_packages(
    kb: KnowledgeBase,
    setup: Setup,
    named: Mentions,
    described: Sequence[Symptom],
    scope: Scope,
) -> Subject | None:
    """What belongs to the libraries that are named, or that have a part in the symptom."""
    parts = list(described[0].record.packages) if described else []
    said = described[0].record.facts if described else {}
    known = _names(kb, setup)
    added = tuple((package, None) for package in parts if package not in known)
    facts = tuple({**said, **dict(setup.facts)}.items())
    libraries = [package for package in [*known, *parts] if package not in VERSION_OPTIONS]
    if not libraries:
        return None
    asked = msgspec.structs.replace(
        setup,
        packages=(*setup.packages, *added),
        facts=facts,
        inference=setup.inference or _is_served(kb, [*known, *parts]),
    )
    newest, asked = _newest(kb, asked)
    question = api.understand(kb, asked, scope=scope)
    items = [item for item in question.items if item.ops[0].package in libraries]
    advice = api.answer(kb, msgspec.structs.replace(question, items=tuple(items)))
    if described or named.words > LONGEST_NAME:
        advice = _repeating_left_out(advice)
    if not advice.ops:
        return None
    homes = set(map(kb.home, advice.sources()))
    about = [package for package in libraries if package in homes]
    if not about:
        return None
    if _is_served(kb, [*known, *parts]):
        steps = [step for step in advice.steps if not _is_general(kb, step)]
        advice = msgspec.structs.replace(advice, steps=steps)
    return _subject(advice, named, packages=about, newest=newest)


def _is_served(kb: KnowledgeBase, packages: Sequence[str]) -> bool:
    """Whether the packages are servers, which take no seeds of a program."""
    words = kb.words.get("") or Words()
    return bool(packages) and set(packages) <= {*words.servers, *kb.meta.platforms}


def _is_general(kb: KnowledgeBase, step: Step) -> bool:
    """Whether a setting is good for every program, as seeds are."""
    return all(solution in kb.ingredients for solution in step.solutions)


def _repeating_left_out(advice: Advice) -> Advice:
    """Without what cannot be the trouble: what never differs here."""
    ops: list[OpAnswer] = []
    for op in advice.ops:
        sources = [source for source in op.sources if source.outcome not in NEVER_DIFFERS]
        if sources:
            ops.append(msgspec.structs.replace(op, sources=sources))
    return msgspec.structs.replace(advice, ops=ops)


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
    named: Mentions,
    described: Sequence[Symptom],
    here: Setup | None,
) -> Subject | None:
    """The settings of the frameworks that are named, else of those that are installed here."""
    if not any(symptom.record.by_settings for symptom in described):
        return None
    own = mentions.frameworks(_names(kb, setup))
    found = {} if own or here is None else dict(here.packages)
    installed = mentions.frameworks(list(found))
    if not own and not installed:
        return None
    asked = _adding(setup, ((package, found[package]) for package in installed))
    newest, asked = _newest(kb, asked)
    subject = _subject(api.advise(kb, asked), named, newest=newest)
    return msgspec.structs.replace(subject, installed=installed)


def _scope(described: Sequence[Symptom]) -> Scope:
    return described[0].record.scope if described else "run"


def _names(kb: KnowledgeBase, setup: Setup) -> list[str]:
    return [kb.package_named(name) for name, _version in setup.packages]


def _newest(kb: KnowledgeBase, setup: Setup) -> tuple[list[str], Setup]:
    """The packages without a release, and the environment with the newest of each."""
    newest: list[str] = []
    packages: list[tuple[str, str | None]] = []
    for name, version in setup.packages:
        package = kb.package_named(name)
        if version is None and kb.packages[package].releases:
            newest.append(package)
            version = "latest"
        packages.append((name, version))
    return newest, msgspec.structs.replace(setup, packages=tuple(packages))


def _subject(
    advice: Advice,
    named: Mentions,
    ops: Sequence[str] = (),
    packages: Sequence[str] = (),
    newest: Sequence[str] = (),
) -> Subject:
    missing = [step for step in advice.steps if not _is_made(step, named)]
    made = [step.name for step in advice.steps if step not in missing]
    return Subject(advice, list(ops), list(packages), made, missing, list(newest))


def _is_made(step: Step, named: Mentions) -> bool:
    """Whether the text names a setting as made. A value that is a name of the program's may be any
    value.
    """
    if step.name not in named.settings or step.kind == "unset":
        return False
    value = named.settings[step.name]
    if value is None or (value.replace(".", "").isidentifier() and value not in _CONSTANTS):
        return True
    return step.satisfied_by(value) or value.lower() == str(step.value).lower()


_CONSTANTS = ("True", "False", "None", "true", "false")
