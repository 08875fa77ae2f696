"""Recognise an error or warning text, in a single line or a whole log, and a complaint in a
person's own words; answer what the text is about.
"""

from __future__ import annotations

import itertools
import re
from collections.abc import Iterable, Iterator, Sequence
from typing import Literal, TypeAlias

import msgspec

from d9m.about import SCHEMA_VERSION, __version__
from d9m.browse import mentions, messages, named_packages, subject, symptoms
from d9m.browse.explanation import Explanation
from d9m.browse.known_texts import LONG, search
from d9m.browse.mentions import Mentions
from d9m.browse.messages import Resemblance, resembling
from d9m.browse.subject import Subject
from d9m.browse.symptoms import FAMILIES
from d9m.browse.text_environment import bases, context, packages_of
from d9m.environment.environment import Environment, Setup, describe
from d9m.environment.version_options import VERSION_OPTIONS
from d9m.errors import UsageError, nearest, quote
from d9m.kb.store import KnowledgeBase
from d9m.model.advice import Tool
from d9m.model.records import AdviceFor, Setting, Symptom
from d9m.resolve import values

MOST_CANDIDATES = 5

LONGEST_NAME = 3
"""Words of a text that names an op or a package and says nothing of it."""

Asked: TypeAlias = Literal["differs", "recipe", "setting", "versions", "error", "seeds"]
"""The kind of question that a text asks: why results differ, how to make a program deterministic,
what a setting does, which versions are affected, about an error without its text, and why another
seed gives other results.
"""


class Candidate(msgspec.Struct, frozen=True):
    """A symptom that a text can mean."""

    id: str
    """An id that `d9m show` takes."""
    title: str
    question: str
    """The question that tells it apart from the others."""


class NamedSetting(msgspec.Struct, frozen=True):
    """A setting that a text names and that is not part of the advice."""

    name: str
    summary: str
    instead: str | None = None
    """The setting that was meant."""
    is_read: bool = True
    """Whether anything here reads it."""
    readers: list[str] = []
    """The frameworks that read it, where others are here."""
    refused: str | None = None
    """The value that the text gives, where the setting does not take it."""
    accepted: list[str] = []
    """The values that it takes in place of it."""


class Explained(msgspec.Struct, frozen=True):
    schema_version: int
    d9m: Tool
    found: list[Explanation] = []
    """Known messages in the order of the text."""
    asked: Asked = "differs"
    """The kind of question that a text without a known message asks."""
    candidates: list[Candidate] = []
    """The symptoms that such a text can mean, the most likely first."""
    is_sure: bool = False
    """Whether the first of them is meant."""
    families: list[AdviceFor] = []
    """The parts of an advice that are for the frameworks of the text; none where it names none."""
    subject: Subject | None = None
    """Answers about the ops, packages and frameworks that the text names."""
    settings: list[NamedSetting] = []
    """Settings that the text names and that are not advised there."""
    mentioned: list[str] = []
    """All settings that the text names."""
    is_unknown_message: bool = False
    """Whether the text reads like a message and is none on record."""
    resembles: list[Resemblance] = []
    """Known messages that an unknown one nearly is."""
    packages: dict[str, str] = {}
    """Packages that the text or the command names, with their versions; ``any`` without one."""
    device: str | None = None
    """The device that the text names."""
    releases: dict[str, list[str]] = {}
    """Packages of which the text names several releases, oldest first."""
    unlisted: dict[str, str] = {}
    """Packages of which the text or the command names a version that no record lists."""
    unknown_packages: list[str] = []
    """Packages that the command names and that no record is about."""


