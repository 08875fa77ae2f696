"""The verdict: how many ops are deterministic with which settings, and what the others do."""

from __future__ import annotations

import re
from collections.abc import Sequence

from d9m.model.advice import (
    FAULTS,
    NEVER_DIFFERS,
    REPEATS,
    Existing,
    OpAnswer,
    Possible,
    SourceAnswer,
)
from d9m.model.records import Outcome, Scope, together
from d9m.model.settings import Step
from d9m.model.versions import key
from d9m.render import phrases, words
from d9m.render.advice import cases, remedy
from d9m.render.advice.op_names import blamed_names, short_names, shown_elsewhere
from d9m.render.interface import Answer
from d9m.render.words import VerbPair
from d9m.resolve.conflicts import party
from d9m.resolve.unknown_ops import RECORD_OPS

MOST_NAMES = 4
"""Names that a sentence holds before it counts."""

MOST_BRANCHES = 2
"""Conditions that a sentence names."""

MOST_PARTS = 3
"""Parts of the conditions that a sentence names."""

LONGEST_CONDITION = 80
"""Characters of a condition in the sentence on packages."""

MOST_FAULTS = 2
"""Wrong settings that have a sentence each."""

_ORDER: tuple[Outcome, ...] = (
    *("solved", "deterministic", "unsolved", "raises", "depends", "unknown", "no-known-source"),
)
"""Outcomes in the order in which a sentence has them."""


def sentences(answer: Answer) -> str:
    """Return the verdict; first a version that d9m does not know, and faults of the settings."""
    lacking = without_device(answer)
    if lacking:
        return lacking
    ops = [op for op in answer.advice.ops if op.query != "*"]
    see = answer.kb.meta.see
    judged = [op for op in ops if not answer.named_ops or shown_elsewhere(see, op) is None]
    about_ops = [*_of_ops(answer, judged), *_elsewhere(answer, ops, judged)]
    if answer.named_ops:
        about_ops = [*at_calls(answer), *about_ops, *_judged_parts(answer, ops)]
    about = [about_ops, _of_packages(answer)]
    if not answer.named_ops:
        about.reverse()
    parts = [*_unknown(answer), *_beyond(answer), *_faults(answer), *about[0], *about[1]]
    found = " ".join(parts) if answer.advice.ops else " ".join([*parts, _of_nothing(answer)])
    return _standing_alone(answer, found) if answer.quiet else found


def _standing_alone(answer: Answer, verdict: str) -> str:
    """Return a verdict that points to nothing below it."""
    labels = [solution.label for solution in answer.advice.solutions]
    count = sum(step.kind != "avoid" for step in remedy.left_to_set(answer))
    counted = phrases.plural(count, "setting") if count else "what is set already"
    named = remedy.of_labels(answer, labels) or counted
    alone = verdict.replace("the settings below", named)
    alone = alone.replace("by the details below", "depending on conditions")
    return alone.replace("the details below", "conditions").replace(" below", "")


def _unknown(answer: Answer) -> list[str]:
    """Return the items that no op answers to."""
    names = [f"'{op.query}'" for op in answer.unknown]
    if not names:
        return []
    count = phrases.plural(len(names), "unknown op")
    return [f"{count}: {phrases.join(names[:MOST_NAMES])}{', …' * (len(names) > MOST_NAMES)}."]


def unknown_lines(answer: Answer) -> list[str]:
    """Return why each unknown item is no op, and what may have been meant."""
    found: list[str] = []
    for op in answer.unknown:
        meant = f": did you mean {phrases.join(op.nearest, 'or')}?" if op.nearest else ""
        found.append(f"{op.error}{meant}")
    if not all(op.nearest for op in answer.unknown):
        found.append(RECORD_OPS)
    return found


def without_device(answer: Answer) -> str:
    """Return that a package is older than its support of the device; empty where none is."""
    here = answer.advice.environment
    for name in here.packages:
        first = answer.kb.packages[name].devices.get(here.device)
        if first is not None and is_older(answer, name, first):
            title, device = phrases.title(answer.kb, name), phrases.DEVICES[here.device]
            return (
                f"{title} {here.packages[name]} does not support {device}, which came with "
                f"{title} {first}. Upgrade, or name another device."
            )
    return ""


