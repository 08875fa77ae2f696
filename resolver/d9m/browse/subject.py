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
from d9m.environment.version_options import VERSION_OPTIONS
from d9m.errors import UsageError
from d9m.kb.store import KnowledgeBase
from d9m.model.advice import Advice
from d9m.model.records import Scope
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
    """Frameworks of which the newest release was taken, because nobody named one."""
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
    return msgspec.structs.replace(setup, packages=(*setup.packages, *added))


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
    if not described and len(text.split()) > LONGEST_NAME and not _is_meant(kb, named):
        return None
    whole = context(kb, setup, named.packages, here)
    if whole.gpu is None and whole.device is None:
        gpu = None if named.device else named.gpu
        whole = msgspec.structs.replace(whole, gpu=gpu, device=named.device)
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
    for op in named.ops:
        homes.update(dict.fromkeys(_homes(op, known)))
    added = tuple((home, None) for home in homes if home not in known)
    asked = msgspec.structs.replace(setup, packages=(*setup.packages, *added))
    ops = [op.name for op in named.ops if _is_op(kb, asked, op.name)]
    if not ops:
        return None
    advice = _advice(kb, asked, ops)
    plain = () if not described else ("deterministic", "no-known-source")
    answered = [op for op in advice.ops if op.query in ops]
    met = [op.query for op in answered if op.sources and op.outcome not in plain]
    if not met:
        return None
    if len(met) < len(ops):
        advice = _advice(kb, asked, met)
    return _subject(advice, named, ops=met)


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
    asked = msgspec.structs.replace(setup, packages=(*setup.packages, *added), facts=facts)
    newest, asked = _newest(kb, asked)
    question = api.understand(kb, asked, scope=scope)
    items = [item for item in question.items if item.ops[0].package in libraries]
    advice = api.answer(kb, msgspec.structs.replace(question, items=tuple(items)))
    if not advice.ops:
        return None
    homes = set(map(kb.home, advice.sources()))
    about = [package for package in libraries if package in homes]
    return _subject(advice, named, packages=about, newest=newest) if about else None


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
    added = tuple((package, found[package]) for package in installed)
    asked = msgspec.structs.replace(setup, packages=(*setup.packages, *added))
    newest, asked = _newest(kb, asked)
    subject = _subject(api.advise(kb, asked), named, newest=newest)
    return msgspec.structs.replace(subject, installed=installed)


def _scope(described: Sequence[Symptom]) -> Scope:
    return described[0].record.scope if described else "run"


def _names(kb: KnowledgeBase, setup: Setup) -> list[str]:
    return [kb.package_named(name) for name, _version in setup.packages]


def _newest(kb: KnowledgeBase, setup: Setup) -> tuple[list[str], Setup]:
    """The frameworks without a release, and the environment with the newest of each."""
    newest: list[str] = []
    packages: list[tuple[str, str | None]] = []
    for name, version in setup.packages:
        package = kb.package_named(name)
        if version is None and package in VERSION_OPTIONS:
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
