"""The verdict: one or two sentences that a colleague could read aloud."""

from __future__ import annotations

from collections.abc import Sequence

from d9m.model.advice import FAULTS, REPEATS, Existing, OpAnswer, SourceAnswer
from d9m.model.versions import key
from d9m.model.when import Clause, Range
from d9m.render import phrases, words
from d9m.render.advice.op_names import shown_elsewhere
from d9m.render.advice.op_verdict import (
    MOST_BRANCHES,
    MOST_NAMES,
    elsewhere,
    it,
    judged_parts,
    of_ops,
    to_pass,
    where_they_repeat,
    with_settings,
)
from d9m.render.interface import Answer
from d9m.resolve.conflicts import party

LONGEST_SETTING = 40
"""Characters of the name of a setting that a sentence takes in."""


def sentences(answer: Answer) -> str:
    """How many ops repeat, and what happens with the others; first a version that d9m does not
    know, and a fault of the settings.
    """
    lacking = without_device(answer)
    if lacking:
        return lacking
    advice = answer.advice
    parts = [*_beyond(answer), *_faults(answer), *_left(answer), *_to_leave_out(answer)]
    ops = [op for op in advice.ops if op.query != "*"]
    own = next((op for op in advice.ops if op.query == "*"), None)
    see = answer.kb.meta.see
    judged = [op for op in ops if not answer.named_ops or shown_elsewhere(see, op) is None]
    about_ops = of_ops(answer, judged) if judged else []
    if own is None or own.outcome not in REPEATS or not _is_of_framework(answer, own):
        about_ops += elsewhere(answer, [op for op in ops if op not in judged])
    if answer.named_ops:
        parts += [*to_pass(answer, ops), *about_ops, *judged_parts(answer, ops)]
    is_left_out = (
        own is not None
        and own.outcome in REPEATS
        and (answer.is_reported or _is_denied(answer, own, ops))
    )
    if (
        own is not None
        and not is_left_out
        and (not ops or own.outcome not in REPEATS or not answer.named_ops)
    ):
        parts += _of_packages(answer, own)
    if not answer.named_ops:
        parts += about_ops
    if not advice.ops:
        parts.append(_of_nothing(answer))
    return " ".join(parts)


def _of_nothing(answer: Answer) -> str:
    """What to say where no record names a difference: of a library it is
    the ops of its framework.
    """
    here = answer.advice.environment.packages
    libraries: list[str] = []
    for name in here:
        framework = answer.kb.packages[name].framework
        if framework is not None and framework not in here:
            libraries.append(name)
    if len(libraries) == 1:
        title = phrases.title(answer.kb, libraries[0])
        framework = answer.kb.packages[libraries[0]].framework or ""
        own = _own_switches(answer, libraries[0])
        with_own = f"Start {title} with {phrases.join(own)}. " if own else ""
        return (
            f"{with_own}What can differ with {title} are the ops of "
            f"{phrases.title(answer.kb, framework)}: d9m knows no difference of {title}'s own."
        )
    return (
        "d9m knows no difference here, which is not a proof. Name the framework as well, "
        "with --torch, --tf or --jax, to ask about its ops."
    )


def _own_switches(answer: Answer, library: str) -> list[str]:
    """The options that a library has for every program, in its newest release in question."""
    found: list[str] = []
    for step in answer.advice.steps:
        bases = [answer.kb.ingredients.get(label) for label in step.solutions]
        is_own = any(base is not None and library in base.condition.cuts for base in bases)
        ends = [clause.get(library) for clause in step.when or []]
        is_past = bool(ends) and all(isinstance(end, Range) and end.until for end in ends)
        if step.text and step.kind == "flags" and is_own and not is_past:
            found.append(step.text)
    return found


def _is_of_framework(answer: Answer, own: OpAnswer) -> bool:
    """Whether what belongs to no op is something that a framework does around all of them."""
    homes = {answer.kb.home(source.id) for source in own.sources}
    return any(answer.kb.packages[home].kind == "framework" for home in homes)


def _is_denied(answer: Answer, own: OpAnswer, ops: Sequence[OpAnswer]) -> bool:
    """Whether ops of the packages that otherwise repeat do not: no "XGBoost repeats" above them."""
    homes = {answer.kb.home(source.id) for source in own.sources}
    return any(
        answer.kb.home(source.id) in homes
        for op in ops
        if op.outcome not in REPEATS
        for source in op.sources
    )


