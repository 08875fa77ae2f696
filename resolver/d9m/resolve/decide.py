"""Additions to a question so that one of several answers is certain, and which of them most
programs get.
"""

from __future__ import annotations

import re
import shlex
from collections.abc import Mapping, Sequence

from d9m.environment.environment import Environment
from d9m.environment.version_options import naming
from d9m.errors import UsageError
from d9m.kb.store import KnowledgeBase
from d9m.model import op_syntax
from d9m.model.advice import WORST_LAST
from d9m.model.records import Fact
from d9m.model.versions import covers, key, minor, within
from d9m.model.when import Allowed, Clause, Range, parse
from d9m.resolve.op_lookup import OpItem
from d9m.resolve.rules import Verdict

# Text, not compiled: few questions need it, and compiling is felt at the start.
_PLAIN = (
    r"(?P<name>[\w.]+(?:::[\w.]+)?)(?:\[(?P<arguments>[^\[\]]*=[^\[\]]*)\])?"
    r"(?P<direction>:(?:for|back)ward)?"
)
"""An item without a pasted call, a subscript, or arguments after colons."""


def in_order(
    environment: Environment, possible: Sequence[tuple[Clause, Verdict]]
) -> list[tuple[Clause, Verdict]]:
    """First the answer that most programs get, then from best to worst."""
    ranked = sorted(possible, key=lambda pair: WORST_LAST.index(pair[1].outcome))
    first = next((pair for pair in ranked if _is_usual(environment, pair[0])), ranked[0])
    return [first, *(pair for pair in ranked if pair is not first)]


def _is_usual(environment: Environment, clause: Clause) -> bool:
    """Whether nothing in a clause is known to be unusual: neither a value of a fact, nor an old
    release.
    """
    for name, allowed in clause.items():
        fact = environment.vocabulary.get(name)
        if fact is None:
            if not _has_newest(environment, name, allowed):
                return False
        elif fact.usual is not None and not _allows(fact, allowed, fact.usual):
            return False
    return True


def _has_newest(environment: Environment, package: str, allowed: Allowed) -> bool:
    if not isinstance(allowed, Range):
        return False
    installed = environment.packages.get(package)
    known = installed.candidates.releases if installed else ()
    return within(known[-1], allowed) if known else allowed.until is None


def _allows(fact: Fact, allowed: Allowed, value: str) -> bool:
    (clause,) = parse({"": allowed}).clauses
    return clause[""].allows(int(value) if fact.type == "int" else value)


def to_decide(
    kb: KnowledgeBase, environment: Environment, item: OpItem, clause: Clause
) -> list[str]:
    """The op item and the options with which a clause holds for certain."""
    arguments: dict[str, str] = {}
    options: list[str] = []
    for name, allowed in clause.items():
        fact = environment.vocabulary.get(name)
        if fact is None:
            options.append(_package(kb, environment, name, allowed))
        elif fact.argument and item.ops:
            arguments[name] = _value(fact, allowed)
        elif name == "sm" and (gpu := _gpu(kb, fact, allowed)) is not None:
            options.append(f"--gpu {shlex.quote(gpu)}")
        else:
            options.append(f"--fact {name}={_value(fact, allowed)}")
    return [with_arguments(item, arguments), *options] if arguments else options


def _gpu(kb: KnowledgeBase, fact: Fact, allowed: Allowed) -> str | None:
    """A GPU model of an allowed compute capability: of the usual one if that is allowed, else of
    the newest.
    """
    models = kb.gpus[""]
    fitting: list[tuple[str, str]] = []
    for model, gpu in models.gpus.items():
        if gpu.sm is not None and _allows(fact, allowed, gpu.sm):
            fitting.append((model, gpu.sm))
    return (
        max(fitting, key=lambda found: (found[1] == fact.usual, int(found[1])))[0]
        if fitting
        else None
    )


def _value(fact: Fact, allowed: Allowed) -> str:
    """One of the allowed values: the usual one if it is among them."""
    if fact.usual is not None and _allows(fact, allowed, fact.usual):
        return fact.usual
    if not isinstance(allowed, Range):
        return allowed if isinstance(allowed, str) else allowed[0]
    return allowed.from_ or str(int(allowed.until or "1") - 1)


def _package(kb: KnowledgeBase, environment: Environment, package: str, allowed: Allowed) -> str:
    """The option that names the newest release in a range, as short as it can be."""
    span = allowed if isinstance(allowed, Range) else Range()
    installed = environment.packages.get(package)
    known = installed.candidates.releases if installed else kb.releases(package)
    inside = [release for release in known if within(release, span)]
    version = _shortest(kb, package, inside[-1], span) if inside else _bound(span)
    return naming(package, version)


def _shortest(kb: KnowledgeBase, package: str, release: str, span: Range) -> str:
    """The minor release that a release belongs to, if a range holds all of it."""
    short = minor(release)
    patches = [each for each in kb.releases(package) if covers(short, each)]
    return short if patches and all(within(each, span) for each in patches) else release


def _bound(span: Range) -> str:
    """A version in a range of a package whose releases are not listed: where it begins, or just
    below its end.
    """
    if span.from_ is not None or span.until is None:
        return span.from_ or "any"
    *numbers, last = key(span.until)
    return ".".join(map(str, (*numbers, last - 1)))


def with_arguments(item: OpItem, arguments: Mapping[str, str]) -> str:
    """An item with further arguments, as a person would type it.

    >>> with_arguments(OpItem("F.cross_entropy", ()), {"ndim": "2"})
    'F.cross_entropy[ndim=2]'
    >>> with_arguments(OpItem("bincount(x):backward", ()), {"weights": "true"})
    'bincount(x):backward:weights=true'
    """
    written = [f"{name}={value}" for name, value in arguments.items()]
    plain = re.fullmatch(_PLAIN, item.text)
    if plain is not None:
        inside = ",".join(filter(None, [plain["arguments"], *written]))
        return f"{plain['name']}[{inside}]{plain['direction'] or ''}"
    extended = ":".join([item.text, *written])
    try:
        takes = op_syntax.parse(extended).arguments.items() >= dict(arguments).items()
    except UsageError:
        takes = False
    return extended if takes else f"{item.ops[0].name}[{','.join(written)}]"
