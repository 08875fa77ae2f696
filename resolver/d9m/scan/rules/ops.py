"""Ops: what will happen under the switch of the program, in its release?"""

from __future__ import annotations

from collections.abc import Collection, Iterator, Mapping

import msgspec

from d9m.model.advice import OpAnswer, SourceAnswer
from d9m.scan.facts import FileFacts, WrittenCall
from d9m.scan.finding import Because, Fix, RelatedSpot, Spot, TextEdit
from d9m.scan.measuring import is_in_loader, loads_weights, measures, prepares
from d9m.scan.project.effects import Effect, written
from d9m.scan.project.programs import Program
from d9m.scan.project.project import Project
from d9m.scan.project.questions import PackageStack
from d9m.scan.rules.devices import is_stated_otherwise
from d9m.scan.rules.rule import Doubt, Objection, ScanRule
from d9m.scan.syntax.kinds import INTEGERS


class Asked(msgspec.Struct, frozen=True):
    """A call of an op, in a program with a switch."""

    path: str
    call: WrittenCall
    program: Program
    switch: Effect
    answer: OpAnswer
    stack: PackageStack
    only_oldest: str = ""
    """The oldest release allowed, where only it and its like behave so."""

    @property
    def is_near(self) -> bool:
        """Whether the program itself calls it, not a library that it imports."""
        return self.path in self.program.near


def _asked(project: Project) -> Iterator[Asked]:
    """Calls of ops that a switch concerns, each once: for a program that trains, if one does."""
    switches = project.knowledge.switches()
    seen: set[tuple[str, int, int]] = set()
    for program in sorted(project.programs, key=lambda one: not project.trains(one)):
        on = [effect for effect in program.effects if turns_on(effect, switches)]
        on = on or _flags_of_old(project, program)
        if not on:
            continue
        home = project.kb.home(project.kb.setting_ids[on[0].setting])
        for path, facts in program.files.items():
            for call in facts.calls:
                place = (path, call.place.line, call.place.column)
                if place in seen or call.guarded or not program.may_run(path, call):
                    continue
                found = _answer(project, path, call, home, on[0].guarded)
                if found is not None and not _is_off_there(project, path, call):
                    seen.add(place)
                    answer, stack, oldest = found
                    yield Asked(path, call, program, on[0], answer, stack, oldest)


def _is_off_there(project: Project, path: str, call: WrittenCall) -> bool:
    """Whether the function around a call has turned the switch off before it, and not on again."""
    switches = project.knowledge.switches()
    made = project.effects[path]
    turned = [one for one in made if one.setting in switches and one.scope == call.scope]
    before = [one for one in turned if one.place < call.place]
    return bool(before) and not turns_on(max(before, key=lambda one: one.place), switches)


def turns_on(effect: Effect, switches: Mapping[str, object]) -> bool:
    return effect.setting in switches and effect.value not in ("False", "0", "None")


def _flags_of_old(project: Project, program: Program) -> list[Effect]:
    """What asks for determinism in a release that has no switch: flags of single libraries."""
    if project.switch_for(program) is not None or not project.trains(program):
        return []
    wanted = project.knowledge.wanted()
    return [effect for effect in program.effects if is_good_flag(effect, wanted)]


def is_good_flag(effect: Effect, wanted: Mapping[str, Collection[str]]) -> bool:
    """Whether a statement assigns the True that some solution asks for."""
    if effect.assignment is None or effect.value != "True":
        return False
    return effect.value in wanted.get(effect.setting, ())


def question(call: WrittenCall) -> str:
    """A call as an item of ``--ops``."""
    name = f"x{call.name}" if call.name.startswith(".") else call.name
    text = written(call, name)
    if call.kind == INTEGERS:
        text += ":dtype=integer"
    return text + (":forward" if call.without_gradients else "")


