"""The advice for a person at a terminal: the verdict, the ops, the settings, the notes."""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping

import msgspec

from d9m.environment.version_options import naming
from d9m.errors import ExitCode
from d9m.model.advice import REPEATS, Advice, OpAnswer, exit_code
from d9m.render import phrases
from d9m.render.advice import notes, op_lines, todo, verdict
from d9m.render.interface import Answer, Rendered
from d9m.render.page import Page, Style
from d9m.resolve.op_names import is_known
from d9m.resolve.ways_out import with_ways_out


def render(answer: Answer) -> Rendered:
    """The most important first. Without named ops the settings come before those of the framework,
    of which the worst are listed, unless `everything`.
    """
    page = Page(answer.width)
    page.paragraph(verdict.sentences(answer), style=_style(answer.advice))
    if answer.quiet:
        return Rendered(page)
    page.paragraph(environment(answer), style="dim")
    for sentence in _frameworks_left_out(answer):
        page.paragraph(sentence)
    page.gap()
    if verdict.without_device(answer):
        return Rendered(page)
    is_about_ops = answer.named_ops or answer.everything or op_lines.packages_lead(answer)
    if is_about_ops:
        op_lines.write(page, answer)
    notes.write_first(page, answer)
    todo.conflicts(page, answer)
    todo.helpers(page, answer)
    todo.existing(page, answer)
    with_ways = with_ways_out(answer.advice, notes.asked_about(answer).values())
    todo.settings(page, msgspec.structs.replace(answer, advice=with_ways))
    if not is_about_ops:
        op_lines.write(page, answer)
    notes.write(page, answer)
    _footer(page, answer)
    return Rendered(page)


def _style(advice: Advice) -> Style:
    code = exit_code(advice)
    if code == ExitCode.ANSWERED:
        return "good"
    return "doubt" if code == ExitCode.UNKNOWN else "bad"


def environment(answer: Answer) -> str:
    """``PyTorch 2.4 · CUDA · training · assumed: without torch.compile``."""
    here = answer.advice.environment
    parts = [here.container] if here.container else []
    homes = set(map(answer.kb.home, answer.advice.sources()))
    taken: list[str] = []
    for name, version in here.packages.items():
        shipped = name in here.assumed and name not in homes
        if not shipped and answer.kb.packages[name].kind != "image":
            implied = name in here.assumed and answer.kb.packages[name].kind == "library"
            (taken if implied else parts).append(_package(answer, name, version))
    device = here.gpu or phrases.DEVICES.get(here.device, here.device)
    facts = {name: value for name, value in here.facts.items() if name != "training"}
    is_named = any(part.startswith(f"{device} ") for part in parts)  # by its toolkit
    if not is_named and not _is_elsewhere(answer, facts):
        parts.append(device)
    parts.append(_activity(answer))
    known = {name: value for name, value in facts.items() if name not in here.assumed}
    parts += [phrases.condition(answer.kb, {name: value}) for name, value in known.items()]
    for name, value in facts.items():
        if name in here.assumed and _exists(answer, name):
            taken.append(phrases.condition(answer.kb, {name: value}))
    if taken:
        parts.append(f"assumed: {', '.join(taken)}")
    return " · ".join(parts)


def _exists(answer: Answer, fact: str) -> bool:
    """Whether some release in question has what a fact is about."""
    since = answer.kb.meta.facts[fact].since
    return not any(verdict.is_older(answer, package, first) for package, first in since.items())


def _is_elsewhere(answer: Answer, facts: Mapping[str, str]) -> bool:
    """Whether a fact says where the one library computes that was named."""
    here = answer.advice.environment
    named = [name for name in here.packages if name not in here.assumed]
    says = any(answer.kb.meta.facts[name].names_device for name in facts)
    return says and here.gpu is None and len(named) == 1


def _frameworks_left_out(answer: Answer) -> Iterator[str]:
    """The frameworks whose ops named libraries run, and that nobody named."""
    here = answer.advice.environment.packages
    libraries: dict[str, list[str]] = {}
    for name in here:
        framework = answer.kb.packages[name].framework
        if framework is not None and framework not in here:
            libraries.setdefault(framework, []).append(phrases.title(answer.kb, name))
    for framework, titles in libraries.items():
        run = "runs" if len(titles) == 1 else "run"
        option = naming(framework, "VERSION")
        title = phrases.title(answer.kb, framework)
        yield f"{phrases.join(titles)} {run} {title}'s ops. For their settings, add {option}."


def _activity(answer: Answer) -> str:
    """What the program does: it serves where every library that was named does."""
    here = answer.advice.environment
    if here.facts.get("training") == "false":
        return "inference"
    named = [answer.kb.packages[name] for name in here.packages if name not in here.assumed]
    libraries = [package for package in named if package.kind in ("library", "application")]
    serves = bool(libraries) and all(package.is_server for package in libraries)
    return "serving" if serves else "training"


def _package(answer: Answer, name: str, version: str) -> str:
    here = answer.advice.environment
    title = phrases.title(answer.kb, name)
    releases = here.releases.get(name, [])
    if name in here.between:
        return f"{title} between {releases[0]} and {releases[-1]}"
    if version == "any":
        return f"{title}, any release"
    if len(releases) < 2:
        return f"{title} {version}"
    span = ", ".join(releases) if len(releases) == 2 else f"{releases[0]} to {releases[-1]}"
    return f"{title} {version} ({span})"


def _footer(page: Page, answer: Answer) -> None:
    """What is left to the program itself, and where to go from here."""
    left = list(_left_to_do(answer))
    if left:
        shown = left if answer.everything else left[:3]
        more = f", and {len(left) - len(shown)} more" if len(left) > len(shown) else ""
        page.paragraph(f"Your program must also: {', '.join(shown)}{more}: d9m list basics")
    op = next((op for op in answer.advice.ops if op.sources and op.query != "*"), None)
    source = next(iter(answer.advice.sources()), None)
    name = _name_to_show(answer, op) if op else source
    if op and not answer.named_ops:
        name = "NAME"
    sources = f"Sources: d9m show {_quoted(name)} · " if name else ""
    page.paragraph(f"{sources}Other formats: --format env|python|json|…")


def _name_to_show(answer: Answer, op: OpAnswer) -> str:
    """An op without its arguments; in place of somebody's variable, as in ``x[idx]``, what it
    stands for.
    """
    head = re.split(r"[:(\[]", op.query)[0]
    here = answer.advice.environment.packages.keys() & answer.kb.meta.prefixes.keys()
    is_name = head == op.query or any(is_known(answer.kb, package, head) for package in here)
    return head if is_name or not op.names else op.names[0]


def _quoted(name: str) -> str:
    return (
        name
        if name.replace(".", "").replace("/", "").replace("-", "").isidentifier()
        else f"'{name}'"
    )


def _left_to_do(answer: Answer) -> Iterator[str]:
    """Ingredients without a setting of their own in this answer, that nothing in it makes
    superfluous.
    """
    advice = answer.advice
    made = set[str]().union(*(step.solutions for step in advice.steps))
    chosen = {solution.label for solution in advice.solutions}
    for ingredient in advice.ingredients:
        done_by = answer.kb.ingredients[ingredient.id].done_by
        if advice.outcome in REPEATS and not chosen.isdisjoint(done_by):
            continue
        if ingredient.optional or ingredient.id not in made:
            yield ingredient.title[0].lower() + ingredient.title[1:]