def is_older(answer: Answer, package: str, first: str) -> bool:
    """Whether every release of a package in question came before one."""
    releases = answer.advice.environment.releases.get(package)
    return bool(releases) and key(releases[-1]) < key(first)


def at_calls(answer: Answer) -> list[str]:
    """Return the arguments that make the ops of the question deterministic."""
    ops = [op for op in answer.advice.ops if op.query != "*"]
    names = short_names(answer.kb, ops)
    found: list[str] = []
    for step in seeds_first(answer.advice.steps):
        argument = step.text or step.value or ""
        users = [
            names[op.query]
            for op in ops
            if set(step.solutions) & set(op.solutions) or _is_seeded_by(answer, op, step.name)
        ]
        if step.kind == "code" and _ARGUMENT.fullmatch(argument) and users:
            to = phrases.ops(users, MOST_NAMES)
            found.append(f"Pass {argument} to {to}.")
    return found


def seeds_first(steps: Sequence[Step]) -> list[Step]:
    """Return arguments of calls in the order in which a reader wants them."""
    return sorted(steps, key=lambda step: not step.any_value)


def _is_seeded_by(answer: Answer, op: OpAnswer, setting: str) -> bool:
    """Whether a setting is the seed of the library that an op is of."""
    kb, packages = answer.kb, answer.advice.environment.packages
    seeded = [name for name in packages if kb.packages[name].seed == setting]
    return any(f"{package}:{name}" in kb.ops for package in seeded for name in op.names)


_ARGUMENT = re.compile(r"\w+=\S+")
"""``deterministic=True``."""


def _of_nothing(answer: Answer) -> str:
    """Return what to say where no record names a cause."""
    here = answer.advice.environment.packages
    titles = [phrases.title(answer.kb, name) for name in here]
    in_these = f" in {phrases.join(titles)}" if 0 < len(titles) <= MOST_NAMES else ""
    silent = words.SCOPES[answer.advice.scope].silent
    return f"{silent[0].upper()}{silent[1:].replace(' (', f'{in_these} (', 1)}."


def _beyond(answer: Answer) -> list[str]:
    """Return versions newer than every release on record, perhaps mistyped."""
    here = answer.advice.environment
    return [
        f"{phrases.title(answer.kb, name)} {here.packages[name]} is newer than "
        f"{here.releases[name][-1]}, the newest release that d9m knows."
        for name in here.beyond
    ]


def _faults(answer: Answer) -> list[str]:
    """Return settings that are wrong, that are missing, and that contradict each other."""
    advice = answer.advice
    wrong = [made for made in advice.existing if made.status in FAULTS]
    found: list[str] = []
    if answer.foreign_file is not None:
        found.append(f"Nothing in {answer.foreign_file} is a setting that d9m knows.")
    if len(wrong) > MOST_FAULTS:
        names = phrases.join(list(dict.fromkeys(made.name for made in wrong)))
        found.append(f"{len(wrong)} settings are wrong: {names}.")
    else:
        found += map(_fault, wrong)
    if advice.missing:
        several = len(advice.missing) > MOST_NAMES
        names = f"{len(advice.missing)} settings" if several else phrases.join(advice.missing)
        found.append(f"{names} {'is' if len(advice.missing) == 1 else 'are'} missing.")
    for conflict in advice.conflicts:
        sides = phrases.join([party(answer.kb, by) for by in conflict.between])
        both = "both " if len(conflict.between) == 2 else ""
        found.append(f"No value of {conflict.name} suits {both}{sides}.")
    return found


def _fault(made: Existing) -> str:
    if made.status == "misspelt":
        return f"{made.name} is misspelt."
    if made.status == "forbidden":
        return f"{made.name} must not be set."
    refused = "does not accept" if made.status == "invalid" else "must not be"
    return f"{made.name} {refused} {made.value or 'empty'}."