def at_calls(answer: Answer) -> list[str]:
    """What to pass to the ops that were asked about, and why."""
    return to_pass(answer, [op for op in answer.advice.ops if op.query != "*"])


def without_device(answer: Answer) -> str:
    """That a package is older than what makes the device work with it; empty where none is."""
    here = answer.advice.environment
    for name in here.packages:
        first = answer.kb.packages[name].devices.get(here.device)
        if first is not None and is_older(answer, name, first):
            title, device = phrases.title(answer.kb, name), phrases.DEVICES[here.device]
            return (
                f"{title} {here.packages[name]} does not know {device}, which came with {title} "
                f"{first}. Upgrade, or name another device."
            )
    return ""


def is_older(answer: Answer, package: str, first: str) -> bool:
    """Whether every release of a package in question came before one."""
    releases = answer.advice.environment.releases.get(package)
    return bool(releases) and key(releases[-1]) < key(first)


def _beyond(answer: Answer) -> list[str]:
    """Versions that are newer than every release on record, and so perhaps mistyped."""
    here = answer.advice.environment
    return [
        f"{phrases.title(answer.kb, name)} {here.packages[name]} is newer than "
        f"{here.releases[name][-1]}, the newest release that d9m knows."
        for name in here.beyond
    ]


def _faults(answer: Answer) -> list[str]:
    """Settings that are wrong, that are missing, and that contradict each other."""
    advice = answer.advice
    wrong = [made for made in advice.existing if made.status in FAULTS]
    found: list[str] = []
    if answer.foreign_file is not None:
        found.append(f"Nothing in {answer.foreign_file} is a setting that d9m knows.")
    found += [_fault(made) for made in wrong]
    if len(wrong) > MOST_FAULTS:
        names = phrases.join(list(dict.fromkeys(made.name for made in wrong)))
        found[-len(wrong) :] = [f"{len(wrong)} settings are wrong: {names}."]
    if advice.missing:
        several = len(advice.missing) > MOST_NAMES
        names = "settings" if several else phrases.join(advice.missing)
        count = f"{len(advice.missing)} " if several else ""
        found.append(f"{count}{names} {'is' if len(advice.missing) == 1 else 'are'} missing.")
    for conflict in advice.conflicts:
        sides = phrases.join([party(answer.kb, by) for by in conflict.between])
        both = "both " if len(conflict.between) == 2 else ""
        found.append(f"No value of {conflict.name} suits {both}{sides}.")
    return found


def _left(answer: Answer) -> list[str]:
    """What the user's own calls leave to do."""
    used = [helper.call for helper in answer.advice.helpers if helper.used]
    left = {step.name: None for step in answer.advice.steps if step.covered_by is None}
    if not used:
        return []
    who = f"{used[0]} leaves" if len(used) == 1 else "Your calls leave"
    what = phrases.join(list(left)) if len(left) <= MOST_LEFT else f"{len(left)} settings"
    return [f"{who} {what or 'nothing'} to you."]


def _to_leave_out(answer: Answer) -> list[str]:
    """The settings that somebody who asks about ops must not make, each with the reason."""
    if not answer.named_ops or answer.of_message:
        return []
    steps = [step for step in answer.advice.steps if step.kind == "avoid"]
    return [f"Leave out {step.name} ({step.note})." for step in steps if step.note]


MOST_LEFT = 6
"""Settings left to do that a sentence names."""


MOST_FAULTS = 2
"""Wrong settings that have a sentence each."""


def _fault(made: Existing) -> str:
    if made.status == "misspelt":
        return f"{made.name} is misspelt."
    if made.status == "forbidden":
        return f"{made.name} must not be set."
    refused = "does not accept" if made.status == "invalid" else "must not be"
    return f"{made.name} {refused} {made.value or 'empty'}."


def _of_packages(answer: Answer, own: OpAnswer) -> list[str]:
    """What belongs to packages rather than to ops, worst first."""
    if own.outcome in REPEATS:
        homes = _homes(answer, own.sources)
        does = words.PROMISES[answer.advice.scope][len(homes) > 1]
        return [f"{phrases.join(homes)} {does}{with_settings(answer)}."]
    found: list[str] = []
    differing = {_home(answer, source.id) for source in own.sources if source.outcome in _DIFFERING}
    for outcome, say in _SAY_OF_PACKAGES.items():
        some = [source for source in own.sources if source.outcome == outcome]
        if outcome == "unknown":
            some = [source for source in some if _home(answer, source.id) not in differing]
        if some:
            found.append(say(answer, some))
    return found