def _answer(
    project: Project, path: str, call: WrittenCall, home: str, newest_alone: bool
) -> tuple[OpAnswer, PackageStack, str] | None:
    """What the records say of a call, if it can raise or vary; in the newest release allowed,
    else in the oldest, unless a test of the release decides on the switch.
    """
    package = home if call.name.startswith(".") else project.vocabulary.package(call.name)
    if package is None or is_foreign(project, package, home):
        return None
    packages = frozenset((package, home))
    facts = project.files[path]
    if _is_without_gradients(project, facts, call):
        call = msgspec.structs.replace(call, without_gradients=True)
    text = question(call)
    newest = project.questions.world(project.around(path), packages)
    answer = project.questions.op(newest, text)
    if answer is not None and answer.outcome in ("raises", "unsolved"):
        return answer, newest, ""
    stated = project.questions.stated(project.around(path), home)
    if stated.oldest is None or newest_alone:
        return None
    oldest = project.questions.world(project.around(path), packages, oldest=True)
    answer = project.questions.op(oldest, text)
    if answer is not None and answer.outcome in ("raises", "unsolved"):
        return answer, oldest, f"{home} {stated.oldest}"
    return None


def _is_without_gradients(project: Project, facts: FileFacts, call: WrittenCall) -> bool:
    """Whether nothing differentiates what a call computes, as the names around it say; in a cell of
    a notebook, outside of functions and of loops that train, somebody tries it out.
    """
    tried = facts.kind == "notebook" and call.scope == 0
    if tried and call.in_loop:
        trains = project.vocabulary.trains
        tried = not any(other.name in trains and other.scope == 0 for other in facts.calls)
    data = is_in_loader(facts, call) or prepares(facts, call)
    return tried or data or loads_weights(facts, call) or measures(facts, call)


def is_foreign(project: Project, package: str, home: str) -> bool:
    """Whether a package is a framework that the switch of another one does not reach."""
    return package != home and project.kb.packages[package].kind == "framework"


def shown(call: WrittenCall) -> str:
    """An op as a message names it."""
    return call.name.removeprefix(".") + ("()" if call.name.startswith(".") else "")


def _release(project: Project, asked: Asked) -> str:
    """`` on torch 2.0.0``, where a file states it; empty for an assumed release."""
    if asked.only_oldest:
        return f" on {asked.only_oldest}"
    home = project.kb.home(project.kb.setting_ids[asked.switch.setting])
    said = project.questions.stated(project.around(asked.path), home)
    return "" if said.how == "assumed" else f" on {home} {said.version}"


def _worst(answer: OpAnswer) -> SourceAnswer:
    return next(source for source in answer.sources if source.outcome == answer.outcome)


def _way_out(project: Project, source: SourceAnswer) -> str:
    if source.fixed_in:
        package, release = next(iter(source.fixed_in.items()))
        settings = [project.kb.solution(label)[1].title for label in source.fixed_with]
        return f"{package} >= {release}{' with ' if settings else ''}{', '.join(settings)}"
    return source.workarounds[0].text if source.workarounds else "use another op"


def _part(source: SourceAnswer) -> str:
    """The part of a call that a source is about, if it is not the whole."""
    return "the backward pass of " if source.direction == ["backward"] else ""


def _check_raises(project: Project) -> Iterator[Objection]:
    for asked in _asked(project):
        source = _worst(asked.answer)
        if asked.answer.outcome != "raises" or asked.switch.warns or not _is_by(project, asked):
            continue
        trained = project.trains(asked.program)
        sure = trained or "forward" in source.direction
        severity: Doubt | None = None if sure and not asked.only_oldest else "warning"
        if not trained and not (sure and asked.is_near):
            severity = "hint"
        on = _release(project, asked)
        yield Objection(
            path=asked.path,
            place=asked.call.place,
            severity=severity,
            message=f"With the switch on, {_part(source)}{shown(asked.call)} raises an error{on}.",
            way_out=_way_out(project, source),
            because=(Because(f"sources/{source.id}", "raises", source.fixed_in),),
            related=(RelatedSpot(asked.switch.path, asked.switch.place.line, "switched on here"),),
        )


def _is_by(project: Project, asked: Asked) -> bool:
    """Whether it is the switch of this program that makes the op raise."""
    switch = project.knowledge.switches().get(asked.switch.setting)
    return switch is not None and switch[0] in (_worst(asked.answer).raised_by or "").split(" + ")