def explain(
    kb: KnowledgeBase,
    text: str | Iterable[str],
    setup: Setup | None = None,
    here: Setup | None = None,
) -> Explained:
    """Every known message in `text`, first come first; else what the text names, and the symptoms
    that it can mean.

    A long text comes in blocks, as `log.blocks` makes them. `setup` is what was named; what is
    installed, `here`, says only which release of a package is meant. Raises UsageError, with the
    nearest known texts, for a text that is not about determinism.
    """
    blocks = iter([text] if isinstance(text, str) else text)
    first = next(blocks, "")
    if not first.strip():
        raise UsageError(
            "no text was given", tip='d9m explain "the error text", or a log on standard input'
        )
    setup, unknown_packages, unlisted = _known_part(kb, setup)
    names_releases = setup is not None and bool(setup.packages or setup.container)
    environment = describe(kb, setup) if setup is not None and names_releases else None
    matches = search(kb, itertools.chain([first], blocks), environment)
    tool = Tool(__version__, kb.meta.date)
    if matches:
        known = context(kb, setup, mentions.versions(kb, first[:LONG]), here)
        whole = describe(kb, known)
        found = [messages.explained(kb, match, whole) for match in matches]
        is_error = len(found) == 1 and messages.only_warning(kb, matches[0]) is None
        about = subject.about_error(kb, known, found[0].ops) if is_error else None
        return Explained(SCHEMA_VERSION, tool, found, subject=about)
    if len(first) >= LONG:
        raise _not_known(kb, first, resembling(kb, first))
    quoted = messages.quoted(kb, first)
    if quoted is not None:
        return Explained(SCHEMA_VERSION, tool, [quoted])
    try:
        explained = _of_text(kb, first, setup, here)
    except UsageError:
        for name in unknown_packages:
            kb.package_named(name)
        raise
    unlisted.update(explained.unlisted)
    return msgspec.structs.replace(explained, unknown_packages=unknown_packages, unlisted=unlisted)


def _known_part(
    kb: KnowledgeBase, setup: Setup | None
) -> tuple[Setup | None, list[str], dict[str, str]]:
    """A setup without the packages that no record is about and the versions that none lists, then
    these packages, and these versions.
    """
    if setup is None:
        return None, [], {}
    known: list[tuple[str, str | None]] = []
    unknown_packages: list[str] = []
    unlisted: dict[str, str] = {}
    for name, version in setup.packages:
        package = kb.find_package(name)
        if package is None:
            unknown_packages.append(name)
        elif version is None or _is_listed(kb, package, version):
            known.append((name, version))
        else:
            known.append((name, None))
            unlisted[package] = version
    return msgspec.structs.replace(setup, packages=tuple(known)), unknown_packages, unlisted


_NUMBERS = re.compile(r"\d{1,4}(?:\.\d{1,6}){1,3}\w{0,9}")
"""Valid names of a release. Anything else is a typing error."""


def _is_listed(kb: KnowledgeBase, package: str, version: str) -> bool:
    """Whether a version is one of a package, as far as it reads as a version."""
    is_release = _NUMBERS.fullmatch(version) is not None
    return not is_release or bool(named_packages.listed(kb, package, [version]))


def _not_known(kb: KnowledgeBase, text: str, resembles: Sequence[Resemblance]) -> UsageError:
    alike = [f'"{message.text}" (d9m show {message.id})' for message in resembles]
    known = [wording.text for error in kb.errors.values() for wording in error.texts]
    return UsageError(
        f"no known text in {quote(text.strip())}",
        nearest=alike or nearest(text.strip(), known),
        tip="d9m is about results that differ between runs, machines, batches and releases. What "
        "to set, by release and op: d9m advise. What differs in a program: d9m hunt -- python "
        "train.py",
    )


def _of_text(kb: KnowledgeBase, text: str, setup: Setup | None, here: Setup | None) -> Explained:
    """Explain a description in the user's words. Raise UsageError where it describes and names
    nothing.
    """
    named = mentions.find(kb, text, packages_of(kb, setup) if setup is not None else ())
    whole = subject.setup_of(kb, named, setup, here)
    packages = packages_of(kb, whole)
    families: set[AdviceFor] = {
        FAMILIES[name] for name in [*packages, *bases(kb, packages)] if name in FAMILIES
    }
    alike = resembling(kb, text)
    is_message = bool(alike) or messages.is_message(kb, text)
    ranked = symptoms.rank(kb, "" if is_message else text, families, bool(named.settings))
    first = kb.symptoms[ranked.ids[0]] if ranked.ids else None
    asked = _asked(kb, text, named)
    is_of_others = first is not None and _is_of_others(first, packages)
    is_sure = ranked.is_sure and asked in ("differs", "error") and not is_of_others
    wants_settings = asked == "recipe" or (first is not None and first.by_settings)
    says_more = is_message or first is not None or _is_meant(kb, named, text)
    scope = first.scope if is_sure and first is not None else "run"
    about = None
    if says_more and not (is_message and not alike):
        about = subject.about(kb, whole, named, scope, wants_settings, here)
    if about is not None and setup is None and whole.device != named.device:
        about = msgspec.structs.replace(about, device_here=whole.device)
    settings = [] if is_message else list(_settings(kb, named, about, describe(kb, whole), asked))
    is_about_setting = any(asked == "setting" or not one.is_read for one in settings)
    if first is None and about is None and not is_about_setting:
        raise _not_known(kb, text, alike)
    known = {name: version or "any" for name, version in whole.packages}
    return Explained(
        SCHEMA_VERSION,
        Tool(__version__, kb.meta.date),
        asked=asked,
        candidates=[_candidate(kb, id_) for id_ in ranked.ids[:MOST_CANDIDATES]],
        is_sure=is_sure,
        families=sorted(families),
        subject=about,
        settings=settings,
        mentioned=list(named.settings),
        is_unknown_message=is_message,
        resembles=alike,
        packages={kb.package_named(name): version for name, version in known.items()},
        device=named.device,
        releases=named.releases,
        unlisted=named.unlisted,
    )