def _packages_differ(answer: Answer, sources: Sequence[SourceAnswer]) -> str:
    what = f' ("{sources[0].title}")' if answer.named_ops and len(sources) == 1 else ""
    return f"{phrases.join(_homes(answer, sources))} {words.DIFFERS[answer.advice.scope]}{what}."


def _packages_depend(answer: Answer, sources: Sequence[SourceAnswer]) -> str:
    homes = _homes(answer, sources)
    since = "" if answer.is_reported else _repeating_since(answer, sources)
    if since and len(homes) == 1:
        does = words.PROMISES[answer.advice.scope][0]
        return f"{homes[0]} {since} or newer {does}{_with_named_settings(answer)}."
    where = where_they_repeat(answer, sources)
    if where:
        promise = words.PROMISES[answer.advice.scope][len(homes) > 1]
        does = "can repeat" if answer.is_reported else promise
        return f"{phrases.join(homes)} {does} {where}."
    if answer.is_reported:
        bad = [branch for source in sources for branch in source.possible]
        bad = [branch.when for branch in bad if branch.outcome not in REPEATS]
        still = phrases.fewest(answer.kb, bad)
        if len(still) <= MOST_BRANCHES and answer.advice.solutions:
            return (
                f"{phrases.join(homes)} {words.DIFFERS[answer.advice.scope]} without the settings "
                f"below. They do not help {phrases.conditions(answer.kb, still)}."
            )
    do = "does" if len(homes) == 1 else "do"
    return f"What {phrases.join(homes)} {do} depends on how you use {it(homes)}."


def _repeating_since(answer: Answer, sources: Sequence[SourceAnswer]) -> str:
    """The release of their package from which on all sources repeat, whatever else holds; empty
    where there is none.
    """
    home = answer.kb.home(sources[0].id)
    ends: list[dict[str, str]] = []
    for source in sources:
        bad = [branch.when for branch in source.possible if branch.outcome not in REPEATS]
        ends += [_ends(clause) for clause in bad]
    if not ends or not all(home in end for end in ends):
        return ""
    return max((end[home] for end in ends), key=key)


def _ends(clause: Clause) -> dict[str, str]:
    """Package -> the release with which a condition no longer holds."""
    found: dict[str, str] = {}
    for name, value in clause.items():
        if isinstance(value, Range) and value.until is not None:
            found[name] = value.until
    return found


def _with_named_settings(answer: Answer) -> str:
    """The settings, by name where it is one with a short name."""
    solutions = answer.advice.solutions
    is_short = len(solutions) == 1 and len(solutions[0].title) <= LONGEST_SETTING
    if answer.advice.conflicts or not is_short:
        return with_settings(answer)
    return f" with {solutions[0].title}"


def _packages_unknown(answer: Answer, sources: Sequence[SourceAnswer]) -> str:
    homes = phrases.join(_homes(answer, sources))
    if len(sources) == 1 and sources[0].default == "nondeterministic":
        differ = words.DIFFERS[answer.advice.scope]
        return f"{homes} {differ}. Whether a setting prevents it here is not known."
    if len(sources) == 1:
        return f'Nobody has checked "{sources[0].title}" in this version of {homes}.'
    return f"Nobody has checked {len(sources)} known differences of {homes} in this version."


_SAY_OF_PACKAGES = {
    "unsolved": _packages_differ,
    "raises": _packages_differ,
    "depends": _packages_depend,
    "unknown": _packages_unknown,
}
"""Outcome -> the sentence for the sources that have it, worst first."""

_DIFFERING = ("unsolved", "raises")
"""Outcomes of a package after which it matters little what nobody has checked."""


def _homes(answer: Answer, sources: Sequence[SourceAnswer]) -> list[str]:
    """Titles of the packages that sources belong to."""
    return list(dict.fromkeys(_home(answer, source.id) for source in sources))


def _home(answer: Answer, source: str) -> str:
    return phrases.title(answer.kb, answer.kb.home(source))