OP_RAISES = ScanRule(
    code="op-raises",
    family="ops",
    severity="missing",
    title="An op that raises an error with the program's switch on",
    why="""A deterministic switch makes ops without a deterministic version raise an error.
    The list changes with every release; the records have it for each. Upgrade, use
    another op, or compute it on the CPU.""",
    silent="""No program that reaches the file turns a switch on, the function has turned it off
    before the op, gradients are off where only the gradient raises, or it depends on something that
    the text does not say. What a dataset, a transform, a collate function, a function that loads
    weights or a cell of a notebook that trains nothing computes has no gradient. In a library that
    a program without training imports, it is a hint.""",
    bad="""import torch
import torch.nn.functional as F

torch.use_deterministic_algorithms(True)
x = torch.zeros(8, requires_grad=True)
F.pad(x, (1, 1), mode="reflect")
torch.cumsum(x, 0).sum().backward()
""",
    good="""import torch

torch.use_deterministic_algorithms(True)
x = torch.zeros(8, requires_grad=True)
torch.sum(x, 0).backward()
""",
    check=_check_raises,
)


_RARE = ("uninitialised-memory", "tie-break", "tie-breaking")
"""Mechanisms that need an accident: equal values, or memory that nobody fills."""


def _check_varies(project: Project) -> Iterator[Objection]:
    for asked in _asked(project):
        source = _worst(asked.answer)
        warned = asked.answer.outcome == "raises" and asked.switch.warns
        if asked.answer.outcome != "unsolved" and not (warned and _is_by(project, asked)):
            continue
        if not project.trains(asked.program) and source.direction == ["backward"]:
            continue
        on = _release(project, asked)
        why = "the switch only warns" if warned else "no setting makes it repeatable"
        rare = project.kb.sources[source.id].mechanism in _RARE
        if source.direction == ["backward"] and not has_gradients(
            project, asked.program, asked.path, asked.call
        ):
            rare = True
        rare = rare or is_stated_otherwise(project, asked.program)
        part = _part(source).capitalize()
        yield Objection(
            path=asked.path,
            place=asked.call.place,
            severity="hint" if rare or not asked.is_near else None,
            message=f"{part}{shown(asked.call)} can differ between runs{on}: {why}.",
            way_out=_way_out(project, source),
            because=(Because(f"sources/{source.id}", source.outcome, source.fixed_in),),
            related=(RelatedSpot(asked.switch.path, asked.switch.place.line, "switched on here"),),
        )


def first_warned(project: Project) -> dict[tuple[str, Spot], Asked]:
    """Place of a switch that only warns -> the first op of a program that trains which it only
    warns of.
    """
    found: dict[tuple[str, Spot], Asked] = {}
    for asked in _asked(project):
        warned = asked.answer.outcome == "raises" and asked.switch.warns
        if warned and asked.is_near and project.trains(asked.program) and _is_by(project, asked):
            found.setdefault((asked.switch.path, asked.switch.place), asked)
    return found


def has_gradients(project: Project, program: Program, path: str, call: WrittenCall) -> bool:
    """Whether the text shows that gradients are taken: in a model, or in a file that trains."""
    facts = project.files[path]
    trains = project.vocabulary.trains
    if path == program.path or any(other.name in trains for other in facts.calls):
        return True
    scope = call.scope
    while scope >= 0:
        if facts.scopes[scope].kind == "class":
            return bool(facts.scopes[scope].bases)
        scope = facts.scopes[scope].parent
    return False


OP_VARIES = ScanRule(
    code="op-varies",
    family="ops",
    severity="missing",
    title="An op that no switch makes repeatable",
    why="""Some ops vary whatever is set, without an error. In a program that asks for
    determinism they are what still differs.""",
    silent="""The program turns no switch on, or it depends on something that the text does not
    say. Where only the gradient varies, and neither a class around the call nor the file shows
    that one is taken, it is a hint; so is a call in a file that the entry neither imports directly
    nor has in its folder: it may be one of several to choose from. So it is where the files state
    packages for a CPU and the code names CUDA. In a release without a switch, cuDNN's flag counts
    as one.""",
    bad="""import torch

torch.use_deterministic_algorithms(True, warn_only=True)
x = torch.zeros(8, requires_grad=True)
torch.cumsum(x, 0).sum().backward()
""",
    good="""import torch

torch.use_deterministic_algorithms(True, warn_only=True)
x = torch.zeros(8, requires_grad=True)
torch.sum(x, 0).backward()
""",
    check=_check_varies,
)


