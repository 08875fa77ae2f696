"""From what a person typed to the advice: the one way in for every caller."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

import msgspec

from d9m.environment.environment import Environment, Setup, describe
from d9m.environment.packages import partners, with_partners
from d9m.errors import UsageError, several
from d9m.kb.store import KnowledgeBase
from d9m.model import op_syntax
from d9m.model.advice import Advice, OpAnswer, worst
from d9m.model.op_syntax import Query
from d9m.model.records import Existence, Scope
from d9m.model.settings import PlainValue
from d9m.resolve import helper_calls, op_lookup
from d9m.resolve.helper_calls import Call
from d9m.resolve.op_lookup import OpItem
from d9m.resolve.resolver import resolve


class Question(msgspec.Struct, frozen=True):
    """A question, parsed once, with its environment."""

    environment: Environment
    """With what the named ops and calls bring along."""
    items: tuple[OpItem, ...]
    """The ops that were named; else every op known in the environment."""
    scope: Scope = "run"
    calls: tuple[Call, ...] = ()
    """Helper calls that the program makes already."""
    settings: Sequence[Mapping[str, PlainValue]] | None = None
    """Settings that are made already, each place that holds some for itself, the last one wins;
    None: they are not in question.
    """
    mistakes: Mapping[int, tuple[str, UsageError]] = {}
    """Place among all that were named -> the item and why it means no op; `items` holds the
    others.
    """


def understand(
    kb: KnowledgeBase,
    setup: Setup,
    ops: Sequence[str] | None = None,
    scope: Scope = "run",
    calls: Sequence[str] = (),
    settings: Sequence[Mapping[str, PlainValue]] | None = None,
    in_part: bool = False,
    fast: bool = False,
) -> Question:
    """Read a question. Raises UsageError for anything that cannot be answered; `in_part` leaves out
    unknown ops beside known ones; `fast` asks for the settings that cost least.
    """
    named = [kb.package_named(name) for name, _version in setup.packages]
    made = tuple(helper_calls.find(kb, named, text) for text in calls)
    queries = [op_syntax.parse(text) for text in ops or ()]
    environment = _environment(kb, setup, named, queries, made)
    for call in made:
        helper_calls.must_exist(environment, call)
    environment = helper_calls.decide_facts(kb, environment, made)
    if fast:
        environment = environment.given({**_fast_facts(kb, environment), **environment.facts})
    mistakes: dict[int, tuple[str, UsageError]] = {}
    if ops is None:
        items = op_lookup.everything(kb, environment)
    else:
        items = _found(kb, environment, queries, mistakes)
    if mistakes and not (in_part and items):
        errors = [error for _text, error in mistakes.values()]
        raise errors[0] if len(errors) == 1 else several(errors)
    return Question(environment, tuple(items), scope, made, settings, mistakes)


def _fast_facts(kb: KnowledgeBase, environment: Environment) -> dict[str, str]:
    """Return the facts that hold where the settings are to cost least. Raises UsageError."""
    found: dict[str, str] = {}
    for name, fact in kb.meta.facts.items():
        spans = {package: Existence(from_=first) for package, first in fact.since.items()}
        if fact.fast is not None and any(
            op_lookup.exists_in(environment, package, span) for package, span in spans.items()
        ):
            found[name] = fact.fast
    if not found:
        named = ", ".join(environment.packages)
        raise UsageError(f"--fast: no cheaper setting is on record for {named}")
    return found


def _found(
    kb: KnowledgeBase,
    environment: Environment,
    queries: Sequence[Query],
    mistakes: dict[int, tuple[str, UsageError]],
) -> list[OpItem]:
    """Return the ops that the queries mean; add an error for every unknown name."""
    items: list[OpItem] = []
    for place, query in enumerate(queries):
        try:
            items.append(op_lookup.find(kb, environment, query))
        except UsageError as mistake:
            mistakes[place] = (query.text, mistake)
    return items


def brings_packages(kb: KnowledgeBase, ops: Sequence[str]) -> bool:
    """Whether ops name their own packages: ``flash_attn_func`` needs no further environment.
    Raises UsageError.
    """
    queries = [op_syntax.parse(text) for text in ops]
    return any(op_lookup.brought_along(kb, query) is not None for query in queries)


def _environment(
    kb: KnowledgeBase,
    setup: Setup,
    named: Sequence[str],
    queries: Sequence[Query],
    calls: Sequence[Call],
) -> Environment:
    """The environment of a question, with the packages that its ops and calls bring along, and
    the facts that its ops decide where the question says nothing else.
    """
    brought = [op_lookup.brought_along(kb, query, named) for query in queries]
    brought += [call.home for call in calls]
    added = dict.fromkeys(filter(None, brought))
    extra = tuple((package, None) for package in added if package not in named)
    environment = _with_brought(kb, setup, extra) if extra else describe(kb, setup)
    decided = op_lookup.decided_facts(kb, environment, queries)
    return environment.given({**decided, **environment.facts}) if decided else environment


def _with_brought(
    kb: KnowledgeBase, setup: Setup, extra: tuple[tuple[str, None], ...]
) -> Environment:
    """The environment with packages that the question does not name, and with what these need:
    torchvision brings PyTorch, or comes in the release that is made for the PyTorch that is there.
    """
    environment = describe(kb, msgspec.structs.replace(setup, packages=(*setup.packages, *extra)))
    wanted = dict.fromkeys(part for package, _version in extra for part in partners(kb, package))
    absent = tuple((part, None) for part in wanted if part not in environment.packages)
    if absent:
        packages = (*absent, *setup.packages, *extra)
        environment = describe(kb, msgspec.structs.replace(setup, packages=packages))
    unnamed = [package for package, _version in extra if not environment.packages[package].version]
    held = with_partners(kb, environment.packages, unnamed)
    return msgspec.structs.replace(environment, packages=held)


def answer(
    kb: KnowledgeBase, question: Question, made: Mapping[str, PlainValue] | None = None
) -> Advice:
    """The advice for a question; its settings, if there are any, are held against it. Those that
    are `made` only decide between solutions that do as well.
    """
    environment, places = question.environment, question.settings
    found: dict[str, PlainValue] = {}
    for place in places or ():
        found.update(place)
    known = {**found, **(made or {})}
    advice = resolve(kb, environment, question.items, question.scope, question.calls, known)
    if question.mistakes:
        advice = _with_mistakes(advice, question)
    if places is None:
        return advice
    from d9m.resolve import compare_settings

    judged = msgspec.structs.replace(
        advice,
        existing=compare_settings.judge_existing(kb, environment, advice, found),
        missing=compare_settings.missing(kb, environment, advice, places),
    )
    return compare_settings.with_lists_rewritten(kb, environment, judged, found)


def _with_mistakes(advice: Advice, question: Question) -> Advice:
    """Return the advice with an entry for each unknown name, where it was asked."""
    ops = list(advice.ops)
    for place, (text, mistake) in sorted(question.mistakes.items()):
        unknown = OpAnswer(
            query=text,
            names=[],
            outcome="unknown",
            default="unknown",
            solutions=[],
            fixed_in=None,
            otherwise=[],
            sources=[],
            error=mistake.what,
            nearest=mistake.nearest,
        )
        ops.insert(place, unknown)
    outcome = worst([advice.outcome, "unknown"])
    return msgspec.structs.replace(advice, ops=ops, outcome=outcome)


def advise(
    kb: KnowledgeBase,
    setup: Setup,
    ops: Sequence[str] | None = None,
    scope: Scope = "run",
    calls: Sequence[str] = (),
    settings: Sequence[Mapping[str, PlainValue]] | None = None,
    in_part: bool = False,
    fast: bool = False,
) -> Advice:
    """`answer` to what `understand` reads."""
    return answer(kb, understand(kb, setup, ops, scope, calls, settings, in_part, fast))
