"""The advice for a person at a terminal: the verdict, the ops, the settings, the notes."""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping
from typing import NamedTuple

import msgspec

from d9m.environment.version_options import naming
from d9m.errors import ExitCode
from d9m.model.advice import REPEATS, Advice, OpAnswer, exit_code
from d9m.render import phrases, words
from d9m.render.advice import notes, op_lines, remedy, todo, verdict
from d9m.render.interface import Answer, Rendered
from d9m.render.page import Page, Span, Style
from d9m.resolve.op_names import is_known
from d9m.resolve.workarounds import with_workarounds

MOST_LINES = 25
"""Lines of an answer about three ops, without the lines to copy."""

LINES_OF_AN_OP = 3
"""Lines that each further op may have."""

MOST_BASICS = 3
"""Things to do besides the settings that a line names."""

DETAILS = (
    op_lines.USUAL,
    op_lines.Detail(hints=2, cases=4, notes=2, packages=6),
    op_lines.Detail(hints=1, cases=3, notes=1, packages=4),
    op_lines.Detail(hints=1, cases=2, notes=0, packages=3),
    op_lines.Detail(hints=0, cases=2, notes=0, packages=2),
    op_lines.Detail(hints=0, cases=2, notes=0, packages=1),
)
"""How much an answer says, until it is short enough."""


def render(answer: Answer) -> Rendered:
    """Write the most important first, and as much as fits; everything with `--all`. Without named
    ops the settings come before the worst ops of the framework.
    """
    if answer.everything:
        return Rendered(_page(answer, op_lines.Detail()).page)
    ops = sum(op.query != "*" for op in answer.advice.ops) if answer.named_ops else 0
    room = MOST_LINES + LINES_OF_AN_OP * max(0, ops - 3)
    tried = (_page(answer, detail) for detail in DETAILS)
    return Rendered(
        next((each for each in tried if each.length <= room), _page(answer, DETAILS[-1])).page
    )


class Written(NamedTuple):
    """A page, and how long it is without the lines to copy."""

    page: Page
    length: int


def _page(answer: Answer, detail: op_lines.Detail) -> Written:
    page = Page(answer.width)
    style = "bad" if answer.unknown else _style(answer.advice)
    if answer.quiet:
        page.line(Span(verdict.sentences(answer), style))
        return Written(page, 0)
    page.paragraph(verdict.sentences(answer), style=style)
    page.paragraph(environment(answer), style="dim")
    for sentence in _frameworks_left_out(answer):
        page.paragraph(sentence)
    page.gap()
    for line in verdict.unknown_lines(answer):
        page.paragraph(line, "  ! ", "    ", style="bad")
    page.gap()
    if verdict.without_device(answer):
        return Written(page, 0)
    is_about_ops = answer.named_ops or answer.everything or op_lines.packages_lead(answer)
    signs = _write_ops(page, answer, detail) if is_about_ops else set[str]()
    todo.conflicts(page, answer)
    todo.helpers(page, answer)
    todo.existing(page, answer)
    before = len(page.lines)
    with_ways = with_workarounds(answer.advice, notes.asked_about(answer).values())
    todo.settings(page, msgspec.structs.replace(answer, advice=with_ways))
    copied = len(page.lines) - before
    if not is_about_ops:
        signs = _write_ops(page, answer, detail)
    notes.write(page, answer, detail.notes)
    _footer(page, answer, detail, signs)
    return Written(page, len(page.lines) - copied)


def _write_ops(page: Page, answer: Answer, detail: op_lines.Detail) -> set[str]:
    """Write the ops. Return the signs used."""
    before = len(page.lines)
    op_lines.write(page, answer, detail)
    return {line[1].text for line in page.lines[before:] if len(line) > 1}


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
    """Yield the frameworks below named libraries that the question leaves out."""
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
    """Return what the program does: serving if every named library is a server."""
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
    if name in here.moving:
        return f"{title} {version} (assumed: the tag names no release)"
    if len(releases) < 2:
        return f"{title} {version}"
    span = ", ".join(releases) if len(releases) == 2 else f"{releases[0]} to {releases[-1]}"
    return f"{title} {version} ({span})"


def _footer(page: Page, answer: Answer, detail: op_lines.Detail, signs: set[str]) -> None:
    """Write what the signs mean, what is left to the program itself, and where to read on."""
    meant = [f"{sign} {text}" for sign, text in words.LEGEND.items() if sign in signs]
    if len(meant) > 1:
        page.paragraph(" · ".join(meant), style="dim")
    op = next((op for op in answer.advice.ops if op.sources and op.query != "*"), None)
    name = _name_to_show(answer, op) if op else next(iter(answer.advice.sources()), None)
    if op and not answer.named_ops:
        name = "NAME"
    left = _basics(answer)
    if left:
        page.paragraph(f"Also {left}: d9m list basics")
    evidence = f"Evidence: d9m show {_quoted(name)} · " if name else ""
    more = "More: --all · " if not answer.everything else ""
    formats = "Formats: --format env|python|json|…"
    is_short = len(evidence + more + formats) <= page.width
    page.paragraph((evidence + more + (formats if is_short else "")).removesuffix(" · "))


def _name_to_show(answer: Answer, op: OpAnswer) -> str:
    """Return an op without its arguments; for a variable, as in ``x[idx]``, the op itself."""
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


def _basics(answer: Answer) -> str:
    """Return what the program has to do besides the settings."""
    advice = answer.advice
    if advice.scope == "run":
        seeds = "check data loading, checkpoints and other seeds"
        return seeds if remedy.has_generator(answer) else ""
    chosen = {solution.label for solution in advice.solutions}
    left: list[str] = []
    for ingredient in advice.ingredients:
        record = answer.kb.ingredients[ingredient.id]
        is_done = advice.outcome in REPEATS and chosen & set(record.done_by)
        if record.scope == advice.scope and not is_done:
            left.append(ingredient.title[0].lower() + ingredient.title[1:])
    return phrases.join(left[:MOST_BASICS])
