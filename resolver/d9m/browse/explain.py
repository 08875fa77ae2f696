"""Recognise an error or warning text, in a single line or a whole log, and a complaint in
somebody's own words; answer what the text is about.
"""

from __future__ import annotations

import itertools
import re
from collections.abc import Iterable, Sequence

import msgspec

from d9m.about import SCHEMA_VERSION, __version__
from d9m.browse import (
    beside_message,
    mentions,
    messages,
    named_packages,
    points,
    suspects,
    symptom_answers,
    symptoms,
    unadvised_settings,
)
from d9m.browse.absence import present
from d9m.browse.explanation import Explanation
from d9m.browse.known_texts import LONG, search
from d9m.browse.made_switches import has_switch
from d9m.browse.named_ops import framework_of
from d9m.browse.prose import prose
from d9m.browse.reading import Interpretation, reading
from d9m.browse.resemblance import Resemblance, resembling
from d9m.browse.subject import Subject, about_complaint, about_error
from d9m.browse.text_environment import adding, context, packages_of, with_partners
from d9m.browse.twice_built import builds_twice
from d9m.browse.unadvised_settings import NamedSetting
from d9m.environment.environment import Setup, describe
from d9m.environment.version_options import VERSION_OPTIONS
from d9m.errors import UsageError, nearest, quote
from d9m.kb.store import KnowledgeBase
from d9m.model.advice import REPEATS, Tool


class Explained(msgspec.Struct, frozen=True):
    schema_version: int
    d9m: Tool
    found: list[Explanation]
    """Known texts in the order of the text; else symptoms, most likely first."""
    reading: Interpretation | None = None
    """How a text was read, where it can mean something else."""
    switches: list[str] = []
    """How frameworks are made deterministic, where settings are the answer and none is shown."""
    subject: Subject | None = None
    """What the records say of the ops and packages that the text names."""
    models: list[str] = []
    """Which ops of the models that a complaint about runs names are known to differ."""
    remaining_causes: list[str] = []
    """What remains where the text names every advised setting as made, and runs still differ."""
    other_causes: list[str] = []
    """Where else a difference can come from that the records do not explain."""
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
    """Packages of which the text or the command names a version that no record lists."""
    unknown_packages: list[str] = []
    """Packages that the command names and that no record is about."""


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
    setup, unknown_packages, unlisted = _known_part(kb, setup)
    names_releases = setup is not None and bool(setup.packages or setup.container)
    environment = describe(kb, setup) if setup is not None and names_releases else None
    matches = search(kb, itertools.chain([first], blocks), environment)
    if matches and not (len(first) < LONG and matches[0].line > 1 and _is_aside(kb, first)):
        known = context(kb, setup, mentions.versions(kb, first[:LONG]), here)
        whole = describe(kb, known)
        found = [messages.explained(kb, match, whole) for match in matches]
        if len(first) < LONG:
            found[-1] = beside_message.added(kb, found[-1], first, matches)
        is_error = len(found) == 1 and messages.only_warning(kb, matches[0]) is None
        subject = about_error(kb, known, found[0].ops) if is_error else None
        settings = list(unadvised_settings.next_to_message(kb, first, matches))
    elif len(first) < LONG:
        try:
            explained = _of_complaint(kb, first, setup, here)
        except UsageError:
            for name in unknown_packages:
                kb.package_named(name)
            raise
        unlisted.update(explained.unlisted)
        return msgspec.structs.replace(
            explained, unknown_packages=unknown_packages, unlisted=unlisted
        )
    else:
        raise _not_known(kb, first, resembling(kb, first))
    tool = Tool(__version__, kb.meta.date)
    return Explained(SCHEMA_VERSION, tool, found, subject=subject, settings=settings)


def _is_aside(kb: KnowledgeBase, text: str) -> bool:
    """Whether the title of a text describes something else than runs, so that a message below it is
    what somebody got on the way.
    """
    title = text.strip().partition("\n")[0]
    described = symptoms.described(kb, title)
    return bool(described) and all(symptom.record.scope != "run" for symptom in described)


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
"""What a release can be called. Anything else is a mistake of typing."""


