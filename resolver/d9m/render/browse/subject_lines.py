"""What the records say of the ops and packages that a text names."""

from __future__ import annotations

from collections.abc import Collection, Iterator

import msgspec

from d9m.browse.named_settings import parameter
from d9m.browse.subject import Subject
from d9m.environment.version_options import naming
from d9m.kb.store import KnowledgeBase
from d9m.model.advice import REPEATS
from d9m.model.settings import Step
from d9m.model.when import Range, clauses
from d9m.render import phrases
from d9m.render.advice import notes, op_lines, remedy, todo, verdict
from d9m.render.advice.step import line
from d9m.render.advice.text import environment
from d9m.render.interface import Answer
from d9m.render.page import Page, Span

MOST_NOTES = 3
"""Notes on what is reported to differ."""

MOST_CAUSES = 2
"""Records of one op that fit into one line."""


def write_verdict(page: Page, kb: KnowledgeBase, subject: Subject) -> None:
    """What the ops of a message do in the release that was named; nothing where they repeat."""
    answer = Answer(subject.advice, kb, of_message=True, width=page.width)
    says = verdict.sentences(answer)
    if says:
        page.paragraph(says, style="head")
        page.paragraph(environment(answer), style="dim")
        page.gap()


def write(
    page: Page,
    kb: KnowledgeBase,
    subject: Subject,
    unlisted: Collection[str],
    still: bool,
    names_switch: bool,
) -> None:
    """The advice for what the text names, without what it names as made; `still` where the text
    says that runs differ with all of it, `names_switch` where the switch is the answer.
    """
    answer = _answer(kb, subject, page.width)
    contradicts = subject.is_reported_to_repeat
    if subject.ops or subject.packages:
        says = "What the records say of it, with these settings"
        lead = _package_lead(kb, subject)
        if contradicts:
            says = _without_denial(kb, subject)
        elif lead is not None and not still:
            says = lead
        elif not still:
            says = _way_out(kb, subject) or verdict.sentences(_unmade(answer, subject))
        page.paragraph(says, style="head")
    elif names_switch:
        _switch(page, answer, subject)
    page.paragraph(environment(answer), style="dim")
    _assumed(page, kb, subject, unlisted)
    page.gap()
    if verdict.without_device(answer):
        return
    if contradicts:
        op_lines.write_suspects(page, answer)
        for note in notes.of_sources(answer)[:MOST_NOTES]:
            page.paragraph(note, "  • ", "    ")
        page.gap()
    elif subject.ops or subject.packages:
        _ops(page, answer, subject)
    todo.conflicts(page, answer)
    calls = [helper.call for helper in subject.advice.helpers if helper.used]
    if calls:
        page.paragraph("Your call sets:" if len(calls) == 1 else "Your calls set:")
    if calls or not subject.applied:
        todo.helpers(page, answer)
    if subject.applied:
        page.paragraph(" ".join(_made(kb, subject)))
    if subject.unnamed_seeds:
        seeds = phrases.join([_seed(step) for step in subject.unnamed_seeds])
        page.paragraph(f"You say that seeds are set. Make sure that it is these: {seeds}.")
    if subject.applied or calls or subject.unnamed_seeds:
        _left(page, subject)
    left = msgspec.structs.replace(subject.advice, steps=subject.missing)
    todo.settings(page, msgspec.structs.replace(answer, advice=left))


def _left(page: Page, subject: Subject) -> None:
    """What stands below it; nothing where settings are not what is lacking."""
    if subject.missing:
        page.paragraph("Still to set:")
    elif not subject.is_past_settings:
        page.paragraph("Nothing else is left to set.")


def _switch(page: Page, answer: Answer, subject: Subject) -> None:
    """The switch of each framework, by name: the settings have it below the shell's."""
    says: list[str] = []
    homes = {solution.label: answer.kb.home(solution.id) for solution in answer.advice.solutions}
    for step in subject.missing:
        if step.name in answer.kb.word_lists.switches and not step.covered_by:
            home = next(homes[label] for label in step.solutions if label in homes)
            framework = phrases.title(answer.kb, home)
            since = _since(answer.kb, step.name, home) if home in subject.newest else ""
            says.append(f"The switch of {framework} is {remedy.written(step)}{since}.")
    if says:
        page.paragraph(f"{' '.join(says)} All that is left to set stands below.")


