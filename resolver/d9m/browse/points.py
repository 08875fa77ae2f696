"""The points of symptoms: what their advice adds for a framework, a library or a model."""

from __future__ import annotations

import re
from collections.abc import Sequence

from d9m.environment.environment import Environment, Setup, describe
from d9m.environment.version_options import VERSION_OPTIONS
from d9m.kb.store import KnowledgeBase
from d9m.model.records import ErrorPoint


def of_symptom(kb: KnowledgeBase, id_: str) -> list[ErrorPoint]:
    """The points of a symptom. Those of the general one are true of all that settings answer."""
    general, record = kb.word_lists.general, kb.errors[id_]
    if not record.by_settings or general in (None, id_):
        return record.points
    return [*record.points, *kb.errors[general].points]


def of_models(
    kb: KnowledgeBase, sentences: str, text: str, environment: Environment
) -> list[ErrorPoint]:
    """The points about models and calls that the sentences of a text name, and for which nothing
    stands in its code that rules them out.
    """
    general = kb.word_lists.general
    points = [point for point in kb.errors[general].points if point.named] if general else []
    if not points:
        return []
    said, written = _plain(sentences), _plain(text)
    about = [
        point
        for point in points
        if _names(said, point.named) and not _names(written, point.unless_named)
    ]
    return concerning(kb, about, environment)


def _plain(text: str) -> str:
    return f" {' '.join(re.findall(r'[a-z0-9+]+', text.lower()))} "


def _names(said: str, names: Sequence[str]) -> bool:
    return any(f" {name} " in said for name in names)


def texts(kb: KnowledgeBase, points: Sequence[ErrorPoint], environment: Environment) -> list[str]:
    """What the points say that concern what is here."""
    return [point.text for point in concerning(kb, points, environment)]


def concerning(
    kb: KnowledgeBase, points: Sequence[ErrorPoint], environment: Environment
) -> list[ErrorPoint]:
    """The points for what is here; where nobody names a framework or a library, those for the
    newest release of each framework.
    """
    platforms = kb.meta.platforms
    is_bare = all(package in platforms for package in environment.packages)
    if is_bare and not are_about(points, environment):
        newest = Setup(packages=tuple((framework, "latest") for framework in VERSION_OPTIONS))
        environment = describe(kb, newest)
        points = [point for point in points if not point.if_named]
    return list(environment.among(points))


def are_about(points: Sequence[ErrorPoint], environment: Environment) -> bool:
    """Whether some of the points are about a package that is here."""
    about = set[str]().union(*(point.condition.cuts for point in points))
    return not about.isdisjoint(environment.packages)