def _is_listed(kb: KnowledgeBase, package: str, version: str) -> bool:
    """Whether a version is one of a package, as far as it reads as a version."""
    if not _NUMBERS.fullmatch(version):
        return True
    return bool(named_packages.listed(kb, package, [version]))


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
    said = present(kb, text)
    sentences = prose(said)
    named = mentions.find(kb, said, packages_of(kb, setup) if setup is not None else ())
    shown = _shown_groups(kb, sentences, said, named)
    described = symptoms.described(kb, sentences, shown)
    if described:
        own = suspects.of_libraries(kb, described, named.packages)
        described = own or symptoms.general(kb, sentences)
    is_open = all(symptom.is_general for symptom in described)
    if sentences != said and is_open and not symptoms.compares_runs(kb, sentences):
        described = _of_code(kb, said, named) or described
    alike = resembling(kb, text)
    is_message = bool(alike) or messages.is_message(kb, text)
    if is_message:
        described = []
    if all(symptom.record.by_settings for symptom in described):
        described = described[:1]  # settings answer each of them
    if described and not described[0].record.on_runs:
        described = [symptom for symptom in described if not symptom.record.by_settings]
    subject = None
    if alike or not is_message:
        subject = about_complaint(kb, said, named, described, setup, here)
    environment = describe(kb, with_partners(kb, _shown(kb, setup, named, here, subject)))
    if subject is not None and has_switch(kb, named, subject, environment) and described:
        described = symptoms.with_switch(kb, described)
    general = bool(described) and _on_runs(described)
    if subject is not None and subject.names_something and not _in_passing(subject, said):
        described = [symptom for symptom in described if not symptom.record.by_settings]
    groups = symptoms.groups(kb, sentences) | shown
    has_ops = subject is not None and bool(subject.ops)
    about = points.of_models(kb, sentences, said, environment) if general and not has_ops else []
    models = [point.text for point in about if not point.lead]
    found = [
        symptom_answers.of_symptom(kb, symptom, groups, environment, about) for symptom in described
    ]
    remaining_causes: list[str] = []
    is_switched = subject is not None and subject.is_all_switched
    if is_switched and symptoms.answered_by_switches(kb, described):
        remaining_causes = symptom_answers.with_all_settings(kb, environment, about)
    other_causes: list[str] = []
    if subject is not None and subject.has_other_causes and not found and not remaining_causes:
        other_causes = symptom_answers.another_cause(kb, environment)
    switches: list[str] = []
    answered_by_settings = [symptom for symptom in described if symptom.record.by_settings]
    if subject is None and answered_by_settings:
        own = points.of_symptom(kb, answered_by_settings[0].id)
        switches = points.texts(kb, [point for point in own if point.switch], environment)
    settings = [] if is_message else list(unadvised_settings.find(kb, named, subject, environment))
    if not found and subject is None and not settings:
        raise _not_known(kb, text, alike)
    tool = Tool(__version__, kb.meta.date)
    return Explained(
        SCHEMA_VERSION,
        tool,
        found,
        reading(kb, sentences, described),
        switches,
        subject,
        models,
        remaining_causes,
        other_causes,
        settings,
        is_message,
        alike,
        packages=list(environment.packages),
        releases=named.releases,
        unlisted=named.unlisted,
    )


def _of_code(kb: KnowledgeBase, text: str, named: mentions.Mentions) -> list[symptoms.Symptom]:
    """What a text describes with its code: each line is what its title speaks of."""
    shown = _shown_groups(kb, text, text, named)
    found = symptoms.described(kb, text, shown)
    if not all(symptom.is_general for symptom in found):
        return found
    title, *lines = text.strip().splitlines()
    titled = "\n".join(f"{title} {line}" for line in lines)
    return symptoms.described(kb, titled, shown) or found


def _shown_groups(
    kb: KnowledgeBase, sentences: str, text: str, named: mentions.Mentions
) -> frozenset[str]:
    """The groups of words that the releases of a text and its code say."""
    words = kb.word_lists
    releases = words.two_releases if _compares_releases(kb, sentences, named) else None
    twice = words.two_models
    models = twice.group if twice is not None and builds_twice(twice, text) else None
    code = " ".join(text.lower().split())
    by_code = [
        group
        for group, signs in words.said_by_code.items()
        if any(_sign(sign).search(code) for sign in signs)
    ]
    return frozenset(group for group in (releases, models, *by_code) if group is not None)


_NAMES = r"\(?[\w.]+(?:, ?[\w.]+)*\)?"


def _sign(code: str) -> re.Pattern[str]:
    """A sign of code, in which ``…`` stands for names."""
    return re.compile(_NAMES.join(map(re.escape, code.split("…"))))


_EITHER = re.compile(r"(?<!whether )\b\S*\d\.\d\S* or \S*\d\.\d")
"""Two releases in both of which the trouble shows."""


def _compares_releases(kb: KnowledgeBase, text: str, named: mentions.Mentions) -> bool:
    """Whether a text names two releases of a package, and not to say that both behave alike."""
    said = " ".join(text.lower().split())
    alike = any(words in said for words in kb.word_lists.in_both_releases)
    return bool(named.releases) and not alike and _EITHER.search(said) is None


_FIRST_SENTENCE = re.compile(r".+?(?:[.!?]\s|\n)")


def _in_passing(subject: Subject, text: str) -> bool:
    """Whether a text says that runs differ, and names below its first sentence ops that repeat, or
    that do in most uses: the rest of the program is the more likely cause.
    """
    first = _FIRST_SENTENCE.match(text.strip())
    if first is None or not subject.ops or not subject.is_about_runs:
        return False
    named_first = any(op.lower() in first[0].lower() for op in subject.ops)
    return not named_first and subject.advice.outcome in (*REPEATS, "depends")


def _on_runs(described: Sequence[symptoms.Symptom]) -> bool:
    """Whether a complaint is about runs that should repeat, and names no other cause."""
    return all(symptom.record.by_settings for symptom in described)


def _shown(
    kb: KnowledgeBase,
    setup: Setup | None,
    named: mentions.Mentions,
    here: Setup | None,
    subject: Subject | None,
) -> Setup:
    """The environment of a text, with its device, and with the releases and the frameworks whose
    settings are shown.
    """
    whole = context(kb, setup, named.packages, here)
    if whole.gpu is None and whole.device is None:
        whole = msgspec.structs.replace(whole, device=named.device)
    if subject is None:
        return adding(whole, ((name, None) for name in framework_of(kb, whole, named)))
    stated = dict(zip(packages_of(kb, whole), (version for _name, version in whole.packages)))
    for package, version in subject.advice.environment.packages.items():
        if package in VERSION_OPTIONS or package in subject.newest:
            stated[package] = stated.get(package) or (None if version == "any" else version)
    return msgspec.structs.replace(whole, packages=tuple(stated.items()))


def _nearest(kb: KnowledgeBase, text: str) -> list[str]:
    """Known texts spelled nearly so."""
    known: list[str] = []
    for error in kb.errors.values():
        known += [wording.text for wording in error.texts if error.kind != "symptom"]
    return nearest(text.strip(), known)
