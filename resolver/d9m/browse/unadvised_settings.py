"""Settings that a text names and that its advice leaves out."""

from __future__ import annotations

from collections.abc import Collection, Iterator

import msgspec

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
            yield NamedSetting(name, setting.summary, setting.instead, is_read)


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