def _of_ops(answer: Answer, ops: Sequence[OpAnswer]) -> list[str]:
    """Return one sentence: each group of ops of which the same is said."""
    hides_good = answer.is_reported or answer.of_message
    is_brief = not answer.named_ops or len(ops) > MOST_NAMES
    groups: dict[VerbPair, list[OpAnswer]] = {}
    for outcome in _ORDER:
        for op in ops:
            if op.outcome == outcome and not (hides_good and outcome in REPEATS):
                groups.setdefault(_predicate(answer, op, ops, is_brief), []).append(op)
    names = blamed_names(answer.kb, ops)
    parts: list[str] = []
    for predicate, group in groups.items():
        subject = names[group[0].query]
        if len(group) > 1 or (not answer.named_ops and len(ops) > 1):
            subject = _counted(answer, len(group), len(ops), is_first=not parts)
        parts.append(f"{subject} {predicate.one if len(group) == 1 else predicate.many}")
    if not parts:
        return []
    ask = (
        ""
        if answer.named_ops or answer.quiet or len(groups) == 1
        else " To ask about your ops only: --ops."
    )
    return [f"{'; '.join(parts)}.{ask}"]


def _counted(answer: Answer, count: int, whole: int, is_first: bool) -> str:
    if not is_first:
        return str(count)
    noun = "op" if answer.named_ops else "recorded op"
    if count == whole:
        return f"Both {noun}s" if count == 2 else f"All {count} {noun}s"
    return f"{count} of {whole} {noun}s"


def _predicate(answer: Answer, op: OpAnswer, ops: Sequence[OpAnswer], is_brief: bool) -> VerbPair:
    """Return what is said of one op; less where `is_brief`."""
    asked = answer.advice.scope
    scope = words.scope_of(asked, op.outcome, op.sources)
    says = words.predicate(op.outcome, scope)
    if op.outcome in ("solved", "deterministic"):
        says = words.predicate("solved", scope).adding(_with(answer, op, ops))
        if scope != asked:
            silent = words.predicate("no-known-source", asked)
            says = VerbPair(f"{says.one} and {silent.one}", f"{says.many} and {silent.many}")
        where = "" if is_brief else _exceptions(answer, op)
        return says.adding(f", except {where}") if where else says
    if op.outcome == "raises":
        return says if is_brief else _raising(answer, op, says)
    if op.outcome == "unknown" and op.default == "nondeterministic":
        return words.SCOPES[scope].bad.adding(" by default, with no fix verified for this release")
    if op.outcome == "depends" and not is_brief:
        bad = _where_bad(answer, [each for each in op.sources if each.scope == scope])
        if bad:
            return words.SCOPES[scope].bad.adding(bad.rstrip())
        where = where_deterministic(answer, op.sources)
        if where:
            return words.SCOPES[scope].good.adding(_limited(_with(answer, op, ops), where))
    return says


def _with(answer: Answer, op: OpAnswer, ops: Sequence[OpAnswer]) -> str:
    """Return which settings an op needs: by name if the question is about one op."""
    if answer.of_message or (op.outcome == "depends" and not _needs_settings(op)):
        return ""
    named = remedy.of_op(answer, op) if len(ops) == 1 and answer.named_ops else ""
    return with_settings(answer, named)


def _limited(with_: str, where: str) -> str:
    """Join the settings of something with the conditions under which they are enough."""
    but = ", but" if with_ and where.startswith("only") else ","
    return f"{with_}{but} {where}" if with_ else f" {where}"


def _where_bad(answer: Answer, sources: Sequence[SourceAnswer]) -> str:
    """Return the conditions under which an op is not deterministic, if no record says that it is
    elsewhere.
    """
    branches = [branch for source in sources for branch in source.possible]
    bad = [branch.when for branch in branches if branch.outcome in WORSE]
    bad = phrases.fewest(answer.kb, bad)
    is_long = len(bad) > MOST_BRANCHES or sum(map(len, bad)) > MOST_BRANCHES
    outcomes = {branch.outcome for branch in branches}
    if not bad or is_long or outcomes & {"deterministic", "solved", "depends"}:
        return ""
    only = " only" if "no-known-source" in outcomes else ""
    return f"{only} {phrases.conditions(answer.kb, bad)}"


