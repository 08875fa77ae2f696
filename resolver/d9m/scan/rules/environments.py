"""Environments to learn in: does anything seed them?"""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence

from d9m.model.records import Setting
from d9m.scan.facts import FileFacts, LocalCall, WrittenCall
from d9m.scan.finding import Because, RelatedSpot
from d9m.scan.project.call_graph import called_as, last_part
from d9m.scan.project.programs import Program
from d9m.scan.project.project import Project
from d9m.scan.rules.program_seeds import listed, seeded_programs
from d9m.scan.rules.rule import Objection, ScanRule

_SEED = "seed"
_ENVIRONMENTS = re.compile(r"(?i)gym|env")
"""Packages of environments, as their names say."""
_REGISTERS = re.compile(r"(?i)register\w*env")
"""Functions that register the environments of a package."""


def _check_environments(project: Project) -> Iterator[Objection]:
    spoken: set[tuple[str, int]] = set()
    for found in seeded_programs(project):
        program = found.program
        made = _made_in(project, program)
        if made is None or not _is_stepped(program) or _may_be_seeded(program):
            continue
        path, call = made
        others = not _names_it(call) and _has_others(project, program)
        if (path, call.place.line) in spoken:
            continue
        spoken.add((path, call.place.line))
        way_out, because = _way_to_seed(project, program, path, call)
        yield Objection(
            path=path,
            place=call.place,
            severity=None if found.is_meant and not others else "hint",
            message=(
                f"{program.path} seeds {listed(found.seeds)} but not the environment that "
                f"{call.name}() makes here. It has a generator of its own, which starts "
                "differently in every run."
            ),
            way_out=way_out,
            because=because,
            related=(RelatedSpot(program.path, 1, "the program"),),
            confidence="likely",
        )


def _made_in(project: Project, program: Program) -> tuple[str, WrittenCall] | None:
    """Where a program makes its first environment, itself or in a method that may run."""
    for path in sorted(program.near):
        facts = program.files[path]
        for call in facts.calls:
            if call.name not in project.vocabulary.environments:
                continue
            if program.may_run(path, call) and not _is_only_asked(project, program, path, call):
                return path, call
    return None


def _is_only_asked(project: Project, program: Program, path: str, made: WrittenCall) -> bool:
    """Whether an environment is made in the call of a function of the program that does not play
    in it: ``arguments_of(gym.make("CartPole-v1"))``.
    """
    for call in program.files[path].called:
        same = call.scope == made.scope and call.line == made.place.line and call.is_call
        if same and call.name != last_part(made.name) and not made.target:
            plays = [_plays(project, facts, call.name) for facts in program.files.values()]
            if False in plays:
                return True not in plays
    return False


def _plays(project: Project, facts: FileFacts, name: str) -> bool | None:
    """Whether a function of a file plays in an environment; None if the file has no such one."""
    found = None
    for number, scope in enumerate(facts.scopes):
        if scope.kind != "function" or called_as(scope.name) != name:
            continue
        inside = [call.name for call in facts.called if call.scope == number]
        found = bool(found) or any(method in project.vocabulary.plays for method in inside)
    return found


def _names_it(call: WrittenCall) -> bool:
    """Whether the text says which environment is made."""
    return bool(call.positional) and call.positional[0][0] in ("'", '"')


def _has_others(project: Project, program: Program) -> bool:
    """Whether a program imports a whole package of environments, as one does to register them, or
    calls what registers them: they may draw from a generator that the program seeds, as those of
    Safety Gym do.
    """
    for path in program.near:
        if any(_REGISTERS.search(call.name) for call in program.files[path].called):
            return True
        for each in program.files[path].imports:
            root = each.module.partition(".")[0]
            speaks = _ENVIRONMENTS.search(root) and project.vocabulary.package(root) is None
            if speaks and not each.name:
                return True
    return False


