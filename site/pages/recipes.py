"""What to set, as blocks to copy, for each run of releases that wants the same."""

from __future__ import annotations

import json
from collections.abc import Iterable, Iterator, Mapping, Sequence
from typing import Any

import msgspec

from d9m.browse.history import History
from d9m.environment.environment import Environment, Setup, describe
from d9m.kb.store import KnowledgeBase
from d9m.model.records import SettingChange
from d9m.model.settings import Step
from d9m.model.when import clauses
from d9m.render.advice.program import imports, program_steps
from d9m.render.advice.step import line
from d9m.resolve.merge import Demand, demands, merge, typed
from pages import phrases


class Block(msgspec.Struct, frozen=True):
    title: str
    language: str
    text: str


class Recipe(msgspec.Struct, frozen=True):
    """What some releases want."""

    span: str
    labels: tuple[str, ...]
    """Solutions that it turns on; empty where that is said already."""
    where: str
    blocks: tuple[Block, ...]
    does: tuple[str, ...]
    """What is turned without anybody's help."""


def for_source(kb: KnowledgeBase, history: History) -> list[Recipe]:
    """What to set against a source, newest releases first."""
    wanted: list[tuple[str, tuple[str, ...], str]] = []
    for row in history.usual.rows:
        if row.verdict.alternatives:
            where = phrases.plain(kb, row.where)
            for release in reversed(row.releases):
                wanted.append((release, row.verdict.alternatives[0], where))
    spans = {row.newest: row.span for row in history.usual.rows}
    return _grouped(kb, history.home, history.device, wanted, spans)


def for_solution(kb: KnowledgeBase, home: str, label: str) -> list[Recipe]:
    """What a solution wants, newest releases first."""
    exists = kb.solution(label)[1].condition
    wanted: list[tuple[str, tuple[str, ...], str]] = []
    for release in reversed(kb.releases(home)):
        if _release(kb, home, release, "cuda").holding(exists):
            wanted.append((release, (label,), ""))
    found = _grouped(kb, home, "cuda", wanted, {})
    return [msgspec.structs.replace(recipe, labels=()) for recipe in found]


def of_turns(kb: KnowledgeBase, by: str, turns: Iterable[SettingChange]) -> list[Block]:
    """Blocks for settings that are shown for all environments at once: each condition is a
    comment.
    """
    steps: list[Step] = []
    for turn in turns:
        needed = tuple(clauses(turn.when)) if turn.when else ()
        steps += merge([Demand(by, kb.settings[turn.name], turn, needed)]).steps
    return list(as_blocks(kb, steps))


def _grouped(
    kb: KnowledgeBase,
    home: str,
    device: str,
    wanted: Sequence[tuple[str, tuple[str, ...], str]],
    spans: Mapping[str, str],
) -> list[Recipe]:
    """`spans` names what a release stands for, where the releases of a package are not listed."""
    released = kb.releases(home)
    groups: list[tuple[list[str], tuple[str, ...], str, tuple[Step, ...], tuple[str, ...]]] = []
    for release, labels, where in wanted:
        place = ("steps", home, release, device, labels)
        steps, does = kb.once(place, lambda: _steps(kb, home, release, device, labels))  # noqa: B023 - called at once
        if (
            groups
            and groups[-1][1:] == (labels, where, steps, does)
            and _follows(released, release, groups[-1][0][-1])
        ):
            groups[-1][0].append(release)
        else:
            groups.append(([release], labels, where, steps, does))
    found: list[Recipe] = []
    for group, labels, where, steps, does in groups:
        span = phrases.run(group[-1], group[0], released) if released else spans[group[0]]
        found.append(Recipe(span, labels, where, tuple(as_blocks(kb, steps)), does))
    return found


def _follows(released: Sequence[str], earlier: str, later: str) -> bool:
    return earlier in released and released.index(earlier) + 1 == released.index(later)


def _release(kb: KnowledgeBase, home: str, release: str, device: str) -> Environment:
    return kb.once(
        ("release", home, release, device),
        lambda: describe(kb, Setup(((home, release),), device=device)),
    )


def _steps(
    kb: KnowledgeBase, home: str, release: str, device: str, labels: Sequence[str]
) -> tuple[tuple[Step, ...], tuple[str, ...]]:
    """Steps for the user, and what the solutions turn by themselves."""
    environment = _release(kb, home, release, device)
    wanted: list[Demand] = []
    does: dict[str, None] = {}
    for label, _id, solution in kb.labelled(labels):
        wanted += demands(kb, environment, label, solution.settings)
        for turn in solution.sets:
            if environment.holding(turn.condition):
                does[_turned(turn)] = None
    return merge(wanted).steps, tuple(does)


def _turned(turn: SettingChange) -> str:
    """``TF_CUDNN_DETERMINISTIC=1``, or that a variable is absent."""
    if turn.to:
        return f"{turn.set}={' or '.join(turn.to)}"
    return turn.set or f"{turn.unset} absent"


# --- blocks ----------------------------------------------------------------------

_PLACES: tuple[tuple[str, str, tuple[str, ...]], ...] = (
    ("In the environment that runs the program", "sh", ("install",)),
    ("In the shell, before Python starts", "sh", ("unset", "env", "append")),
    ("At the top of the program", "python", ("python",)),
    ("On the command line", "sh", ("flags",)),
    ("In the configuration", "json", ("config",)),
    ("In the code", "python", ("code",)),
    ("Leave out", "text", ("avoid",)),
)
"""Title and language of a block, and the kinds of steps that stand in it."""


def as_blocks(kb: KnowledgeBase, steps: Sequence[Step]) -> Iterator[Block]:
    """Steps in the order in which a person makes them."""
    for title, language, kinds in _PLACES:
        here = [step for step in steps if step.kind in kinds]
        if here:
            yield Block(
                title,
                language,
                _config(here) if language == "json" else "\n".join(_lines(kb, here)),
            )


def _lines(kb: KnowledgeBase, steps: Sequence[Step]) -> Iterator[str]:
    program = program_steps(steps)
    for step in (each for each in program if each.before_import):
        yield from _commented(kb, step, *step.imports, *line(step).splitlines())
    yield from imports(steps)
    for step in (each for each in program or steps if not each.before_import):
        yield from _commented(kb, step, *line(step).splitlines())


def _config(steps: Sequence[Step]) -> str:
    tree: dict[str, Any] = {}
    for step in steps:
        *above, last = step.name.split(".")
        inner = tree
        for part in above:
            inner = inner.setdefault(part, {})
        inner[last] = typed(step)
    return json.dumps(tree, indent=2)


def _commented(kb: KnowledgeBase, step: Step, *lines: str) -> Iterator[str]:
    """Lines, with what there is to say of them: behind a short one, else above."""
    condition = f"only {phrases.plain(kb, step.when)}" if step.when else ""
    said = ": ".join(part for part in (condition, step.note or "") if part)
    if said and len(lines) == 1 and len(lines[0]) + len(said) < _WIDTH:
        yield f"{lines[0]}  # {said}"
        return
    if said:
        yield f"# {said}"
    yield from lines


_WIDTH = 70
"""Characters that a block shows without scrolling on a small desktop."""