def _since(kb: KnowledgeBase, setting: str, package: str) -> str:
    """From which release on a package has a setting, for somebody whose release nobody knows."""
    for clause in clauses(kb.settings[setting].when):
        bounds = clause.get(package)
        if isinstance(bounds, Range) and bounds.from_ is not None:
            return f", from {bounds.from_} on"
    return ""


def _without_denial(kb: KnowledgeBase, subject: Subject) -> str:
    """What to say of ops or packages that repeat by the records, where somebody reports that they
    do not.
    """
    titles = [phrases.title(kb, package) for package in subject.packages]
    names = subject.ops or list(dict.fromkeys(titles))
    named, them = phrases.join(names), "it" if len(names) == 1 else "them"
    sources = subject.advice.sources().values()
    needed = set[str]().union(*(source.solutions for source in sources))
    if any(not needed.isdisjoint(step.solutions) for step in subject.missing):
        at_calls = verdict.at_calls(_answer(kb, subject, 0))
        if at_calls:
            return " ".join(at_calls)
        return f"{named} can differ between runs without the settings below."
    if any(source.otherwise for source in sources):
        repeat = "repeats" if len(names) == 1 else "repeat"
        return (
            f"On one machine, with the same inputs, seeds and number of threads, {named} {repeat} "
            "by our records, except in the cases below."
        )
    fixes = _first_to_repeat(kb, subject)
    if needed and fixes:
        return (
            f"Upgrade to {phrases.join(fixes)} or newer: older releases differ whatever is set. "
            "From there on, what you set is enough."
        )
    if needed:
        return f"You make the settings that {named} needs. What else can make {them} differ:"
    return (
        f"Our records name no cause in {named}. Look at what goes into {them}, and at the rest of "
        "the program."
    )


def _package_lead(kb: KnowledgeBase, subject: Subject) -> str | None:
    """What to say of libraries of which the text names no op, before the lines of those that
    they have: not that one of them is the trouble. None where the verdict is about the libraries.
    """
    ops = [op for op in subject.advice.ops if op.query != "*"]
    if subject.ops or not subject.is_about_runs or not ops:
        return None
    own = next((op for op in subject.advice.ops if op.query == "*"), None)
    titles = dict.fromkeys(phrases.title(kb, package) for package in subject.packages)
    named = phrases.join(list(titles))
    if own is None:
        return f"What the records say of the ops of {named}, with these settings:"
    if own.outcome in REPEATS:
        return f"{named} can differ between runs without the settings below."
    return None


def write_aside(page: Page, subject: Subject) -> None:
    """How to ask what the ops do from run to run, for somebody who asked something else."""
    does = "does" if len(subject.ops) == 1 else "do"
    page.paragraph(
        f"What {phrases.join(subject.ops)} {does} from run to run, on one machine, is another "
        "question:"
    )
    _write_question(page, subject)


def write_below(page: Page, subject: Subject) -> None:
    """How to ask about ops that repeat, for somebody whose trouble has another reason."""
    page.paragraph(f"What to set for {phrases.join(subject.ops)}:")
    _write_question(page, subject)


def _write_question(page: Page, subject: Subject) -> None:
    here = subject.advice.environment
    command: list[str] = []
    for package, version in here.packages.items():
        if package not in here.assumed:
            command.append(naming(package, version if version != "any" else "VERSION"))
    for name, value in here.facts.items():
        if name not in here.assumed:
            command.append("--inference" if name == "training" else f"--fact {name}={value}")
    page.line(f"  d9m advise {' '.join(command)} --ops {','.join(subject.ops)}")
    page.gap()


def _answer(kb: KnowledgeBase, subject: Subject, width: int) -> Answer:
    is_reported = subject.is_reported and subject.advice.scope == "run"
    named_ops = bool(subject.ops)
    return Answer(subject.advice, kb, named_ops=named_ops, is_reported=is_reported, width=width)


def _ops(page: Page, answer: Answer, subject: Subject) -> None:
    """The ops; of one with many causes, a line for each: a text says little of the arguments."""
    named = [op for op in subject.advice.ops if op.query in subject.ops]
    if max((len(op.sources) for op in named), default=0) <= MOST_CAUSES:
        op_lines.write(page, answer)
        return
    for op in named:
        page.line(Span(f"{op.query} depends on how it is called", "head"))
        op_lines.write_causes(page, answer, op)
    page.gap()


def _unmade(answer: Answer, subject: Subject) -> Answer:
    """The answer without the changes at calls that the text has made."""
    advice = subject.advice
    left = [
        step for step in advice.steps if step.kind != "code" or step.name not in subject.applied
    ]
    return msgspec.structs.replace(answer, advice=msgspec.structs.replace(advice, steps=left))


