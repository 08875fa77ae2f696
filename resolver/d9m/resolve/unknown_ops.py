"""Errors for a name that no framework of the environment has."""

from __future__ import annotations

from collections.abc import Iterator, Sequence

from d9m.environment.environment import Environment
from d9m.environment.version_options import VERSION_OPTIONS, naming
from d9m.errors import UsageError, nearest, quote
from d9m.kb.store import KnowledgeBase
from d9m.model.op_syntax import Query, plain
from d9m.resolve.op_names import meaning, spellings

RECORD_OPS = (
    "a model? name its ops (--ops conv2d,batch_norm), record them (d9m trace --level op -o RUN "
    "-- python PROGRAM; then --ops @RUN), or check its program: d9m scan PROGRAM"
)
"""The advice for a name that is like no op."""


def unknown_op(
    kb: KnowledgeBase, environment: Environment, packages: Sequence[str], query: Query
) -> UsageError:
    """The error for a name, with what it could have been."""
    elsewhere = [
        other
        for other in kb.meta.prefixes
        if other not in packages and meaning(kb, other, query.name).entries
    ]
    if elsewhere:
        return _op_of_others(kb, environment, elsewhere, query)
    if not packages:
        asked = ", ".join(environment.packages) or "nothing"
        return UsageError(
            f"{quote(query.name)}: no ops are known of this environment ({asked})",
            tip="name the framework too: "
            + ", ".join(naming(name, "VERSION") for name in VERSION_OPTIONS),
        )
    for package in packages:
        for space in kb.meta.unread[package]:
            written = spellings(query.name, kb.meta.prefixes[package])
            if any(each.lower().startswith(space.lower()) for each in written):
                names = [name for name in _known_names(kb, [package]) if name.startswith(space)]
                return UsageError(
                    f"no record has {quote(query.name)}, and our catalogue of {package} leaves"
                    f" {space.rstrip('.')} out",
                    nearest=nearest(plain(query.name), names),
                    tip="it may exist: leave it out here, and ask about the ops that it runs",
                )
    package_level: list[str] = []
    for name, installed in environment.packages.items():
        if installed.origin == "given" and name not in packages and name in kb.package_level:
            package_level.append(name)
    tips = [_read(kb, package) for package in packages if package in kb.meta.catalogued]
    if package_level:
        named = ", ".join(package_level)
        tips.append(f"d9m knows no ops of {named}: leave --ops out to ask about the package")
    close = nearest(plain(query.name), _known_names(kb, packages))
    return UsageError(
        f"unknown op {quote(query.name)} in {', '.join(packages)}",
        nearest=close,
        tip="\n  ".join([*tips, "see: d9m list ops" if close else RECORD_OPS]),
    )


def _op_of_others(
    kb: KnowledgeBase, environment: Environment, others: Sequence[str], query: Query
) -> UsageError:
    *more, last = (kb.packages[other].title for other in others)
    titles = f"{', '.join(more)} and {last}" if more else last
    asked = ", ".join(environment.packages) or "no framework"
    which = "one of them" if more else "it"
    tips = [f"name {which} too: --with {others[0]}=VERSION"]
    held = environment.packages.items()
    for name in [name for name, installed in held if installed.origin == "given"]:
        if name not in VERSION_OPTIONS:
            tips.append(f"what d9m knows of {kb.packages[name].title}: leave --ops out")
    return UsageError(
        f"{quote(query.name)} is an op of {titles}, and the environment has {asked}",
        tip="\n  ".join(tips),
    )


def _known_names(kb: KnowledgeBase, packages: Sequence[str]) -> Iterator[str]:
    starts = tuple(f"{package}:" for package in packages)
    yield from (place.partition(":")[2] for place in kb.names if place.startswith(starts))
    for place in kb.public:
        if place.startswith(starts):
            yield from (public.name for public in kb.public[place])


def _read(kb: KnowledgeBase, package: str) -> str:
    first, last = kb.meta.catalogued[package]
    return (
        f"{package} {first} to {last} has no name like it in our lists, and no record mentions it"
    )