def _is_of_others(symptom: Symptom, packages: Sequence[str]) -> bool:
    """Whether a symptom is of some packages, and a text names others only."""
    return bool(symptom.packages and packages) and set(symptom.packages).isdisjoint(packages)


def _candidate(kb: KnowledgeBase, id_: str) -> Candidate:
    symptom = kb.symptoms[id_]
    return Candidate(f"symptoms/{id_}", symptom.title, symptom.question)


def _asked(kb: KnowledgeBase, text: str, named: Mentions) -> Asked:
    """The kind of question that a text asks, by the phrases of ``words.yaml``."""
    said = " ".join(re.sub(r"[^\w'?]+", " ", text.lower()).split())
    for kind, phrases in kb.word_lists.kinds.items():
        needs_setting = kind == "setting" and not named.settings
        if not needs_setting and any(re.search(phrase, said) for phrase in phrases):
            return kind
    return "differs"


def _is_meant(kb: KnowledgeBase, named: Mentions, text: str) -> bool:
    """Whether a text that describes no trouble on record is about what it names."""
    ours = (*VERSION_OPTIONS, *kb.meta.platforms)
    is_short = len(text.split()) <= LONGEST_NAME
    return (
        is_short
        or any(package not in ours for package in named.packages)
        or any(op.is_code for op in named.ops)
    )


def _settings(
    kb: KnowledgeBase,
    named: Mentions,
    about: Subject | None,
    environment: Environment,
    asked: Asked,
) -> Iterator[NamedSetting]:
    """The settings that a text names and the advice lacks; of a question about one, all."""
    for name, meant in named.misspelt.items():
        yield NamedSetting(name, "", meant, is_read=False)
    advised = {step.name for step in about.advice.steps} if about is not None else set[str]()
    here = {*named.packages, *environment.packages}
    for name, value in named.settings.items():
        setting = kb.settings[name]
        is_elsewhere = setting.kind == "config" and not setting.condition.cuts.keys() & here
        if is_elsewhere or (name in advised and asked != "setting"):
            continue
        without = _release_without(kb, setting, named, environment)
        readers = _readers(kb, setting, here)
        is_closed = setting.kind in ("flag", "env") and bool(setting.accepts)
        yield NamedSetting(
            name,
            f"{without} does not know it." if without else setting.summary,
            setting.instead,
            is_read=setting.effect != "never" and not readers and not without,
            readers=readers,
            refused=value if is_closed and value and values.fault(setting, value) else None,
            accepted=setting.accepts,
        )


def _readers(kb: KnowledgeBase, setting: Setting, here: Iterable[str]) -> list[str]:
    """The frameworks that alone read a setting, where others are here."""
    readers = [package for package in VERSION_OPTIONS if package in setting.condition.cuts]
    frameworks = VERSION_OPTIONS.keys() & set(here)
    is_of_another = bool(readers and frameworks) and frameworks.isdisjoint(readers)
    return [kb.packages[package].title for package in readers] if is_of_another else []


def _release_without(
    kb: KnowledgeBase, setting: Setting, named: Mentions, environment: Environment
) -> str | None:
    """The release that the text gives of a package and that does not read a setting of it."""
    if environment.holding(setting.condition):
        return None
    for package, version in named.packages.items():
        if version is not None and package in setting.condition.cuts:
            return f"{kb.packages[package].title} {version}"
    return None