def _made(kb: KnowledgeBase, subject: Subject) -> Iterator[str]:
    """What to say of the settings that a text names: that they are made, or, of a variable without
    a value, what it must be.
    """
    to_check = {step.name: step for step in subject.advice.steps if _lacks_value(subject, step)}
    made = [_called(kb, name) for name in subject.applied if name not in to_check]
    if made:
        yield f"You already set {phrases.join(made)}."
    for name, step in to_check.items():
        yield f"Check {name}: it must be {phrases.join(step.accepts, 'or')}."


def _lacks_value(subject: Subject, step: Step) -> bool:
    return step.name in subject.unvalued and step.kind == "env" and not step.any_value


def _called(kb: KnowledgeBase, name: str) -> str:
    """A setting by its name; one at a call by its parameter; a call by what is called."""
    setting = kb.settings[name]
    statement = setting.statement if setting.kind == "code" else None
    called = statement.partition("(")[0] if statement else name
    return parameter(name) or called


def _seed(step: Step) -> str:
    at_call = parameter(step.name)
    return step.name if at_call is None else f"{at_call} in {step.where}"


def _way_out(kb: KnowledgeBase, subject: Subject) -> str | None:
    """The setting of a package that removes a dependence on the batch or on the machine."""
    advice = subject.advice
    steps = [step for step in advice.steps if step.solutions]
    if advice.scope == "run" or not steps or len(subject.packages) != 1:
        return None
    (package,) = subject.packages
    version = advice.environment.packages[package]
    name = phrases.title(kb, package) + (f" {version}" if version != "any" else "")
    on = {"batch": "the batch", "hardware": "the machine"}[advice.scope]
    if kb.packages[package].kind == "platform" and advice.scope == "batch":
        on = "sizes"
    if len(steps) > 1:
        return f"{name} can remove the dependence on {on} with the settings below."
    where = phrases.conditions(kb, steps[0].when or [])
    how = f"{line(steps[0])}{f' ({where})' if where else ''}"
    return f"{name} can remove the dependence on {on}: {how}."


def _assumed(page: Page, kb: KnowledgeBase, subject: Subject, unlisted: Collection[str]) -> None:
    """The device that a sentence was taken to name, and the releases that were taken for packages
    of which nobody named one.
    """
    if subject.device is not None:
        name = phrases.DEVICES[subject.device]
        page.paragraph(
            f"From your words this is for {name}. For another device: --device NAME",
            style="dim",
        )
    assumed = [name for name in subject.newest if name not in unlisted]
    titles = [phrases.title(kb, name) for name in assumed]
    if titles:
        here = subject.advice.environment.packages
        is_newest = all(here[name] == kb.releases(name)[-1] for name in assumed)
        which = "the newest" if is_newest else "the newest that fits what you name"
        fixes = _fixes(kb, subject, assumed)
        since = "".join(f" {fix}." for fix in fixes)
        page.paragraph(
            f"You did not name a release of {phrases.join(titles)}: this is for {which}.{since} "
            f"Name yours: {' '.join(naming(name, 'VERSION') for name in assumed)}",
            style="dim",
        )
    if subject.installed:
        here = [phrases.title(kb, name) for name in subject.installed]
        page.paragraph(f"This is for the {phrases.join(here)} that is installed here.", style="dim")


def _first_to_repeat(kb: KnowledgeBase, subject: Subject) -> list[str]:
    """The releases from which named libraries can repeat, of those for which the newest stands in:
    the reporter's may be older.
    """
    found: dict[str, None] = {}
    for source in subject.advice.sources().values():
        for package, release in (source.fixed_in or {}).items():
            is_assumed = package in subject.newest and package in subject.packages
            if is_assumed and release != kb.releases(package)[0]:
                found[f"{phrases.title(kb, package)} {release}"] = None
    return list(found)


def _fixes(kb: KnowledgeBase, subject: Subject, assumed: Collection[str]) -> list[str]:
    """From which releases on named ops can repeat, of packages that came without one."""
    found: dict[str, list[str]] = {}
    for op in subject.advice.ops:
        for package, release in (op.fixed_in or {}).items():
            if op.query not in subject.ops or package not in assumed:
                continue
            if release != kb.releases(package)[0]:
                since = f"{phrases.title(kb, package)} {release} on"
                found.setdefault(since, []).append(op.query)
    return [f"{phrases.join(ops)} can repeat from {since}" for since, ops in found.items()]
