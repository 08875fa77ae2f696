"""Settings that a text names and that its advice leaves out."""

from __future__ import annotations

from collections.abc import Collection, Iterator, Sequence

import msgspec

from d9m.browse import named_settings
from d9m.browse.known_texts import LONG, Match
from d9m.browse.mentions import Mentions
from d9m.browse.subject import Subject
from d9m.environment.environment import Environment
from d9m.environment.version_options import VERSION_OPTIONS
from d9m.kb.store import KnowledgeBase
from d9m.model.records import Setting


class NamedSetting(msgspec.Struct, frozen=True):
    """A setting that a text names and that is not part of the advice."""

    name: str
    summary: str
    instead: str | None
    """The setting that was meant."""
    is_read: bool
    """Whether anything here reads it."""
    readers: list[str] = []
    """The frameworks that read it, where others are here."""
    misses: list[str] = []
    """Ops of the text that it does not reach, though people take it for a switch of all."""
    refused: str | None = None
    """The value that the text gives, where the setting does not take it."""
    accepted: list[str] = []
    """The values that it takes in place of it."""


def find(
    kb: KnowledgeBase, named: Mentions, subject: Subject | None, environment: Environment
) -> Iterator[NamedSetting]:
    advised = {step.name for step in subject.advice.steps} if subject else set[str]()
    here = {*named.packages, *(subject.advice.environment.packages if subject else ())}
    for name, meant in named.misspelt.items():
        yield NamedSetting(name, "", meant, is_read=False)
    for name in named.settings:
        setting = kb.settings[name]
        is_elsewhere = setting.kind == "config" and not setting.condition.cuts.keys() & here
        if name not in advised and not is_elsewhere:
            release = _release_without(kb, setting, named, environment)
            if release is not None:
                summary = f"{release} does not know it."
                yield NamedSetting(name, summary, setting.instead, is_read=False)
                continue
            if is_of_another(setting, here):
                readers = [kb.packages[package].title for package in _readers(setting)]
                yield NamedSetting(name, setting.summary, setting.instead, False, readers)
                continue
            is_read = setting.effect != "never"
            missed = _missed(kb, name, subject)
            refused = _refused(setting, named.settings[name])
            yield NamedSetting(
                name,
                setting.summary,
                setting.instead,
                is_read,
                misses=missed,
                refused=refused,
                accepted=setting.accepts if refused else [],
            )


def next_to_message(
    kb: KnowledgeBase, text: str, matches: Sequence[Match]
) -> Iterator[NamedSetting]:
    """The settings that somebody names next to a message and that do not reach what it is about."""
    if len(matches) > 1 or len(text) >= LONG:
        return
    rest = text.replace(matches[0].text, "\n")
    error = matches[0].wording.error
    for name in dict(named_settings.find(kb, rest)):
        if error.sources and not _reaches(kb, name, error.sources):
            summary = kb.settings[name].summary
            yield NamedSetting(name, summary, None, True, misses=list(error.ops))


def _refused(setting: Setting, value: str | None) -> str | None:
    """The value of a flag or variable that it does not take, as people write it in a shell."""
    is_shell = setting.kind in ("flag", "env")
    return value if is_shell and setting.accepts and value not in setting.accepts else None


def _missed(kb: KnowledgeBase, name: str, subject: Subject | None) -> list[str]:
    """The ops of a text that a setting does not reach."""
    if subject is None:
        return []
    named = [op for op in subject.advice.ops if op.query in subject.ops]
    missed: list[str] = []
    for op in named:
        if not _reaches(kb, name, [source.id for source in op.sources]):
            missed.append(op.query)
    return missed


def _reaches(kb: KnowledgeBase, name: str, sources: Sequence[str]) -> bool:
    """Whether a setting is a part of what makes one of some sources repeat. Of one that nobody
    takes for more than it is, no answer has to say.
    """
    if name not in kb.word_lists.narrow_switches or not sources:
        return True
    by: set[str] = set()
    for solution in kb.solutions.values():
        if any(turn.set == name for turn in solution.settings):
            by.add(solution.label)
    return any(not by.isdisjoint(kb.sources[source].labels()) for source in sources)


def is_of_another(setting: Setting, packages: Collection[str]) -> bool:
    """Whether only frameworks read a setting that are not among some packages, where others are."""
    readers = _readers(setting)
    here = VERSION_OPTIONS.keys() & set(packages)
    return bool(readers) and bool(here) and here.isdisjoint(readers)


def _readers(setting: Setting) -> list[str]:
    """The frameworks that read a setting."""
    return [package for package in VERSION_OPTIONS if package in setting.condition.cuts]


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