def _needs_settings(op: OpAnswer) -> bool:
    branches = [branch for source in op.sources for branch in source.possible]
    good = [branch for branch in branches if branch.outcome in REPEATS]
    return bool(good) and all(branch.outcome == "solved" for branch in good)


def with_settings(answer: Answer, named: str = "") -> str:
    """Return how the settings that follow are called; empty where only seeds follow."""
    advice = answer.advice
    if advice.conflicts:
        return " once you have chosen"
    if advice.solutions and any(made.status in FAULTS for made in advice.existing):
        return " once that is corrected"
    if advice.solutions and advice.missing:
        return " once it is set" if len(advice.missing) == 1 else " once they are set"
    known = [
        f"{solution.title} ({solution.label})"
        for solution in advice.solutions
        if answer.kb.solution(solution.label)[1].known_label
    ]
    if known and len(known) == len(advice.solutions):
        return f" with {phrases.join(known)}"
    return f" with {named or 'the settings below'}" if advice.solutions else ""


def _exceptions(answer: Answer, op: OpAnswer | SourceAnswer) -> str:
    """Return where many programs are, and an op is not deterministic: ``with XLA``."""
    worse = (*WORSE, "solved", "unknown") if isinstance(op, SourceAnswer) else WORSE
    others = [other for other in op.otherwise if other.is_frequent and other.outcome in worse]
    found = dict.fromkeys(phrases.condition(answer.kb, other.when) for other in others)
    return phrases.join(list(found), "or")


WORSE: tuple[Outcome, ...] = ("raises", "unsolved")
"""Outcomes that no setting helps."""


def _raising(answer: Answer, op: OpAnswer, says: VerbPair) -> VerbPair:
    """Return with which setting an op raises an error, and what happens without it."""
    labels: set[str] = set()
    for source in op.sources:
        labels.update(together(source.raised_by or ""))
    if not labels:
        return says
    scope = words.SCOPES[words.scope_of(answer.advice.scope, op.outcome, op.sources)]
    for helper in answer.advice.helpers:
        if helper.used and labels & set(helper.turns_on):
            return says.adding(f" with {helper.call}")
    says = says.adding(f" with {cases.named(answer, labels)}")
    if labels <= {solution.label for solution in answer.advice.solutions}:
        return says
    without = scope.good if op.default == "deterministic" else scope.bad
    return VerbPair(
        f"{says.one} and {without.one} without it", f"{says.many} and {without.many} without it"
    )


def where_deterministic(answer: Answer, sources: Sequence[SourceAnswer]) -> str:
    """Return the conditions under which sources that depend on something are deterministic,
    ``only with PyTorch 2.6 or newer``; empty if a sentence cannot hold them.
    """
    depending = [source for source in sources if source.outcome == "depends"]
    said = {_where_deterministic(answer, source.possible) for source in depending}
    return said.pop() if len(said) == 1 else ""


def _where_deterministic(answer: Answer, possible: Sequence[Possible]) -> str:
    good = [branch.when for branch in possible if branch.outcome in REPEATS]
    good = phrases.fewest(answer.kb, good)
    others = [branch for branch in possible if branch.outcome not in REPEATS]
    bad = phrases.fewest(answer.kb, [branch.when for branch in others])
    is_verified = any(branch.outcome != "unknown" for branch in others)
    if is_verified and len(bad) < len(good) and len(bad) <= MOST_BRANCHES:
        return f"except {phrases.conditions(answer.kb, bad)}"
    if not good or len(good) > MOST_BRANCHES or sum(map(len, good)) > MOST_PARTS:
        return ""
    where = phrases.conditions(answer.kb, good)
    return f"only {where}" if is_verified else f"{where} (the rest is not verified)"


def _elsewhere(answer: Answer, ops: Sequence[OpAnswer], judged: Sequence[OpAnswer]) -> list[str]:
    """Return what to do about ops of which no record says anything."""
    see, found = answer.kb.meta.see, dict[str, None]()
    for op in ops:
        id_ = shown_elsewhere(see, op)
        if id_ is not None and op not in judged:
            found[f"{answer.kb.ingredients[id_].title}: d9m show {id_}."] = None
    return list(found)


