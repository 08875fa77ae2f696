"""Recognise an error or warning text, in a single line or a whole log, and a complaint in
somebody's own words; answer what the text is about.
"""

from __future__ import annotations

import itertools
from collections.abc import Iterable, Iterator, Sequence

import msgspec

from d9m.about import __version__
from d9m.browse import mentions, messages, symptoms
from d9m.browse.explanation import Explanation, explanation
from d9m.browse.known_texts import LONG, search
from d9m.browse.resemblance import Resemblance, resembling
from d9m.browse.subject import Subject, about_complaint, about_error, context, with_partners
from d9m.environment.environment import Environment, Setup, describe
from d9m.environment.version_options import VERSION_OPTIONS
from d9m.errors import UsageError, nearest, quote
from d9m.kb.store import KnowledgeBase
from d9m.model.advice import SCHEMA_VERSION, Tool
from d9m.model.records import ErrorRecord


class NamedSetting(msgspec.Struct, frozen=True):
    """A setting that a text names and that is not part of the advice."""

    name: str
    summary: str
    instead: str | None
    """The setting that was meant."""
    is_read: bool
    """Whether anything reads it."""


class Explained(msgspec.Struct, frozen=True):
    schema_version: int
    d9m: Tool
    found: list[Explanation]
    """Known texts in the order of the text; else symptoms, most likely first."""
    subject: Subject | None = None
    """What the records say of the ops and packages that the text names."""
    settings: list[NamedSetting] = []
    """Settings that the text names and that are not advised there."""
    is_unknown_message: bool = False
    """Whether the text reads like a message and is none on record."""
    resembles: list[Resemblance] = []
    """Known messages that an unknown one nearly is."""
    packages: list[str] = []
    """What the text or the command names."""
    releases: dict[str, list[str]] = {}
    """Packages of which the text names several releases, oldest first."""
    unlisted: dict[str, str] = {}
    """Packages of which the text names a version that no record lists."""


def explain(
    kb: KnowledgeBase,
    text: str | Iterable[str],
    setup: Setup | None = None,
    here: Setup | None = None,
) -> Explained:
    """Every known text in `text`, first come first; else what the text names, and its symptoms.

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
    environment = describe(kb, setup) if setup else None
    matches = search(kb, itertools.chain([first], blocks), environment)
    if matches:
        known = context(kb, setup, mentions.versions(kb, first[:LONG]), here)
        whole = describe(kb, known)
        found = [messages.explained(kb, match, whole) for match in matches]
        subject = about_error(kb, known, found[0].ops) if len(found) == 1 else None
    elif len(first) < LONG:
        return _of_complaint(kb, first, setup, here)
    else:
        raise _not_known(kb, first, resembling(kb, first))
    return Explained(SCHEMA_VERSION, Tool(__version__, kb.meta.date), found, subject)


def _not_known(kb: KnowledgeBase, text: str, resembles: Sequence[Resemblance]) -> UsageError:
    alike = [f'"{message.text}" (d9m show {message.id})' for message in resembles]
    return UsageError(
        f"no known text in {quote(text.strip())}",
        nearest=alike or _nearest(kb, text),
        tip="what to set, by release and op: d9m advise",
    )


def _of_complaint(
    kb: KnowledgeBase, text: str, setup: Setup | None, here: Setup | None
) -> Explained:
    """What somebody's own words describe and name. Raises UsageError where that is nothing."""
    quoted = messages.quoted(kb, text)
    if quoted is not None:
        return Explained(SCHEMA_VERSION, Tool(__version__, kb.meta.date), [quoted])
    named = mentions.find(kb, text)
    described = symptoms.described(kb, text, bool(named.releases))
    alike = resembling(kb, text)
    is_message = bool(alike) or messages.is_message(kb, text)
    if is_message:
        described = []
    if described and not described[0].record.on_runs:
        described = [symptom for symptom in described if not symptom.record.by_settings]
    subject = None
    if alike or not is_message:
        subject = about_complaint(kb, text, named, described, setup, here)
    if subject is not None and (subject.ops or subject.packages):
        described = [symptom for symptom in described if not symptom.record.by_settings]
    environment = describe(kb, with_partners(kb, context(kb, setup, named.packages, here)))
    found = [_of_symptom(kb, symptom, environment) for symptom in described]
    settings = [] if is_message else list(_named_settings(kb, named, subject))
    if not found and subject is None and not settings:
        raise _not_known(kb, text, alike)
    tool = Tool(__version__, kb.meta.date)
    return Explained(
        SCHEMA_VERSION,
        tool,
        found,
        subject,
        settings,
        is_message,
        alike,
        packages=list(environment.packages),
        releases=named.releases,
        unlisted=named.unlisted,
    )


def _named_settings(
    kb: KnowledgeBase, named: mentions.Mentions, subject: Subject | None
) -> Iterator[NamedSetting]:
    advised = {step.name for step in subject.advice.steps} if subject else set[str]()
    here = {*named.packages, *(subject.advice.environment.packages if subject else ())}
    for name in named.settings:
        setting = kb.settings[name]
        is_elsewhere = setting.kind == "config" and not setting.condition.cuts.keys() & here
        if name not in advised and not is_elsewhere:
            is_read = setting.effect != "never"
            yield NamedSetting(name, setting.summary, setting.instead, is_read)


def _of_symptom(
    kb: KnowledgeBase, symptom: symptoms.Symptom, environment: Environment
) -> Explanation:
    found = explanation(kb, symptom.id, symptom.record, symptom.wording, [], {}, 1)
    return msgspec.structs.replace(
        found,
        advice="\n\n".join([found.advice, *_points(kb, symptom.record, environment)]),
        certainty="open" if symptom.is_general else "likely",
    )


def _points(kb: KnowledgeBase, record: ErrorRecord, environment: Environment) -> list[str]:
    """The points for what is here; where no framework is, and nothing that a point is about, those
    for the newest release of each framework.
    """
    about = set[str]().union(*(point.condition.cuts for point in record.points))
    if not {*about, *VERSION_OPTIONS} & environment.packages.keys():
        newest = Setup(packages=tuple((framework, "latest") for framework in VERSION_OPTIONS))
        environment = describe(kb, newest)
    return [point.text for point in environment.among(record.points)]


def _nearest(kb: KnowledgeBase, text: str) -> list[str]:
    """Known texts spelled nearly so."""
    known: list[str] = []
    for error in kb.errors.values():
        known += [wording.text for wording in error.texts if error.kind != "symptom"]
    return nearest(text.strip(), known)