def _is_stepped(program: Program) -> bool:
    """Whether somebody resets an environment, and does not only ask for its spaces."""
    return any(
        call.is_call and call.name == "reset"
        for path in program.near
        for call in program.files[path].called
    )


def _may_be_seeded(program: Program) -> bool:
    """Whether something in the program may seed an environment: a method ``seed`` of an object, or
    a call with ``seed=`` of something that the project does not define.
    """
    own: set[str] = set()
    for facts in program.files.values():
        own.update(scope.name.rpartition(".")[2] for scope in facts.scopes)
        if any(call.name == f".{_SEED}" for call in facts.calls):
            return True
    return any(
        _hands_on_seed(call, own) for facts in program.files.values() for call in facts.called
    )


def _hands_on_seed(call: LocalCall, own: set[str]) -> bool:
    return _SEED in call.asked and (call.name == "reset" or call.name not in own)


def _way_to_seed(
    project: Project, program: Program, path: str, call: WrittenCall
) -> tuple[str, tuple[Because, ...]]:
    """The statements that seed an environment in the release that is stated, and its spaces, if
    the program draws from them.
    """
    ways: list[str] = []
    because: list[Because] = []
    for marks in project.kb.code.values():
        if call.name not in marks.environments:
            continue
        made = _setting(project, path, call, marks.environments[call.name])
        if made is not None:
            ways.append(f"{_with_seed(made)}, {made.where}")
            because.append(_seeds_it(project, made))
        for drawn, names in marks.spaces.items():
            space = _setting(project, path, call, names) if _draws(program, drawn) else None
            if space is not None:
                ways.append(_with_seed(space))
                because.append(_seeds_it(project, space))
    return "; ".join(ways) or f"give it a {_SEED}", tuple(because)


def _setting(
    project: Project, path: str, call: WrittenCall, names: Sequence[str]
) -> Setting | None:
    """The first of these settings that the stated release has."""
    package = project.vocabulary.package(call.name)
    assert package is not None
    stack = project.questions.world(project.around(path), (package,))
    for name in names:
        setting = project.kb.settings[name]
        if setting.statement and project.questions.holds(stack, setting.condition):
            return setting
    return None


def _with_seed(setting: Setting) -> str:
    return (setting.statement or "").replace("{value}", _SEED)


def _seeds_it(project: Project, setting: Setting) -> Because:
    return Because(f"settings/{project.kb.setting_ids[setting.name]}", "seeds it")


def _draws(program: Program, drawn: str) -> bool:
    """Whether a file close to a program names an attribute and calls the method."""
    attribute, _dot, method = drawn.partition(".")
    for path in program.near:
        facts = program.files[path]
        if attribute in facts.mentioned and any(call.name == method for call in facts.called):
            return True
    return False


UNSEEDED_ENVIRONMENT = ScanRule(
    code="unseeded-environment",
    family="seeds",
    severity="place",
    title="An environment that nothing seeds, in a program that seeds others",
    why="""An environment of Gym draws its first states and random events from a generator of its
    own. Seeds of Python, NumPy and the framework do not reach it, so episodes differ in every
    run. Seed each environment at its first reset.""",
    silent="""The program trains nothing, seeds nothing at all (no-seed), or resets no environment;
    the environment goes straight to a function that only asks for its spaces;
    a method seed() of some object is called; or a library that the project does not define gets a
    seed=, for it may seed the environment. Where the text does not name the environment, and a
    package of other environments is imported as a whole, as one does to register them, or a call
    registers them, this is a hint: some draw their seed from NumPy.""",
    bad="""import gymnasium as gym
import torch

torch.manual_seed(1)
env = gym.make("CartPole-v1")
state, _ = env.reset()
loss.backward()
""",
    good="""import gymnasium as gym
import torch

torch.manual_seed(1)
env = gym.make("CartPole-v1")
state, _ = env.reset(seed=1)
loss.backward()
""",
    check=_check_environments,
)

RULES = (UNSEEDED_ENVIRONMENT,)
