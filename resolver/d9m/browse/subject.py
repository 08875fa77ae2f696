"""Ask the resolver about the ops, libraries and frameworks that a text names, for a person who
described a problem instead.
"""

from __future__ import annotations

from collections.abc import Collection, Sequence

import msgspec

from d9m import api
from d9m.browse import mentions, named_settings
from d9m.browse.mentions import Mentions
from d9m.browse.named_ops import advice_for, meant_in
from d9m.browse.text_environment import adding, bases, context, packages_of, with_newest
from d9m.environment.environment import Setup
from d9m.environment.version_options import VERSION_OPTIONS
from d9m.errors import UsageError
from d9m.kb.store import KnowledgeBase
from d9m.model.advice import NEVER_DIFFERS, Advice
from d9m.model.records import Scope
from d9m.model.settings import Step
from d9m.resolve.workarounds import with_workarounds


class Subject(msgspec.Struct, frozen=True):
    """The subject of a text, and the advice for it."""

    advice: Advice
    ops: list[str]
    """Ops that the text names and that are known to be nondeterministic somewhere."""
    packages: list[str]
    """Libraries that the answer is about, where no op is named."""
    set_in_text: dict[str, int]
    """Advised settings that code in the text sets -> the line."""
    mentioned: list[str]
    """Advised settings that the text names in a sentence."""
    missing: list[Step]
    """Advised settings that no code in the text sets."""
    newest: list[str] = []
    """Packages of which the newest release stands in for one that the text does not name."""
    installed: list[str] = []
    """Packages in the release that is installed here."""
    device_here: str | None = None
    """The device of this machine, which stands in for the one that the text does not name."""

    @property
    def names_something(self) -> bool:
        """Whether the answer is about ops or libraries of the text, not about whole frameworks."""
        return bool(self.ops or self.packages)


def about_error(kb: KnowledgeBase, setup: Setup, ops: Sequence[str]) -> Subject | None:
    """Return the answer for the ops of a message in the environment, if its release is known."""
    if not ops or not any(version for _package, version in setup.packages):
        return None
    try:
        advice = api.advise(kb, setup, ops)
    except UsageError:
        return None
    return Subject(advice, list(ops), [], {}, [], advice.steps)


def setup_of(kb: KnowledgeBase, named: Mentions, setup: Setup | None, here: Setup | None) -> Setup:
    """The environment that a text is about."""
    whole = context(kb, setup, named.packages, here)
    whole = msgspec.structs.replace(whole, facts=(*named.facts.items(), *whole.facts))
    if whole.gpu is None and whole.device is None:
        gpu = None if named.device else named.gpu
        device = named.device or _device_here(kb, setup, named, here)
        whole = msgspec.structs.replace(whole, gpu=gpu, device=device)
    return whole


def _device_here(
    kb: KnowledgeBase, setup: Setup | None, named: Mentions, here: Setup | None
) -> str | None:
    """The device of this machine, where a framework is installed and the text and the command name
    no device, no release and no library of some devices.
    """
    is_named = named.devices or named.gpu or any(named.packages.values())
    is_elsewhere = (
        is_named or setup is not None or not named.packages.keys().isdisjoint(kb.meta.platforms)
    )
    return here.device if here is not None and here.packages and not is_elsewhere else None


def about(
    kb: KnowledgeBase,
    whole: Setup,
    named: Mentions,
    scope: Scope,
    wants_settings: bool,
    here: Setup | None,
) -> Subject | None:
    """The named ops that are nondeterministic, else the named libraries, else, where settings are
    the answer, those of the frameworks that are named or installed.
    """
    return (
        _of_ops(kb, whole, named, scope)
        or _of_libraries(kb, whole, named, scope)
        or (_of_frameworks(kb, whole, named, here) if wants_settings else None)
    )


def _of_ops(kb: KnowledgeBase, setup: Setup, named: Mentions, scope: Scope) -> Subject | None:
    asked, meant = meant_in(kb, setup, named)
    ops = [name for name, op in meant.items() if not op.is_aside]
    if not ops:
        return None
    newest, asked = with_newest(kb, asked)
    advice = advice_for(kb, asked, ops, scope)
    reported = [
        op.query
        for op in advice.ops
        if op.query in ops and op.sources and op.outcome not in NEVER_DIFFERS
    ]
    if not reported and not all(meant[name].is_code for name in ops):
        return None
    if reported and len(reported) < len(ops):
        advice = advice_for(kb, asked, reported, scope)
    if scope != "run":  # seeds are not why a batch or a machine changes a result
        advice = _without_general(kb, advice)
    return _subject(advice, named, ops=reported or ops, newest=newest)


def _of_libraries(kb: KnowledgeBase, setup: Setup, named: Mentions, scope: Scope) -> Subject | None:
    known = packages_of(kb, setup)
    libraries = [package for package in known if package not in VERSION_OPTIONS]
    if not libraries:
        return None
    added = [(name, None) for name in bases(kb, known) if name not in known]
    is_served = any(kb.packages[name].is_server for name in libraries)
    newest, asked = with_newest(kb, adding(setup, added))
    asked = msgspec.structs.replace(asked, inference=asked.inference or is_served)
    question = api.understand(kb, asked, scope=scope)
    items = [item for item in question.items if item.ops and item.ops[0].package in libraries]
    advice = api.answer(kb, msgspec.structs.replace(question, items=tuple(items)))
    if not advice.ops:
        return None
    differing = [op for op in advice.ops if op.outcome not in NEVER_DIFFERS]
    if differing:
        advice = msgspec.structs.replace(advice, ops=differing)
    if is_served:  # a server takes no seeds of a program
        advice = _without_general(kb, advice)
    homes = set(map(kb.home, advice.sources()))
    return _subject(
        advice, named, packages=[one for one in libraries if one in homes], newest=newest
    )


def _without_general(kb: KnowledgeBase, advice: Advice) -> Advice:
    """Leave out settings that are good for every program, as seeds are."""
    steps = [
        step
        for step in advice.steps
        if not all(solution in kb.ingredients for solution in step.solutions)
    ]
    return msgspec.structs.replace(advice, steps=steps)


def _of_frameworks(
    kb: KnowledgeBase, setup: Setup, named: Mentions, here: Setup | None
) -> Subject | None:
    names = packages_of(kb, setup)
    own = mentions.frameworks(names) or bases(kb, names)
    found = {} if own or here is None else dict(here.packages)
    installed = mentions.frameworks(list(found))
    if not own and not installed:
        return None
    added = [(package, None) for package in own if package not in names]
    asked = adding(setup, [*added, *((package, found[package]) for package in installed)])
    newest, asked = with_newest(kb, asked)
    subject = _subject(api.advise(kb, asked), named, newest=newest)
    return msgspec.structs.replace(subject, installed=installed)


def _subject(
    advice: Advice,
    named: Mentions,
    ops: Sequence[str] = (),
    packages: Sequence[str] = (),
    newest: Collection[str] = (),
) -> Subject:
    if ops or packages:
        advice = with_workarounds(advice, advice.sources().values())
    steps = [step for step in advice.steps if step.covered_by is None]
    made = {
        step.name: named.in_code[step.name].line
        for step in steps
        if named_settings.is_made(step, named.in_code.get(step.name))
    }
    missing = [step for step in steps if step.name not in made]
    mentioned = [step.name for step in missing if step.name in named.settings]
    return Subject(advice, list(ops), list(packages), made, mentioned, missing, list(newest))