def _judged_parts(answer: Answer, ops: Sequence[OpAnswer]) -> list[str]:
    """Return the part of a wrapper of models that the answer is about."""
    names, judged = blamed_names(answer.kb, ops), answer.kb.meta.judged
    parts = {names[op.query]: judged[name] for op in ops for name in op.names if name in judged}
    return [
        f"Of {wrapper}, only {part} is covered: add the ops of your model."
        for wrapper, part in parts.items()
    ]


def _of_packages(answer: Answer) -> list[str]:
    """Return one sentence on the packages that have known causes. None is called deterministic
    unless it was reviewed whole: its records are a few known causes.
    """
    own = next((op for op in answer.advice.ops if op.query == "*"), None)
    is_good = own is not None and own.outcome in REPEATS
    if own is None or (is_good and (answer.named_ops or answer.is_reported)):
        return []
    homes: dict[tuple[str, Scope], list[SourceAnswer]] = {}
    for source in own.sources:
        homes.setdefault((answer.kb.home(source.id), source.scope), []).append(source)
    alike: dict[tuple[int, Scope, str], list[str]] = {}
    for (home, scope), sources in homes.items():
        said = (len(sources), scope, _of_package(answer, sources))
        alike.setdefault(said, []).append(phrases.title(answer.kb, home))
    named = {home for home, _scope in homes}
    kinds = {answer.kb.packages[home].kind for home in named}
    of_ops = answer.named_ops and kinds == {"framework"}
    also = "also " if of_ops else ""
    parts: list[str] = []
    for (count, scope, status), titles in alike.items():
        cause = words.SCOPES[scope].cause[count > 1]
        has = "each have" if len(titles) > 1 else "has"
        parts.append(f"{phrases.join(titles)} {also}{has} {count} {cause}{status}")
    unread = list(answer.advice.known_sources)
    if len(unread) == len(named):
        rest = "it" if len(named) == 1 else "them"
    else:
        rest = phrases.join([phrases.title(answer.kb, home) for home in unread])
    if not of_ops:
        whole = "the whole of it was reviewed"
        parts.append(f"the rest of {rest} is unreviewed" if rest else whole)
    return [f"{'; '.join(parts)}.", *([f"Not verified: {own.note}."] if own.note else [])]


def _of_package(answer: Answer, sources: Sequence[SourceAnswer]) -> str:
    """Return what comes of the causes in one package."""
    groups: dict[str, int] = {}
    for outcome in _ORDER:
        for source in sources:
            if source.outcome == outcome:
                status = _status(answer, source)
                groups[status] = groups.get(status, 0) + 1
    if len(groups) == 1:
        status = next(iter(groups))
        all_ = {1: "", 2: "both "}.get(len(sources), "all ")
        return f" {status}" if status == _STATUS["unsolved"] else f", {all_}{status}"
    listed = phrases.join([f"{number} {status}" for status, number in groups.items()])
    return f": {listed}"


def _status(answer: Answer, source: SourceAnswer) -> str:
    """Return what comes of one cause: ``fixed by the settings below``."""
    by = with_settings(answer).removeprefix(" with ")
    fixed = f"fixed{by if by.startswith(' ') else f' by {by}'}" if by else "fixed"
    if source.outcome == "depends":
        where = where_deterministic(answer, [source])
        good = {branch.outcome for branch in source.possible} & set(REPEATS)
        does = fixed if "solved" in good else "absent"
        is_short = 0 < len(where) <= LONGEST_CONDITION
        return _limited(does, where) if is_short else "fixed or not by the details below"
    return fixed if source.outcome == "solved" else _STATUS[source.outcome] + _but(answer, source)


def _but(answer: Answer, source: SourceAnswer) -> str:
    """Return where many programs are, and a cause is not absent."""
    where = _exceptions(answer, source)
    return f" except {where}" if source.outcome in NEVER_DIFFERS and where else ""


_STATUS: dict[Outcome, str] = {
    "no-known-source": "absent here",
    "deterministic": "absent here",
    "unknown": "not verified for this release",
    "raises": "raising an error",
    "unsolved": "that no setting fixes",
}
"""Outcome -> what comes of a cause, after a number."""