def answers(project: Project, program: Program) -> Iterator[tuple[str, WrittenCall, OpAnswer]]:
    """The ops near the entry of a program that can have gradients, each with its file and what
    the records say of it.
    """
    for path in sorted(program.near):
        for call in program.files[path].calls:
            if call.without_gradients or not program.may_run(path, call):
                continue
            answer = answer_to(project, path, call)
            if answer is not None:
                yield path, call, answer


def answer_to(project: Project, path: str, call: WrittenCall) -> OpAnswer | None:
    """What the records say of a call in the release that its file states; None for no op."""
    package = project.vocabulary.package(call.name)
    if package is None or not project.vocabulary.is_op(call.name):
        return None
    stack = project.questions.world(project.around(path), (package,))
    return project.questions.op(stack, question(call))


def _check_argument(project: Project) -> Iterator[Objection]:
    seen: set[tuple[str, int, int]] = set()
    for program in project.programs:
        if not project.wants_determinism(program) or not project.trains(program):
            continue
        for path, facts in program.files.items():
            for call in facts.calls:
                place = (path, call.place.line, call.place.column)
                if place in seen or not program.may_run(path, call):
                    continue
                if not (call.without_gradients or call.guarded):
                    seen.add(place)
                    yield from _argument_left_out(project, program, path, call)


def _argument_left_out(
    project: Project, program: Program, path: str, call: WrittenCall
) -> Iterator[Objection]:
    answer = answer_to(project, path, call)
    if answer is None or answer.outcome != "solved":
        return
    if any(text.startswith("*") for text in call.positional):
        return
    package = project.vocabulary.roots[call.name.partition(".")[0]]
    stack = project.questions.world(project.around(path), (package,))
    for label in answer.solutions:
        for turn in project.kb.solution(label)[1].settings:
            setting = project.kb.settings.get(turn.name)
            if setting is None or setting.kind != "code" or setting.statement is None:
                continue
            argument, equals, _value = setting.statement.partition("=")
            if not equals or not argument.isidentifier() or argument in call.keywords:
                continue
            if not project.questions.surely_holds(stack, turn.condition):
                continue
            yield Objection(
                path=path,
                place=call.place,
                message=(
                    f"{shown(call)} is repeatable only with {setting.statement}; no switch sets it."
                ),
                way_out=setting.statement,
                because=(Because(f"settings/{project.kb.setting_ids[setting.name]}", "argument"),),
                related=(RelatedSpot(program.path, 1, "the program"),),
                fix=_with_argument(call, setting.statement),
            )


def _with_argument(call: WrittenCall, statement: str) -> Fix | None:
    if call.insert == (0, 0) or not (call.positional or call.keywords):
        return None
    edit = TextEdit(call.insert, call.insert, f", {statement}")
    return Fix(True, f"Add {statement}", [edit])


OP_ARGUMENT = ScanRule(
    code="op-argument",
    family="ops",
    severity="missing",
    title="A call without the argument that makes it deterministic",
    why="""Some functions take an argument that makes them deterministic, and no switch of
    the framework sets it: flash_attn_func(deterministic=True). In a program that asks for
    determinism they need it.""",
    silent="""Gradients are off, the argument is given, or arguments are unpacked.""",
    bad="""import torch
from flash_attn import flash_attn_func

torch.use_deterministic_algorithms(True)
out = flash_attn_func(q, k, v, causal=True)
out.sum().backward()
""",
    good="""import torch
from flash_attn import flash_attn_func

torch.use_deterministic_algorithms(True)
out = flash_attn_func(q, k, v, causal=True, deterministic=True)
out.sum().backward()
""",
    fixable="safe",
    check=_check_argument,
)

RULES = (OP_RAISES, OP_VARIES, OP_ARGUMENT)
